import numpy as np
import pytest
import torch

from molyneux.core import Batch, Factor, Modality, Spec


class Blobs:
    """A bright square on the left or on the right of a picture, red or green; `factors` says which of both it knows."""

    def __init__(self, size=64, *, factors=("side", "colour"), colours=("red", "green"), seed=0, pixels=64):
        random = np.random.default_rng(seed)
        known = {"side": Factor("side", ("left", "right")), "colour": Factor("colour", colours)}
        self.spec = Spec((Modality("image", "image", (3, pixels, pixels), "uint8"),), tuple(known[name] for name in factors))
        side, colour = random.integers(0, 2, size), random.integers(0, len(colours), size)
        self.codes = torch.from_numpy(np.stack([{"side": side, "colour": colour}[name] for name in factors], 1))
        self.pictures = torch.from_numpy(random.integers(0, 60, (size, 3, pixels, pixels)).astype(np.uint8))
        half = pixels // 2
        for i in range(size):
            column = half * int(side[i]) + half // 4
            channel = ("red", "green", "blue").index(colours[colour[i]])
            self.pictures[i, channel, half // 2 : half, column : column + half // 2] = 250

    def __len__(self):
        return len(self.codes)

    def batch(self, indices):
        at = torch.as_tensor(np.asarray(indices))
        return Batch({"image": self.pictures[at]}, factors=self.codes[at])


class Contours:
    """Circles and squares, small and large, as 64 points in a plane with seeded starts."""

    def __init__(self, size=64, *, seed=0):
        random = np.random.default_rng(seed)
        self.spec = Spec(
            (Modality("touch", "series", (64, 2)),), (Factor("shape", ("circle", "square")), Factor("size", ("small", "large")))
        )
        self.codes = torch.from_numpy(random.integers(0, 2, (size, 2)))
        angle = np.linspace(0, 2 * np.pi, 64, endpoint=False)
        circle = np.stack([np.cos(angle), np.sin(angle)], 1)
        square = circle / np.abs(circle).max(1, keepdims=True)
        points = np.stack([circle, square])[self.codes[:, 0]] * np.array([0.1, 0.2])[self.codes[:, 1], None, None]
        starts = random.integers(0, 64, size)
        rolled = np.stack([np.roll(row, start, 0) for row, start in zip(points, starts, strict=True)])
        self.points = torch.from_numpy((rolled + random.uniform(0.3, 0.7, (size, 1, 2))).astype(np.float32))

    def __len__(self):
        return len(self.codes)

    def batch(self, indices):
        at = torch.as_tensor(np.asarray(indices))
        return Batch({"touch": self.points[at]}, factors=self.codes[at])


@pytest.fixture
def blobs():
    return Blobs


@pytest.fixture
def contours():
    return Contours


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    torch.set_num_threads(1)
