"""What people give becomes text of an address and comes back; what is none is refused before it is decoded."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from molyneux.core import DataError, Modality, MolyneuxError
from molyneux.data import CdSprites
from molyneux.studio import given

IMAGE = Modality("image", "image", (3, 64, 64), "uint8")


def png(image):
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()


def test_values_by_modality_come_back():
    values = {"text": "a: b", "left:camera": "x", "touch": "1.2_3.4"}
    assert given.unpacked(given.packed(values)) == values
    assert given.packed({"text": ""}) == ()
    assert given.unpacked(["", ":x", "a:"]) == {}


@pytest.mark.parametrize("size", [(64, 64), (200, 100), (17, 300)])
@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "P", "CMYK", "1"])
def test_a_picture_becomes_one_of_the_model(size, mode):
    image = Image.new("RGB", size, (255, 0, 0)).convert(mode)
    stream = io.BytesIO()
    image.save(stream, "TIFF" if mode == "CMYK" else "PNG")
    text = given.picture_text(stream.getvalue(), IMAGE)
    assert len(text) < 16_000
    back = given.picture_of(text)
    assert back.size == (64, 64)
    assert given.value_of(IMAGE, text, None).size == (64, 64)


def test_a_noisy_picture_still_fits_into_an_address():
    noise = np.random.default_rng(1).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    text = given.picture_text(png(Image.fromarray(noise)), IMAGE)
    assert len(text) <= 16_000
    assert given.picture_of(text).size == (64, 64)


def bomb():
    """A PNG that says 30,000 x 30,000 pixels."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    "content", [b"", b"text", b"<svg onload=alert(1)>", b"%PDF-1.4", png(Image.new("L", (8, 8)))[:40]], ids=range(5)
)
def test_files_that_are_no_pictures_are_refused(content):
    with pytest.raises(DataError):
        given.picture_text(content, IMAGE)


def test_a_bomb_is_refused_before_it_is_decoded():
    with pytest.raises(DataError, match="pixels"):
        given.picture_text(bomb(), IMAGE)


@pytest.mark.parametrize("text", ["", "x", "a" * 3_000, "%%%", "<script>", "é"])
def test_addresses_with_other_pictures_are_refused(text):
    with pytest.raises(DataError):
        given.picture_of(text)


def test_a_line_comes_back_in_at_most_400_points():
    points = [(128 + 80 * np.cos(t), 128 + 80 * np.sin(t)) for t in np.linspace(0, 6.28, 1500)]
    back = given.line_of(given.line_text(points))
    assert len(back) <= 400
    assert np.abs(back - np.array(points)[:: -(-1500 // 400)]).max() < 0.06


@pytest.mark.parametrize("text", ["", "1.2", "1.2_3", "a.b_c.d_e.f", "1.2_3.4", "9" * 400 + ".1_1.1_2.2", "1.1_nan.1_2.2"])
def test_addresses_with_other_lines_are_refused(text):
    with pytest.raises(DataError):
        given.line_of(text)


def test_a_line_is_a_contour_for_touch():
    world = CdSprites(level=1, modalities=["image", "text", "touch"])
    line = given.line_text([(64, 64), (192, 64), (192, 192), (64, 192)])
    touch = world.spec.modality("touch")
    assert given.value_of(touch, line, world).shape == (1, *touch.shape)
    with pytest.raises(DataError):
        given.value_of(touch, line, None)


def test_no_text_is_taken_for_a_file(tmp_path):
    path = tmp_path / "secret.png"
    Image.new("RGB", (64, 64)).save(path)
    with pytest.raises(MolyneuxError):
        given.value_of(IMAGE, str(path), None)


def test_sounds(tmp_path):
    from scipy.io import wavfile

    path = tmp_path / "a.wav"
    wavfile.write(path, 8000, np.zeros(80, np.int16))
    rate, sound = given.sound_of(path.read_bytes())
    assert (rate, sound.shape) == (8000, (80,))
    with pytest.raises(MolyneuxError):
        given.sound_of(b"RIFF....WAVE")


def test_a_damaged_sound_and_a_huge_picture_are_told_without_paths(monkeypatch):
    with pytest.raises(MolyneuxError, match=r"^the sound: "):
        given.sound_of(b"RIFF")
    monkeypatch.setattr(given, "_MOST_GIVEN", 100)
    with pytest.raises(DataError, match="at most 100 pixels"):
        given.picture_text(png(Image.new("RGB", (20, 20))), IMAGE)
