"""Settings in place of a path, a path in place of settings: one sentence says what was expected."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from molyneux.core import ConfigError, MolyneuxError, StoreError
from molyneux.run import (
    Experiment,
    Study,
    check_study,
    default_folder,
    export_run,
    export_samples,
    is_run,
    judged_data,
    load_experiment,
    load_study,
    measure_again,
    measure_model,
    open_evaluation,
    open_experiment,
    opened_export,
    parse_experiment,
    read_data,
    read_experiment,
    report_run,
    run_experiment,
    run_study,
    verify_export,
)

SETTINGS = {"data": {"world": "CdSprites"}}
FILES = (load_experiment, judged_data, read_data, load_study, check_study)
FOLDERS = (open_experiment, open_evaluation, report_run, measure_again, verify_export)


def opened(folder: Any) -> None:
    with opened_export(folder):
        pass


@pytest.mark.parametrize("function", [read_experiment, parse_experiment, lambda value: measure_model("module:load", value)])
@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("runs/a.yaml", "the path 'runs/a.yaml': "),
        (Path("a.yaml"), "the path 'a.yaml': "),
        (None, "of the class NoneType"),
    ],
)
def test_a_path_is_no_settings(function: Callable[[Any], object], given: object, shown: str) -> None:
    with pytest.raises(ConfigError, match=r"^expected settings by name, shaped as a file is, got ") as caught:
        function(given)
    assert shown in str(caught.value)


def test_who_reads_a_file_is_named() -> None:
    with pytest.raises(ConfigError, match=r"got the path 'a.yaml': load_experiment reads a file$"):
        read_experiment("a.yaml")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"got the path 'a.yaml': read_data reads a file$"):
        measure_model("module:load", "a.yaml")  # type: ignore[arg-type]
    with pytest.raises(
        ConfigError, match=r"^expected the path of an experiment file, got settings: read_experiment takes settings$"
    ):
        load_experiment(SETTINGS)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "function",
    [
        *FILES,
        *FOLDERS,
        is_run,
        opened,
        lambda value: export_run(value, "out"),
        lambda value: export_samples(value, "out"),
        lambda value: measure_model(value, SETTINGS),
        lambda value: measure_model("module:load", SETTINGS, out=value),
    ],
)
@pytest.mark.parametrize("given", [SETTINGS, 7])
def test_settings_are_no_path(function: Callable[[Any], object], given: object) -> None:
    with pytest.raises(ConfigError, match=r"^expected (the path|the folder|a folder|module).*, got (settings|an object)"):
        function(given)


@pytest.mark.parametrize("function", FOLDERS)
def test_a_file_is_no_folder(function: Callable[[Any], object], tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("seed: 1\n")
    with pytest.raises(StoreError, match=r"^expected the folder of .*, got the file .*a\.yaml: name a folder$"):
        function(tmp_path / "a.yaml")


@pytest.mark.parametrize("function", FILES)
def test_a_folder_is_no_file(function: Callable[[Any], object], tmp_path: Path) -> None:
    with pytest.raises(MolyneuxError, match=r"expected a plain file .*, got a folder"):
        function(tmp_path)


@pytest.mark.parametrize("function", [lambda value: run_experiment(value, "out"), default_folder])
@pytest.mark.parametrize(
    ("given", "ending"),
    [("a.yaml", "got the path 'a.yaml': load_experiment makes one"), (SETTINGS, "got settings: read_experiment makes one")],
)
def test_neither_is_an_experiment(function: Callable[[Any], object], given: object, ending: str) -> None:
    with pytest.raises(ConfigError, match=f"^expected an object of the class {Experiment.__name__}, {ending}$"):
        function(given)


@pytest.mark.parametrize("given", ["study.yaml", SETTINGS, None])
def test_neither_is_a_study(given: Any) -> None:
    with pytest.raises(ConfigError, match=f"^expected an object of the class {Study.__name__}, got .*: load_study makes one"):
        run_study(given, "runs", "results", progress=lambda *_: None)  # type: ignore[arg-type]
