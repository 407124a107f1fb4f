"""A control that is trained: it stands in the scores of agreement, and says how far a model is above it."""

import numpy as np
import pytest
import torch
from torch.distributions import Bernoulli

from molyneux.core import NotApplicableError
from molyneux.data import ShapeWorld
from molyneux.data.imperfections import Corrupted, GaussianNoise
from molyneux.data.sources import Lacking
from molyneux.measure import Breakdown, Consistency, Contrasts, Evaluation, Prediction, TrainedControl, evaluate

WORLD = ShapeWorld(kind="multishape", image_size=8)


class Knows:
    """The target itself, for a share of the samples."""

    def __init__(self, wrong=0.0):
        self.rng, self.wrong = np.random.default_rng(0), wrong

    def predict(self, batch, observed):
        truth = batch.targets["agreement"].numpy() ^ (self.rng.random(len(batch)) < self.wrong)
        return {"agreement": Bernoulli(probs=torch.from_numpy(0.1 + 0.8 * truth))}


@pytest.fixture(scope="module")
def controls():
    return {"unbound": TrainedControl(WORLD.controls()["unbound"], seed=1, samples=1500)}


def scores_of(measures, source, controls, model=None, **settings):
    evaluation = Evaluation(model or Knows(), source, controls=controls, seed=1, samples=800, batch_size=300, **settings)
    return evaluate(measures, evaluation).scores


def test_it_stands_in_every_score_of_agreement(controls):
    source = WORLD.source("test", 800, seed=1)
    scores = scores_of([Prediction(alone=False), Breakdown(factors=["nouns"]), Contrasts(factors=["nouns"])], source, controls)
    found = {score.name: score for score in scores}
    whole = source.batch(np.arange(800))
    right = (controls["unbound"].probabilities(whole) > 0.5) == (whole.targets["agreement"].numpy() > 0)
    assert 0.75 < right.mean() < 0.95
    assert found["prediction.accuracy"].controls["unbound"] == pytest.approx(100 * right.mean())
    for name in (
        "prediction.macro_f1",
        "prediction.average_precision",
        "breakdown.accuracy",
        "contrasts.group",
        "contrasts.pairs",
    ):
        assert 50 < found[name].controls["unbound"] <= 100, name  # hypernyms alone are answered by counts
    assert found["prediction.above_unbound"].value == pytest.approx(100 - 100 * right.mean())
    low, high = found["prediction.above_unbound"].interval
    assert 0 < low < found["prediction.above_unbound"].value < high


def test_it_stands_in_consistency(controls):
    world = ShapeWorld(kind="multishape", variant="related", image_size=8)
    control = TrainedControl(world.controls()["unbound"], seed=1, samples=900)
    scores = scores_of([Consistency(factors=["nouns"])], world.source("test", 600, seed=1), {"unbound": control})
    assert all("unbound" in score.controls for score in scores if score.value is not None)


def test_a_model_that_binds_nothing_is_not_above_it(controls):
    scores = scores_of([Prediction(alone=False)], WORLD.source("test", 800, seed=1), controls, controls["unbound"])
    assert {score.name: score.value for score in scores}["prediction.above_unbound"] == 0


def test_it_is_told_the_true_views_whatever_the_model_is_shown(controls):
    source = WORLD.source("test", 400, seed=1)
    noisy = Corrupted(source, GaussianNoise(modalities=("image",)), 1.0, seed=1)
    both = [
        scores_of([Prediction(alone=False)], *pair, reference=source)[0].controls["unbound"]
        for pair in ((source, controls), (noisy, controls))
    ]
    assert both[0] == both[1]


def test_it_says_nothing_where_a_modality_is_missing_or_of_one_modality(controls):
    source = WORLD.source("test", 400, seed=1)
    scores = scores_of([Prediction()], source, controls)
    told = {score.about["source"]: "unbound" in score.controls for score in scores if score.name == "prediction.accuracy"}
    assert told == {"image": False, "text": False, ("image", "text"): True}
    assert all("unbound" not in score.controls for score in scores_of([Prediction()], Lacking(source, ("image",)), controls))


def test_the_same_seed_gives_the_same_answers_in_any_batches(controls):
    batch = WORLD.batch(np.arange(200), split="test", seed=2)
    again = TrainedControl(WORLD.controls()["unbound"], seed=1, samples=1500)
    whole = controls["unbound"].probabilities(batch)
    parts = [again.probabilities(batch[slice(start, start + 50)]) for start in range(0, 200, 50)]
    assert np.array_equal(whole, np.concatenate(parts))
    assert len(controls["unbound"].probabilities(batch[slice(0, 0)])) == 0


def test_a_target_of_one_value_is_not_learned():
    world = ShapeWorld(kind="multishape", variant="published", only={"truth": ["true"]}, views=("meaning",))
    with pytest.raises(NotApplicableError, match="one value in all training samples"):
        TrainedControl(world.controls()["unbound"], seed=1, samples=100).probabilities(
            world.batch(np.arange(4), split="test", seed=1)
        )
