"""Compiled noise and blur give the bytes of the plain arithmetic in 64 bits."""

import numpy as np
import pytest
import torch

from molyneux.core import seeds
from molyneux.core.elementary import normals
from molyneux.data.imperfections.pixel_kernels import blurred, noisy
from molyneux.data.imperfections.pixels import _nearest


@pytest.mark.parametrize("scale", [1e-9, 0.01, 0.3, 1.0, 7.0, 300.0])
@pytest.mark.parametrize("count", [12_288, 4_001])
def test_noise(scale, count):
    view = np.random.default_rng(0).integers(0, 256, (8, count), dtype=np.uint8)
    uniforms = seeds.uniforms(seeds.key(1, "noise"), np.arange(8), count + count % 2)
    wanted = (view / 255.0 + normals(uniforms)[:, :count] * scale).clip(0.0, 1.0) * 255.0
    assert np.array_equal(noisy(view, uniforms, scale), wanted.round().astype(np.uint8))


@pytest.mark.parametrize("levels", [3, 256])
@pytest.mark.parametrize("small", [(2, 2), (9, 5), (16, 24), (31, 47), (32, 48)])
def test_blur(levels, small):
    """With few levels, many means lie in the middle between two bytes."""
    view = np.random.default_rng(1).integers(0, levels, (40, 32, 48), dtype=np.uint8)
    shrunk = torch.nn.functional.interpolate(torch.from_numpy(view)[None].double() / 255.0, size=small, mode="area")
    enlarged = torch.nn.functional.interpolate(shrunk.clamp(0.0, 1.0), size=(32, 48), mode="nearest")
    wanted = (enlarged * 255.0).round().to(torch.uint8)[0].numpy()
    up, across = (_nearest(few, many) for few, many in zip(small, (32, 48), strict=True))
    assert np.array_equal(blurred(view, *small, up, across), wanted)
