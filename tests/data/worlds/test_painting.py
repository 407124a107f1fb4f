"""Painting against a plain version that follows the published steps one by one."""

import numpy as np
import pytest

from molyneux.data.worlds.cdsprites_settings import COLOURS
from molyneux.data.worlds.painting import BRIGHTEN, DARK_CLEAN, DARK_PUBLISHED, LIGHT, Paint, paint

SHADES = np.stack([LIGHT, DARK_CLEAN, DARK_PUBLISHED])


def turned(texture, how):
    rolled = texture.T if how[1] & 4 else texture
    rows, columns = np.arange(len(texture)), np.arange(len(texture))
    rows, columns = (rows + how[2]) % len(texture), (columns + how[3]) % len(texture)
    rows = len(texture) - 1 - rows if how[1] & 1 else rows
    columns = len(texture) - 1 - columns if how[1] & 2 else columns
    return rolled[np.ix_(rows, columns)]


def stretched(picture):
    low, high = picture.min(), picture.max()
    return np.floor((picture - low) * 255.0 / (high - low) + 0.5)


def plainly(mask, near, far, colour, shade):
    """Sheet 2.2, for one binary mask: (S, S, 3)."""
    grey = np.minimum(near.astype(float) + BRIGHTEN, 255.0)
    picture = stretched(grey[..., None] * colour / 255.0 * (mask[..., None] > 0))
    if shade is None:
        return picture
    picture[mask == 0] = shade[far][mask == 0][:, None]
    return stretched(picture)


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    count, side = 60, 32
    masks = np.zeros((count, side, side), np.uint8)
    masks[:, 5:20, 8:30] = rng.choice([0, 255], (count, 15, 22), p=[0.2, 0.8])
    bank = rng.integers(0, 256, (10, side, side)).astype(np.uint8)
    bank[:, 0, :2] = 0, 255
    hows = [
        np.stack([rng.integers(0, 10, count), rng.integers(0, 8, count), *rng.integers(0, side, (2, count))], 1) for _ in range(2)
    ]
    colours = np.array([list(COLOURS.values())[i % 5] for i in range(count)], float)
    return masks, bank, Paint(colours, hows[0], hows[1], rng.integers(-1, 3, count), SHADES, np.zeros(count), 0.0)


def run(masks, bank, what):
    out = np.full((len(masks), 3, *masks.shape[1:]), 7, np.uint8)
    paint(masks, bank, what, out)
    return out


def test_painting_is_the_published_procedure(world):
    masks, bank, what = world
    pictures = run(masks, bank, what)
    for row, picture in enumerate(pictures):
        near, far = (turned(bank[how[row, 0]], how[row]) for how in (what.front, what.back))
        shade = None if what.ground[row] < 0 else SHADES[what.ground[row]]
        expected = plainly(masks[row], near, far, what.colour[row], shade)
        # the plain version rounds between the steps in another place: at most one grey value
        assert np.abs(picture.transpose(1, 2, 0) - expected).max() <= 1


def test_shading_tables():
    """Fact 10."""
    assert [LIGHT[0], LIGHT[64], LIGHT[130]] == [125, 189, 255]
    assert set(DARK_PUBLISHED[:200]) == {56}
    assert [DARK_PUBLISHED[200], DARK_PUBLISHED[201], DARK_PUBLISHED[255]] == [0, 201, 255]
    assert [DARK_CLEAN[0], DARK_CLEAN[255]] == [0, 55]
    assert (np.diff(DARK_CLEAN.astype(int)) >= 0).all()


@pytest.mark.parametrize(
    ("name", "rendered"),
    [
        ("red", (255, 85, 0)),
        ("yellow", (255, 243, 124)),
        ("green", (24, 255, 143)),
        ("blue", (0, 162, 255)),
        ("pink", (255, 0, 255)),
    ],
)
def test_brightest_colours(name, rendered, world):
    """Fact 9."""
    masks, bank, what = world
    colour = np.tile(np.array(COLOURS[name], float), (len(masks), 1))
    pictures = run(masks, bank, Paint(colour, what.front, what.back, np.full(len(masks), -1), SHADES, what.noise, 0.0))
    brightest = pictures.reshape(len(masks), 3, -1).max(2)
    assert (brightest == rendered).all()


def test_partial_cover_lies_between_shape_and_background(world):
    masks, bank, what = world
    sharp = run(masks, bank, what).astype(int)
    half = run(np.where(masks > 0, 128, 0).astype(np.uint8), bank, what).astype(int)
    empty = (masks == 0)[:, None] & np.ones((1, 3, 1, 1), bool)
    same_stretch = what.ground < 0
    assert (half[same_stretch][empty[same_stretch]] == 0).all()
    assert half[same_stretch] == pytest.approx(sharp[same_stretch] * 128 / 255, abs=1)


def test_background_noise_is_bounded_uniform_and_repeatable(world):
    masks, bank, what = world
    ground = np.full(len(masks), 2)
    quiet = np.zeros_like(masks)
    quiet[:, 16, 16] = 255
    pink = np.tile(np.array(COLOURS["pink"], float), (len(masks), 1))
    noise = np.random.default_rng(5).random(len(masks))
    plain = run(quiet, bank, Paint(pink, what.front, what.back, ground, SHADES, noise, 0.0)).astype(int)
    noisy = run(quiet, bank, Paint(pink, what.front, what.back, ground, SHADES, noise, 20.0)).astype(int)
    again = run(quiet[30:], bank, Paint(pink[30:], what.front[30:], what.back[30:], ground[30:], SHADES, noise[30:], 20.0))
    away = (plain == 56) & (quiet == 0)[:, None]
    difference = (noisy - plain)[away]
    assert np.abs(difference).max() == 20
    assert abs(difference.mean()) < 0.5
    assert difference.std() == pytest.approx(40 / np.sqrt(12), rel=0.05)
    assert np.array_equal(noisy[30:], again)
    assert (noisy[:, 0] == noisy[:, 2]).all()
