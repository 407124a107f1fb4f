"""Readers and what a model generates that does not know the rotation: the mean of one shape over rotations."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional

from molyneux import data
from molyneux.learn import load_judge


def turned(pictures, degrees):
    """Mean of pictures (B, 3, 64, 64) over rotations about the centroid of what is bright."""
    weight = pictures.sum(1) / pictures.sum((1, 2, 3))[:, None, None]
    y, x = torch.meshgrid(torch.arange(64.0), torch.arange(64.0), indexing="ij")
    y, x = (axis - (weight * axis).sum((1, 2))[:, None, None] for axis in (y, x))
    middle_y, middle_x = y[:, :1, :1], x[:, :1, :1]
    mean = torch.zeros_like(pictures)
    for angle in map(math.radians, degrees):
        at_x = math.cos(angle) * x - math.sin(angle) * y - middle_x
        at_y = math.sin(angle) * x + math.cos(angle) * y - middle_y
        grid = torch.stack([(at_x + 0.5) / 32 - 1, (at_y + 0.5) / 32 - 1], -1)
        mean += functional.grid_sample(pictures, grid, align_corners=False) / len(degrees)
    return (mean * 255).round().to(torch.uint8)


@pytest.mark.parametrize("level", [1, 2, 3])
def test_the_shipped_judge_reads_means_over_a_few_rotations_and_abstains_from_means_over_all(level):
    world = data.CdSprites(level=level)
    source = world.source("test", 80, seed=3)
    batch = source.batch(np.arange(80))
    truth = batch.factors[:, source.spec.factor_index("shape")]
    judge = load_judge(world.name, "image")
    pictures = batch.views["image"] / 255
    some, all_round = turned(pictures, np.linspace(-9, 9, 7)), turned(pictures, np.linspace(-180, 165, 24))
    abstaining = judge.reader(source.spec, "image", ("shape",))
    forced = judge.reader(source.spec, "image", ("shape",), abstain=False)
    assert (abstaining.read(some).codes[:, 0] == truth).double().mean() > 0.93
    assert (abstaining.read(all_round).codes[:, 0] < 0).double().mean() > 0.95
    assert (forced.read(all_round).codes[:, 0] == truth).double().mean() > 0.5  # chance is a third


def test_the_exact_reader_reads_true_shapes_and_no_means_over_rotations():
    world = data.CdSprites(level=1)
    batch = world.source("test", 60, seed=3).batch(np.arange(60))
    reader = world.readers()["image"]
    assert torch.equal(reader.read(batch.views["image"]).codes[:, 0], batch.factors[:, 0])
    discs = turned(batch.views["image"] / 255, np.linspace(-180, 165, 24))
    assert (reader.read(discs).codes[:, 0] < 0).all()
