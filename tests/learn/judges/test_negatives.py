import numpy as np
import torch
from scipy import ndimage

from molyneux import data
from molyneux.learn.judges.blends import RECIPES, make_blends
from molyneux.learn.judges.negatives import Composites
from molyneux.learn.judges.validation import Defocused, Medians, _blur

FACTORS = ("size", "colour", "shape", "position", "background")


def material(level=4, size=200):
    return data.CdSprites(level=level, modalities=("image",)).judge_material("image", "train", size, seed=1)


def made(kind, level=4):
    composites = Composites(material(level), "image", FACTORS, kind=kind)
    batch = composites.batch(np.arange(200)).check(composites.spec)
    again = composites.batch(np.arange(199, -1, -1))
    assert torch.equal(batch.views["image"], again.views["image"].flip(0))
    truth = composites.material.views.batch(np.arange(200))
    names = [factor.name for factor in composites.material.views.spec.factors]
    true = truth.factors[:, [names.index(factor.name) for factor in composites.spec.factors]]
    unreadable = batch.factors == torch.tensor([len(factor.values) - 1 for factor in composites.spec.factors])
    names = [factor.name for factor in composites.spec.factors]
    return batch, truth.views["image"].float(), true, dict(zip(names, unreadable.T, strict=True)), names


def test_smooth_objects_stay_what_and_where_they_are():
    batch, view, true, _, _ = made("smooth")
    assert torch.equal(batch.factors, true)
    assert torch.equal(batch.views["image"].amax(1) > 60, view.amax(1) > 0) or (
        ((batch.views["image"].amax(1) > 60) != (view.amax(1) > 0)).float().mean() < 0.002
    )
    inside = view.amax(1) > 0
    assert batch.views["image"].float().amax(1)[inside].std() < 0.8 * view.amax(1)[inside].std()


def test_pale_objects_are_there_or_gone():
    batch, view, true, unreadable, names = made("pale", level=5)
    assert torch.equal(unreadable["shape"], unreadable["position"])
    assert not unreadable["background"].any()
    assert torch.equal(batch.factors[~unreadable["shape"]], true[~unreadable["shape"]])
    assert torch.equal(batch.factors[:, names.index("background")], true[:, names.index("background")])
    batch, view, _, unreadable, _ = made("pale")  # on black
    contrast = batch.views["image"].float().amax((1, 2, 3)) / view.amax((1, 2, 3))
    assert contrast[unreadable["shape"]].max() < 0.13
    assert (contrast[unreadable["shape"]] == 0).any()
    assert contrast[~unreadable["shape"]].min() > 0.66


def test_shapeless_objects_keep_colour_and_place():
    batch, view, true, unreadable, names = made("shapeless")
    assert unreadable["shape"].all()
    assert (batch.factors[:, names.index("size")] == -1).all()
    for name in ("colour", "position"):
        assert torch.equal(batch.factors[:, names.index(name)], true[:, names.index(name)])
    blobs, objects = batch.views["image"].float().amax(1) > 60, view.amax(1) > 60
    areas = blobs.sum((1, 2)) / objects.sum((1, 2))
    assert 0.5 < areas.median() < 1.6
    centres = [np.array([ndimage.center_of_mass(mask.numpy()) for mask in masks]) for masks in (blobs, objects)]
    assert np.nanmedian(np.abs(centres[0] - centres[1])) < 2
    overlap = (blobs & objects).sum((1, 2)) / (blobs | objects).sum((1, 2))
    assert (overlap > 0.85).float().mean() < 0.05


def test_the_negatives_that_no_judge_is_trained_on():
    drawn = material(level=1, size=1500)
    blends = make_blends(drawn.views, "image", FACTORS, recipe=RECIPES[0], count=100, windows=drawn.windows)
    medians = Medians(blends, drawn.views, "image")
    batch = medians.batch(np.arange(20)).check(medians.spec)
    assert set(batch.views["image"].unique().tolist()) <= {0, 255}  # sharp, as the views are
    defocused = Defocused(drawn, "image", FACTORS)
    batch = defocused.batch(np.arange(20)).check(defocused.spec)
    assert (batch.factors == 3).all()
    assert batch.views["image"].max() < 200


def test_blur_keeps_the_mean_and_has_its_width():
    point = torch.zeros(1, 3, 65, 65)
    point[:, :, 32, 32] = 1
    spread = _blur(point, 4.0)[0, 1]
    assert abs(spread.sum() - 1) < 1e-5
    assert abs((spread.sum(0) * (torch.arange(65) - 32) ** 2).sum() ** 0.5 - 4) < 0.1
