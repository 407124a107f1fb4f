"""Runs of a study compared with a baseline that their settings name, and the curves of a run and of a study."""

import numpy as np
import pytest

from molyneux.core import Score
from molyneux.report import StudyRun, write_study
from molyneux.report.plots import group_curves, strength_curves
from molyneux.report.robustness import with_robustness
from molyneux.report.settings import baseline_of, chosen_of

GRID = (0.0, 0.5, 1.0)


def run(name, values, seed=1, baseline="late fusion", data="world", source=("a", "b")):
    robustness = {"class_path": "molyneux.measure.Robustness", "init_args": {"of": ["prediction.accuracy"], "baseline": baseline}}
    settings = {"name": name, "seed": seed, "data.world.class_path": data, "learn.model.class_path": "x.Net"}
    settings["measure.measures"] = ["Prediction", robustness]
    scores = []
    for strength, value in zip(GRID, values, strict=True):
        about = {"source": source, "target": "y"}
        about |= {"corruption": "noise", "strength": f"{strength:g}"} if strength else {}
        fields = {"interval": (value - 2, value + 2), "n": 50, "unit": "%", "bounds": (0.0, 100.0), "chance": 10.0}
        scores.append(Score("prediction.accuracy", value, about, **fields))
    return StudyRun(settings, tuple(scores))


def values_of(found, name):
    return [score.value for item in found for score in item.scores if score.name == f"robustness.{name}"]


def test_runs_are_compared_with_the_baseline_of_their_seed():
    late, other = run("late fusion", (90, 70, 40)), run("tensor fusion", (95, 80, 50))
    second = run("late fusion", (80, 60, 40), seed=2), run("tensor fusion", (80, 70, 50), seed=2)
    found = with_robustness([late, other, *second])
    area = [np.trapezoid(values, GRID) for values in ((90, 70, 40), (95, 80, 50), (80, 60, 40), (80, 70, 50))]
    assert values_of(found, "relative") == pytest.approx([0, area[1] - area[0], 0, area[3] - area[2]])
    assert values_of(found, "effective") == pytest.approx([0, area[1] - area[0] - 5, 0, area[3] - area[2]])
    score = next(score for score in found[1].scores if score.name == "robustness.relative")
    assert score.about == {"source": ("a", "b"), "target": "y", "measure": "prediction.accuracy", "under": "noise"}
    assert score.unit == "%"


def test_without_a_run_of_the_same_seed_the_mean_is_the_baseline():
    found = with_robustness(
        [run("late fusion", (90, 70, 40)), run("late fusion", (80, 60, 40), 2), run("other", (85, 65, 40), 3)]
    )
    assert values_of(found[2:], "relative") == pytest.approx([0])


def test_other_samples_other_names_and_no_name_are_no_baseline():
    late = run("late fusion", (90, 70, 40))
    assert values_of(with_robustness([late, run("other", (85, 65, 40), data="elsewhere")])[1:], "relative") == []
    assert values_of(with_robustness([late, run("other", (85, 65, 40), baseline="")])[1:], "relative") == []
    by_class = with_robustness([run("first", (90, 70, 40), baseline="Net")])
    assert values_of(by_class, "relative") == [0]
    assert (baseline_of({}), chosen_of({})) == ("", ())
    assert (baseline_of(late.settings), chosen_of(late.settings)) == ("late fusion", ("prediction.accuracy",))


def test_curves_are_drawn_for_a_run_and_for_the_groups_of_a_study(tmp_path):
    late, other = run("late fusion", (90, 70, 40)), run("tensor <fusion>", (95, 80, 50))
    alone = run("late fusion", (60, 50, 40), source="a")
    (panel,) = strength_curves([*late.scores, *alone.scores])
    assert panel.title == "Accuracy, %, y, noise"
    assert "a + b" in panel.svg
    (panel,) = group_curves({"late fusion": [late.scores, alone.scores], "tensor <fusion>": [other.scores]})
    assert panel.svg.count("tensor &lt;fusion&gt;") == 1
    assert strength_curves(late.scores[:1]) == []
    seeds = [
        run(name, values, seed) for name, values in (("late fusion", (90, 70, 40)), ("net", (95, 80, 50))) for seed in (1, 2)
    ]
    write_study(seeds, tmp_path, name="robust")
    page = (tmp_path / "study.md").read_text()
    assert "Relative robustness" in page
    assert "## Robustness" in page
