"""Every file in `configs/` loads, and trains for one step; those that read published files, where these are at hand."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from molyneux.core.config import override, read_document
from molyneux.run import Experiment, check_study, experiment_schema, load_experiment, run_experiment, study_schema
from molyneux.run.schema import write_schemas

CONFIGS = Path(__file__).parents[1] / "configs"
READS_FILES = (
    "ag-news",
    "av-mnist",
    "av-mnist-recipes",
    "fashion-mnist",
    "missing-senses-av-mnist",
    "polymnist",
    "spoken-digits",
    "stocks",
)
READS_A_PACKAGE = {"molyneux-characters": "hanzi-writer-data"}
"""Those that read files of a package, by the name of its folder in `MOLYNEUX_DATA`."""


def listed(folder: Path) -> list:
    """Its files; those that read published data sets are marked, and skipped where these are not at hand."""
    return [pytest.param(path, id=path.stem, marks=needs(path.stem)) for path in sorted(folder.glob("*.yaml"))]


def needs(name: str) -> list[pytest.MarkDecorator]:
    """Marks of a file that reads published files."""
    package = READS_A_PACKAGE.get(name)
    if package is None and name not in READS_FILES:
        return []
    place = Path(os.environ.get("MOLYNEUX_DATA", "nowhere"))
    here = (place if package is None else place / package).is_dir()
    return [pytest.mark.realdata, pytest.mark.skipif(not here, reason=f"needs {package or 'files'} in MOLYNEUX_DATA")]


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
    after = [("learn.model.init_args.diffusion.after.steps", 1)] * ("after:" in path.read_text(encoding="utf-8"))
    experiment: Experiment = load_experiment(path, [*SMALL, *after])
    outcome = run_experiment(experiment, tmp_path / "run")
    assert len(outcome.pages) == len(experiment.report.formats)
    families = {score.name.partition(".")[0] for score in outcome.scores if score.value is not None}
    assert experiment.measure.measures[0].name in families


@pytest.mark.parametrize("path", STUDIES)
def test_every_point_of_a_study_is_checked(path: Path) -> None:
    assert check_study(path) > 0


@pytest.mark.parametrize(
    "path", [*sorted(CONFIGS.glob("*.yaml")), *sorted((CONFIGS / "studies").glob("*.yaml"))], ids=lambda path: path.stem
)
def test_the_first_lines_name_the_schema_and_say_what_it_is(path: Path) -> None:
    first, second = path.read_text(encoding="utf-8").splitlines()[:2]
    assert first == "# yaml-language-server: $schema=schema.json"
    assert second.startswith("# ")
    assert second.endswith(".")


def test_schemas_are_written_where_editors_look_for_them(tmp_path: Path) -> None:
    write_schemas(tmp_path)
    for path, schema in ((tmp_path, experiment_schema), (tmp_path / "studies", study_schema)):
        assert json.loads((path / "schema.json").read_text(encoding="utf-8")) == schema()


@pytest.mark.parametrize(
    ("folder", "schema"), [(CONFIGS, experiment_schema), (CONFIGS / "studies", study_schema)], ids=["experiments", "studies"]
)
def test_every_file_fits_its_schema(folder: Path, schema: Callable[[], dict[str, Any]]) -> None:
    current = schema()
    validator = jsonschema.Draft202012Validator(current)
    validator.check_schema(current)
    for path in folder.glob("*.yaml"):
        assert [error.message for error in validator.iter_errors(read_document(path))] == [], path


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("sed", 1),
        ("data.world.levl", 1),
        ("data.train", "many"),
        ("data.train", 0),
        ("learn.model", "MVEA"),
        ("learn.model.latent_dim", 1.5),
        ("learn.precision", 16),
        ("measure", ["coherense"]),
        ("report", "pdf"),
    ],
)
def test_the_schema_refuses_what_is_wrong(path: str, value: Any) -> None:
    tree = read_document(CONFIGS / "quickstart.yaml")
    validator = jsonschema.Draft202012Validator(experiment_schema())
    assert validator.is_valid(override(tree, "learn.precision", 32))
    assert not validator.is_valid(override(tree, path, value))
