"""Small sources for the tests of this room."""

import numpy as np
import pytest
import torch

from molyneux.core import Batch, Factor, Modality, Spec
from molyneux.data import ArraySource

LETTERS = (" ", *"abcdefghijklmnopqrstuvwxyz")


def written(captions, length):
    """Captions as ids (N, length) uint8 of the 27-symbol alphabet."""
    return torch.tensor([[LETTERS.index(symbol) for symbol in caption.ljust(length)] for caption in captions], dtype=torch.uint8)


def samples(size, *, seed=0, masks=False):
    """A spec and a batch with every kind of column: a picture, a caption, a series, factors, a target."""
    random = np.random.default_rng(seed)
    spec = Spec(
        (
            Modality("image", "image", (3, 8, 8), "uint8"),
            Modality("text", "text", (9,), "uint8", LETTERS, 0),
            Modality("touch", "series", (64, 5)),
        ),
        (Factor("colour", ("red", "blue")), Factor("place", ("left", "right", "top"))),
        Modality("agrees", "label", (), "int64", ("no", "yes")),
    )
    factors = np.stack([random.integers(0, 2, size), random.integers(-1, 3, size)], 1)
    views = {
        "image": torch.from_numpy(random.integers(0, 256, (size, 3, 8, 8), dtype=np.uint8)),
        "text": written([("red", "blue")[code] for code in factors[:, 0]], 9),
        "touch": torch.from_numpy(contours(size)),
    }
    present = {"image": torch.arange(size) % 3 != 1} if masks else {}
    return spec, Batch(views, present, torch.from_numpy(factors), torch.from_numpy(random.integers(0, 2, size)))


def contours(size):
    """Circles that grow with the number of the sample, (size, 64, 5) float32."""
    angle = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    radius = 0.1 + 0.3 * np.arange(size)[:, None] / size
    columns = [0.5 + radius * np.cos(angle), 0.5 + radius * np.sin(angle), -np.sin(angle), np.cos(angle), np.full(64, 0.1)]
    return np.stack(np.broadcast_arrays(*columns), 2).astype(np.float32)


def same(one, other):
    """Whether two batches hold the same bytes."""

    def equal(a, b):
        return (a is None) == (b is None) and (a is None or (a.dtype == b.dtype and torch.equal(a, b)))

    keys = one.views.keys() == other.views.keys() and one.present.keys() == other.present.keys()
    return keys and all(
        equal(a, b)
        for a, b in [
            *((one.views[name], other.views[name]) for name in one.views),
            *((one.present[name], other.present[name]) for name in one.present),
            (one.factors, other.factors),
            (one.target, other.target),
        ]
    )


@pytest.fixture
def make():
    """A source of `size` samples in memory, and the batch in it."""

    def build(size, **settings):
        spec, batch = samples(size, **settings)
        return ArraySource(spec, batch), batch

    return build


@pytest.fixture(name="same")
def same_fixture():
    return same
