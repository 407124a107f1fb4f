"""Small sources for the tests of this room."""

from pathlib import Path

import numpy as np
import pytest
import torch

from molyneux.core import Batch, Factor, Modality, MolyneuxError, Quantity, Spec, Target
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
        (
            Target("agrees", "class", ("no", "yes")),
            Target("BRK.B", "number", shape=(2,), bounds=(-9.0, 9.0)),
            Target("tags", "multilabel", ("a", "b", "c")),
        ),
        (Quantity("angle", (0.0, 360.0), "degrees", periodic=True),),
    )
    factors = np.stack([random.integers(0, 2, size), random.integers(-1, 3, size)], 1)
    views = {
        "image": torch.from_numpy(random.integers(0, 256, (size, 3, 8, 8), dtype=np.uint8)),
        "text": written([("red", "blue")[code] for code in factors[:, 0]], 9),
        "touch": torch.from_numpy(contours(size)),
    }
    present = {"image": torch.arange(size) % 3 != 1} if masks else {}
    lengths = {"touch": torch.arange(size) % 65} if masks else {}
    targets = {
        "agrees": torch.from_numpy(random.integers(0, 2, size)),
        "BRK.B": torch.from_numpy(random.uniform(-9, 9, (size, 2)).astype(np.float32)),
        "tags": torch.from_numpy(random.integers(0, 2, (size, 3), dtype=np.uint8)),
    }
    known = {"BRK.B": torch.arange(size) % 4 > 0} if masks else {}
    angles = torch.from_numpy(random.uniform(0, 360, (size, 1)).astype(np.float32))
    angles[::5] = torch.nan
    return spec, Batch(views, present, torch.from_numpy(factors), lengths, targets, known, angles)


def contours(size):
    """Circles that grow with the number of the sample, (size, 64, 5) float32."""
    angle = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    radius = 0.1 + 0.3 * np.arange(size)[:, None] / size
    columns = [0.5 + radius * np.cos(angle), 0.5 + radius * np.sin(angle), -np.sin(angle), np.cos(angle), np.full(64, 0.1)]
    return np.stack(np.broadcast_arrays(*columns), 2).astype(np.float32)


def same(one, other):
    """Whether two batches hold the same bytes; NaN is the same as NaN."""
    mine, theirs = ({name: torch.nan_to_num(tensor, 7e7) for name, tensor in batch.tensors().items()} for batch in (one, other))
    return mine.keys() == theirs.keys() and all(
        mine[name].dtype == theirs[name].dtype and torch.equal(mine[name], theirs[name]) for name in mine
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


MOST = 200 << 20
"""Bytes that a refusal may take."""


def status(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(name))


@pytest.fixture
def refused():
    """Reads a file that has to be refused, and looks at the memory that this took, where the system tells it."""

    def read(reader, path, match="."):
        try:
            Path("/proc/self/clear_refs").write_text("5")  # the highest memory begins anew
            before = status("VmRSS")
        except OSError:
            before = None
        with pytest.raises(MolyneuxError, match=match) as caught:
            reader(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 600 + len(str(path))
        if before is not None:
            assert status("VmHWM") - before < MOST

    return read
