"""Conditions, and the codes that all measures share."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.distributions import Independent, Normal

from molyneux.core import Batch, ConfigError, Factor, Modality, Posterior, Score, Spec, save_exhibits
from molyneux.data import ArraySource
from molyneux.learn.posteriors import DiagonalNormal
from molyneux.measure import (
    CodeUse,
    Coherence,
    Disentanglement,
    Evaluation,
    Galleries,
    Homotopy,
    LatentProbe,
    Likelihood,
    PosteriorGap,
    Projection,
    Reconstruction,
    Traversals,
    evaluate,
)
from molyneux.measure.codes import CodeStore
from molyneux.measure.generation import MOST_DIRECTIONS, directions, subsets
from molyneux.measure.measures import exhibit_name

ALL = (
    Coherence(),
    Reconstruction(),
    LatentProbe(),
    PosteriorGap(),
    CodeUse(),
    Projection(),
    Galleries(draws=0),
    Traversals(),
    Homotopy(pairs=5),
)
MISSING = {"text": np.zeros(300, dtype=bool)}


def conditions(tiny, model, **changes):
    """The samples as they are, others, and the first without their texts."""
    rows = tiny.rows(300)
    return [
        tiny.evaluation(model, source=tiny.Source(rows), **changes),
        tiny.evaluation(model, source=tiny.Source(tiny.rows(300, seed=1)), about={"split": "other"}, **changes),
        tiny.evaluation(model, source=tiny.Source(rows, present=MISSING), about={"missing": ("text",)}, **changes),
    ]


def test_every_batch_is_encoded_once_for_each_set_of_observed_modalities_and_condition(tiny):
    model = tiny.Oracle()
    evaluate(ALL, conditions(tiny, model)[:2])
    batches = Counter({(observed, size): count for size, count in ((128, 2), (44, 1)) for observed in SETS})
    assert Counter(model.calls) == batches + batches


SETS = (("image",), ("text",), ("image", "text"))


def test_numbers_depend_neither_on_other_measures_nor_on_what_the_store_drops(tiny, monkeypatch):
    measures = (Coherence(), LatentProbe(draw="sample"), CodeUse(samples=150))
    together = evaluate(measures, tiny.evaluation(tiny.Oracle(), n=300)).scores
    alone = [score for measure in measures for score in measure(tiny.evaluation(tiny.Oracle(), n=300)).scores]
    assert list(together) == alone
    monkeypatch.setattr(CodeStore.__init__, "__kwdefaults__", {"limit": 1})
    assert evaluate(measures, tiny.evaluation(tiny.Oracle(), n=300)).scores == together


def test_a_condition_is_said_by_every_score_and_only_the_first_has_exhibits(tiny):
    measures = (Coherence(), Reconstruction(), LatentProbe(), Galleries(draws=0))
    base, other, missing = conditions(tiny, tiny.Oracle())
    measured = evaluate(measures, [base, other, missing])
    kinds = Counter(tuple(item for item in score.about.items() if item[0] in ("split", "missing")) for score in measured.scores)
    assert set(kinds) == {(), (("split", "other"),), (("missing", ("text",)),)}
    assert len({(score.name, tuple(score.about.items())) for score in measured.scores}) == len(measured.scores)
    assert [item.name for item in measured.exhibits] == [item.name for item in evaluate(measures, base).exhibits]
    assert [score for score in measured.scores if not set(score.about) & {"split", "missing"}] == list(
        evaluate(measures, base).scores
    )
    assert all(Score.from_json(score.to_json()) == score for score in measured.scores)


def test_a_modality_that_no_sample_has_is_observed_by_no_score_and_named(tiny):
    measures = (Coherence(), Reconstruction(), LatentProbe(), PosteriorGap(), CodeUse(), Disentanglement(metrics=["mig"]))
    measured = evaluate(measures, conditions(tiny, tiny.Oracle())[2])
    absent = [score for score in measured.scores if score.about.get("modality") == "text"]
    assert [score.name for score in absent] == [measure.name for measure in measures]
    assert {(score.value, score.note) for score in absent} == {(None, "not applicable: no sample has text")}
    assert {score.about["source"] for score in measured.scores if "source" in score.about} == {"image", "prior"}
    strict = tiny.find(measured, "coherence.strict", source="image", target="text")
    assert (strict.value, strict.n) == (100.0, 300)
    assert set(strict.controls) == {"constant"}  # no true text to read


def test_probes_are_fitted_on_training_samples_where_there_are_some(tiny):
    class Counting(tiny.Source):
        asked = 0

        def batch(self, indices):
            type(self).asked += len(indices)
            return super().batch(indices)

    train = Counting(tiny.rows(500, seed=2))
    first, *others = conditions(tiny, tiny.Oracle(), train=train)
    measured = evaluate([LatentProbe(), LatentProbe(draw="sample")][:1], [first, *others])
    score = tiny.find(measured, "latent_probe.accuracy", source="image", code="shared", factor="shape", split="other")
    assert (score.n, score.origin["fitted on"]) == (300, "training samples")
    assert Counting.asked == 500 * 3 + 500  # codes once for each set of observed modalities, inputs once, whatever the condition
    alone = tiny.find(
        LatentProbe()(tiny.evaluation(tiny.Oracle(), n=300)), "latent_probe.accuracy", source="image", factor="shape"
    )
    assert (alone.n, alone.origin["fitted on"]) == (150, "half of the test samples")


def test_true_views_are_fetched_once_for_all_that_is_generated_from_a_corrupted_batch(tiny):
    class Counting(tiny.Source):
        asked = 0

        def batch(self, indices):
            type(self).asked += len(indices)
            return super().batch(indices)

    rows = tiny.rows(300)
    evaluation = tiny.evaluation(tiny.Oracle(), source=tiny.Source(rows), reference=Counting(rows))
    measured = Coherence(joint=False)(evaluation)
    assert {score.value for score in measured.scores if score.name == "coherence.strict"} == {100.0}
    assert Counting.asked == 2 * 300  # to compare what is generated, and for the ceiling of the readers


def test_conditions_have_to_be_told_apart(tiny):
    base = tiny.evaluation(tiny.Oracle(), n=20)
    for evaluations, message in (
        ([], "at least one condition"),
        ([base, base], "expected conditions that differ"),
        ([replace(base, about={"source": "noise"})], "scores say something else by source: rename it"),
    ):
        with pytest.raises(ConfigError, match=message):
            evaluate([Coherence()], evaluations)


def test_directions_are_a_choice():
    def spec(*names):
        return Spec(tuple(Modality(name, "tabular", (1,)) for name in names))

    three = spec("a", "b", "c")
    assert [item.about for item in directions(spec("a", "b"), "leave-one-out")] == [
        {"source": "a", "target": "b"},
        {"source": "b", "target": "a"},
    ]
    assert [item.about["source"] for item in directions(three, "leave-one-out")][6:] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert len(directions(three, "singles")) == 6
    assert {item.observed for item in directions(three, "all", available=("a", "b"))} == {("a",), ("b",), ("a", "b")}
    listed = [{"source": ["c", "a"], "target": "b"}, {"source": "a", "target": "c"}]
    assert [item.about for item in directions(three, listed)] == [
        {"source": ("a", "c"), "target": "b"},
        {"source": "a", "target": "c"},
    ]
    assert len(subsets([str(name) for name in range(6)])) == 2**6 - 2
    many = spec(*map(str, range(12)))
    assert len(directions(many, "leave-one-out")) == 144 < MOST_DIRECTIONS
    for choice, message in (
        ("all", "all of 12 modalities are 24,564, at most 200 are generated: choose fewer, such as"),
        ([{"source": "1", "target": "x"}], "no modality 'x'"),
        ([{"source": str(a), "target": str(b)} for a in range(12) for b in range(12)] * 2, "of other modalities than the target"),
        ("some", "unknown directions 'some'"),
        ([{"from": "a"}], "expected entries such as"),
    ):
        with pytest.raises(ConfigError, match=message):
            Coherence(directions=choice).check(many)


NAMES = ("BRK.B", 'x"><script>', "a/../../b", "image+text", "shared", "private.x", "a_b", "left-camera", "é 1", "k1", "k2", "k3")


class Anything:
    """Encodes and decodes tabular modalities of any names, with a private code for each."""

    def encode(self, batch, observed=None):
        mean = sum(batch.views[name] for name in observed) / len(observed)
        private = {
            name: DiagonalNormal(batch.views[name] * (name in observed), torch.zeros_like(batch.views[name])) for name in NAMES
        }
        return Posterior(DiagonalNormal(mean, torch.zeros_like(mean)), private)

    def prior(self, size):
        return Posterior(DiagonalNormal.standard((size, 2)), {name: DiagonalNormal.standard((size, 2)) for name in NAMES})

    def decode(self, codes, only=None):
        return {
            name: Independent(Normal(codes.shared + codes.private[name], 1.0, validate_args=False), 1, validate_args=False)
            for name in only
        }

    def log_likelihood(self, batch, k, generator=None):
        return torch.zeros(len(batch))


def test_twelve_modalities_of_any_names_are_measured(tmp_path):
    spec = Spec(tuple(Modality(name, "tabular", (2,)) for name in NAMES), (Factor('f"><b>', ("0", "1")),))
    rng = np.random.default_rng(0)
    batch = Batch(
        {name: torch.from_numpy(rng.normal(size=(60, 2)).astype(np.float32)) for name in NAMES},
        factors=torch.from_numpy(rng.integers(0, 2, (60, 1))),
    )
    measures = (Reconstruction(), LatentProbe(), Likelihood(k=2), Projection(samples=50), Traversals(dimensions=2))
    galleries = Galleries(rows=2, draws=2, directions=[{"source": ["a/../../b", "BRK.B"], "target": "image+text"}])
    evaluation = Evaluation(Anything(), ArraySource(spec, batch), seed=1, batch_size=40)
    measured = evaluate([*measures, galleries], evaluation)
    assert tuple(NAMES) in {score.about.get("source") for score in measured.scores}
    assert len({item.name for item in measured.exhibits}) == len(measured.exhibits)
    save_exhibits(tmp_path / "exhibits", measured.exhibits)
    assert {path.parent for path in tmp_path.rglob("*") if path.is_file()} == {tmp_path / "exhibits"}


def test_names_of_exhibits_are_those_of_files_and_differ():
    assert exhibit_name("traversal", "image") == "traversal_image"
    assert exhibit_name("draws", ("a",), "to", "b") != exhibit_name("draws", ("a_to",), "b")
    assert len(exhibit_name("projection", [f"modality {number}" for number in range(100)])) < 150
