"""Recordings in WAV files: what is read as it is, and what is refused by name."""

from pathlib import Path

import numpy as np
import pytest
from scipy.io import wavfile

from molyneux.core import CorruptFileError, StoreError
from molyneux.core.sound_files import read_wav

TONE = np.sin(np.arange(400) / 5)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.float32, np.float64])
@pytest.mark.parametrize("channels", [1, 2])
def test_samples_are_read_as_they_are(tmp_path: Path, dtype: type, channels: int) -> None:
    sound = (100 * TONE + 100).astype(dtype) if channels == 1 else np.stack([100 * TONE, TONE], 1).astype(np.int16).astype(dtype)
    wavfile.write(tmp_path / "a.wav", 16_000, sound)
    rate, found = read_wav(tmp_path / "a.wav")
    assert rate == 16_000
    assert found.dtype == dtype
    assert np.array_equal(found, sound)


def recording(path: Path) -> bytes:
    wavfile.write(path, 8000, (3000 * TONE).astype(np.int16))
    return path.read_bytes()


@pytest.mark.parametrize("kept", [0, 3, 12, 20, 43, 44, 45, 200, 843])
def test_a_recording_that_was_cut_is_refused_wherever_it_was(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(recording(path)[:kept])
    with pytest.raises(CorruptFileError, match=r"a\.wav: expected"):
        read_wav(path)


def test_parts_beside_the_samples_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    whole = recording(path)
    path.write_bytes(whole[:36] + b"LIST\x05\x00\x00\x00hello\x00" + whole[36:])
    assert len(read_wav(path)[1]) == 400
    path.write_bytes(whole + b"LIST\x05\x00\x00\x00hel")
    assert len(read_wav(path)[1]) == 400


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(b"\x89PNG" + bytes(100))
    with pytest.raises(CorruptFileError, match="a file of another kind"):
        read_wav(path)
    wavfile.write(path, 8000, np.zeros(0, np.int16))
    with pytest.raises(CorruptFileError, match="got one of no samples"):
        read_wav(path)
    with pytest.raises(StoreError, match=r"b\.wav"):
        read_wav(tmp_path / "b.wav")
