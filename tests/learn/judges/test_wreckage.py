import numpy as np
import torch
from scipy import ndimage

from molyneux import data
from molyneux.data.worlds import Altered
from molyneux.learn.judges import Material
from molyneux.learn.judges.ghosts import make_ghosts
from molyneux.learn.judges.members import RECIPES
from molyneux.learn.judges.unseen import Defocused, Medians, blur
from molyneux.learn.judges.wreckage import Wreckage
from molyneux.run.blurs import BLURS

FACTORS = ("size", "colour", "shape", "position", "background")


def material(level=4, size=200):
    world = data.CdSprites(level=level, modalities=("image",))
    altered = {change: Altered(world, "train", size, seed=1, change=change) for change in ("empty", "filled")}
    styled = Altered(world, "train", size, seed=1, change="styled", styles=8)
    return Material(
        world.source("train", size, seed=1), styled, 8, **altered,
        of_object=("size", "colour", "shape", "position"), of_form=("shape",), of_extent=("size",),
    )  # fmt: skip


def made(kind, level=4):
    wreckage = Wreckage(material(level), "image", FACTORS, kind=kind)
    batch = wreckage.batch(np.arange(200)).check(wreckage.spec)
    again = wreckage.batch(np.arange(199, -1, -1))
    assert torch.equal(batch.views["image"], again.views["image"].flip(0))
    truth = wreckage.material.true.batch(np.arange(200))
    names = [factor.name for factor in wreckage.material.true.spec.factors]
    true = truth.factors[:, [names.index(factor.name) for factor in wreckage.spec.factors]]
    lost = batch.factors == torch.tensor([len(factor.values) - 1 for factor in wreckage.spec.factors])
    names = [factor.name for factor in wreckage.spec.factors]
    return batch, truth.views["image"].float(), true, dict(zip(names, lost.T, strict=True)), names


def test_smooth_objects_stay_what_and_where_they_are():
    batch, view, true, _, _ = made("smooth")
    assert torch.equal(batch.factors, true)
    assert torch.equal(batch.views["image"].amax(1) > 60, view.amax(1) > 0) or (
        ((batch.views["image"].amax(1) > 60) != (view.amax(1) > 0)).float().mean() < 0.002
    )
    inside = view.amax(1) > 0
    assert batch.views["image"].float().amax(1)[inside].std() < 0.8 * view.amax(1)[inside].std()


def test_pale_objects_are_there_or_gone():
    batch, view, true, lost, names = made("pale", level=5)
    assert torch.equal(lost["shape"], lost["position"])
    assert not lost["background"].any()
    assert torch.equal(batch.factors[~lost["shape"]], true[~lost["shape"]])
    assert torch.equal(batch.factors[:, names.index("background")], true[:, names.index("background")])
    batch, view, _, lost, _ = made("pale")  # on black
    contrast = batch.views["image"].float().amax((1, 2, 3)) / view.amax((1, 2, 3))
    assert contrast[lost["shape"]].max() < 0.13
    assert (contrast[lost["shape"]] == 0).any()
    assert contrast[~lost["shape"]].min() > 0.66


def test_shapeless_objects_keep_colour_and_place():
    batch, view, true, lost, names = made("shapeless")
    assert lost["shape"].all()
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


def test_the_recipes_that_nobody_learns_from():
    stuff = material(level=1, size=3000)
    ghosts = make_ghosts(stuff.true, "image", FACTORS, recipe=RECIPES[0], count=200, blurs=BLURS["cdsprites-v1", "image"])
    medians = Medians(ghosts, stuff.true, "image")
    batch = medians.batch(np.arange(20)).check(medians.spec)
    assert set(batch.views["image"].unique().tolist()) <= {0, 255}  # sharp, as the views are
    defocused = Defocused(stuff, "image", FACTORS)
    batch = defocused.batch(np.arange(20)).check(defocused.spec)
    assert (batch.factors == 3).all()
    assert batch.views["image"].max() < 200


def test_blur_keeps_the_mean_and_has_its_width():
    point = torch.zeros(1, 3, 65, 65)
    point[:, :, 32, 32] = 1
    spread = blur(point, 4.0)[0, 1]
    assert abs(spread.sum() - 1) < 1e-5
    assert abs((spread.sum(0) * (torch.arange(65) - 32) ** 2).sum() ** 0.5 - 4) < 0.1
