"""Arrays become views of series, sets, tables and videos."""

import numpy as np
import pytest
import torch
from PIL import Image

from molyneux.core import DataError, Modality, values_of, views_of

SERIES = Modality("touch", "series", (8, 5))
LINE = Modality("price", "series", (8, 1))
SET = Modality("scene", "set", (4, 3))
TABLE = Modality("facts", "tabular", (3,))
NUMBER = Modality("fact", "tabular", (1,))
VIDEO = Modality("frames", "video", (4, 3, 8, 8), "uint8")
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("modality", [SERIES, SET, TABLE, LINE, NUMBER], ids=lambda modality: modality.kind)
def test_one_and_several(modality):
    one, several = RNG.normal(size=modality.shape), RNG.normal(size=(3, *modality.shape))
    for values in (one, one[None], [one], torch.from_numpy(one), one.tolist()):
        found = views_of(modality, values)
        assert found.lengths is None
        assert found.view.dtype == torch.float32
        np.testing.assert_array_equal(found.view, one.astype(np.float32)[None])
    for values in (several, list(several), torch.from_numpy(several), several.tolist()):
        np.testing.assert_array_equal(views_of(modality, values).view, several.astype(np.float32))
    found = views_of(modality, several)
    np.testing.assert_array_equal(np.stack(values_of(modality, found.view, found.lengths)), several.astype(np.float32))


def test_shorter_ones_have_lengths():
    found = views_of(SERIES, [np.ones((3, 5)), np.ones((8, 5))])
    assert found.lengths.tolist() == [3, 8]
    assert found.view[0, 3:].abs().sum() == 0
    assert [value.shape for value in values_of(SERIES, found.view, found.lengths)] == [(3, 5), (8, 5)]
    assert views_of(SET, np.ones((2, 3))).lengths.tolist() == [2]


def test_one_column_may_be_left_out():
    np.testing.assert_array_equal(views_of(LINE, np.arange(8.0)).view[0, :, 0], np.arange(8.0))
    assert views_of(LINE, np.zeros((5, 8))).view.shape == (5, 8, 1)
    assert views_of(NUMBER, 3.5).view.tolist() == [[3.5]]
    assert views_of(NUMBER, [1.0, 2.0, 3.0]).view.tolist() == [[1], [2], [3]]


def test_videos():
    frames = RNG.integers(0, 256, (4, 8, 8, 3), np.uint8)
    pictures = [Image.fromarray(frame) for frame in frames]
    stored = frames.transpose(0, 3, 1, 2)
    for values in (frames, stored, pictures, list(frames), [pictures], [frames], frames[None], frames / 255.0):
        found = views_of(VIDEO, values)
        assert found.lengths is None
        np.testing.assert_array_equal(found.view, stored[None])
    found = views_of(VIDEO, [pictures, pictures[:2]])
    assert found.lengths.tolist() == [4, 2]
    assert [value.shape for value in values_of(VIDEO, found.view, found.lengths)] == [(4, 3, 8, 8), (2, 3, 8, 8)]


@pytest.mark.parametrize(
    ("modality", "values", "said"),
    [
        (SERIES, np.zeros((8, 4)), r"an array of 8 x 5 numbers, or fewer along axis 0, or several of such, got shape \(8, 4\)"),
        (SERIES, np.zeros((9, 5)), r"got shape \(9, 5\)"),
        (SERIES, [np.zeros((8, 5)), None], "value 2: expected an array of 8 x 5 numbers, got None"),
        (SERIES, np.full((8, 5), np.nan), r"finite numbers, got nan at \(0, 0\)"),
        (SERIES, "points.csv", "got a str: convert it to an array"),
        (SERIES, [[1.0, 2.0], [3.0]], "ragged list"),
        (SERIES, np.array([[1, "a"]], object), "an array of numbers, got one of objects"),
        (TABLE, [1.0, 2.0], r"an array of 3 numbers or several of such, got shape \(2,\)"),
        (TABLE, [1.0, "a", 2.0], "got one of texts"),
        (TABLE, {"a": 1.0}, "got a dict: make it a list"),
        (TABLE, 10**400, "expected an array of numbers"),
        (VIDEO, np.zeros((5, 8, 8, 3), np.uint8), "at most 4 frames, got 5"),
        (VIDEO, "film.mp4", "got a path: read its frames"),
        (Modality("x", "tabular", (2,), "int64"), [0.5, 1.0], "whole numbers, got float64"),
    ],
)
def test_what_does_not_fit_is_refused(modality, values, said):
    with pytest.raises(DataError, match=said) as caught:
        views_of(modality, values)
    assert "\n" not in str(caught.value)
