"""Transfer: groups, chains, the permuted control and the gap, on a model whose answers are known."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from molyneux.core import ConfigError, Factor
from molyneux.measure import Transfer


def measured(tiny, model, paths=(("image", "text"),), n=600, **changes):
    where = {"shape": [tiny.spec.factor("shape").values[0]]}
    return Transfer(where=where, paths=paths)(tiny.evaluation(model, n, **changes))


def wrong_for_the_first(tiny):
    """Decodes another shape wherever the true one is the first."""
    shift, column = tiny.shifted("shape"), tiny.spec.factor_index("shape")
    first = torch.from_numpy(np.asarray(tiny.combinations)[:, column] == 0)
    return lambda name, rows: shift(name, rows).where(first[rows], rows)


def test_groups_have_their_own_scores_and_a_gap(tiny):
    found = measured(tiny, tiny.Oracle(wrong_for_the_first(tiny)))
    about = {"source": "image", "target": "text"}
    values = len(tiny.spec.factor("shape").values)
    assert tiny.find(found, "transfer.accuracy", group="apart", **about).value == 0
    assert tiny.find(found, "transfer.accuracy", group="together", **about).value == 100
    gap = tiny.find(found, "transfer.gap", **about)
    assert gap.value == gap.interval[1] == 100
    assert 90 < gap.interval[0] < 100
    together = tiny.find(found, "transfer.accuracy", group="together", **about)
    assert together.chance == pytest.approx(100 / values)
    assert together.controls["judge ceiling"] == 100
    assert abs(together.controls["permuted pairing"] - 100 / values) < 15
    counts = [tiny.find(found, "transfer.strict", group=group, **about).n for group in ("apart", "together")]
    assert sum(counts) == 600


def test_a_perfect_model_has_no_gap(tiny):
    found = measured(tiny, tiny.Oracle())
    assert tiny.find(found, "transfer.gap").value == 0
    assert {score.value for score in found.scores if score.name == "transfer.strict"} == {100}


def test_a_path_generates_what_it_encodes_next(tiny):
    shift = tiny.shifted("shape")

    def only_images(name, rows):
        return shift(name, rows) if name == "image" else rows

    found = measured(tiny, tiny.Oracle(only_images), paths=[["text", "image", "text"], ["text", "image"]])
    chain = {"source": "text", "via": "image", "target": "text"}
    assert tiny.find(found, "transfer.accuracy", group="together", **chain).value == 0  # the image in between shows another
    direct = measured(tiny, tiny.Oracle(), paths=[["text", "image", "text"]])
    assert tiny.find(direct, "transfer.accuracy", group="apart", **chain).value == 100


def test_a_path_leads_through_a_text(tiny):
    """The image at the end shows what the text in between says, which is wrong for the first shape."""
    wrong = wrong_for_the_first(tiny)
    path = {"source": "image", "via": "text", "target": "image"}
    right = measured(tiny, tiny.Oracle(), paths=[["image", "text", "image"]])
    assert tiny.find(right, "transfer.accuracy", group="apart", **path).value == 100
    said = measured(
        tiny, tiny.Oracle(lambda name, rows: wrong(name, rows) if name == "text" else rows), [["image", "text", "image"]]
    )
    assert [tiny.find(said, "transfer.accuracy", group=group, **path).value for group in ("apart", "together")] == [0, 100]


@pytest.mark.parametrize("lengths", [False, True])
def test_a_text_in_between_is_as_long_as_what_was_written(tiny, lengths):
    """Lengths are given where the true samples have them."""
    seen = []

    class Noted(tiny.Oracle):
        def encode(self, batch, observed=None):
            if tuple(observed) == ("text",):
                seen.append(batch.lengths.get("text"))
            return super().encode(batch, observed)

    class Measured(tiny.Source):
        def batch(self, indices):
            batch = super().batch(indices)
            whole = torch.full((len(batch),), batch.views["text"].shape[1])
            return replace(batch, lengths={"text": whole} if lengths else {})

    measured(tiny, Noted(), paths=[["image", "text", "image"]], source=Measured(tiny.rows(300)))
    assert seen
    assert all((length is not None) == lengths for length in seen)
    if lengths:
        assert set(torch.cat(seen).tolist()) == set(map(len, tiny.captions))


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"where": {}, "paths": [["image", "text"]]}, "where: expected factors with values, got none"),
        ({"where": {"shape": ["a"]}, "paths": []}, "paths: expected at least one"),
        ({"where": {"shape": ["a"]}, "paths": [["image"]]}, "paths: expected at least two modalities"),
    ],
)
def test_settings_that_cannot_be_used(settings, problem):
    with pytest.raises(ConfigError, match=problem):
        Transfer(**settings)


def test_names_that_the_samples_lack(tiny):
    with pytest.raises(ConfigError) as caught:
        Transfer(where={"shap": ["a"], "shape": ["nothing"]}, paths=[["imag", "text"]]).check(tiny.spec)
    for problem in ("no modality 'imag'", "no factor 'shap'", "no value 'nothing'"):
        assert problem in str(caught.value)


def test_a_class_that_is_a_number_is_named_in_a_sentence(tiny):
    spec = replace(tiny.spec, factors=(Factor("shape", ("0", "1", "2")), *tiny.spec.factors[1:]))
    with pytest.raises(ConfigError, match=r"where\['shape'\]\[0\]: expected a text, got 2"):
        Transfer(where={"shape": [2]}, paths=[["image", "text"]]).check(spec)
