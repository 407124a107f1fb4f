"""Pictures whose shapes and colours are to be named, against the entities of their scenes one by one."""

import numpy as np
import pytest
import torch

from molyneux.core import ConfigError
from molyneux.data import HeldOut, SceneSettings, ShapeClasses
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES

ORDER = {
    "shape": ("square", "rectangle", "triangle", "pentagon", "cross", "circle", "semicircle", "ellipse"),
    "colour": ("red", "green", "blue", "yellow", "magenta", "cyan", "gray"),
}


def entities(world, split="train", size=300):
    """The numbers of the classes of the entities of each scene, by the published numbering."""
    scenes = world.scenes(np.arange(size), split=split, seed=5)
    return [
        [
            7 * ORDER["shape"].index(SHAPES[shape]) + ORDER["colour"].index(COLOURS[colour])
            for shape, colour, present in zip(*rows, strict=True)
            if present
        ]
        for rows in zip(scenes.shape, scenes.colour, scenes.present, strict=True)
    ]


def test_a_class_is_shape_times_seven_plus_colour():
    world = ShapeClasses()
    target = world.spec.target("class")
    assert (len(target.symbols), target.symbols[0], target.symbols[7 * 5 + 2]) == (56, "red square", "blue circle")
    batch = world.batch(np.arange(300), split="train", seed=5)
    assert [[code] for code in batch.targets["class"].tolist()] == entities(world)
    codes = batch.factors
    assert torch.equal(batch.targets["class"], 7 * codes[:, 0] + codes[:, 1])
    assert len(set(batch.targets["class"].tolist())) > 50


@pytest.mark.parametrize("task", ["multilabel", "counts"])
def test_all_classes_that_occur(task):
    world = ShapeClasses(task=task)
    name = {"multilabel": "classes", "counts": "counts"}[task]
    batch = world.batch(np.arange(300), split="train", seed=5).check(world.spec)
    for row, found in zip(batch.targets[name].tolist(), entities(world), strict=True):
        expected = [found.count(code) for code in range(56)]
        assert row == (expected if task == "counts" else [min(1, count) for count in expected])
    if task == "counts":
        assert batch.targets[name].sum(1).tolist() == [int(world.spec.factors[0].values[code]) for code in batch.factors[:, 0]]
        assert batch.targets[name].max() > 1


def test_what_is_held_out_is_in_the_split_and_not_in_training():
    held_out = HeldOut(combinations=(("square", "red"), ("circle", "blue")), counts=(4,))
    world = ShapeClasses(task="multilabel", test=held_out, scenes=SceneSettings(counts=(2, 3, 4)))
    columns = [world.classes.index("red square"), world.classes.index("blue circle")]
    for split in world.splits:
        batch = world.batch(np.arange(4000), split=split, seed=1)
        has = batch.targets["classes"][:, columns].any(1)
        entities = {world.spec.factor("entities").values[code] for code in batch.factors[:, 0].tolist()}
        if split == "test":
            assert has.all()
            assert entities == {"4"}
        elif split == "train":
            assert not has.any()
            assert entities == {"2", "3"}
    assert world.spec.factor("entities").values == ("2", "3", "4")


def test_noise_changes_pictures_and_nothing_else():
    plain, noisy = (ShapeClasses(noise=noise).batch(np.arange(8), split="test", seed=2) for noise in (0.0, 0.1))
    assert not torch.equal(plain.views["image"], noisy.views["image"])
    assert torch.equal(plain.targets["class"], noisy.targets["class"])
    assert (plain.views["image"].int() - noisy.views["image"].int()).abs().max() <= 26  # cut off at one deviation


def test_settings_that_cannot_be_used_are_all_named():
    with pytest.raises(ConfigError) as error:
        ShapeClasses(task="multi", image_size=4, views=("picture",), noise=2, test=HeldOut(lengths=(5,)))
    assert [problem.partition(":")[0] for problem in error.value.problems] == [
        "task",
        "views",
        "image_size",
        "noise",
        "test.lengths",
    ]
    with pytest.raises(ConfigError, match="expected 1 for the task single"):
        ShapeClasses(scenes=SceneSettings(counts=(1, 2)))
    with pytest.raises(ConfigError, match="every combination"):
        ShapeClasses(
            task="counts",
            scenes=SceneSettings(counts=(1,), shapes=("square",), colours=("red",)),
            test=HeldOut(combinations=(("square", "red"),)),
        )
