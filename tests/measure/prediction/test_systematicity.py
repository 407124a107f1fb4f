"""Gaps between splits: which scores are compared, and how sure the difference is."""

import numpy as np
import pytest
import torch
from torch.distributions import Categorical

from molyneux.core import Batch, ConfigError, Factor, Modality, Score, Spec, Target
from molyneux.data import ArraySource
from molyneux.measure import Breakdown, Evaluation, Prediction, Systematicity, evaluate

SPEC = Spec(
    (Modality("left", "tabular", (3,)),), (Factor("kind", ("a", "b")),), targets=(Target("answer", "class", ("x", "y", "z")),)
)


class Reads:
    """Answers what the view says."""

    def predict(self, batch, observed):
        return {"answer": Categorical(logits=batch.views["left"])}


def samples(share, seed, size=400):
    """Samples of which the share that is right is given."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, size)
    said = np.where(rng.random(size) < share, truth, (truth + 1) % 3)
    view = torch.from_numpy(np.eye(3, dtype=np.float32)[said])
    codes = torch.from_numpy(rng.integers(0, 2, (size, 1)))
    return ArraySource(SPEC, Batch({"left": view}, factors=codes, targets={"answer": torch.from_numpy(truth)}))


@pytest.fixture(scope="module")
def evaluations():
    shares = {"": 0.7, "train": 0.95, "heldout": 0.4}
    abouts = {name: {"split": name} if name else {} for name in shares}
    return [
        Evaluation(Reads(), samples(share, seed), about=abouts[name], origin={"split": name or "test"})
        for seed, (name, share) in enumerate(shares.items())
    ]


def test_every_score_on_the_training_distribution_minus_that_on_each_other_split(evaluations):
    found = evaluate([Systematicity(), Prediction(), Breakdown()], evaluations).scores
    gaps = {
        (score.about["splits"], score.about["measure"], score.about.get("value")): score
        for score in found
        if score.name == "systematicity.gap"
    }
    splits = ("train to test", "train to heldout")
    kinds = (("prediction.accuracy", None), ("breakdown.accuracy", "a"), ("breakdown.accuracy", "b"))
    assert set(gaps) == {(split, *kind) for split in splits for kind in kinds}
    accuracy = {score.about.get("split", "test"): score for score in found if score.name == "prediction.accuracy"}
    gap = gaps["train to heldout", "prediction.accuracy", None]
    assert gap.value == accuracy["train"].value - accuracy["heldout"].value
    assert gap.about == {"source": "left", "target": "answer", "measure": "prediction.accuracy", "splits": "train to heldout"}
    assert (gap.n, gap.unit, gap.bounds, gap.higher_is_better) == (800, "%", (-100.0, 100.0), False)
    assert gap.chance == accuracy["train"].chance - accuracy["heldout"].chance
    assert gap.controls == {"constant": accuracy["train"].controls["constant"] - accuracy["heldout"].controls["constant"]}
    assert gap.interval[0] < gap.value < gap.interval[1]
    assert gaps["train to test", "prediction.accuracy", None].value < gap.value
    assert Score.from_json(gap.to_json()) == gap


def test_scores_under_corruptions_have_no_gap(evaluations):
    noisy = Evaluation(Reads(), samples(0.3, 9), about={"corruption": "noise"}, origin={"split": "test"})
    found = evaluate([Prediction(), Systematicity()], [evaluations[0], evaluations[1], noisy]).scores
    assert [score.about["splits"] for score in found if score.name == "systematicity.gap"] == ["train to test"]


def test_another_split_may_be_the_familiar_one_and_other_scores_are_compared(evaluations):
    found = evaluate([Prediction(), Systematicity(of=("prediction.macro_f1",), familiar="test")], evaluations).scores
    gaps = [score for score in found if score.name == "systematicity.gap"]
    assert [(gap.about["splits"], gap.about["measure"]) for gap in gaps] == [
        ("test to train", "prediction.macro_f1"),
        ("test to heldout", "prediction.macro_f1"),
    ]
    assert gaps[0].value < 0 < gaps[1].value


@pytest.mark.parametrize(
    ("places", "reason"),
    [((0, 2), "on the split train: measure one under the condition {split: train}"), ((1,), "on the split train alone")],
)
def test_what_is_missing_is_said(places, reason, evaluations):
    found = evaluate([Prediction(), Systematicity()], [evaluations[place] for place in places]).scores
    (score,) = [score for score in found if score.name.startswith("systematicity")]
    assert score.value is None
    assert reason in score.note


def test_settings_that_cannot_be_used():
    with pytest.raises(ConfigError, match=r"got 'prediction\.accuracy'"):
        Systematicity(of="prediction.accuracy")
