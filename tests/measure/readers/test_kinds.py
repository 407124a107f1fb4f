"""Kinds of views: every kind can be drawn, from its seed alone, in the form of the world's own views."""

import numpy as np
import pytest
import torch

from molyneux.core import SpecError
from molyneux.data import CdSprites, GeBiD
from molyneux.measure.readers import (
    ALIKE,
    CONTOURS,
    HELD_OUT,
    KINDS,
    LEARNED,
    TRUE,
    HeldOutPictures,
    WrongPictures,
    blended,
    kinds_of_views,
    softened,
)

COUNT = 5


def drawn(world, level, modality, seed=3):
    batch = world.source("test", COUNT, seed=1).batch(np.arange(COUNT))
    return batch, dict(kinds_of_views(world.name, level, world.spec, batch, modality, world.visible(modality), seed=seed))


@pytest.mark.parametrize("level", [1, 3, 5])
@pytest.mark.parametrize("world", [CdSprites, GeBiD])
def test_pictures_of_all_kinds_look_like_those_of_the_world_and_follow_from_the_seed(world, level):
    made = world(level=level, modalities=("image",))
    batch, kinds = drawn(made, level, "image")
    again, other = drawn(made, level, "image")[1], drawn(made, level, "image", seed=4)[1]
    assert set(kinds) <= set(KINDS)
    assert set(TRUE) <= set(kinds)
    for kind, shown in kinds.items():
        assert shown.views.shape == batch.views["image"].shape, kind
        assert shown.views.dtype == np.uint8
        assert np.array_equal(shown.views, again[kind].views)
        assert kind == "true" or not np.array_equal(shown.views, other[kind].views)
        for name, values in shown.truth.items():
            assert len(values) == COUNT
            if name in made.visible("image"):
                assert set(values) <= set(made.spec.factor(name).values), kind
    assert torch.equal(torch.from_numpy(kinds["true"].views), batch.views["image"])


def test_kinds_differ_by_world_and_level():
    first, fifth, gebid = (
        drawn(world(level=level, modalities=("image",)), level, "image")[1]
        for world, level in ((CdSprites, 1), (CdSprites, 5), (GeBiD, 5))
    )
    assert {"orange", "between", "grounds"} <= set(fifth) - set(first)
    assert "discs" in fifth
    assert not {"discs", "plain", "orange", "swapped", "negatives"} & set(gebid)


@pytest.mark.parametrize("world", [CdSprites, GeBiD])
def test_contours_of_all_kinds(world):
    made = world(level=2, modalities=("touch",))
    batch, kinds = drawn(made, 2, "touch")
    expected = {"true", "blends", *CONTOURS} - ({"discs"} if world is GeBiD else set())
    assert set(kinds) == expected
    for shown in kinds.values():
        assert shown.views.shape == batch.views["touch"].shape
        assert shown.views.dtype == np.float32
        assert np.isfinite(shown.views).all()


def test_shapes_near_to_those_of_the_world_one_by_one():
    drawer = WrongPictures("cdsprites-v1", 2, seed=1)
    for name in ALIKE:
        shown = drawer.draw_alike(name, 2)
        assert shown.views.shape == (2, 3, 64, 64)
        assert not shown.truth
        assert shown.views.max() > 100, name


def test_one_more_kind_changes_no_other():
    drawer = HeldOutPictures("cdsprites-v1", 3, seed=3 + 2000 + [*LEARNED, *HELD_OUT].index("letters"))
    assert np.array_equal(
        drawer.draw("letters", COUNT).views, drawn(CdSprites(level=3, modalities=("image",)), 3, "image")[1]["letters"].views
    )


def test_blends_are_of_views_that_show_other_shapes():
    views = np.array([0, 10, 200], np.uint8)[:, None, None, None]
    mean = blended(views, np.array([0, 0, 1]), seed=1).ravel()
    assert mean[:2].tolist() == [100, 105]
    assert mean[2] in (100, 105)


def test_soft_views_are_near_to_true_ones():
    views = np.zeros((2, 3, 16, 16), np.uint8)
    views[:, :, 4:12, 4:12] = 200
    soft = softened(views, seed=1)
    assert 0 < np.abs(soft.astype(int) - views).mean() < 20


def test_worlds_without_a_look_are_refused():
    with pytest.raises(SpecError, match="no views are drawn of the world 'cdsprites-v2'; did you mean"):
        WrongPictures("cdsprites-v2", 1, seed=1)
