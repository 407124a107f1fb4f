"""Lines that are drawn become contours as the worlds have them."""

import numpy as np
import pytest

from molyneux.core import DataError, TracesContours
from molyneux.data import CdSprites, GeBiD, Rendering, SpriteRendering
from molyneux.data.worlds.drawn_contours import path_points

WORLD = CdSprites(level=5, modalities=("image", "text", "touch"))
SQUARE = np.array([[0.25, 0.25], [0.75, 0.25], [0.75, 0.75], [0.25, 0.75]])


def view(contour, **options):
    return WORLD.view_of_contour(contour, **options).view[0].numpy()


@pytest.mark.parametrize(
    ("world", "rendering"),
    [(WORLD, SpriteRendering(touch_noise=0.0)), (GeBiD(), Rendering(touch_noise=0.0))],
    ids=["CdSprites", "GeBiD"],
)
def test_the_contours_of_a_world_are_followed_again(world, rendering):
    clean = type(world)(modalities=("touch",), rendering=rendering)
    felt = clean.batch(np.arange(30), split="train", seed=0).views["touch"].numpy()
    assert isinstance(world, TracesContours)
    names = clean.spec.factor("shape").values
    shapes = clean.batch(np.arange(30), split="train", seed=0).factors[:, clean.spec.factor_index("shape")]
    for contour, shape in zip(felt, shapes.tolist(), strict=True):
        if names[shape] == "spiral":  # is followed out and back, which encloses nothing
            continue
        found = world.view_of_contour(contour[:, :2])
        assert found.view.shape == (1, 64, 5)
        np.testing.assert_allclose(found.view[0, :, :2], contour[:, :2], atol=0.02)
        assert found.view[0, :, 4].sum() == pytest.approx(2 * np.pi, abs=1e-3)


def test_a_square_in_many_forms():
    wanted = view(SQUARE)
    assert wanted.dtype == np.float32
    first = [[0.25, 0.25, 1, 0, np.pi / 2], [0.28125, 0.25, 1, 0, 0], [0.3125, 0.25, 1, 0, 0]]
    np.testing.assert_allclose(wanted[:3], first, atol=1e-6)
    backwards = SQUARE[[0, 3, 2, 1]]
    for contour, side in (
        (SQUARE.tolist(), 1.0),
        (backwards, 1.0),
        (np.concatenate([SQUARE, SQUARE[:1]]), 1.0),
        (64 * SQUARE, 64),
        ("M.25.25L.75.25.75.75.25.75z", 1.0),
        ("M 16 16 h32 v32 h-32 Z", 64),
        ("m16,16 32,0 0,32 -32,0z", 64.0),
        ("M16 16 H48 V48 H16 V16", 64),
        ("M1 1 L2 1 L1 2 Z M16 16 h32 v32 h-32 Z", 64),
    ):
        np.testing.assert_allclose(view(contour, side=side), wanted, atol=1e-6)


def test_curves():
    (cubic,) = path_points("M0 0C0 1 1 1 1 0")
    assert cubic[12].tolist() == pytest.approx([0.5, 0.75])
    (quadratic,) = path_points("M0 0Q1 2 2 0T4 0")
    assert quadratic[12].tolist() == pytest.approx([1, 1])
    assert quadratic[36].tolist() == pytest.approx([3, -1])
    (smooth,) = path_points("M0 0c0 1 1 1 1 0s1-1 1 0")
    assert smooth[36].tolist() == pytest.approx([1.5, -0.75])
    ellipse = view("M16 32C16 20 48 20 48 32S16 44 16 32", side=64)
    assert ellipse[:, 4].sum() == pytest.approx(2 * np.pi, abs=1e-4)


def test_a_line_that_leaves_the_picture_is_told():
    assert WORLD.view_of_contour(SQUARE).notes == ()
    assert WORLD.view_of_contour(64 * SQUARE).notes == ("the line leaves the picture: set side to that of the drawing",)


@pytest.mark.parametrize(
    ("contour", "said"),
    [
        ("heart", "the commands M, L, H, V, C, S, Q, T and Z of an SVG path, got 'e'"),
        ("M0 0A1 1 0 0 0 2 2", "got 'A'"),
        ("1 2 3", "got '1'"),
        ("L1 1", "begins with M, got 'L'"),
        ("M0 0L1", "2 finite numbers after L in an SVG path, got 1"),
        ("M0 0L1 1 2", "got 3"),
        ("M0 0 1e999 1 2 2", "finite numbers"),
        ("M0 0z1", "0 finite numbers after z"),
        ("", "got one without a line"),
        ("M0 0", "got one without a line"),
        ("M0 0L0 0L0 0L0 0", "of some length"),
        ("M0 0 " + "1 1 " * 300_000, "at most 1,000,000 characters"),
        ([[0, 0], [1, 1]], "a line of 3 to 100,000 points, got 2"),
        (np.zeros((200_000, 2)), "got 199,999"),
        (np.zeros((5, 3)), r"points \(n, 2\), got shape \(5, 3\)"),
        (np.full((5, 2), np.inf), "finite numbers"),
        (None, "got a NoneType"),
        ([], "at least one number"),
        ([["a", "b"]], "array of numbers, got one of texts"),
    ],
    ids=range(19),
)
def test_what_is_no_line_is_refused(contour, said):
    with pytest.raises(DataError, match=said) as caught:
        WORLD.view_of_contour(contour)
    assert str(caught.value).startswith("modality touch")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("side", [0, -1, None, "64", float("nan")])
def test_a_side_that_is_none(side):
    with pytest.raises(DataError, match="side of the drawing as a number above 0"):
        WORLD.view_of_contour(SQUARE, side=side)
