"""Recordings in WAV files become arrays; SciPy decodes them, after a look at whether the file is whole."""

from __future__ import annotations

import io
import struct
import warnings
import wave
from pathlib import Path
from typing import BinaryIO

import numpy as np
from scipy.io import wavfile

from molyneux.core import CorruptFileError, files, store

_MAGIC = {b"RIFF": "<", b"RIFX": ">"}
"""What a WAV file begins with, and its byte order."""


def read_wav(path: Path) -> tuple[int, np.ndarray]:
    """Samples of a second, and the samples (n,) or (n, channels) of a recording as the file has them.

    Raises:
        CorruptFileError: it is no WAV file, holds no samples, or ends before its header says. StoreError: it cannot be read.
    """
    try:
        with files.open_plain(path) as stream:
            _require_whole(stream, path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", wavfile.WavFileWarning)  # parts beside the samples, such as titles
            rate, sound = wavfile.read(path)
    except OSError as error:
        raise store.read_error(error, path) from error
    except (ValueError, TypeError, struct.error, EOFError, ZeroDivisionError, OverflowError, MemoryError) as error:
        raise CorruptFileError(f"{path}: expected a recording as WAV ({error}): restore it") from error
    if not len(sound):
        raise CorruptFileError(f"{path}: expected a recording, got one of no samples: restore it, or leave it out")
    return int(rate), np.asarray(sound)


def wav_bytes(rate: int, sound: np.ndarray) -> bytes:
    """The content of a WAV file of 16 bits; the same sound gives the same bytes.

    Args:
        rate: samples per second.
        sound: (n,) or (channels, n) of numbers from -1 to 1; what is beyond is cut off.
    """
    channels = np.atleast_2d(np.asarray(sound, np.float64))
    samples = np.rint(32767 * np.clip(np.nan_to_num(channels), -1.0, 1.0)).astype("<i2")
    stream = io.BytesIO()
    with wave.open(stream, "wb") as written:
        written.setnchannels(len(channels))
        written.setsampwidth(2)
        written.setframerate(rate)
        written.writeframes(np.ascontiguousarray(samples.T).tobytes())
    return stream.getvalue()


def _require_whole(stream: BinaryIO, path: Path) -> None:
    """Raise CorruptFileError unless a file has a part `data` that is as long as its header says."""
    order = _MAGIC.get(stream.read(12)[:4])
    if order is None:
        raise CorruptFileError(f"{path}: expected a recording as WAV, got a file of another kind: restore it")
    end = stream.seek(0, 2)
    place = stream.seek(12)
    while place + 8 <= end:
        name, size = struct.unpack(f"{order}4sI", stream.read(8))
        place += 8
        if name == b"data":
            if place + size > end:
                raise CorruptFileError(
                    f"{path}: expected {size:,} bytes of samples, as its header says, got {end - place:,}: the recording was cut "
                    "short, restore it"
                )
            return
        place = stream.seek(place + size + size % 2)
    raise CorruptFileError(f"{path}: expected a recording as WAV, got one without samples: restore it")
