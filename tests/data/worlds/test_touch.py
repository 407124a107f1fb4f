import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from molyneux.core import ConfigError, seeds
from molyneux.data import CdSprites, GeBiD, Noise
from molyneux.data.worlds import touch
from molyneux.data.worlds.raster import SHAPES, Figures, distances, masks
from molyneux.data.worlds.touch import CONTACTS, follow, outlines

SOLID = tuple(shape for shape in SHAPES if shape != "spiral")
CONVEX = ("square", "ellipse", "line", "circle", "semicircle", "pieslice")
WORLDS = {"cdsprites": CdSprites, "gebid": GeBiD}


def figures(shape, count=12, *, seed=0, size=0.35):
    random = np.random.default_rng(seed)
    stroke = {"line": size / 2, "spiral": 1 / 64}.get(shape, 0.0)
    return Figures(
        np.full(count, SHAPES.index(shape)),
        0.5 + random.uniform(-0.05, 0.05, (count, 2)),
        np.full(count, size) * random.uniform(0.6, 1.0, count),
        random.uniform(0, 2 * np.pi, count),
        np.full(count, stroke),
    )


def contours(some, contacts=CONTACTS, seed=1):
    return follow(some, np.random.default_rng(seed).random(len(some)), contacts)


def shoelace(points):
    """Signed areas of polygons (n, t, 2): positive clockwise as seen, since y points down."""
    x, y = points[..., 0], points[..., 1]
    return 0.5 * (x * np.roll(y, -1, 1) - y * np.roll(x, -1, 1)).sum(1)


def outline_lengths():
    return np.linalg.norm(np.diff(outlines(), axis=1), axis=-1).sum(1)


def ellipse_perimeter(a, b):
    """Ramanujan's second approximation (1914)."""
    h = ((a - b) / (a + b)) ** 2
    return math.pi * (a + b) * (1 + 3 * h / (10 + math.sqrt(4 - 3 * h)))


@pytest.mark.parametrize(
    ("shape", "length"),
    [
        ("square", 4.0),
        ("circle", math.pi),
        ("ellipse", ellipse_perimeter(0.5, 0.5 * 14.4 / 25.5)),
        # a circular segment of 220 degrees: arc and chord
        ("semicircle", math.radians(220) / 2 + math.sin(math.radians(110))),
        ("pieslice", 2 + math.radians(50)),
        # straight sides of sqrt(1/2) and half circles on them; the width is 1/2 + sqrt(1/2) of the crease's height
        ("heart", (2 * math.sqrt(0.5) + 2 * math.pi * math.sqrt(0.125)) / (0.5 + math.sqrt(0.5))),
    ],
)
def test_length_of_outlines_in_closed_form(shape, length):
    assert outline_lengths()[SHAPES.index(shape)] == pytest.approx(length, rel=1e-4)


@pytest.mark.parametrize("shape", SOLID)
def test_contacts_lie_on_the_border(shape):
    some = figures(shape)
    assert np.abs(distances(some, contours(some)[..., :2])).max() < 2e-4


def test_contacts_of_the_spiral_lie_in_the_middle_of_its_stroke():
    some = figures("spiral")
    np.testing.assert_allclose(distances(some, contours(some)[..., :2]), -0.5 / 64, atol=2e-4)


@pytest.mark.parametrize("shape", SOLID)
def test_the_contour_encloses_the_picture_of_the_shape(shape):
    some = figures(shape)
    pictured = (masks(some, 256) > 0).mean((1, 2))
    np.testing.assert_allclose(shoelace(contours(some, 4096)[..., :2]), pictured, rtol=0.01)
    np.testing.assert_allclose(shoelace(contours(some)[..., :2]), pictured, rtol=0.03)


def test_the_spiral_goes_out_and_back():
    some = figures("spiral")
    np.testing.assert_allclose(shoelace(contours(some, 8192)[..., :2]), 0.0, atol=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_contacts_are_equally_spaced(shape):
    """Along the curve: steps never exceed the arc between contacts, and are that long except where the curve bends."""
    some = figures(shape)
    points = contours(some, 2048)[..., :2]
    steps = np.hypot(*np.moveaxis(np.roll(points, -1, 1) - points, -1, 0))
    length = some.size * outline_lengths()[some.shape]
    if shape == "line":
        length = 2 * (some.size * math.sqrt(2) + some.thickness)
    assert (steps <= length[:, None] / 2048 * 1.001).all()
    np.testing.assert_allclose(np.median(steps, 1), length / 2048, rtol=5e-3)
    np.testing.assert_allclose(steps.sum(1), length, rtol=5e-3)


@pytest.mark.parametrize("shape", SOLID)
@pytest.mark.parametrize("contacts", [CONTACTS, 512])
def test_turns_sum_to_one_turn(shape, contacts):
    turns = contours(figures(shape, 40), contacts)[..., 4]
    np.testing.assert_allclose(turns.sum(1), 2 * np.pi, atol=1e-9)
    assert np.abs(turns).max() < np.pi
    if shape in CONVEX:
        assert turns.min() > -1e-3


def test_turn_and_direction_on_a_circle():
    found = contours(figures("circle"))
    np.testing.assert_allclose(found[..., 4], 2 * np.pi / CONTACTS, rtol=1e-3)
    radius = found[..., :2] - found[..., :2].mean(1, keepdims=True)
    angle = np.arctan2(radius[..., 1], radius[..., 0]) + np.pi / 2 + np.pi / CONTACTS  # half a step ahead of the tangent
    np.testing.assert_allclose(found[..., 2:4], np.stack([np.cos(angle), np.sin(angle)], -1), atol=1e-3)


@pytest.mark.parametrize("shape", SHAPES)
def test_direction_leads_to_the_next_contact(shape):
    found = contours(figures(shape))
    way = np.roll(found[..., :2], -1, 1) - found[..., :2]
    np.testing.assert_allclose(found[..., 2:4], way / np.linalg.norm(way, axis=-1, keepdims=True), atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(found[..., 2:4], axis=-1), 1.0)


@settings(max_examples=40, deadline=None)
@given(shape=st.sampled_from(SHAPES), turn=st.floats(-7, 7), start=st.floats(0, 0.999), scale=st.floats(0.3, 2))
def test_rotation_and_scale(shape, turn, start, scale):
    """The contour of a turned figure is the turned contour; the turns stay as they are."""
    one = figures(shape, 1)
    other = Figures(one.shape, one.centre, one.size * scale, one.rotation + turn, one.thickness * scale)
    a, b = (follow(figure, np.array([start]), CONTACTS)[0] for figure in (one, other))
    matrix = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    np.testing.assert_allclose(b[:, :2] - one.centre, scale * (a[:, :2] - one.centre) @ matrix.T, atol=1e-9)
    np.testing.assert_allclose(b[:, 2:4], a[:, 2:4] @ matrix.T, atol=1e-6)
    np.testing.assert_allclose(np.cos(b[:, 4]), np.cos(a[:, 4]), atol=1e-6)


def test_the_start_is_a_rotation_of_the_series():
    one = figures("heart", 1)
    a, b = (follow(one, np.array([start]), CONTACTS)[0] for start in (0.1, 0.1 + 5 / CONTACTS))
    np.testing.assert_allclose(np.roll(a, -5, 0), b, atol=1e-9)


@pytest.mark.parametrize("name", WORLDS)
def test_the_third_sense_of_a_world(name):
    world = WORLDS[name](level=5, modalities=("touch", "image", "text"))
    batch = world.batch(np.arange(300), split="train", seed=1).check(world.spec)
    plain = WORLDS[name](level=5).batch(np.arange(300), split="train", seed=1)
    assert all(torch.equal(batch.views[name], plain.views[name]) for name in plain.views)
    assert world.spec.modality("touch").shape == (64, 5)
    rows = np.random.default_rng(0).permutation(300)
    shuffled = world.batch(rows, split="train", seed=1)
    assert torch.equal(shuffled.views["touch"], batch.views["touch"][torch.from_numpy(rows)])
    other = world.batch(np.arange(300), split="train", seed=2)
    assert not torch.equal(other.views["touch"], batch.views["touch"])
    assert batch.views["touch"].abs().max() < np.pi + 0.2


@pytest.mark.parametrize("name", WORLDS)
def test_the_finger_feels_what_the_eye_sees(name):
    """Contacts lie on the border of the mask that the picture shows."""
    clear = {"colours": {"white": (255, 255, 255)}, "modalities": ("image", "touch"), "touch_noise": 0.0}
    world = WORLDS[name](level=4, **clear) if name == "gebid" else WORLDS[name](level=4, textures=None, **clear)
    batch = world.batch(np.arange(200), split="train", seed=1)
    shown = batch.views["image"].numpy()
    ground = shown[:, :, :1, :1]
    mask = (shown != ground).any(1)
    points = batch.views["touch"].numpy()[..., :2] * 64
    for shape, drawn, contour in zip(
        world.scenes(np.arange(200), split="train", seed=1).figures.shape, mask, points, strict=True
    ):
        if not drawn.any() or SHAPES[shape] == "spiral":
            continue
        rows, columns = np.nonzero(drawn)
        low, high = contour.min(0), contour.max(0)
        np.testing.assert_allclose([columns.min(), rows.min()], low, atol=1.6)
        np.testing.assert_allclose([columns.max() + 1, rows.max() + 1], high, atol=1.6)
        np.testing.assert_allclose(shoelace(contour[None])[0], drawn.sum(), rtol=0.2)


def test_sensor_noise_has_the_size_it_says():
    noise = 0.05
    loud, silent = (
        CdSprites(level=3, modalities=("touch",), touch_noise=level).batch(np.arange(2000), split="train", seed=1).views["touch"]
        for level in (noise, 0.0)
    )
    error = (loud - silent).double()
    assert error[..., :2].std().item() == pytest.approx(0.1 * noise, rel=0.02)
    assert error[..., 4].std().item() == pytest.approx(noise, rel=0.02)
    angle = torch.atan2(loud[..., 3], loud[..., 2]) - torch.atan2(silent[..., 3], silent[..., 2])
    angle = torch.remainder(angle + math.pi, 2 * math.pi) - math.pi
    assert angle.std().item() == pytest.approx(noise, rel=0.02)
    channels = torch.stack([error[..., 0], error[..., 1], angle.double(), error[..., 4]], -1).reshape(-1, 4)
    assert (torch.corrcoef(channels.T) - torch.eye(4, dtype=torch.float64)).abs().max() < 0.02
    assert error.mean().abs() < 1e-3
    np.testing.assert_allclose(torch.linalg.vector_norm(loud[..., 2:4], dim=-1), 1.0, atol=1e-5)


def test_the_start_is_uniform():
    """On a circle the angle of the first contact tells where it starts."""
    world = GeBiD(level=1, shapes=("circle",), modalities=("touch",), touch_noise=0.0)
    scenes = world.scenes(np.arange(5000), split="train", seed=0)
    stream = seeds.key(0, "touch")
    first = touch.contours(scenes.figures, scenes.indices, stream, noise=0.0)[:, 0, :2] - scenes.figures.centre
    angle = np.sort((np.arctan2(first[:, 1], first[:, 0]) / (2 * np.pi)) % 1.0)
    assert np.abs(angle - (np.arange(5000) + 0.5) / 5000).max() < 1.63 / math.sqrt(5000)  # Kolmogorov, 1 %


def test_colour_cannot_be_felt():
    loud = CdSprites(level=5, modalities=("touch",), noise=Noise(shade=50.0))
    plain = CdSprites(level=5, modalities=("touch",))
    a, b = (world.batch(np.arange(50), split="train", seed=1).views["touch"] for world in (loud, plain))
    assert torch.equal(a, b)


def test_noise_below_zero():
    with pytest.raises(ConfigError, match="touch_noise of at least 0, got -1"):
        CdSprites(touch_noise=-1)
