"""Templates tell shapes on black without having been trained, so they can check judges; small figures they tell less well."""

import numpy as np
import pytest
import torch
from tests.learn.judges.templates import bank, tell
from tests.learn.judges.test_blur_of_rotation import turned

from molyneux import data


@pytest.fixture(scope="module")
def templates():
    return bank()


def test_templates_tell_true_shapes_and_no_means_over_rotations(templates):
    source = data.CdSprites(level=1).source("test", 60, seed=3)
    batch = source.batch(np.arange(60))
    assert torch.equal(tell(batch.views["image"], templates=templates), batch.factors[:, 0])
    discs = turned(batch.views["image"] / 255, np.linspace(-180, 165, 24))
    assert (tell(discs, templates=templates) < 0).all()
