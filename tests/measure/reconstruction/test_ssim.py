import numpy as np
import pytest
import torch
from scipy.ndimage import correlate1d, gaussian_filter

from molyneux.core import SpecError
from molyneux.measure.reconstruction import ssim


def reference(first, second):
    """Equation 13 with SciPy's Gaussian filter (radius 5), where the window lies inside."""

    def smooth(image):
        return gaussian_filter(image, 1.5, truncate=5 / 1.5)[5:-5, 5:-5]

    mean_a, mean_b = smooth(first), smooth(second)
    var_a, var_b = smooth(first**2) - mean_a**2, smooth(second**2) - mean_b**2
    both = smooth(first * second) - mean_a * mean_b
    numerator = (2 * mean_a * mean_b + 1e-4) * (2 * both + 9e-4)
    return (numerator / ((mean_a**2 + mean_b**2 + 1e-4) * (var_a + var_b + 9e-4))).mean()


@pytest.mark.parametrize("shape", [(3, 32, 32), (1, 28, 40)])
def test_agrees_with_scipy(shape):
    rng = np.random.default_rng(0)
    first = rng.random((4, *shape))
    second = np.clip(first + 0.3 * rng.normal(size=first.shape), 0, 1)
    expected = [np.mean([reference(a, b) for a, b in zip(*pair, strict=True)]) for pair in zip(first, second, strict=True)]
    found = ssim(torch.from_numpy(first), torch.from_numpy(second))
    assert found.numpy() == pytest.approx(expected, abs=1e-9)


def test_small_pictures_take_the_largest_odd_window():
    rng = np.random.default_rng(1)
    first, second = rng.random((2, 8, 8))
    weights = np.exp(-0.5 * ((np.arange(7) - 3) / 1.5) ** 2)
    weights /= weights.sum()

    def smooth(image):
        return correlate1d(correlate1d(image, weights, 0), weights, 1)[3:-3, 3:-3]

    mean_a, mean_b = smooth(first), smooth(second)
    var_a, var_b = smooth(first**2) - mean_a**2, smooth(second**2) - mean_b**2
    both = smooth(first * second) - mean_a * mean_b
    numerator = (2 * mean_a * mean_b + 1e-4) * (2 * both + 9e-4)
    expected = (numerator / ((mean_a**2 + mean_b**2 + 1e-4) * (var_a + var_b + 9e-4))).mean()
    found = ssim(torch.from_numpy(first)[None, None], torch.from_numpy(second)[None, None])
    assert found.item() == pytest.approx(expected)


def test_equal_pictures_are_alike_and_the_order_does_not_matter():
    pictures = torch.rand(2, 5, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    assert ssim(pictures[0], pictures[0]).numpy() == pytest.approx(np.ones(5), abs=1e-6)
    assert torch.allclose(ssim(*pictures), ssim(*pictures.flip(0)))
    assert (ssim(*pictures) < 0.5).all()


def test_shapes_have_to_fit():
    with pytest.raises(SpecError, match="of one shape"):
        ssim(torch.zeros(1, 3, 16, 16), torch.zeros(1, 3, 16, 15))
