import numpy as np
import pytest
import torch
from PIL import Image

from molyneux.core import Batch, ConfigError, Modality, Spec
from molyneux.data import ArraySource, Views, contact_sheet


def drawn(source, path, **settings):
    contact_sheet(source, path, **settings)
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB"))


def test_pictures_are_shown_as_they_are(tmp_path, make):
    source, batch = make(3)
    sheet = drawn(Views(source, ("image",)), tmp_path / "a.png", rows=1, columns=3)
    for number in range(3):
        x = 12 + number * 140
        panel = sheet[12 : 12 + 128 : 16, x : x + 128 : 16]
        np.testing.assert_array_equal(panel, batch.views["image"][number].permute(1, 2, 0).numpy())


def test_every_sense_leaves_ink(tmp_path, make):
    source, _ = make(5)
    for name in source.spec.names:
        sheet = drawn(Views(source, (name,)), tmp_path / f"{name}.png")
        assert (sheet < 100).all(-1).sum() > 20, name
    whole = drawn(source, tmp_path / "all.png", rows=2, columns=3)
    assert whole.shape[1] == 12 + 3 * 140


def test_a_contour_goes_where_it_says(tmp_path):
    points = np.zeros((1, 64, 5), np.float32)
    points[..., :2] = (0.25, 0.75)
    source = ArraySource(Spec((Modality("touch", "series", (64, 5)),)), Batch({"touch": torch.from_numpy(points)}))
    sheet = drawn(source, tmp_path / "a.png")[12 : 12 + 128, 12 : 12 + 128]
    marked = np.argwhere((sheet == (200, 60, 20)).all(-1))
    np.testing.assert_allclose(marked.mean(0), (96, 32), atol=0.5)


def test_missing_samples_are_grey(tmp_path, make):
    source, batch = make(4)
    sheet = drawn(ArraySource(source.spec, batch.observe([])), tmp_path / "a.png")
    assert (sheet[12 : 12 + 128, 12 : 12 + 128] == 240).all()


def test_other_kinds(tmp_path):
    spec = Spec(
        (
            Modality("sound", "audio", (2, 100)),
            Modality("table", "tabular", (7,)),
            Modality("force", "series", (20, 3)),
            Modality("class_", "label", (), "int64", ("no", "yes")),
            Modality("grey", "image", (1, 200, 200)),
            Modality("video", "video", (2, 3, 8, 8)),
        )
    )
    views = {m.name: torch.rand(2, *m.shape, generator=torch.Generator().manual_seed(0)) for m in spec.modalities}
    views["class_"] = torch.tensor([0, 1])
    sheet = drawn(ArraySource(spec, Batch(views)), tmp_path / "a.png")
    assert sheet.shape[1] == 12 + 2 * 212


def test_a_sheet_without_cells(tmp_path, make):
    with pytest.raises(ConfigError, match="got 0 and 8"):
        contact_sheet(make(3)[0], tmp_path / "a.png", rows=0)


def test_fingers_are_drawn_as_paths_that_break_where_they_are_lifted(tmp_path):
    """Two fingers go along two sides of a square; the first is lifted in the middle of its way."""
    channels = ("x", "y", "pressure", "second x", "second y", "second pressure")
    along = np.linspace(-1, 1, 41, dtype=np.float32)
    touch = np.stack([along, 0 * along - 1, 0 * along + 1, along, 0 * along + 1, 0 * along + 1], 1)
    touch[15:26, :3] = 0
    spec = Spec((Modality("touch", "series", (41, 6), channels=channels),))
    alone = touch.copy()
    alone[:, 3:] = 0
    source = ArraySource(spec, Batch({"touch": torch.from_numpy(np.stack([touch, alone]))}))
    contact_sheet(source, tmp_path / "sheet.png", rows=1, columns=2)
    pixels = np.asarray(Image.open(tmp_path / "sheet.png").convert("RGB")).astype(int)
    panel = pixels[12:140, 12:140]
    dark, blue = panel.max(2) < 60, (panel[..., 2] > 150) & (panel[..., 0] < 100)
    top, bottom = np.flatnonzero(dark.any(1)), np.flatnonzero(blue.any(1))
    assert top.max() <= 8  # the square fills the panel, y downward
    assert bottom.min() >= 120
    assert dark[:, 20].any()
    assert dark[:, 108].any()
    assert not dark[:, 60:68].any()
    assert blue[:, 60:68].any(0).all()
    second = pixels[12:140, 152:280]
    assert not ((second[..., 2] > 150) & (second[..., 0] < 100)).any()
