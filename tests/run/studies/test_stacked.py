"""Trainings of a study that are computed at once: the runs are those that are trained alone, but for rounding."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from molyneux.cli import main
from molyneux.core import ConfigError, MolyneuxError
from molyneux.core.config import dump_document
from molyneux.report import load_records
from molyneux.run import Study, run_experiment, run_study
from molyneux.run.run.folder import RunFolder
from molyneux.run.studies import stacked
from molyneux.run.studies.stacked import train_stacked
from molyneux.run.studies.study import check_points, run_name


class Told:
    """Remembers the steps of every run."""

    def __init__(self) -> None:
        self.steps: dict[str, list[str]] = {}

    def plan(self, runs: int) -> None:
        pass

    def run(self, name: str, step: str, done: int, total: int) -> None:
        self.steps.setdefault(name, []).append(step)


@pytest.fixture
def base(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A tiny experiment whose world other processes find too."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]), prepend=":")
    settings["learn"] |= {"threads": 1, "tensorboard": False}
    return settings


def runs_of(study: Study) -> list[Any]:
    return [run for each in zip(*check_points(study), strict=True) for run in each]


def test_runs_are_those_that_are_trained_alone(base: dict[str, Any], tmp_path: Path) -> None:
    grid = {"learn.learning_rate": (5e-3, 1e-3), "learn.model.beta": (0.5, 2.0)}
    runs, told = runs_of(Study(name="mine", base=base, grid=grid)), Told()
    assert len(runs) == 4
    assert train_stacked(runs, tmp_path / "stacked", 2, told) == []
    for run in runs:
        folder = RunFolder(tmp_path / "stacked" / run_name(run), run)
        assert folder.model.complete
        assert not folder.measure.complete
        assert told.steps[run_name(run)][0] == "data"
        ours = run_experiment(run, folder.path)
        alone = run_experiment(run, tmp_path / "alone" / run_name(run))
        details = [RunFolder(outcome.folder, run).model.verify() for outcome in (ours, alone)]
        assert {**details[0], "machine": 0, "checksums": 0} == {**details[1], "machine": 0, "checksums": 0}
        weights = [load_file(outcome.folder / "model" / "weights.safetensors") for outcome in (ours, alone)]
        for name, value in weights[0].items():
            torch.testing.assert_close(value, weights[1][name], rtol=1e-3, atol=1e-4)
    times = {run_name(run): (tmp_path / "stacked" / run_name(run) / "model" / "stage.json").stat().st_mtime_ns for run in runs}
    assert train_stacked(runs, tmp_path / "stacked", 2, Told()) == []  # all of them are trained
    for name, time in times.items():
        assert (tmp_path / "stacked" / name / "model" / "stage.json").stat().st_mtime_ns == time


def test_only_what_is_alike_is_put_together(base: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = list[int]()
    together = stacked.learn_stacked
    monkeypatch.setattr(stacked, "learn_stacked", lambda runs: sizes.append(len(runs)) or together(runs))
    grid = {"learn.model.latent_dim": (2, 4), "data.train": (600, 500)}
    runs = runs_of(Study(name="mine", base=base, seeds=(3, 4, 5), grid=grid))
    assert train_stacked(runs[:-1], tmp_path, 2, Told()) == []
    assert sizes == [2, 2, 2, 2]  # of each size two of three seeds; one is left
    done = [RunFolder(tmp_path / run_name(run), run).model.complete for run in runs]
    assert sum(done) == 8


def test_where_a_number_of_the_model_cannot_differ_those_with_the_same_one_are_put_together(
    base: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = stacked.learn_stacked

    def refusing(runs: Any) -> Any:
        if len({str(run.experiment.resolved["learn"]["model"]) for run in runs}) > 1:
            raise ConfigError("beta: expected the same number")
        return together(runs)

    monkeypatch.setattr(stacked, "learn_stacked", refusing)
    runs = runs_of(Study(name="mine", base=base, seeds=(3, 4), grid={"learn.model.beta": (0.5, 2.0)}))
    assert train_stacked(runs, tmp_path, 4, Told()) == ["beta: expected the same number"]
    assert all(RunFolder(tmp_path / run_name(run), run).model.complete for run in runs)


def test_what_cannot_be_stacked_is_told_and_left(base: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(runs: Any) -> None:
        raise ConfigError("model: expected one that does nothing of its own between epochs")

    monkeypatch.setattr(stacked, "learn_stacked", refuse)
    runs = runs_of(Study(name="mine", base=base, seeds=(3, 4)))
    assert train_stacked(runs, tmp_path, 2, Told()) == ["model: expected one that does nothing of its own between epochs"]
    assert not any(RunFolder(tmp_path / run_name(run), run).model.complete for run in runs)
    assert run_experiment(runs[0], tmp_path / run_name(runs[0])).scores


def test_a_run_without_samples_is_left_to_fail_alone(base: dict[str, Any], tmp_path: Path) -> None:
    runs = runs_of(Study(name="mine", base=base, seeds=(3, 4, 5)))
    (spoilt,) = runs_of(Study(name="mine", base=base, seeds=(6,), grid={"data.world.nan_at": (17,)}))
    assert train_stacked([*runs[:2], spoilt], tmp_path, 4, Told()) == []
    with pytest.raises(MolyneuxError, match="finite"):
        run_experiment(spoilt, tmp_path / run_name(spoilt))
    assert all(RunFolder(tmp_path / run_name(run), run).model.complete for run in runs[:2])


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ({"stack": 0}, "expected a stack of at least 1"),
        ({"stack": 2, "on": "ray"}, "--stack: expected a grid that is run here"),
    ],
)
def test_a_stack_that_cannot_be_is_refused(base: dict[str, Any], tmp_path: Path, how: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        run_study(Study(base=base), tmp_path / "runs", tmp_path / "results", progress=Told(), **how)
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_a_sweep_trains_at_once_and_records_every_run(
    base: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(dump_document({"base": {**base, "learn": {**base["learn"], "epochs": 1}}, "seeds": [3, 4]}))
    words = [
        "sweep",
        str(file),
        "--stack",
        "2",
        "--out",
        str(tmp_path / "runs"),
        "--results",
        str(tmp_path / "results"),
        "--quiet",
    ]
    assert main(words) == 0
    assert "Runs: 2 done" in capsys.readouterr().out
    records = load_records(tmp_path / "results")
    assert [record.settings["seed"] for record in records] == [3, 4]
    assert all(record.scores for record in records)
