"""Every optional setting of a class is named by a guide, a configuration, a study or another file of the package."""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

from molyneux.core.tooling.classes import REQUIRED, arguments

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "data",
    "data.imperfections",
    "learn",
    "learn.diffusion",
    "learn.encoders",
    "learn.encoders.nets",
    "learn.fusion",
    "learn.likelihoods",
    "learn.objectives",
    "learn.predictors",
    "learn.predictors.imputations",
    "learn.predictors.objectives",
    "learn.priors",
    "measure",
)
VALUES = {"Tree.children"}
"""Not settings: what functions put there."""


@pytest.fixture(scope="module")
def words():
    """All words of guides, configurations and studies."""
    places = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("configs/**/*.yaml"), *ROOT.glob("studies/*.py"), ROOT / "README.md"]
    return {word for path in places for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}


@pytest.fixture(scope="module")
def given():
    """By name, the files of the package in which a call gives an argument of that name."""
    found = {}
    for path in (ROOT / "src").rglob("*.py"):
        calls = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))
        for name in {keyword.arg for call in calls for keyword in call.keywords}:
            found.setdefault(name, set()).add(path.resolve())
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_every_setting_is_shown_or_used(package, words, given):
    module = import_module(f"molyneux.{package}")
    classes = [item for name in module.__all__ if inspect.isclass(item := getattr(module, name))]
    unknown = [
        f"{kind.__name__}.{name}"
        for kind in classes
        for name, argument in arguments(kind).items()
        if argument.default is not REQUIRED
        and name not in words
        and not given.get(name, set()) - {Path(inspect.getfile(kind)).resolve()}
    ]
    assert [name for name in unknown if name not in VALUES] == [], "say in the guide what it is for, or take it away"
