"""Several captions of one scene, and several scenes of one caption: half of each group agrees, whatever is asked for."""

import numpy as np
import pytest
import torch

from molyneux.core import ConfigError
from molyneux.data import ShapeWorld
from molyneux.data.worlds.shapeworld.alternatives import balanced_truth
from molyneux.data.worlds.shapeworld.scenes.sampling import stream_of

VIEWS = ("image", "text", "meaning", "scene")
KINDS = ("oneshape", "multishape", "spatial", "quantification", "relational", "selection")


def world_of(kind, **settings):
    return ShapeWorld(kind=kind, variant="published", views=VIEWS, image_size=16, **settings)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["captions", "pictures"])
def test_half_of_a_group_agrees_and_the_truth_is_that_of_the_views(kind, name):
    world = world_of(kind, **{name: 4}, noise=0.0)
    split = "test" if kind in KINDS[:4] else "train"
    batch = world.batch(np.arange(80), split=split, seed=1).check(world.spec)
    assert world.spec.targets[0].contrast == (1, 1)
    agreement = batch.targets["agreement"]
    assert (agreement.view(-1, 4).sum(1) == 2).all()
    assert len({tuple(row) for row in agreement.view(-1, 4).tolist()}) > 2
    assert world.evaluate(batch).tolist() == [1 if agrees else -1 for agrees in agreement.tolist()]
    one, other = ("image", "text") if name == "captions" else ("text", "image")
    same, different = (batch.views[view].flatten(1).view(20, 4, -1) for view in (one, other))
    assert (same == same[:, :1]).all()
    assert (different != different[:, :1]).any(2).any(1).all()
    change = batch.factors[:, world.spec.factor_index("change")]
    assert ((change == 0) == (agreement == 1)).all()
    assert ((change > 0) if name == "captions" else (change == -1))[agreement == 0].all()


@pytest.mark.parametrize("settings", [{"captions": 3}, {"pictures": 3}])
def test_any_slice_has_the_same_bytes(settings):
    world = world_of(("spatial", "multishape"), **settings)
    whole, rows = world.batch(np.arange(45), split="train", seed=3), np.array([41, 7, 7, 20, 8])
    part = world.batch(rows, split="train", seed=3)
    for name, values in part.tensors().items():
        assert torch.equal(values, whole.tensors()[name][rows]), name
    scenes = world.scenes(rows, split="train", seed=3)
    assert np.array_equal(scenes.present.sum(1), part.lengths["scene"].numpy())
    sums = whole.targets["agreement"].view(15, 3).sum(1)
    assert set(sums.tolist()) == {1, 2}


def test_one_of_each_is_the_usual_data():
    usual, same = world_of("spatial"), world_of("spatial", captions=1, pictures=1)
    assert usual.settings == same.settings
    assert "captions" not in usual.settings
    assert world_of("spatial", captions=2).settings["captions"] == 2
    first, second = (world.batch(np.arange(12), split="train", seed=3) for world in (usual, same))
    assert all(torch.equal(values, second.tensors()[name]) for name, values in first.tensors().items())


def test_a_partition_of_captions():
    world = world_of("spatial", pictures=6, only={"nouns": ("full",)})
    batch = world.batch(np.arange(60), split="train", seed=0)
    assert (batch.factors[:, world.spec.factor_index("nouns")] == 0).all()
    assert (batch.targets["agreement"].view(-1, 6).sum(1) == 3).all()


@pytest.mark.parametrize("members", [2, 5, 8])
def test_every_member_is_true_equally_often(members):
    found = balanced_truth(stream_of(1, "train", "test"), np.arange(20_000), members)
    assert found.mean(0) == pytest.approx(np.full(members, 0.5), abs=0.015)
    assert set(found.sum(1).tolist()) == ({members // 2} if members % 2 == 0 else {members // 2, members // 2 + 1})


def test_settings_that_cannot_be_used():
    with pytest.raises(ConfigError, match="only the variant published has it, not balanced"):
        ShapeWorld(captions=4)
    with pytest.raises(ConfigError, match="choose one of both"):
        world_of("spatial", captions=2, pictures=2)
    with pytest.raises(ConfigError, match="pictures: expected 1 to 64, got 65"):
        world_of("spatial", pictures=65)
    with pytest.raises(ConfigError, match=r"truth cannot be restricted with text\.captions"):
        world_of("spatial", captions=4, only={"truth": ("true",)})
