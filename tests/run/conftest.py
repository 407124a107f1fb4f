"""A finished run of the toy world, made once, and its module on the path of this and other processes."""

import copy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from molyneux.core.config import read_document
from molyneux.run import Experiment, Outcome, read_experiment, run_experiment

HERE = Path(__file__).parent


@pytest.fixture(scope="session", autouse=True)
def _toy_on_the_path() -> Iterator[None]:
    sys.path.insert(0, str(HERE))
    yield
    sys.path.remove(str(HERE))


@pytest.fixture(scope="session")
def settings_once() -> dict[str, Any]:
    """The settings of the toy experiment."""
    return {"name": "toy", **read_document(HERE / "toy.yaml")}


@pytest.fixture
def settings(settings_once: dict[str, Any]) -> dict[str, Any]:
    """The settings of the toy experiment, to be changed."""
    return copy.deepcopy(settings_once)


@pytest.fixture(scope="session")
def experiment(_toy_on_the_path: None, settings_once: dict[str, Any]) -> Experiment:
    """The toy experiment."""
    return read_experiment(settings_once)


@pytest.fixture(scope="session")
def finished(experiment: Experiment, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Its run; tests may read it and must not change it."""
    return run_experiment(experiment, tmp_path_factory.mktemp("runs") / "toy")
