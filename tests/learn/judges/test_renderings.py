"""What fools a judge does not fool the reader that compares pictures with all renderings."""

import numpy as np
import torch
from tests.learn.judges.test_blur_of_rotation import turned

from molyneux import data


def test_renderings_tell_true_shapes_and_no_means_over_rotations():
    world = data.CdSprites(level=1)
    batch = world.source("test", 60, seed=3).batch(np.arange(60))
    reader = world.readers()["image"]
    assert torch.equal(reader.read(batch.views["image"]).codes[:, 0], batch.factors[:, 0])
    discs = turned(batch.views["image"] / 255, np.linspace(-180, 165, 24))
    assert (reader.read(discs).codes[:, 0] < 0).all()
