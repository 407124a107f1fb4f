import numpy as np
from scipy import stats

from molyneux.core import seeds
from molyneux.core.elementary import cosine, log, normals, sine


def test_functions_are_those_of_numpy_to_the_last_places():
    values = seeds.generator(0, "values").uniform(-50.0, 50.0, (40, 50))
    for own, reference in ((sine, np.sin), (cosine, np.cos)):
        np.testing.assert_allclose(own(values), reference(values), rtol=4e-16, atol=1e-16)
    np.testing.assert_allclose(log(np.abs(values)), np.log(np.abs(values)), rtol=4e-16)
    assert np.array_equal(log(np.array([0.0, 1.0, -1.0])), [-np.inf, 0.0, np.nan], equal_nan=True)


def test_any_shape_and_layout():
    values = np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1)
    assert np.array_equal(sine(values), sine(np.ascontiguousarray(values)))
    assert sine(np.float32(1.0)).shape == ()
    assert sine(np.empty((0, 3))).shape == (0, 3)


def test_normals_are_standard_normal_and_independent():
    found = normals(seeds.uniforms(seeds.key(1, "normals"), np.arange(50_000), 4))
    for column in found.T:
        assert stats.kstest(column, "norm").pvalue > 1e-4
    assert np.abs(np.corrcoef(found.T) - np.eye(4)).max() < 0.02
    assert np.abs(np.corrcoef((found**2).T) - np.eye(4)).max() < 0.02


def test_normals_of_zeros_are_finite():
    """1 - u is never 0, because u is below 1."""
    assert np.isfinite(normals(np.array([[0.0, 0.0, np.nextafter(1.0, 0.0), 0.5]]))).all()
