from typing import ClassVar

import numpy as np
import pytest
import torch
from torch import nn

from molyneux.core import ConfigError, Encodes, EstimatesLikelihood, NotApplicableError, Score, SpecError
from molyneux.core.reader import identity
from molyneux.measure import Measure, Measurement, evaluate


class Modes(Measure):
    name: ClassVar[str] = "modes"

    def measure(self, evaluation):
        training = float(evaluation.model.training)
        gradients = float(torch.is_grad_enabled() or not torch.is_inference_mode_enabled())
        return Measurement((Score("modes.training", training), Score("modes.gradients", gradients)))


class Needy(Modes):
    name: ClassVar[str] = "needy"
    needs: ClassVar[tuple] = (Encodes, EstimatesLikelihood)


def test_models_are_measured_in_evaluation_mode_and_put_back(tiny):
    model = nn.Sequential(nn.Dropout(), nn.Linear(1, 1))
    model[1].eval()
    measured = Modes()(tiny.evaluation(model))
    assert [score.value for score in measured.scores] == [0.0, 0.0]
    assert (model.training, model[0].training, model[1].training) == (True, True, False)


def test_what_does_not_apply_is_recorded_with_the_reason(tiny):
    told = []
    model = nn.Linear(1, 1)
    measured = evaluate([Needy(), Modes()], tiny.evaluation(model), progress=lambda *now: told.append(now))
    needy, first, _ = measured.scores
    assert (needy.name, needy.value) == ("needy", None)
    assert needy.note == (
        "not applicable: needy needs a model that encodes samples into codes (method `encode`) and "
        "estimates log-likelihoods (method `log_likelihood`); Linear does not"
    )
    assert needy.origin["world"] == "tiny-v1"
    assert first.value == 0.0
    assert told == [(0, 2, "needy"), (1, 2, "modes"), (2, 2, "")]
    with pytest.raises(NotApplicableError):
        Needy()(tiny.evaluation(model))


def test_batches_cover_the_samples_once_and_in_order(tiny):
    evaluation = tiny.evaluation(None, samples=300)
    starts, batches = zip(*evaluation.batches(), strict=True)
    assert starts == (0, 128, 256)
    factors = torch.cat([batch.factors for batch in batches])
    assert np.array_equal(factors, tiny.combinations[evaluation.source.rows[:300]])
    assert sum(len(batch) for _, batch in evaluation.batches(10)) == 10
    assert tiny.evaluation(None, n=5).size == 5


def test_exact_readers_are_preferred_and_the_origin_says_who_read(tiny):
    evaluation = tiny.evaluation(None, readers={"image": tiny.Reader("image"), "text": tiny.Reader("text")})
    assert evaluation.reader("text") is evaluation.exact["text"]
    assert evaluation.reader("image") is evaluation.readers["image"]
    assert evaluation.reader("touch") is None
    provenance = evaluation.provenance(("text", "image"), judged=True)
    who = {name: identity(evaluation.reader(name)) for name in ("text", "image")}
    assert provenance["readers"] == {
        "text": {"exact": True, "accuracy": {"shape": 1.0, "size": 1.0}, **who["text"]},
        "image": {"exact": False, "accuracy": {}, **who["image"]},
    }
    assert provenance["second_readers"] == {"text": identity(evaluation.judge("text"))}
    assert "second_readers" not in evaluation.provenance(("text", "image"))  # only of scores that rest on them


def test_a_reader_without_a_version_is_refused(tiny):
    reader = tiny.Reader("image", version="")
    with pytest.raises(SpecError, match="expected a reader with a version"):
        tiny.evaluation(None, readers={"image": reader})


def test_streams_differ_by_name_and_seed(tiny):
    evaluation, other = tiny.evaluation(None), tiny.evaluation(None, seed=4)
    draws = [
        item.initial_seed() for item in (evaluation.generator("a", 0), evaluation.generator("a", 1), other.generator("a", 0))
    ]
    assert len(set(draws)) == 3
    assert evaluation.generator("a", 0).initial_seed() == draws[0]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"samples": 0}, ConfigError, "samples of at least 1, got 0"),
        ({"batch_size": -1}, ConfigError, "batch_size of at least 1, got -1"),
        ({"readers": {"image": "text"}}, SpecError, "a reader of image, got one of text"),
        ({"readers": {"touch": "touch"}}, SpecError, "no modality 'touch'"),
        ({"readers": {"image": ("image", ("shpae",))}}, SpecError, "no factor 'shpae'; did you mean \"shape\""),
    ],
)
def test_bad_settings_are_refused(tiny, change, error, message):
    if "readers" in change:
        made = {key: tiny.Reader(*((value,) if isinstance(value, str) else value)) for key, value in change["readers"].items()}
        change = {"readers": made}
    with pytest.raises(error, match=message):
        tiny.evaluation(None, **change)
