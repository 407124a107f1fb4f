"""Pictures as people have them become views; what cannot be one is refused in one sentence."""

import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from molyneux.core import DataError, Modality, MolyneuxError, values_of, views_of

COLOUR = Modality("image", "image", (3, 16, 16), "uint8")
GREY = Modality("audio", "image", (1, 16, 16), "uint8")
WIDE = Modality("image", "image", (3, 8, 16), "uint8")
NUMBERS = Modality("image", "image", (3, 16, 16), "float32")
RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, (16, 16, 3), np.uint8)
STORED = PIXELS.transpose(2, 0, 1)
PICTURE = Image.fromarray(PIXELS)
SMOOTH = Image.linear_gradient("L").resize((64, 64))


def view(modality, values):
    return views_of(modality, values).view.numpy()


@pytest.mark.parametrize(
    "values",
    [
        PICTURE,
        PIXELS,
        STORED,
        PIXELS.tolist(),
        PIXELS[None],
        STORED[None],
        [PICTURE],
        [PIXELS],
        (STORED,),
        torch.from_numpy(PIXELS),
        torch.from_numpy(PIXELS / 255.0),
        PIXELS / 255.0,
        (PIXELS / np.float32(255)).astype(np.float32),
        PIXELS.astype(np.int64),
        PIXELS.astype(np.uint16) * 257,
        PICTURE.convert("RGBA"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_one_picture_in_many_forms(values):
    found = views_of(COLOUR, values)
    assert found.lengths is None
    np.testing.assert_array_equal(found.view.numpy(), STORED[None])


@pytest.mark.parametrize("kind", ["PNG", "BMP", "WEBP", "GIF", "JPEG", "TIFF", "PPM"])
@pytest.mark.parametrize("as_text", [True, False])
def test_files(tmp_path, kind, as_text):
    path = tmp_path / "a.picture"
    SMOOTH.resize((16, 16)).convert("RGB").save(path, kind, **({"lossless": True} if kind == "WEBP" else {}))
    found = view(COLOUR, str(path) if as_text else path)
    np.testing.assert_allclose(found[0, 0].astype(int), np.asarray(SMOOTH.resize((16, 16))).astype(int), atol=4)


def test_several():
    stack = np.stack([PIXELS] * 5)
    for values in (
        stack,
        list(stack),
        [PICTURE] * 5,
        stack.transpose(0, 3, 1, 2),
        [PICTURE, PIXELS, STORED, PIXELS / 255, PICTURE],
    ):
        np.testing.assert_array_equal(view(COLOUR, values), np.stack([STORED] * 5))
    grey = PIXELS[..., 0]
    for values in (np.stack([grey] * 9), [grey] * 9, np.stack([grey] * 9)[:, None], np.stack([grey] * 9)[..., None]):
        np.testing.assert_array_equal(view(GREY, values), np.stack([grey[None]] * 9))


def test_stacked_arrays_are_taken_at_once(monkeypatch):
    stack = RNG.integers(0, 256, (1000, 3, 16, 16), np.uint8)
    monkeypatch.setattr("molyneux.core.conversion.images._one", None)
    np.testing.assert_array_equal(view(COLOUR, list(stack)), stack)


def test_back():
    for modality, picture, mode in ((COLOUR, STORED, "RGB"), (GREY, STORED[:1], "L")):
        (found,) = values_of(modality, torch.from_numpy(picture[None]))
        assert found.mode == mode
        np.testing.assert_array_equal(view(modality, found), picture[None])
    (found,) = values_of(COLOUR, torch.from_numpy(STORED[None] / 255.0))
    np.testing.assert_array_equal(np.asarray(found), PIXELS)
    numbers = view(NUMBERS, PIXELS / 255.0)
    assert numbers.dtype == np.float32
    np.testing.assert_array_equal(np.asarray(values_of(NUMBERS, numbers)[0]), PIXELS)
    four = Modality("image", "image", (4, 16, 16), "uint8")
    clear = PICTURE.convert("RGBA")
    assert values_of(four, views_of(four, clear).view)[0] == clear
    two = Modality("image", "image", (2, 4, 4), "uint8")
    assert values_of(two, np.zeros((1, 2, 4, 4), np.uint8))[0].shape == (2, 4, 4)


def test_size():
    found = views_of(COLOUR, [SMOOTH, PICTURE])
    assert found.notes[0] == "resized from 64 x 64 to 16 x 16 pixels (width x height) (value 1, 1 of 2)"
    wanted = np.asarray(SMOOTH.resize((16, 16), Image.Resampling.LANCZOS)).astype(int)
    np.testing.assert_allclose(found.view[0, 0].numpy().astype(int), wanted, atol=2)
    np.testing.assert_allclose(view(COLOUR, np.asarray(SMOOTH))[0, 0].astype(int), wanted, atol=1)
    np.testing.assert_allclose(view(COLOUR, np.asarray(SMOOTH) / 255)[0, 0].astype(int), wanted, atol=1)
    assert view(WIDE, SMOOTH.resize((64, 32))).shape == (1, 3, 8, 16)
    with pytest.raises(DataError, match=r"16 x 8 pixels, or of that ratio of width and height, got 64 x 64: crop it"):
        views_of(WIDE, SMOOTH)


def test_transparent_parts_are_shown_on_white():
    clear = Image.new("RGBA", (16, 16), (255, 0, 0, 0))
    half = Image.new("RGBA", (16, 16), (0, 0, 0, 128))
    for picture, level in (
        (clear, 255),
        (half, 127),
        (half.resize((64, 64)), 127),
        (np.asarray(half), 127),
        (half.convert("LA"), 127),
    ):
        found = views_of(COLOUR, picture)
        assert (found.view == level).all()
        assert "transparent parts are shown on white" in found.notes
    palette = Image.new("P", (16, 16), 0)
    palette.info["transparency"] = 0
    assert (view(COLOUR, palette) == 255).all()


def test_colours():
    grey = views_of(GREY, PICTURE)
    assert grey.notes == ("a colour picture became grey",)
    np.testing.assert_allclose(grey.view[0, 0].numpy().astype(int), np.asarray(PICTURE.convert("L")).astype(int), atol=1)
    colour = views_of(COLOUR, PICTURE.convert("L"))
    assert colour.notes == ("a grey picture was given three equal channels",)
    assert (colour.view[0, 0] == colour.view[0, 2]).all()
    np.testing.assert_array_equal(
        view(COLOUR, PICTURE.convert("P")), np.asarray(PICTURE.convert("P").convert("RGB")).transpose(2, 0, 1)[None]
    )
    for mode in ("CMYK", "YCbCr", "HSV", "LAB", "1", "I;16", "F", "I"):
        found = views_of(COLOUR, Image.new(mode, (16, 16)))
        assert found.view.shape == (1, 3, 16, 16)
    assert view(COLOUR, Image.new("1", (16, 16), 1)).min() == 255
    black = views_of(GREY, np.eye(16, dtype=bool))
    assert black.view.max() == 255
    assert black.notes == ("False and True became black and white",)


def test_sixteen_bits(tmp_path):
    deep = (np.arange(256, dtype=np.uint16) * 257).reshape(16, 16)
    Image.fromarray(deep).save(tmp_path / "deep.png")
    for values in (deep, Image.fromarray(deep), tmp_path / "deep.png"):
        found = views_of(GREY, values)
        np.testing.assert_array_equal(found.view.numpy().ravel(), np.arange(256))
        assert found.notes == ("16 bits became 8",)


@pytest.mark.parametrize("kind", ["png", "tiff", "webp", "jpg"])
def test_a_photograph_is_turned_as_its_exif_data_say(tmp_path, kind):
    half = np.zeros((16, 32, 3), np.uint8)
    half[:, 16:] = 255
    exif = Image.Exif()
    exif[0x0112] = 6  # the first row is the right side
    path = tmp_path / f"a.{kind}"
    Image.fromarray(half).save(path, exif=exif)
    tall = Modality("image", "image", (3, 32, 16), "uint8")
    small = Modality("image", "image", (3, 16, 8), "uint8")
    for values in (path, Image.open(path)):
        assert view(tall, values)[0, 0, [0, -1], 0].tolist() == pytest.approx([0, 255], abs=8)
        assert view(small, values)[0, 0, [0, -1], 0].tolist() == pytest.approx([0, 255], abs=8)
    with pytest.raises(DataError, match="got 16 x 32"):
        views_of(COLOUR, path)


def test_of_an_animation_the_first_frame_is_taken(tmp_path):
    frames = [Image.new("RGB", (16, 16), colour) for colour in ("red", "blue")]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    assert view(COLOUR, tmp_path / "a.gif")[0, :, 4, 4].tolist() == pytest.approx([255, 0, 0], abs=3)


def png(width, height):
    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def truncated(path: Path) -> Path:
    PICTURE.resize((160, 160)).save(path, "PNG")
    return write(path, path.read_bytes()[:2000])


def pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


def sparse(path: Path) -> Path:
    with path.open("wb") as stream:
        stream.truncate(1 << 30)
    return path


FILES = {
    "folder": (lambda p: p.parent, "expected a plain file at .*, got a folder"),
    "text": (lambda p: write(p, b"not a picture"), "expected an image .*, got a file of another kind"),
    "empty": (lambda p: write(p, b""), "got a file of another kind"),
    "truncated": (truncated, "expected a whole image, got a damaged file"),
    "huge": (lambda p: write(p, png(30_000, 30_000)), "pixels"),
    "large": (lambda p: write(p, png(6000, 6000)), "at most 16,777,216 pixels, got 6,000 x 6,000"),
    "none": (lambda p: p, "where nothing is: correct the path"),
    "pipe": (pipe, "got a pipe"),
    "device": (lambda _: Path("/dev/zero"), "got a device"),
    "long": (lambda p: p / ("a" * 5000), "cannot read a picture"),
    "null": (lambda _: "a\0b", "cannot read a picture"),
    "bytes": (sparse, "expected at most 67,108,864 bytes"),
    "svg": (lambda p: write(p, b"<svg xmlns='http://www.w3.org/2000/svg'/>"), "got a file of another kind"),
    "script": (lambda p: write(p, b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 16 16\n"), "got a file of another kind"),
}
BROKEN = PIXELS / 255.0
BROKEN[0, 0, 0] = np.nan
VALUES = {
    "none": (None, "got None"),
    "no pictures": ([], "at least one value"),
    "none among": ([PICTURE, None], "value 2: expected a picture"),
    "number": (3, r"got an array of shape \(\)"),
    "bytes": (png(16, 16), "got bytes, which say nothing"),
    "dictionary": ({"image": PICTURE}, "got a dict: make it a list"),
    "generator": ((p for p in [PICTURE]), "got a generator: make it a list"),
    "object": (object(), "got a object"),
    "class": (Image.Image, "got a type"),
    "objects": (np.array([PICTURE, None], object), "got one of objects"),
    "complex": (PIXELS * 1j, "got one of complex numbers"),
    "ragged": ([[1, 2], [3]], "ragged list"),
    "flat": (np.zeros(768), r"got an array of shape \(768,\)"),
    "five axes": (np.zeros((1, 1, 16, 16, 3)), r"got an array of shape \(1, 1, 16, 16, 3\)"),
    "no axis": (np.zeros((0, 16, 16, 3)), "at least one number"),
    "channels": (np.zeros((16, 16, 7)), "got 16 channels|got an array|channels"),
    "not a number": (BROKEN, r"finite numbers, got nan at \(0, 0, 0, 0\)"),
    "infinite": (np.full((16, 16, 3), np.inf), "finite numbers"),
    "0..255 as floats": (PIXELS.astype(float), "floats from 0 to 1, got 255: divide them by 255"),
    "negative floats": (PIXELS / 127.5 - 1, "floats from 0 to 1, got -1: bring them"),
    "negative": (PIXELS.astype(int) - 1, "levels from 0 to 255, got -1"),
    "too large": (PIXELS.astype(int) + 1, "levels from 0 to 255, got 256"),
    "another ratio": (Image.new("RGB", (32, 16)), "got 32 x 16: crop it"),
    "array of another ratio": (np.zeros((16, 32, 3)), "got 32 x 16: crop it"),
    "two in one": ([PIXELS[None].repeat(2, 0), PICTURE], "expected one picture, got 2"),
    "sound": ("tone.wav", "where nothing is: correct the path"),
    "empty path": ("", "got an empty text: name a file"),
}


@pytest.mark.parametrize("case", FILES)
def test_what_is_no_picture_is_refused(tmp_path, case, capfd, recwarn):
    make, said = FILES[case]
    with pytest.raises(MolyneuxError, match=said) as caught:
        views_of(COLOUR, make(tmp_path / "a.png"))
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")
    assert not recwarn.list


@pytest.mark.parametrize("case", VALUES)
def test_what_shows_nothing_is_refused(case, capfd, recwarn):
    values, said = VALUES[case]
    with pytest.raises(MolyneuxError, match=said) as caught:
        views_of(COLOUR, values)
    assert str(caught.value).startswith("modality image")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    assert capfd.readouterr() == ("", "")
    assert not recwarn.list


def test_generated_pictures_that_are_no_numbers_are_refused():
    with pytest.raises(DataError, match="expected finite numbers"):
        values_of(COLOUR, torch.full((1, 3, 16, 16), torch.nan))


def test_an_image_of_the_user_stays_as_it_is(tmp_path):
    SMOOTH.resize((640, 640)).save(tmp_path / "a.jpg")
    with Image.open(tmp_path / "a.jpg") as image:
        found = view(COLOUR, image)
        assert image.size == (640, 640)
        np.testing.assert_allclose(found.astype(int), view(COLOUR, tmp_path / "a.jpg").astype(int), atol=3)
    array = STORED.copy()
    found = views_of(COLOUR, array)
    array[:] = 0
    np.testing.assert_array_equal(found.view[0], STORED)


def test_a_photograph_may_be_large(tmp_path):
    path = tmp_path / "a.jpg"
    Image.new("L", (5000, 5000), 100).save(path)
    found = views_of(COLOUR, path)
    assert found.notes[0] == "resized from 5000 x 5000 to 16 x 16 pixels (width x height)"
    assert (found.view == 100).all()


def test_the_largest_picture_takes_less_than_200_megabytes(tmp_path):
    """In a process of its own, for the peak of memory is of a whole process."""
    size = (4096, 4096)
    Image.new("RGBA", size, (0, 0, 255, 128)).save(tmp_path / "a.png", compress_level=1)
    Image.new("CMYK", size).save(tmp_path / "b.jpg", progressive=True)
    program = (
        "import resource, sys\nfrom molyneux.core import Modality, image_files, views_of\n"
        "modality = Modality('image', 'image', (3, 16, 16), 'uint8')\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\nbefore = peak()\n"
        "for path in sys.argv[1:]: views_of(modality, path)\nprint(peak() - before)"
    )
    paths = [str(tmp_path / name) for name in ("a.png", "b.jpg")]
    done = subprocess.run([sys.executable, "-c", program, *paths], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 200_000
    assert done.stderr == ""
