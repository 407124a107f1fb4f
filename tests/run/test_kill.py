"""A run that is killed in any phase, and started again, ends with the scores of one that was not."""

import importlib
import multiprocessing
import time
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np
import pytest

from molyneux.core import seeds
from molyneux.run import Experiment, Outcome, read_experiment, run_experiment

STAGES = ("samples", "model", "measure", "report")
OVERRIDES = [
    ("data.keep", True),
    ("data.train", 2000),
    ("learn.steps", 120),
    ("learn.checkpoint_seconds", 0.05),
    ("measure", ["coherence"]),
]


@pytest.fixture(scope="module")
def context(all_modules: list[str]) -> ForkServerContext:
    """Starts processes in which everything is imported already."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(all_modules)
    return context


@pytest.fixture(scope="module")
def experiment(_toy_on_the_path: None, settings_once: dict[str, object]) -> Experiment:
    return read_experiment(settings_once, OVERRIDES)


@pytest.fixture(scope="module")
def undisturbed(experiment: Experiment, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return run_experiment(experiment, tmp_path_factory.mktemp("undisturbed") / "run")


def begun(folder: Path, stage: str) -> bool:
    """Whether the stage before is complete (or, for the first, anything is there)."""
    before = STAGES.index(stage) - 1
    return (folder / STAGES[before] / "stage.json").exists() if before >= 0 else (folder / "config.yaml").exists()


def process_of(context: ForkServerContext, settings: dict[str, object], folder: Path) -> BaseProcess:
    """A process that runs the experiment."""
    return context.Process(target=importlib.import_module("toy").work, args=(settings, OVERRIDES, str(folder)))


def kill_in(stage: str, folder: Path, process: BaseProcess, rng: np.random.Generator) -> bool:
    """Kill a run while it is in a stage, after a random time; whether it was in that stage."""
    process.start()
    while process.is_alive() and not begun(folder, stage):
        time.sleep(0.0005)
    time.sleep(rng.uniform(0, {"samples": 0.1, "model": 0.6, "measure": 0.05, "report": 0.15}[stage]))
    process.kill()
    process.join()
    return begun(folder, stage) and not (folder / stage / "stage.json").exists()


@pytest.mark.slow
def test_killed_in_every_phase_and_started_again(
    experiment: Experiment,
    undisturbed: Outcome,
    context: ForkServerContext,
    settings_once: dict[str, object],
    tmp_path: Path,
) -> None:
    rng = seeds.generator(1, "kill")
    killed = []
    for attempt in range(10):
        folder = tmp_path / f"run{attempt}"
        for stage in STAGES:
            if kill_in(stage, folder, process_of(context, settings_once, folder), rng):
                killed.append(stage)
        assert run_experiment(experiment, folder).scores == undisturbed.scores
        for name in ("measure/scores.jsonl", "model/weights.safetensors"):
            assert (folder / name).read_bytes() == (undisturbed.folder / name).read_bytes()
        assert not list(folder.rglob("*.part"))
        if set(killed) == set(STAGES):
            return
    pytest.fail(f"the run was killed in {sorted(set(killed))} only")
