import numpy as np
import pytest

from molyneux.core import ConfigError, NotApplicableError, SpecError
from molyneux.measure import Fidelity
from molyneux.measure.fidelity.fidelity import FLOOR


def evaluation(tiny, model, **changes):
    return tiny.evaluation(model, features={"image": tiny.Features("image")}, **changes)


def test_true_views_are_as_far_as_other_true_views(tiny):
    """An oracle's prior draws true scenes."""
    measured = Fidelity()(evaluation(tiny, tiny.Oracle()))
    for name in ("frechet", "kid", "precision", "recall", "density", "coverage"):
        score = tiny.find(measured, f"fidelity.{name}", source="prior", target="image")
        assert score.n == 300
        assert score.origin["features"] == {"network": "tiny"}
        assert score.value == pytest.approx(score.controls[FLOOR], abs=3 if score.unit == "%" else 0.15)
        low, high = score.interval
        assert low <= score.value <= high
    assert not [score for score in measured.scores if score.about["target"] != "image"]
    assert tiny.find(measured, "fidelity.frechet", source="text", target="image").value > 1  # a caption does not tell the tilt


def test_a_model_that_draws_one_scene_has_no_recall(tiny):
    measured = Fidelity(joint=False)(evaluation(tiny, tiny.Oracle(lambda name, rows: 0 * rows)))
    score = {part: tiny.find(measured, f"fidelity.{part}") for part in ("frechet", "kid", "recall", "coverage")}
    assert score["frechet"].interval[0] > 10 * score["frechet"].controls[FLOOR]
    assert score["kid"].interval[0] > score["kid"].controls[FLOOR]
    assert score["recall"].value < 10 < score["recall"].controls[FLOOR]
    assert score["coverage"].value < 10 < score["coverage"].controls[FLOOR]


def test_the_judge_is_used_where_no_network_is_given(tiny):
    class Judge(tiny.Reader):
        features = tiny.Features("image").features
        origin = {"digest": "abc"}  # noqa: RUF012

    judged = tiny.evaluation(tiny.Oracle(), readers={"image": Judge("image")})
    assert tiny.find(Fidelity(joint=False)(judged), "fidelity.kid").origin["features"] == {"digest": "abc"}
    with pytest.raises(NotApplicableError, match="needs features of a modality"):
        Fidelity()(tiny.evaluation(tiny.Oracle()))
    with pytest.raises(NotApplicableError, match="at least 80 samples"):
        Fidelity()(evaluation(tiny, tiny.Oracle(), n=79))
    with pytest.raises(SpecError, match="expected features of text, got those of image"):
        tiny.evaluation(tiny.Oracle(), features={"text": tiny.Features("image")})
    with pytest.raises(ConfigError, match="samples: expected at least 80, got 10"):
        Fidelity(samples=10)


def test_samples_without_the_source_are_left_out(tiny):
    rows = tiny.rows(400)
    source = tiny.Source(rows, present={"text": np.arange(400) % 2 == 0})
    score = tiny.find(Fidelity(joint=False)(evaluation(tiny, tiny.Oracle(), source=source)), "fidelity.frechet", source="text")
    assert 80 < score.n < 120
