"""Pictures of strangers: formats of pixels alone, bounded in size, and a sentence where they are damaged."""

import stat
import struct
import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from molyneux.core import DataError
from molyneux.core.image_files import FORMATS, MOST_PIXELS, open_image, read_image
from molyneux.data import ImageFolder, TableDataset
from molyneux.data.contact import is_contact_sheet
from molyneux.data.worlds import textures

POSTSCRIPT = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n%%EndComments\nshowpage\n%%EOF\n"


@pytest.fixture
def mark(tmp_path, monkeypatch):
    """A file that appears once something starts Ghostscript, of which one that only leaves the file is first in the PATH."""
    mark, folder = tmp_path / "started", tmp_path / "bin"
    folder.mkdir()
    for name in ("gs", "gswin64c", "gswin32c"):
        (folder / name).write_text(f"#!/bin/sh\necho 10.0\n: > {mark}\n")
        (folder / name).chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr("PIL.EpsImagePlugin.gs_binary", None)
    return mark


def picture(side=8, mode="RGB"):
    return Image.fromarray(np.random.default_rng(0).integers(0, 256, (side, side, 3), np.uint8)).convert(mode)


def test_the_mark_is_left_where_pillow_decides_by_content(mark, tmp_path):
    """What the other tests with the mark rely on."""
    (tmp_path / "page.png").write_bytes(POSTSCRIPT)
    with Image.open(tmp_path / "page.png") as image, pytest.raises((OSError, SyntaxError, ValueError)):
        image.load()
    assert mark.exists()


@pytest.mark.parametrize(
    "content", [POSTSCRIPT, b"\xc5\xd0\xd3\xc6" + struct.pack("<II", 32, len(POSTSCRIPT)) + 20 * b"\0" + POSTSCRIPT]
)
def test_postscript_under_another_name_starts_nothing(content, mark, tmp_path):
    folder = tmp_path / "pictures"
    for name in ("cat", "dog"):
        (folder / name).mkdir(parents=True)
        for number in range(3):
            picture().save(folder / name / f"{number}.png")
    bad = folder / "cat" / "1.png"
    bad.write_bytes(content)
    (tmp_path / "table.csv").write_text("picture,label\n" + "".join(f"pictures/cat/{n}.png,{n % 2}\n" for n in range(3)))
    whole = [
        lambda: read_image(bad, (3, 8, 8), "here"),
        lambda: read_image(content, (3, 8, 8), "here"),
        lambda: ImageFolder(path=folder, image_size=(8, 8)).splits,
        lambda: TableDataset(path=tmp_path / "table.csv", images=("picture",), labels=("label",)).splits,
        lambda: textures.folder(folder, 8),
    ]
    for read in whole:
        with pytest.raises(DataError, match="expected an image \\(BMP, GIF"):
            read()
    assert not is_contact_sheet(bad)
    assert not mark.exists()


@pytest.mark.parametrize("kind", FORMATS)
def test_formats_of_pixels_are_read_whatever_the_name_ends_in(kind, tmp_path):
    path, lossy = tmp_path / "a.png", kind in ("JPEG", "WEBP", "GIF")
    picture().save(path, kind)
    read = read_image(path, (3, 8, 8), "here")
    if not lossy:
        np.testing.assert_array_equal(read, np.asarray(picture()).transpose(2, 0, 1))
    assert read.shape == (3, 8, 8)


@pytest.mark.parametrize("kind", ["ICNS", "ICO", "PCX", "TGA", "PDF", "EPS", "JPEG2000"])
def test_other_formats_are_refused(kind):
    stream = BytesIO()
    picture(16).save(stream, kind)
    with pytest.raises(DataError, match="here: expected an image"):
        read_image(stream.getvalue(), (3, 8, 8), "here")


def chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png(width, height, data=b""):
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + data + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")


@pytest.mark.parametrize("sides", [(30_000, 30_000), (2**31 - 1, 2**31 - 1), (9460, 9460)])
def test_pictures_of_too_many_pixels_are_refused_by_their_head(sides, recwarn):
    assert sides[0] * sides[1] > MOST_PIXELS
    with pytest.raises(DataError, match=r"here: .*pixels"), open_image(png(*sides), "here"):
        pass
    assert not recwarn.list


def test_texts_in_a_picture_that_unpack_to_much_are_refused():
    text = chunk(b"zTXt", b"note\0\0" + zlib.compress(b"x" * 100_000_000, 9))
    with pytest.raises(DataError, match="here: "):
        read_image(png(8, 8, text), (3, 8, 8), "here")


def test_a_part_of_a_picture_is_bounded():
    stream = BytesIO()
    picture().save(stream, "PNG")
    with pytest.raises(DataError, match=r"here, part .*: expected at most .* pixels"):
        read_image(stream.getvalue(), (3, 8, 8), "here", box=(-100_000, -100_000, 100_000, 100_000))


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "TIFF", "PNG"])
def test_several_frames_are_the_first_one_or_an_error(kind):
    stream, frames = BytesIO(), [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue", "green")]
    frames[0].save(stream, kind, save_all=True, append_images=frames[1:])
    with (
        pytest.raises(DataError, match="here: expected one picture, got several frames"),
        open_image(stream.getvalue(), "here", still=True),
    ):
        pass
    assert read_image(stream.getvalue(), (3, 8, 8), "here")[:, 4, 4].tolist() == pytest.approx([255, 0, 0], abs=3)


def test_a_photograph_with_a_second_picture_of_the_camera_is_one_picture():
    stream = BytesIO()
    picture().save(stream, "MPO", save_all=True, append_images=[picture(4)])
    with open_image(stream.getvalue(), "here", still=True) as image:
        assert image.size == (8, 8)


def test_remarks_of_the_library_do_not_reach_the_user(tmp_path):
    """EXIF data that are cut make Pillow warn; filters are those of before afterwards, with many threads too."""
    stream = BytesIO()
    exif = Image.Exif()
    exif[0x010E] = "a" * 50
    picture().save(stream, "JPEG", exif=exif.tobytes()[:30])
    with warnings.catch_warnings(record=True) as before:
        warnings.simplefilter("always")
        Image.open(BytesIO(stream.getvalue())).getexif()
    assert before
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        filters = list(warnings.filters)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: read_image(stream.getvalue(), (3, 8, 8), "here"), range(50)))
        assert warnings.filters == filters
    assert not found


@pytest.mark.parametrize("compression", ["packbits", "tiff_lzw", "tiff_adobe_deflate"])
def test_remarks_of_libtiff_on_damaged_files_do_not_reach_the_user(compression, capfd):
    stream = BytesIO()
    Image.fromarray(np.arange(900, dtype=np.uint16).astype(np.uint8).reshape(30, 30)).save(
        stream, "TIFF", compression=compression
    )
    refused = 0
    for place in range(8, len(stream.getvalue())):
        content = bytearray(stream.getvalue())
        content[place] ^= 0x80
        try:
            read_image(bytes(content), (1, 8, 8), "x")
        except DataError:
            refused += 1
    assert refused
    assert capfd.readouterr() == ("", "")
