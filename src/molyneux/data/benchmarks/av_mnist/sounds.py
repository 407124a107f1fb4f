"""Spoken digits in noise: the recordings of FSDD, the clips of ESC-10, their mixture, and its spectrogram as a picture."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.fft import rfft

from molyneux.core import ConfigError, CorruptFileError, Modality, SpecError, files, nearest
from molyneux.core.conversion.sounds import waveform
from molyneux.core.errors import short
from molyneux.core.sound_files import read_wav
from molyneux.core.tooling.compiled import compiled
from molyneux.data.formats.limits import require_unpacked

RATE = 8000
"""Samples of a second."""

LENGTH = RATE
"""Samples of a sound: recordings are cut there, or silence follows them."""

SIDE = 112
"""Frequencies and times of a spectrogram."""

RANGE = 60.0
"""Decibels from black to white."""

WINDOW, HOP = 2 * (SIDE - 1), 70
"""Samples of a window of the spectrogram, and from one to the next."""

_RECORDING = re.compile(r"(\d)_([a-z]+)_(\d+)\.wav")
_CLIP = re.compile(r"([1-5])-(.+)\.ogg")
_CHUNK = 64
_LEVELS = np.array([10.0 ** (RANGE / 10.0 * ((level - 0.5) / 255.0 - 1.0)) for level in range(1, 256)], np.float32)
"""The shares of the strongest power from which on a pixel is 1, 2, ... 255. They decide, and no logarithm, whose last bits
depend on the processor."""
_OGG = b"OggS"


class Recordings(NamedTuple):
    """Spoken digits in the order of their names.

    Args:
        sounds: (N, LENGTH) int16, silence after the end.
        lengths: (N,) samples of speech.
        digits, speakers, numbers: (N,) int64: what is said, by whom (a position in `names`), and which of its takes it is.
        names: of the speakers.
    """

    sounds: np.ndarray
    lengths: np.ndarray
    digits: np.ndarray
    speakers: np.ndarray
    numbers: np.ndarray
    names: tuple[str, ...]


class Clips:
    """Environmental sounds from files of ESC-10, at 8 kHz, without their silent stretches; each is decoded when it is needed.

    Args:
        paths: of the files, in the order of their folders and names.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = tuple(paths)
        self.names = tuple(sorted({path.parent.name for path in paths}))
        """Names of the classes."""
        self.folds = np.array([int(path.name[0]) for path in paths])
        """(N,) 1..5: clips of one source are in one fold."""
        self.classes = np.array([self.names.index(path.parent.name) for path in paths])
        """(N,) positions in `names`."""
        self._sounds: dict[int, np.ndarray] = {}

    def sound(self, number: int) -> np.ndarray:
        """A clip, (n,) int16 of at least `LENGTH` samples.

        Raises:
            ConfigError: the package soundfile is not installed. CorruptFileError: the file cannot be decoded, or is silent.
        """
        if number not in self._sounds:
            self._sounds[number] = _audible(_read_clip(self.paths[number]), self.paths[number])
        return self._sounds[number]

    def stretches(self, chosen: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Stretches (B, LENGTH) int16 of these clips (B,), from the first possible to the last by draws (B,) of [0, 1).

        Errors as `sound`.
        """
        out = np.empty((len(chosen), LENGTH), np.int16)
        for number in np.unique(chosen):
            rows, parts = chosen == number, np.lib.stride_tricks.sliding_window_view(self.sound(int(number)), LENGTH)
            out[rows] = parts[(draws[rows] * len(parts)).astype(np.int64)]
        return out


def recording_files(folder: Path) -> list[Path]:
    """The files `{digit}_{speaker}_{n}.wav` of a folder, by name."""
    return sorted(path for path in folder.glob("*.wav") if _RECORDING.fullmatch(path.name))


def clip_files(folder: Path) -> list[Path]:
    """The files `{class}/{fold}-{clip}-{take}.ogg` below a folder, by name."""
    return sorted(path for path in folder.glob("*/*.ogg") if _CLIP.fullmatch(path.name))


def read_recordings(paths: Sequence[Path]) -> Recordings:
    """Spoken digits from files of FSDD.

    Raises:
        CorruptFileError: a file is no recording of one channel at 8 kHz in 16 bits, or was cut short.
    """
    parts = [match.groups() for path in paths if (match := _RECORDING.fullmatch(path.name))]
    names = tuple(sorted({speaker for _, speaker, _ in parts}))
    sounds, lengths = np.zeros((len(paths), LENGTH), np.int16), np.zeros(len(paths), np.int64)
    for row, path in enumerate(paths):
        rate, sound = read_wav(path)
        if rate != RATE or sound.dtype != np.int16 or sound.ndim != 1:
            raise CorruptFileError(
                f"{path}: expected one channel of 16 bits at {RATE} Hz, got {sound.dtype} {sound.shape} at {rate} Hz: restore it"
            )
        lengths[row] = min(len(sound), LENGTH)
        sounds[row, : lengths[row]] = sound[:LENGTH]
    digits, numbers = (np.array([int(part[place]) for part in parts]) for place in (0, 2))
    return Recordings(sounds, lengths, digits, np.array([names.index(part[1]) for part in parts]), numbers, names)


def one_second(audio: Modality, modality: str, sound: Any, rate: int | None) -> tuple[np.ndarray, tuple[str, ...]]:
    """A sound of a person as recordings are, (1, LENGTH) float32 at `RATE`: cut there, or silence follows it; and notes.

    Args:
        audio: the only modality that shows sounds.
        modality: that was asked for.
        sound: see `core.PicturesSounds`.
        rate: see there.

    Raises:
        SpecError: another modality. DataError: no sound, or a rate that is none; more as `views_of`.
    """
    if modality != audio.name:
        raise SpecError(f"modality {modality!r} shows no sound; {nearest(str(modality), (audio.name,))}")
    given = sound if rate is None or isinstance(sound, str | Path | tuple) else (int(rate), np.asarray(sound))
    heard, notes = waveform(given, rate=RATE, length=LENGTH, name=audio.name)
    return np.pad(heard, (0, LENGTH - len(heard)))[None], notes


def spectrograms(sounds: np.ndarray) -> np.ndarray:
    """Pictures (n, SIDE, SIDE) uint8 of sounds (n, LENGTH): power in decibels, time to the right, high frequencies above.

    A periodic Hann window of 222 samples (112 frequencies from 0 to 4 kHz), every 70 samples; brightness as `pictures`.
    """
    from scipy.signal import get_window  # takes a second to import, which only those who read sounds need

    window = get_window("hann", WINDOW).astype(np.float32)
    out = np.zeros((len(sounds), SIDE, SIDE), np.uint8)
    for start in range(0, len(sounds), _CHUNK):
        part = np.ascontiguousarray(sounds[start : start + _CHUNK], np.float32)
        frames = np.lib.stride_tricks.sliding_window_view(part, WINDOW, axis=1)[:, ::HOP][:, :SIDE]
        spectrum = rfft(frames * window, axis=-1)
        out[start : start + _CHUNK] = pictures(spectrum.real**2 + spectrum.imag**2)
    return out


def pictures(power: np.ndarray) -> np.ndarray:
    """Pictures (n, F, T) uint8 of powers (n, T, F) float32: time to the right, high frequencies above.

    The strongest value of a picture is 255, and 60 dB below it and less is 0. Silence is black.
    """
    peak = power.max((1, 2), keepdims=True)
    share = np.divide(power, peak, out=np.zeros_like(power), where=peak > 0)
    level = np.rint(255.0 + (2550.0 / RANGE) * np.log10(np.maximum(share, 10.0 ** (-RANGE / 10.0)))).astype(np.uint8)
    _settle(share, _LEVELS, level)
    return np.ascontiguousarray(level.swapaxes(1, 2)[:, ::-1])


def mixed(speech: np.ndarray, lengths: np.ndarray, noise: np.ndarray, ratio: float) -> np.ndarray:
    """Speech (n, LENGTH) in noise (n, LENGTH), both int16, as float32: each sound has the same ratio of powers, in decibels.

    The power of speech is the mean over its own length, (n,), that of noise over the whole sound. Speech has power 1.
    """
    out = np.empty(speech.shape, np.float32)
    for start in range(0, len(speech), _CHUNK):
        rows = slice(start, start + _CHUNK)
        spoken, heard = speech[rows].astype(np.float32), noise[rows].astype(np.float32)
        power = np.maximum((spoken**2).sum(1, dtype=np.float64), 1.0) / np.maximum(lengths[rows], 1)
        gain = np.sqrt(10.0 ** (-ratio / 10.0) / np.maximum((heard**2).mean(1, dtype=np.float64), 1e-12))
        spoken *= (1.0 / np.sqrt(power)).astype(np.float32)[:, None]
        heard *= gain.astype(np.float32)[:, None]
        np.add(spoken, heard, out=out[rows])
    return out


@compiled
def _settle(share: np.ndarray, levels: np.ndarray, level: np.ndarray) -> None:
    """Move estimates (n, T, F) uint8 to the number of `levels` that a share (n, T, F) reaches."""
    for row in range(share.shape[0]):
        for time in range(share.shape[1]):
            for place in range(share.shape[2]):
                found, value = level[row, time, place], share[row, time, place]
                while found < 255 and value >= levels[found]:
                    found += 1
                while found > 0 and value < levels[found - 1]:
                    found -= 1
                level[row, time, place] = found


def _read_clip(path: Path) -> np.ndarray:
    """A clip at 8 kHz, (n,) float64, full scale 1."""
    try:
        import soundfile
    except ImportError as error:
        raise ConfigError(
            "noise needs soundfile, which decodes the clips of ESC-10: install molyneux[audio], or set noise: published, "
            "which mixes none in"
        ) from error
    try:
        with files.open_plain(path) as stream:
            if stream.read(len(_OGG)) != _OGG:  # soundfile would decide by the content, and read other formats too
                raise CorruptFileError(f"{path}: expected a sound as Ogg Vorbis, got a file of another kind: restore it")
            size = stream.seek(0, 2)
            stream.seek(0)
            with soundfile.SoundFile(stream) as file:
                require_unpacked(path, size, file.frames * file.channels * np.dtype(np.float64).itemsize)
                sound, rate = file.read(), file.samplerate
    except (soundfile.SoundFileError, OSError, RuntimeError, ValueError, MemoryError) as error:
        raise CorruptFileError(f"{path}: expected a sound as Ogg Vorbis ({short(error)}): restore it") from error
    if sound.ndim != 1 or rate != 44_100:
        raise CorruptFileError(f"{path}: expected one channel at 44100 Hz, got {sound.shape} at {rate} Hz: restore it")
    from scipy.signal import resample_poly  # see `spectrograms`

    return np.asarray(resample_poly(sound, 80, 441))


def _audible(sound: np.ndarray, path: Path) -> np.ndarray:
    """The stretches of 10 ms within 40 dB of the loudest, repeated up to `LENGTH`; (n,) int16 of mean power 1000^2."""
    frames = sound[: len(sound) // 80 * 80].reshape(-1, 80)
    power = (frames**2).mean(1)
    if not power.any():
        raise CorruptFileError(f"{path}: expected a clip with sound in it, got silence: restore it")
    kept = frames[power > 1e-4 * power.max()].reshape(-1)
    kept = np.tile(kept, -(-LENGTH // len(kept)))
    return np.asarray(np.clip(np.rint(1000.0 * kept / np.sqrt((kept**2).mean())), -32767, 32767), np.int16)
