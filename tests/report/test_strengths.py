"""What a strength is in units, and curves of a missing sense up to its absence."""

from dataclasses import replace

import pytest

import molyneux.data.imperfections as imperfections
from molyneux.core import Score
from molyneux.core.curves import loss_interval, performance_curves
from molyneux.data.imperfections.combined import Combined
from molyneux.data.imperfections.corruption import Corruption
from molyneux.report.strengths import curve_sentence, noise_scale, strength_words, to_absence

KINDS = [kind for name in imperfections.__all__ if isinstance(kind := getattr(imperfections, name), type)]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if issubclass(kind, Corruption) and hasattr(kind, "name")])
def test_each_corruption_says_what_its_strength_is(kind):
    assert strength_words(kind.name, 0.5) or (issubclass(kind, Combined) and kind.name != "correlated")


def test_the_scale_of_noise_is_that_of_the_settings():
    noise = {"class_path": "molyneux.data.imperfections.GaussianNoise", "init_args": {"scale": 2.0}}
    assert noise_scale({"measure.conditions": [{"corruption": noise}]}) == 2.0
    assert noise_scale({}) == 1.0
    assert strength_words("gaussian-noise", 0.5, 2.0).startswith("noise of standard deviation 1 ")


def scores():
    def score(value, source, **about):
        interval = (value - 4.0, value + 4.0)
        whole = {"source": source, "target": "label", **about}
        return Score("prediction.accuracy", value, whole, interval, 100, "%", bounds=(0.0, 100.0), chance=33.3)

    both, missing = ("image", "audio"), {"corruption": "missing", "corrupted": "image"}
    rates = [score(80.0 - 40.0 * rate, both, **missing, strength=f"{rate:g}") for rate in (0.25, 0.5)]
    return [score(90.0, both), score(40.0, "audio"), score(80.0, "image"), *rates]


def test_a_curve_of_a_missing_sense_ends_with_the_score_without_it():
    (curve,) = [curve for curve in performance_curves(scores()) if curve.about["source"] == ("image", "audio")]
    (ended,) = to_absence([curve], scores())
    assert ended.strengths == (0.0, 0.25, 0.5, 1.0)
    assert ended.values[-1] == 40.0
    assert curve_sentence(ended) == (
        "With image missing in every sample (a dead sensor) it keeps 40.0 %, guessing 33.3 %, of 90.0 % on samples as they are."
    )
    assert to_absence([curve], scores()[:1]) == [curve]  # it is not known


def test_the_interval_of_a_loss_holds_the_loss_whatever_direction_is_better():
    (curve,) = [curve for curve in performance_curves(scores()) if curve.about["source"] == ("image", "audio")]
    low, high = loss_interval(curve)
    loss = curve.values[0] - curve.area
    assert low < loss < high
    turned = replace(curve, scores=tuple(replace(score, higher_is_better=False) for score in curve.scores))
    assert loss_interval(turned) == (-high, -low)
