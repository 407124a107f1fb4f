"""Every file in `configs/` loads, and trains for one step; those that read published files, where these are at hand."""

import os
from pathlib import Path

import pytest

from molyneux.run import Experiment, check_study, load_experiment, run_experiment

CONFIGS = Path(__file__).parents[1] / "configs"
READS_FILES = ("ag-news",)


def listed(folder: Path) -> list:
    """Its files; those that read published data sets are marked, and skipped where there are none."""
    marks = [pytest.mark.realdata, pytest.mark.skipif("MOLYNEUX_DATA" not in os.environ, reason="needs MOLYNEUX_DATA")]
    paths = sorted(folder.glob("*.yaml"))
    return [pytest.param(path, id=path.stem, marks=marks if path.stem in READS_FILES else ()) for path in paths]


EXPERIMENTS = listed(CONFIGS)
STUDIES = listed(CONFIGS / "studies")
SMALL = [
    ("data.train", 64),
    ("data.validation", 8),
    ("data.test", 40),
    ("learn.steps", 1),
    ("learn.batch_size", 8),
    ("learn.threads", 1),
]


def test_there_are_some() -> None:
    assert EXPERIMENTS
    assert STUDIES


@pytest.mark.parametrize("path", EXPERIMENTS)
def test_an_experiment_is_run_for_one_step(path: Path, tmp_path: Path) -> None:
    experiment: Experiment = load_experiment(path, SMALL)
    outcome = run_experiment(experiment, tmp_path / "run")
    assert len(outcome.pages) == len(experiment.report.formats)
    families = {score.name.partition(".")[0] for score in outcome.scores if score.value is not None}
    assert experiment.measure.measures[0].name in families


@pytest.mark.parametrize("path", STUDIES)
def test_every_point_of_a_study_is_checked(path: Path) -> None:
    assert check_study(path) > 0


@pytest.mark.parametrize("path", [*EXPERIMENTS, *STUDIES])
def test_the_first_line_says_what_it_is(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# ")
    assert first.endswith(".")
