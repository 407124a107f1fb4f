"""Methods over data sets: the published values of AV-MNIST worked by hand, weights, domains, and fits of trade-offs."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from molyneux.core import DataError, Score
from molyneux.report import StudyRun, Task, aggregate, comparisons, tasks_of, tradeoff_panels, write_study
from molyneux.report.aggregation import UNIMODAL, relative_speed, unimodal_of
from molyneux.report.plots.tradeoffs import fitted
from molyneux.report.settings import flatten

STUDIES = Path(__file__).parents[2] / "configs" / "studies"

ACCURACY = {
    "image": 65.1, "audio": 42.0, "LF": 71.7, "LRTF": 71.5, "MI": 71.2, "MFAS": 72.8, "CCA": 71.9, "RefNet": 70.9, "MFM": 71.8,
    "MVAE": 72.3, "GradBlend": 68.5,
}  # fmt: skip
SECONDS = {"image": 106, "audio": 158, "LF": 260, "LRTF": 470, "MVAE": 679, "RefNet": 1179, "GradBlend": 12539, "MFAS": 17648}


def test_published_values_of_avmnist():
    found = aggregate([Task("AV-MNIST", "digit", ACCURACY)], unimodal=["image", "audio"])
    expected = {"MFAS": 1, "MVAE": 0.935, "CCA": 0.883, "MFM": 0.870, "LF": 0.857, "LRTF": 0.831, "MI": 0.792, "RefNet": 0.753}
    expected |= {"GradBlend": 0.442, UNIMODAL: 0}
    assert {method: one.mean for method, one in found.items()} == pytest.approx(expected, abs=6e-4)
    assert all(one.variance is None for one in found.values())
    speed = relative_speed(Task("AV-MNIST", "seconds", SECONDS), ["image", "audio"]).values
    expected = {"LF": -0.390, "LRTF": -0.647, "MVAE": -0.807, "RefNet": -1.046, "GradBlend": -2.073, "MFAS": -2.221, "image": 0}
    assert {method: speed[method] for method in expected} == pytest.approx(expected, abs=6e-4)


def test_errors_are_turned_round_and_data_sets_weigh_alike():
    tasks = [
        Task("A", "one", {"x": 1.0, "y": 3.0, "z": 2.0}, higher_is_better=False),
        Task("B", "one", {"x": 10.0, "y": 20.0}),
        Task("B", "two", {"x": 5.0, "y": 5.0}),
    ]
    found = aggregate(tasks, in_domain={"x": ["A"], "y": ["B"]})
    assert found["x"].mean == pytest.approx((1 + 0.5 * 0 + 0.5 * 1) / 2)
    assert found["y"].mean == pytest.approx((0 + 0.5 * 1 + 0.5 * 1) / 2)
    assert (found["x"].in_domain, found["x"].out_domain) == (1.0, 0.5)
    assert (found["y"].in_domain, found["y"].out_domain) == (1.0, 0.0)
    assert found["x"].variance == pytest.approx(np.var([1.0, 0.5]))
    assert (found["z"].mean, found["z"].datasets, found["z"].in_domain) == (0.5, 1, None)
    with pytest.raises(DataError, match="at least one task"):
        aggregate([])


def run(name, accuracy, seconds, robust, world="made-v1", seed=1, modalities=None):
    origin = {"world": world}
    scores = [
        Score("prediction.accuracy", accuracy / 2, {"source": "a", "target": "y"}, origin=origin, unit="%"),
        Score("prediction.accuracy", accuracy, {"source": ("a", "b"), "target": "y"}, origin=origin, unit="%"),
        Score("prediction.macro_f1", 1.0, {"source": ("a", "b"), "target": "y"}, origin=origin, unit="%"),
        Score("complexity.training_time", seconds, {}, origin=origin, unit="s", higher_is_better=False),
        Score("robustness.relative", robust, {"source": ("a", "b"), "target": "y", "measure": "m", "under": "u"}, origin=origin),
        Score(
            "robustness.effective", -robust, {"source": ("a", "b"), "target": "y", "measure": "m", "under": "u"}, origin=origin
        ),
    ]
    settings = {"name": name, "seed": seed, "data.modalities": modalities, "data.world.class_path": world}
    return StudyRun(settings, tuple(scores))


RUNS = [
    *(run("late", 70 + seed, 20.0, 0.0, seed=seed) for seed in (1, 2)),
    *(run("tensor", 80 + seed, 200.0, 3.0, seed=seed) for seed in (1, 2)),
    *(run("alone", 60 + seed, 2.0, -3.0, seed=seed, modalities=["a"]) for seed in (1, 2)),
    *(run("attention", 75 + seed, 2000.0, 1.0, seed=seed) for seed in (1, 2)),
]


def test_tasks_are_read_from_the_records_of_a_study():
    (task,) = tasks_of(RUNS)
    assert (task.dataset, task.name) == ("made-v1", "y")
    assert task.values == {"late": 71.5, "tensor": 81.5, "alone": 61.5, "attention": 76.5}
    (robust,) = tasks_of(RUNS, "robustness.relative")
    assert (robust.name, robust.values["tensor"]) == ("y, m, u", 3.0)
    found = comparisons(RUNS)
    assert found["performance"][UNIMODAL].mean == 0
    assert found["performance"]["tensor"].mean == 1
    assert {name: one.mean for name, one in found["speed"].items()} == pytest.approx(
        {UNIMODAL: 1, "late": 2 / 3, "tensor": 1 / 3, "attention": 0}
    )
    assert found["effective"]["tensor"].mean == 0


@pytest.mark.parametrize(
    ("study", "expected"),
    [
        ("av-mnist", {"image", "image-SGD", "audio"}),
        ("push", {"image", "force", "proprioception", "control"}),
        ("stocks", {"LSTM"}),
        ("interactions", {"x1-alone", "x2-alone"}),
    ],
)
def test_unimodal_runs_of_the_shipped_studies_are_found(study, expected):
    settings = yaml.safe_load((STUDIES / f"{study}.yaml").read_text(encoding="utf-8"))
    runs = [StudyRun(flatten({"name": name, **flatten(changes)}), ()) for name, changes in settings["variants"].items()]
    assert unimodal_of(runs) == expected


def test_trade_offs_are_drawn_with_their_fits(tmp_path):
    panels = tradeoff_panels(comparisons(RUNS))
    titles = ["speed", "relative robustness", "effective robustness", "robustness"]
    assert [panel.title for panel in panels] == [f"Performance and {title}" for title in titles]
    assert "tensor" in panels[0].svg
    x = np.array([0.0, 1, 2, 3])
    np.testing.assert_allclose(fitted(x, 2 - x + 3 * x**2, 2), [3, -1, 2], atol=1e-9)
    assert fitted(np.ones(4), x, 1) is None
    write_study(RUNS, tmp_path, name="compared")
    page = (tmp_path / "study.md").read_text()
    assert "Methods over data sets" in page
    assert "| best unimodal |" in page
