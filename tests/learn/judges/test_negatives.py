"""Blends and noise, from which judges learn to abstain, and their labels."""

import numpy as np
import pytest
import torch

from molyneux.core import NO_LABEL, UNREADABLE
from molyneux.learn.judges.negatives import MIXED, SURE, Negatives, _labels


@pytest.mark.parametrize(
    ("codes", "shares", "expected"),
    [
        ([0, 0], [0.5, 0.5], NO_LABEL),  # both show it, but at two places
        ([0, 1], [0.5, 0.5], 2),
        ([0, 1], [0.8, 0.2], NO_LABEL),
        ([1, 0], [0.95, 0.05], 1),
        ([0, 1, 1], [0.4, 0.3, 0.3], 2),
        ([0, 1, 1], [0.2, 0.4, 0.4], NO_LABEL),  # 80 % show the same
        ([-1, -1], [0.5, 0.5], NO_LABEL),  # absent
    ],
)
def test_labels_of_a_blend(codes, shares, expected):
    found = _labels(torch.tensor(codes)[None, :, None], torch.tensor(shares)[None], torch.tensor([2]))
    assert found.tolist() == [[expected]]


def test_blends_are_means_of_true_views_and_noise_shows_nothing(blobs):
    source = blobs(200)
    negatives = Negatives(source, "image", ("side", "colour", "absent"), seed=1)
    assert [factor.values[-1] for factor in negatives.spec.factors] == [UNREADABLE] * 2
    batch = negatives.batch(np.arange(200)).check(negatives.spec)
    again = negatives.batch(np.arange(100, 200))
    assert torch.equal(batch.views["image"][100:], again.views["image"])
    assert torch.equal(batch.factors[100:], again.factors)
    nothing = (batch.factors == 2).all(1)
    assert 0.35 < nothing.double().mean() < 0.85  # all noise, and blends of views that differ in both
    bright = batch.views["image"][~nothing].amax((1, 2, 3))
    assert (bright < 255).all()  # a blend is never brighter than its views, whose brightest pixels have 250


def test_contours_are_scattered_or_shuffled(contours):
    source = contours(100)
    negatives = Negatives(source, "touch", ("shape", "size"), seed=0)
    batch = negatives.batch(np.arange(100)).check(negatives.spec)
    assert batch.views["touch"].shape == source.points.shape
    assert torch.isfinite(batch.views["touch"]).all()
    assert (batch.factors == 2).all(1).any()


def test_limits_leave_a_gap():
    assert 0.5 < MIXED < SURE < 1


def test_some_noise_is_of_one_colour(blobs):
    negatives = Negatives(blobs(400), "image", ("side", "colour"), seed=1)
    batch = negatives.batch(np.arange(400))
    flat = (batch.views["image"].flatten(2).float().std(2) == 0).all(1)
    assert 0.01 < flat.double().mean() < 0.1
    assert (batch.factors[flat] == torch.tensor([len(factor.values) - 1 for factor in negatives.spec.factors])).all()
    shades = set(batch.views["image"][flat][:, :, 0, 0].flatten().tolist())
    assert {0, 255} < shades


def test_cuts_show_one_view_beside_or_above_another(blobs):
    source = blobs(300)
    whole, cut = (Negatives(source, "image", ("side", "colour"), seed=1, cuts=cuts) for cuts in (False, True))
    blended, joined = (negatives.batch(np.arange(300)) for negatives in (whole, cut))
    assert torch.equal(blended.factors, joined.factors)
    differ = (blended.views["image"] != joined.views["image"]).flatten(1).any(1)
    assert 0.1 < differ.double().mean() < 0.3
    columns = {tuple(row) for row in source.pictures.permute(0, 3, 1, 2).flatten(0, 1).flatten(1).tolist()}
    rows = {tuple(row) for row in source.pictures.permute(0, 2, 1, 3).flatten(0, 1).flatten(1).tolist()}
    beside = above = 0
    for picture in joined.views["image"][differ]:
        if all(tuple(column) in columns for column in picture.permute(2, 0, 1).flatten(1).tolist()):
            beside += 1
        else:
            assert all(tuple(row) in rows for row in picture.permute(1, 0, 2).flatten(1).tolist())
            above += 1
    assert beside > 5
    assert above > 5
