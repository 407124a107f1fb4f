import numpy as np
import pytest

from molyneux.core import ConfigError, DataError
from molyneux.measure.homotopy import dimensionwise_codes, homotopy_codes


@pytest.fixture
def ends():
    return np.random.default_rng(0).normal(size=(2, 5, 3))


def test_the_line_has_its_ends_to_the_last_bit_and_even_steps(ends):
    path = homotopy_codes(*ends)
    assert path.shape == (5, 6, 3)
    assert np.array_equal(path[:, 0], ends[0])
    assert np.array_equal(path[:, -1], ends[1])
    assert np.allclose(path[:, 2], 0.6 * ends[0] + 0.4 * ends[1])


def test_one_dimension_moves_at_a_time_as_a_loop_would_do_it(ends):
    path = dimensionwise_codes(*ends, steps=4)
    assert path.shape == (5, 3, 4, 3)
    for pair in range(5):
        code = ends[0, pair].copy()
        for leg in range(3):
            for step, share in enumerate((0, 1 / 3, 2 / 3, 1)):
                code[leg] = (1 - share) * ends[0, pair, leg] + share * ends[1, pair, leg]
                assert np.allclose(path[pair, leg, step], code)
    assert np.array_equal(path[:, 1:, 0], path[:, :-1, -1])
    assert np.array_equal(path[:, -1, -1], ends[1])


def test_single_codes_have_paths_too(ends):
    first, second = ends[:, 0]
    assert np.array_equal(homotopy_codes(first, second), homotopy_codes(*ends)[0])
    assert np.array_equal(dimensionwise_codes(first, second), dimensionwise_codes(*ends)[0])


def test_codes_that_do_not_fit_are_refused(ends):
    with pytest.raises(ConfigError, match="at least 2"):
        homotopy_codes(*ends, steps=1)
    with pytest.raises(DataError, match=r"one shape, got \(5, 3\) and \(5, 2\)"):
        dimensionwise_codes(ends[0], ends[1, :, :2])


@pytest.mark.parametrize("path", [homotopy_codes, dimensionwise_codes])
def test_codes_that_are_not_finite_and_parts_of_steps_are_refused(ends, path):
    with pytest.raises(
        DataError, match=r"^z1: expected finite numbers, got 1 that are not, the first \(nan\) in row 0, dimension 0"
    ):
        path([np.nan], [0.0])
    ends[1, 4, 2] = np.inf
    with pytest.raises(
        DataError, match=r"^z2: expected finite numbers, got 1 that are not, the first \(inf\) in row 4, dimension 2"
    ):
        path(*ends)
    for steps in (2.5, "6", None):
        with pytest.raises(ConfigError, match="steps: expected a whole number of at least 2"):
            path([0.0], [1.0], steps=steps)
    assert path([0.0], [1.0], steps=np.int64(2)).ravel().tolist() == [0, 1]
