"""A twin of each data set in a published layout, written once, also with raw texts in the place of features of texts."""

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
