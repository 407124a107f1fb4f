import base64
import io
import re

import numpy as np
import pytest
from PIL import Image

from molyneux.core import SpecError
from molyneux.report.plots import contour_svg, finger_paths, image_uri


def decoded(uri: str) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))).convert("RGB"))


@pytest.mark.parametrize("levels", [2, 6, 256])
@pytest.mark.parametrize("size", [(28, 28), (64, 48)])
def test_pictures_are_lossless(levels, size):
    view = np.random.default_rng(0).integers(0, levels, (3, *size), dtype=np.uint8)
    np.testing.assert_array_equal(decoded(image_uri(view)), view.transpose(1, 2, 0))


def test_grey_pictures_have_one_channel():
    view = np.random.default_rng(0).integers(0, 256, (1, 28, 28), dtype=np.uint8)
    assert Image.open(io.BytesIO(base64.b64decode(image_uri(view).partition(",")[2]))).mode == "L"
    np.testing.assert_array_equal(decoded(image_uri(view))[..., 0], view[0])


def test_few_colours_take_few_bytes():
    rng = np.random.default_rng(0)
    flat = np.repeat(rng.integers(0, 2, (1, 64, 64), dtype=np.uint8) * 255, 3, axis=0)
    assert len(image_uri(flat)) < 1200


@pytest.mark.parametrize("view", [np.zeros((4, 8, 8), np.uint8), np.zeros((3, 8, 8)), np.zeros((8, 8), np.uint8)])
def test_other_arrays_are_refused(view):
    with pytest.raises(SpecError, match="expected an image"):
        image_uri(view)


def points(svg: str) -> np.ndarray:
    path = re.search(r'd="M([^"]*?)Z?"', svg).group(1)
    return np.array([pair.split() for pair in path.split("L")], dtype=float)


def test_a_contour_is_drawn_where_it_lies_y_downward():
    series = np.zeros((4, 5), np.float32)
    series[:, :2] = [[0.25, 0.5], [0.75, 0.5], [0.75, 1.0], [0.25, 1.0]]
    np.testing.assert_allclose(points(contour_svg(series)), series[:, :2] * 60 + 2, atol=0.06)


def test_a_contour_that_leaves_the_square_is_drawn_in_its_own_frame():
    series = np.array([[-5.0, 0.0], [5.0, 0.0], [5.0, 10.0]], np.float32)
    drawn = points(contour_svg(series))
    assert drawn.min() >= 2
    assert drawn.max() <= 62
    assert np.ptp(drawn[:, 0]) == pytest.approx(60)


def test_other_series_are_lines_over_time():
    series = np.arange(40, dtype=np.float32).reshape(5, 8)
    assert contour_svg(series).count("<path") == 8
    assert contour_svg(np.zeros((5, 1), np.float32)).count("<path") == 1
    with pytest.raises(SpecError, match="expected a series"):
        contour_svg(np.zeros(5))


HAND = ("x", "y", "pressure", "second x", "second y", "second pressure")


def touch():
    """Two fingers; the first is lifted once, and its numbers are 0 there."""
    view = np.zeros((5, 6), np.float32)
    view[:, :3] = [[2, 2, 0.5], [4, 2, 0.5], [0, 0, 0], [4, 6, 0.4], [2, 6, 0.4]]
    view[:, 3:] = [[3, 3, 0.5], [3, 4, 0.5], [3, 5, 0.5], [4, 5, 0.5], [4, 4, 0.5]]
    return view


def test_fingers_are_open_paths_that_break_where_they_are_lifted():
    svg = contour_svg(touch(), HAND)
    first, second = re.findall(r'<path class="finger-\d" d="([^"]*)"', svg)
    assert first.count("M") == 2
    assert first.count("L") == 2
    assert (second.count("M"), second.count("L")) == (1, 4)
    assert "Z" not in first + second
    placed = np.array(re.findall(r"[ML]([\d.]+) ([\d.]+)", first), float)
    np.testing.assert_allclose(placed, [[17, 2], [47, 2], [47, 62], [17, 62]])  # 4 wide, 60 high: in the middle of the square
    assert contour_svg(touch()).count("<path") == 1


def test_a_finger_that_there_is_not_is_not_drawn():
    view = touch()
    view[:, 3:] = 0.02  # what a model draws is not exactly 0
    assert len(finger_paths(view, HAND)) == 1
    assert finger_paths(view, ("x", "y", "down", "force", "torque", "grip"))[0].shape == (5, 2)
    assert finger_paths(view, ("a", "b", "c", "d", "e", "f")) == []
    assert finger_paths(view, ()) == []
