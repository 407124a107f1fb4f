"""Twins of data sets in published layouts, also with raw texts in the place of features; small files of pictures with texts."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from molyneux.data import write_twin
from molyneux.data.benchmarks.twins import twin_kinds

KINDS = {kind.__name__: kind for kind in twin_kinds()}
RAW = {
    f"{name} in {unit}": (name, {"text": unit})
    for name in ("CMUMOSEI", "CMUMOSI", "MMIMDb", "MUStARD", "URFunny")
    for unit in ("words", "characters")
}
"""By what a test calls them, data sets with raw texts, and their settings."""


@pytest.fixture(scope="session")
def twins(tmp_path_factory):
    written = {name: write_twin(name, tmp_path_factory.mktemp(name), size=60, seed=3) for name in KINDS}
    return written | {case: KINDS[name](written[name].folder, **settings) for case, (name, settings) in RAW.items()}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(params=[*KINDS, *RAW])
def case(request):
    return request.param


@pytest.fixture(scope="session")
def twin(tmp_path_factory):
    made = {}

    def make(name):
        if name not in made:
            made[name] = write_twin(name, tmp_path_factory.mktemp(name) / "twin", size=120, seed=5)
        return made[name]

    return make


@pytest.fixture
def whole():
    """All samples of a split in the order of the files."""

    def read(dataset, split):
        return dataset.rows(np.arange(dataset.splits[split]), split)

    return read


@pytest.fixture(scope="session")
def foils():
    """The module that writes small files in the layouts of pictures with texts."""
    path = Path(__file__).with_name("foils.py")
    found = spec_from_file_location("foils", path)
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module
