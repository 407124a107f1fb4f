"""The published letters and their ideal codes, byte for byte."""

import hashlib

import numpy as np
import pytest

from molyneux.core import ConfigError, DataError
from molyneux.data import Letters, ideal_codes


@pytest.fixture(scope="module")
def factors():
    return Letters(split="published").sentences(np.arange(32_000), split="test", seed=0).codes


def test_published_codes(factors):
    codes = ideal_codes(factors, 1)
    rows = "".join(f"{row},{','.join(map(repr, code))}\n" for row, code in enumerate(codes.tolist()))
    assert hashlib.md5(f"index,dim1,dim2,dim3,dim4\n{rows}".encode()).hexdigest()[:8] == "ac7d8ba3"
    np.testing.assert_allclose(codes.var(0, ddof=1), [0.213197, 0.363131, 0.375292, 0.348433], atol=5e-7)
    firsts = ideal_codes(np.zeros((1, 4), np.int64), 1)[0]
    np.testing.assert_allclose(firsts, [0.097627, -0.682061, 0.450509, -0.670612], atol=5e-7)


@pytest.mark.parametrize(("example", "bins"), [(1, [14, 14, 11, 12]), (2, [13, 12, 12, 14, 11, 13, 14, 12])])
def test_values_share_bins(factors, example, bins):
    """Of 20 equal bins over the range of a dimension so many are used."""
    codes = ideal_codes(factors, example)
    found = [(np.histogram(column, 20)[0] > 0).sum() for column in codes.T]
    assert found == bins


def test_what_is_no_letters():
    for factors in (np.zeros((3, 3), int), np.zeros((3, 4)), np.full((1, 4), 20), np.full((1, 4), -1)):
        with pytest.raises(DataError, match="expected factors"):
            ideal_codes(factors, 1)
    with pytest.raises(ConfigError, match="example 1 or 2"):
        ideal_codes(np.zeros((1, 4), int), 3)
