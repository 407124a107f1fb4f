"""Wrong values on the command line are told without torch, in the words of the full check, and no right one is refused."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import pytest
from pydantic.fields import FieldInfo

from molyneux.cli import index
from molyneux.cli.annotations import type_of
from molyneux.cli.experiment_names import is_experiment, override_problems, value_problems
from molyneux.core import ConfigError
from molyneux.core.config import read_document
from molyneux.core.tooling.classes import arguments, short_names

ROOT = Path(__file__).parents[2]
QUICKSTART = ROOT / "configs" / "quickstart.yaml"
WRONG: Mapping[str, Any] = {
    "seed": -1,
    "learn.steps": "abc",
    "learn.batch_size": 0,
    "data.train": 1.5,
    "data.world.level": 9,
    "data.world.caption_level": "two",
    "learn.model.latent_dim": "big",
    "measure.samples": True,
    "report": "pdf",
}


@pytest.mark.parametrize(("path", "value"), WRONG.items())
def test_a_wrong_value_is_told_in_the_words_of_the_full_check(path: str, value: Any) -> None:
    from molyneux.run import load_experiment

    quick = override_problems(read_document(QUICKSTART), [(path, value)])
    with pytest.raises(ConfigError) as full:
        load_experiment(QUICKSTART, [(path, value)])
    assert quick == list(full.value.problems)
    assert len(quick) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", str(QUICKSTART), "--learn.steps", "abc"], "learn.steps: expected an integer or null, got 'abc'"),
        (["data", "cdsprites", "--caption-level", "9"], "--caption-level: expected at most 5 or null, got 9"),
    ],
)
def test_a_wrong_value_is_told_without_torch(words: list[str], said: str, tmp_path: Path) -> None:
    words = [*words, "--out", str(tmp_path / "out")]
    code = "import atexit, sys\natexit.register(lambda: print([n for n in ('torch', 'numba') if n in sys.modules]))\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}import molyneux.cli\nsys.exit(molyneux.cli.main({words!r}))"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "[]\n")
    assert done.stderr == f"molyneux: {said}\n"


def alike(one: Any, other: Any) -> bool:
    """Whether two types are the same, but for which object holds the limits of a number."""
    if isinstance(one, FieldInfo):
        return isinstance(other, FieldInfo) and one.metadata == other.metadata
    inner, others = get_args(one), get_args(other)
    if not inner:
        return bool(one == other)
    same = {UnionType: Union}
    origins = {same.get(origin, origin) for origin in (get_origin(one), get_origin(other))}
    return len(origins) == 1 and len(inner) == len(others) and all(map(alike, inner, others))


def test_types_of_settings_are_those_that_an_import_finds() -> None:
    compared = 0
    for kind, (package, *_) in index.FAMILIES.items():
        found = short_names(object, package=package)
        for name, entry in index.classes(kind).items():
            for setting, item in arguments(found[name]).items():
                try:
                    annotation = entry.annotations[setting]
                    quick = type_of(annotation) if annotation else Any
                except LookupError:
                    continue
                assert alike(quick, item.kind), (kind, name, setting, quick, item.kind)
                compared += 1
    assert compared > 500


def test_no_value_of_a_file_of_this_package_is_refused() -> None:
    for path in sorted((ROOT / "configs").rglob("*.yaml")):
        tree = read_document(path)
        if is_experiment(tree):
            assert value_problems(tree) == [], path


def test_a_file_with_wrong_values_is_left_to_the_check_that_tells_all() -> None:
    tree = {**read_document(QUICKSTART), "seed": -1}
    assert value_problems(tree) == ["seed: expected at least 0, got -1"]
    assert override_problems(tree, [("learn.steps", "abc")]) == []


def test_values_of_classes_from_elsewhere_pass() -> None:
    assert value_problems({"learn": {"model": {"class_path": "their.Model", "init_args": {"level": "?"}}}}) == []
