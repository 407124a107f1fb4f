"""Several models on the same samples: scores are those of each alone, the page names all, robustness is against a baseline."""

import numpy as np
import pytest
import torch

from molyneux import FusionPredictor, Interactions, compare_models, evaluate_model
from molyneux.core import ConfigError
from molyneux.data.imperfections import GaussianNoise
from molyneux.learn.fusion import Concatenation, LowRank
from molyneux.learn.predictors import Constant, Head
from molyneux.measure import Prediction, Robustness
from molyneux.report.study.groups import divide
from molyneux.run import ConditionSettings

WORLD = Interactions(targets=("redundancy",), noise=0.1, size=4, embedding="linear")
TEST = WORLD.source("test", 100, seed=1)
UNDER = {
    "measures": (Prediction(alone=False),),
    "conditions": (ConditionSettings(corruption=GaussianNoise(modalities=("x1",)), strengths=(0.5, 1.0)),),
}


def made(fusion, seed):
    torch.manual_seed(seed)
    return FusionPredictor(WORLD.spec, fusion=fusion, head=Head(8))


@pytest.fixture(scope="module")
def models():
    return {
        "LF": [made(Concatenation(), seed) for seed in (1, 2)],
        "LRTF": made(LowRank(8, rank=2), 1),
        "constant": Constant(WORLD.spec),
    }


@pytest.fixture(scope="module")
def comparison(models):
    return compare_models(models, TEST, baseline="LF", **UNDER)


def test_scores_are_those_of_each_model_alone(models, comparison):
    alone = evaluate_model(models["LF"][1], TEST, **UNDER)
    assert comparison.reports["LF"][1].scores == alone.scores
    assert [(run.settings["name"], run.seed) for run in comparison.runs] == [
        ("LF", "1"),
        ("LF", "2"),
        ("LRTF", "1"),
        ("constant", "1"),
    ]


def test_rows_are_models_and_robustness_is_against_the_baseline(comparison, tmp_path):
    (part,) = divide(comparison.runs)
    assert [part.label(group) for group in part.groups] == ["LF", "LRTF", "constant"]
    assert len(part.groups[0].runs) == 2
    page, *_ = comparison.write(tmp_path / "page", name="two fusions", formats=["markdown"])
    text = page.read_text()
    assert text.startswith("# two fusions")
    assert "Relative robustness" in text
    assert "| LRTF |" in text
    assert "| LF |" in str(comparison)


def test_without_a_baseline_nothing_is_compared(models):
    found = compare_models({"LF": models["LF"]}, TEST, **{**UNDER, "measures": (*UNDER["measures"], Robustness())})
    assert "measure.measures" not in found.runs[0].settings
    areas = [score.value for score in found.reports["LF"][0].robustness if score.name == "robustness.area"]
    assert np.isfinite(areas).all()


def test_names_that_no_model_has_are_refused_at_once(models):
    with pytest.raises(ConfigError) as caught:
        compare_models({"LF": models["LF"]}, TEST, {"LF": [None], "LTF": None}, baseline="EF", **UNDER)
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["baseline", "histories", "histories"]
    assert "expected one for each of the 2 trainings of 'LF', got 1" in str(caught.value)
    with pytest.raises(ConfigError, match="expected at least one trained model"):
        compare_models({}, TEST)
