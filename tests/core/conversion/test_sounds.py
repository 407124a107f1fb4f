"""Sounds as arrays and WAV files become views of an audio modality."""

import struct
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.io import wavfile

from molyneux.core import DataError, Modality, MolyneuxError, values_of, views_of

AUDIO = Modality("audio", "audio", (1, 800))
STEREO = Modality("audio", "audio", (2, 800))
TONE = np.sin(np.arange(800) / 5).astype(np.float32) / 2


def view(values, modality=AUDIO, **options):
    return views_of(modality, values, **options).view.numpy()


@pytest.mark.parametrize(
    ("values", "precision"),
    [
        (TONE, 0),
        (TONE[None], 0),
        (TONE[:, None], 0),
        (torch.from_numpy(TONE), 0),
        ((8000, TONE), 0),
        ([TONE], 0),
        (TONE.tolist(), 0),
        (TONE.astype(np.float64), 0),
        ((TONE * 2**15).astype(np.int16), 2**-15),
        ((TONE.astype(np.float64) * 2**31).astype(np.int32), 2**-24),
        ((TONE * 128 + 128).astype(np.uint8), 2**-7),
        ([np.stack([TONE, TONE])], 1e-6),
        ((8000, np.stack([TONE, TONE])), 1e-6),
        (np.stack([TONE, TONE], 1), 1e-6),
    ],
)
def test_one_sound_in_many_forms(values, precision):
    found = views_of(AUDIO, values)
    assert found.view.dtype == torch.float32
    assert found.lengths is None
    np.testing.assert_allclose(found.view.numpy(), TONE[None, None], atol=precision)


def test_lengths_and_channels():
    found = views_of(AUDIO, [TONE, TONE[:300], np.concatenate([TONE, TONE])])
    assert found.lengths.tolist() == [800, 300, 800]
    assert found.notes == ("cut after 800 samples (value 3, 1 of 3)",)
    assert [value.shape for value in values_of(AUDIO, found.view, found.lengths)] == [(1, 800), (1, 300), (1, 800)]
    np.testing.assert_array_equal(view(TONE, STEREO), np.stack([TONE, TONE])[None])
    np.testing.assert_array_equal(view(np.stack([TONE] * 20)), np.stack([TONE] * 20)[:, None])
    np.testing.assert_array_equal(view(np.stack([TONE] * 20)[:, None]), np.stack([TONE] * 20)[:, None])


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.int32, np.float32, np.float64, "24"])
@pytest.mark.parametrize("channels", [1, 2])
def test_files(tmp_path, kind, channels):
    path, sound = tmp_path / "a.wav", np.stack([TONE] * channels, 1)
    if kind == "24":
        numbers = (sound.astype(np.float64) * 2**23).astype("<i4")
        content = numbers.reshape(-1).view(np.uint8).reshape(-1, 4)[:, :3].tobytes()
        head = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, channels, 8000, 8000 * 3 * channels, 3 * channels, 24)
        body = b"WAVE" + head + b"data" + struct.pack("<I", len(content)) + content
        path.write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)
    else:
        scaled = {np.uint8: sound * 128 + 128, np.int16: sound * 2**15, np.int32: sound.astype(np.float64) * 2**31}
        wavfile.write(path, 8000, scaled.get(kind, sound).astype(kind))
    found = views_of(AUDIO, path)
    np.testing.assert_allclose(found.view.numpy(), TONE[None, None], atol=2**-7 if kind == np.uint8 else 2**-15)
    unknown = "taken at its 8,000 samples per second: that of audio is not known, so that it was not resampled"
    averaged = ("2 channels became their mean",) if channels == 2 else ()
    assert found.notes == (*averaged, unknown)
    assert views_of(AUDIO, str(path), rate=8000).notes == averaged


def test_another_rate_is_resampled(tmp_path):
    fine = np.sin(np.arange(1600) / 10).astype(np.float32) / 2
    wavfile.write(tmp_path / "a.wav", 16_000, fine)
    for values in (tmp_path / "a.wav", (16_000, fine)):
        found = views_of(AUDIO, values, rate=8000)
        assert found.notes == ("resampled from 16,000 to 8,000 samples per second",)
        assert found.lengths is None
        np.testing.assert_allclose(found.view[0, 0, 50:-50].numpy(), TONE[50:-50], atol=0.01)


def test_a_modality_says_its_rate(tmp_path):
    rated = replace(AUDIO, rate=8000)
    fine = np.sin(np.arange(1600) / 10).astype(np.float32) / 2
    wavfile.write(tmp_path / "a.wav", 16_000, fine)
    found = views_of(rated, tmp_path / "a.wav")
    assert found.notes == ("resampled from 16,000 to 8,000 samples per second",)
    assert torch.equal(found.view, views_of(AUDIO, tmp_path / "a.wav", rate=8000).view)
    assert views_of(rated, (8000, TONE)).notes == ()
    assert views_of(rated, TONE).notes == ()  # an array alone is taken to have it


@pytest.mark.parametrize("shape", [(2, 800), (8, 800)])
def test_an_array_that_may_be_sounds_or_channels_is_refused(shape):
    with pytest.raises(DataError, match=rf"may be {shape[0]} sounds or one of {shape[0]} channels: give a list of sounds"):
        views_of(AUDIO, np.zeros(shape, np.float32))
    assert views_of(AUDIO, np.zeros((2, 500), np.float32)).notes == ("2 channels became their mean",)
    assert views_of(AUDIO, list(np.zeros((2, 800), np.float32))).notes == ()
    assert views_of(AUDIO, np.zeros((9, 800), np.float32)).notes == ()
    assert views_of(STEREO, np.zeros((2, 800), np.float32)).notes == ()
    assert views_of(STEREO, TONE).notes == ("one channel became 2 equal ones",)


def empty(path):
    wavfile.write(path, 8000, np.zeros(0, np.int16))
    return path


def cut(path):
    wavfile.write(path, 8000, (TONE * 2**15).astype(np.int16))
    path.write_bytes(path.read_bytes()[:500])
    return path


def text(path):
    path.write_text("no sound")
    return path


CASES = {
    "empty": (empty, "got one of no samples"),
    "cut": (cut, "the recording was cut short"),
    "text": (text, "expected a recording as WAV, got a file of another kind"),
    "folder": (lambda path: path.parent, "got a folder"),
    "none": (lambda path: path, "where nothing is: correct the path"),
    "device": (lambda _: "/dev/zero", "got a device"),
    "nothing": (lambda _: None, "got None"),
    "object": (lambda _: object(), "expected a sound as an array of 1 x 800 numbers or the path of a WAV file, got a object"),
    "not a number": (lambda _: np.full(8, np.nan), "finite numbers, got nan at"),
    "too large": (lambda _: np.full(8, 1e300), "finite numbers, got 1e"),
    "integers": (lambda _: np.zeros(8, np.int64), "integers of 8, 16 or 32 bits, got int64"),
    "no samples": (lambda _: np.zeros((1, 0)), "at least one number"),
    "axes": (lambda _: np.zeros((2, 2, 2, 9)), "got shape"),
    "rate": (lambda _: (0, TONE), "samples per second, got 0"),
    "pair": (lambda _: ("8000", TONE), "where nothing is"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_no_sound_is_refused(tmp_path, case, capfd, recwarn):
    make, said = CASES[case]
    with pytest.raises(MolyneuxError, match=said) as caught:
        views_of(AUDIO, make(tmp_path / "a.wav"))
    assert str(caught.value).startswith("modality audio")
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")
    assert not recwarn.list


def test_three_channels_do_not_fit_two():
    with pytest.raises(MolyneuxError, match="2 channels, got 3"):
        views_of(STEREO, np.zeros((3, 800), np.float32))
