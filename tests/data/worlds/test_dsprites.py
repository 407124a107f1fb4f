"""The archive's layout with a few sprites: 3 shapes, 6 scales, orientations 0 and 39, positions 17."""

import itertools

import numpy as np
import pytest

from molyneux.core import ConfigError, CorruptFileError, DataError
from molyneux.data.worlds import CdSprites, Noise
from molyneux.data.worlds.dsprites import SpriteArchive, load_archive

STILL = Noise(rotation=0.0, position=0.04)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("dsprites") / "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"
    classes = np.array(list(itertools.product([0], range(3), range(6), [0, 39], [16, 17], [17, 18])))
    images = np.zeros((len(classes), 64, 64), np.uint8)
    for image, (_, shape, scale, turn, x, y) in zip(images, classes, strict=True):
        image[y : y + 3 + scale, x : x + 2 + shape] = 1
        image[0, 0] = turn == 39
    np.savez_compressed(path, imgs=images, latents_classes=classes, metadata=np.array({"pickled": 1}, dtype=object))
    return path


def test_masks_are_found_by_class(archive):
    sprites = SpriteArchive(archive, (0, 5))
    masks = sprites.masks(np.array([0, 2]), np.array([0, 1]), np.array([0, 39]), np.array([17, 16]), np.array([17, 18]))
    assert masks.shape == (2, 64, 64)
    assert set(np.unique(masks)) == {0, 255}
    assert (masks > 0).sum((1, 2)).tolist() == [3 * 2, 8 * 4 + 1]
    assert masks[0, 17, 17] == 255
    with pytest.raises(DataError, match="lacks 1 of the sprites"):
        sprites.masks(np.array([0]), np.array([0]), np.array([7]), np.array([17]), np.array([17]))


def test_a_world_takes_its_masks_from_the_archive(archive):
    world = CdSprites(level=2, dsprites=archive, noise=STILL)
    batch = world.batch(np.arange(50), split="train", seed=1)
    codes = batch.factors.numpy()
    drawn = (batch.views["image"][:, 0, 1:] == 255).sum((1, 2)).numpy()
    expected = (3 + 5 * codes[:, 0]) * (2 + codes[:, 1])
    assert np.array_equal(drawn, expected)
    assert len(np.unique(expected)) == 6
    assert len(world.settings["dsprites"]) == 16


def test_bad_archives_are_named(tmp_path, archive):
    with pytest.raises(ConfigError, match=r"not there; github\.com/google-deepmind"):
        CdSprites(level=1, dsprites=tmp_path / "none.npz")
    text = tmp_path / "text.npz"
    text.write_text("no archive")
    with pytest.raises(ConfigError, match="no npz"):
        CdSprites(level=1, dsprites=text)
    other = tmp_path / "other.npz"
    np.savez(other, imgs=np.zeros((3, 64, 64), np.uint8))
    with pytest.raises(ConfigError, match=r"latents_classes\.npy"):
        CdSprites(level=1, dsprites=other)
    small = tmp_path / "small.npz"
    np.savez(small, imgs=np.zeros((3, 32, 32), np.uint8), latents_classes=np.zeros((3, 6), np.int64))
    with pytest.raises(CorruptFileError, match="imgs is uint8"):
        load_archive(small, (0, 5))
    damaged = tmp_path / "damaged.npz"
    content = bytearray(archive.read_bytes())
    content[200:400] = bytes(200)
    damaged.write_bytes(content)
    with pytest.raises(CorruptFileError, match="damaged"):
        load_archive(damaged, (0, 5))


def test_what_the_archive_cannot_do(archive):
    with pytest.raises(ConfigError) as caught:
        CdSprites(
            level=3,
            dsprites=archive,
            image_size=32,
            anti_alias=True,
            shapes=("heart", "circle"),
            sizes={"tiny": 0.45},
            noise=Noise(size=0.1),
        )
    assert len(caught.value.problems) == 5
    assert all(problem.startswith("the dsprites archive") for problem in caught.value.problems)
