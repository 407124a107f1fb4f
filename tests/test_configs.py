"""Every file in `configs/` loads, and trains for one step."""

from pathlib import Path

import pytest

from molyneux.run import Experiment, check_study, load_experiment, run_experiment

CONFIGS = Path(__file__).parents[1] / "configs"
EXPERIMENTS = sorted(CONFIGS.glob("*.yaml"))
STUDIES = sorted((CONFIGS / "studies").glob("*.yaml"))
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


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_an_experiment_is_run_for_one_step(path: Path, tmp_path: Path) -> None:
    experiment: Experiment = load_experiment(path, SMALL)
    outcome = run_experiment(experiment, tmp_path / "run")
    assert len(outcome.pages) == len(experiment.report.formats)
    families = {score.name.partition(".")[0] for score in outcome.scores if score.value is not None}
    assert experiment.measure.measures[0].name in families


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_every_point_of_a_study_is_checked(path: Path) -> None:
    assert check_study(path) > 0


@pytest.mark.parametrize("path", [*EXPERIMENTS, *STUDIES], ids=lambda path: path.stem)
def test_the_first_line_says_what_it_is(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# ")
    assert first.endswith(".")
