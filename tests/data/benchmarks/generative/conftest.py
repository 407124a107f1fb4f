"""A twin of each data set of this family, written when it is first asked for."""

import pytest

from molyneux.data import write_twin


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
        import numpy as np

        return dataset.rows(np.arange(dataset.splits[split]), split)

    return read
