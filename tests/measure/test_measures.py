"""The contract of the family: what every measure in the public list keeps."""

import inspect
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.distributions import Bernoulli, Categorical

import molyneux.measure
from molyneux.core import Score, Target
from molyneux.measure import Leakage, Measure, Robustness, Systematicity, evaluate

MEASURES = [
    item
    for name in molyneux.measure.__all__
    if inspect.isclass(item := getattr(molyneux.measure, name)) and issubclass(item, Measure) and item is not Measure
]

SETTINGS = {
    "disentanglement": {"metrics": ["irs", "mig"]},
    "downstream": {"shots": [3]},
    "transfer": {"where": {"shape": ["square"]}, "paths": [["image", "text"]]},
}
"""Where the defaults take long, or there are none."""


class Able:
    """What makes an oracle satisfy every protocol."""

    def predict(self, batch, observed=None):
        said = torch.linspace(-1, 1, len(batch))
        return {"shape": Categorical(torch.ones(len(batch), 3)), "fits": Bernoulli(logits=said), "true": Bernoulli(logits=said)}

    def compare(self, batch, observed=None):
        return {"fits": Categorical(torch.ones(len(batch) // 2, 1, 2))}

    def log_likelihood(self, batch, k, generator=None):
        return torch.zeros(len(batch))


@pytest.fixture
def evaluation(tiny, request):
    private = request.node.callspec.params.get("measure") is Leakage  # it needs private codes, the others need none

    class Everything(Able, tiny.Independent if private else tiny.Oracle):
        pass

    class Answered(tiny.Source):
        def batch(self, indices):
            batch = tiny.Source(self.rows).batch(indices)
            first = torch.from_numpy((np.asarray(indices) + 1) % 2)
            return replace(batch, targets={"shape": batch.factors[:, 0], "fits": first, "true": first})

    classes = Target("shape", "class", ("square", "ellipse", "heart"))
    pairs = Target("fits", "agreement", contrast=(1, 2)), Target("true", "agreement", meanings=("opposite",))
    source = Answered(tiny.rows(150), spec=replace(tiny.spec, targets=(classes, *pairs)))
    return tiny.evaluation(Everything(), source=source, features={"image": tiny.Features("image")})


def test_public_names_are_sorted():
    assert list(molyneux.measure.__all__) == sorted(molyneux.measure.__all__)
    assert len(MEASURES) == 30


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_short_names_follow_from_class_names(measure):
    words = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in measure.__name__).strip("_")
    assert measure.name == words
    assert all(parameter.kind == parameter.KEYWORD_ONLY for parameter in inspect.signature(measure).parameters.values())


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_scores_are_whole_and_repeat(measure, evaluation):
    first, second = (measure(**SETTINGS.get(measure.name, {}))(evaluation) for _ in range(2))
    assert first.scores == second.scores
    assert len({(score.name, tuple(score.about.items())) for score in first.scores}) == len(first.scores)
    for score in first.scores:
        assert score.name.startswith(f"{measure.name}.")
        assert score.origin["world"] == "tiny-v1"
        assert Score.from_json(score.to_json()) == score
        if score.value is None:
            assert score.note
            continue
        low, high = score.bounds
        assert score.n > 0
        assert low is None or low <= score.value + 1e-9
        assert high is None or score.value - 1e-9 <= high
        assert score.interval is None or score.interval[0] - 1e-6 <= score.value <= score.interval[1] + 1e-6


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_a_model_that_can_do_nothing_is_told_so(measure, tiny):
    (score,) = evaluate([measure(**SETTINGS.get(measure.name, {}))], tiny.evaluation(object())).scores
    assert (score.name, score.value) == (measure.name, None)
    if measure in (Robustness, Systematicity):  # they compare what others have measured
        assert score.note.startswith("not applicable: no ")
        return
    assert score.note.startswith(f"not applicable: {measure.name} needs a model that ")
    assert score.note.endswith("; object does not")
