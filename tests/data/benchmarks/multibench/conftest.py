"""A twin of each data set in a published layout, written once."""

import pytest

from molyneux.data import write_twin
from molyneux.data.benchmarks.twins import twin_kinds

KINDS = {kind.__name__: kind for kind in twin_kinds()}


@pytest.fixture(scope="session")
def twins(tmp_path_factory):
    return {name: write_twin(name, tmp_path_factory.mktemp(name), size=60, seed=3) for name in KINDS}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param
