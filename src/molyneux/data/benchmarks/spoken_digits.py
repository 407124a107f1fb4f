"""Spoken digits: a digit written by hand, spoken, and written as a word; three senses, all of them real."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, final, get_args

import numpy as np
import torch
from scipy.fft import rfft

from molyneux.core import Batch, ConvertedViews, Factor, Modality, Reader, Spec, Understood, choice_problems
from molyneux.core.tooling.compiled import compiled
from molyneux.data.benchmarks.av_mnist import playing, sounds
from molyneux.data.benchmarks.av_mnist.sounds import RATE, pictures
from molyneux.data.benchmarks.bases.file_benchmark import FileSamples, tensors
from molyneux.data.benchmarks.digits import images as digits
from molyneux.data.benchmarks.digits.samples import (
    DIGITS,
    WORDS,
    DigitImages,
    class_factor,
    dealt,
    placed_words,
    understood_digit,
    views_of_word,
    word_modality,
    word_reader,
)
from molyneux.data.dataset import SPLITS, Split

SIDE = 32
"""Mel bands and moments of a picture."""

HEARD = 6000
"""Samples of a sound that a picture shows: 0.75 s, which 97 % of the recordings of FSDD do not exceed."""

_WINDOW = 256
_HOP = (HEARD - _WINDOW) // (SIDE - 1)
_CHUNK = 256


def mel_pictures(sounds: np.ndarray) -> np.ndarray:
    """Pictures (n, SIDE, SIDE) uint8 of sounds (n, at least HEARD): time to the right, high frequencies above, in decibels.

    A periodic Hann window of 256 samples (32 ms), every 185 samples (23 ms); the power in 32 triangular bands from 0 to 4 kHz.
    The strongest value of a picture is 255, and 60 dB below it and less is 0. Silence is black.
    """
    from scipy.signal import get_window  # takes a second to import, which only those who read sounds need

    window, bands = get_window("hann", _WINDOW).astype(np.float32), mel_filters()
    out = np.zeros((len(sounds), SIDE, SIDE), np.uint8)
    for start in range(0, len(sounds), _CHUNK):
        part = np.ascontiguousarray(sounds[start : start + _CHUNK, :HEARD], np.float32)
        frames = np.lib.stride_tricks.sliding_window_view(part, _WINDOW, axis=1)[:, ::_HOP][:, :SIDE]
        spectrum = rfft(frames * window, axis=-1)
        power = spectrum.real**2 + spectrum.imag**2
        heard = np.empty((*power.shape[:2], SIDE), np.float32)
        _sum_bands(power, bands, heard)
        out[start : start + _CHUNK] = pictures(heard)
    return out


def mel_filters() -> np.ndarray:
    """The weights (SIDE, WINDOW / 2 + 1) of the frequencies in triangular bands, the largest of each near 1.

    The corners of the bands are at equal distances on the mel scale, 2595 log10(1 + f / 700); each band begins and ends at the
    middle of its neighbours.
    """
    top = 2595.0 * math.log10(1.0 + RATE / 2 / 700.0)
    corners = np.array([700.0 * (10.0 ** (float(mel) / 2595.0) - 1.0) for mel in np.linspace(0.0, top, SIDE + 2)])
    frequencies = np.arange(_WINDOW // 2 + 1) * RATE / _WINDOW
    low, middle, high = (corners[place : place + SIDE, None] for place in range(3))
    rising, falling = (frequencies - low) / (middle - low), (high - frequencies) / (high - middle)
    return np.asarray(np.maximum(0.0, np.minimum(rising, falling)))


@compiled
def _sum_bands(power: np.ndarray, bands: np.ndarray, out: np.ndarray) -> None:
    """Power (n, T, F) in bands (B, F), each a sum in the order of the frequencies; that of a product of matrices varies."""
    for row in range(power.shape[0]):
        for time in range(power.shape[1]):
            for band in range(bands.shape[0]):
                total = 0.0
                for frequency in range(bands.shape[1]):
                    weight = bands[band, frequency]
                    if weight > 0.0:
                        total += weight * power[row, time, frequency]
                out[row, time, band] = total


Division = Literal["speakers", "takes"]
"""How recordings are divided among the splits."""

_TAKES: Mapping[Split, range] = {"test": range(5), "validation": range(5, 10), "train": range(10, 50)}
RECORDINGS = "fsdd/recordings"
_LENGTH = max(map(len, WORDS))
_AUDIO = Modality("audio", "image", (1, SIDE, SIDE), "uint8")


@final
class SpokenDigits(DigitImages):
    """A digit written by hand, the same digit spoken, and its word: 70,000 samples of three real senses.

    Built from MNIST and the Free Spoken Digit Dataset (FSDD). Layout: a folder with `mnist` (the four files) and
    `fsdd/recordings` (`{digit}_{speaker}_{n}.wav`, 8 kHz). Modalities are `image` (1, 28, 28); `audio`, the mel spectrogram of
    the first 0.75 s as an image (1, 32, 32) in decibels; and `text`, the English word in 5 characters. Factors are `label`,
    which every modality shows, and `speaker`; the target is `label`.

    Images are divided as in `MNIST`. By default, FSDD's own test takes (0-4 of each speaker and digit) test, takes 5-9 validate
    and 10-49 train, so that no recording is in two splits. The recordings of each digit are dealt out in turn, in an order that
    `pairing_seed` decides on; a recording is heard with about 23 images of the training split. Texts are read exactly, the others
    by judges that are trained from the labels.

    Args:
        folder: holds `mnist` and `fsdd`; by default the one that `MOLYNEUX_DATA` names.
        recordings: "takes": as above. "speakers": the last speaker in the alphabet tests, the one before validates, the others
            train.
        pairing_seed: which recording goes with which image.

    Raises:
        ConfigError: no such division of the recordings.
    """

    name = "spoken-digits-v1"
    licence = "CC BY-SA 4.0 (MNIST CC BY-SA 3.0, FSDD CC BY-SA 4.0)"
    origin = "MNIST (LeCun et al., 1998) and FSDD (Jackson et al., 2018), joined by this package"
    page = "https://github.com/Jakobovski/free-spoken-digit-dataset"
    metric = "coherence of each direction"
    sizes = "55,000 / 5,000 / 10,000"
    folders = (".",)
    files = tuple(f"mnist/{name}" for name in digits.FILES)
    published_as = f"the four files of MNIST as mnist and the recordings of {page} as {RECORDINGS}"

    def __init__(self, folder: Path | None = None, *, recordings: Division = "takes", pairing_seed: int = 0) -> None:
        problems = choice_problems(recordings=(recordings, get_args(Division)))
        super().__init__(folder, {"recordings": recordings, "pairing_seed": pairing_seed}, problems)

    def many(self) -> Sequence[Path]:
        """The recordings."""
        self.listed(f"{RECORDINGS}/*.wav")
        return sounds.recording_files(self.folder / RECORDINGS)

    def open(self, paths: Mapping[str, Path]) -> FileSamples:
        """See `FileBenchmark`."""
        found, rows = self.digits(paths)
        spoken = sounds.read_recordings(self.many())
        spectrograms = mel_pictures(spoken.sounds)
        heard = np.empty(len(found.labels), np.int64)
        for split, part in rows.items():
            usable = np.where(self._usable(spoken, split), spoken.digits, -1)
            what = f"{self.folder / RECORDINGS}: recordings of the split {split}"
            names, seed = (self.name, split, "recordings"), self._settings["pairing_seed"]
            heard[part] = dealt(found.labels[part], usable, seed=seed, names=names, what=what)
        image = Modality("image", "image", (1, digits.SIDE, digits.SIDE), "uint8")
        factors, targets = class_factor(DIGITS)
        spec = Spec((image, _AUDIO, word_modality(_LENGTH)), (*factors, Factor("speaker", spoken.names)), targets)

        def read(rows: np.ndarray) -> Batch:
            labels, recordings = found.labels[rows], heard[rows]
            views = tensors(
                image=found.images[rows].reshape(-1, *image.shape),
                audio=spectrograms[recordings][:, None],
                text=placed_words(labels, np.zeros_like(labels), _LENGTH),
            )
            codes = tensors(codes=np.stack([labels, spoken.speakers[recordings]], 1))["codes"]
            return Batch(views, factors=codes, targets=tensors(label=labels))

        return FileSamples(spec, rows, read)

    def readers(self) -> Mapping[str, Reader]:
        """The exact reader of words."""
        return {"text": word_reader(_LENGTH, class_factor(DIGITS)[0][0])}

    def understand(self, text: str) -> Understood:
        """The digit that a text names, as a word or a figure; see `core.Understands`."""
        return understood_digit(text)

    def views_of_caption(self, caption: str) -> Mapping[str, ConvertedViews]:
        """See `core.Understands`."""
        return views_of_word(caption, _LENGTH)

    @staticmethod
    def view_of_sound(modality: str, sound: Any, rate: int | None = None) -> ConvertedViews:
        """The mel spectrogram (1, 1, 32, 32) of a sound, of its first 0.75 s; see `core.PicturesSounds`."""
        heard, notes = sounds.one_second(_AUDIO, modality, sound, rate)
        return ConvertedViews(torch.from_numpy(mel_pictures(heard)[:, None]), notes=notes)

    @staticmethod
    def audible() -> tuple[str, ...]:
        """See `core.PlaysPictures`."""
        return (_AUDIO.name,)

    @staticmethod
    def sound_of_view(modality: str, view: Any) -> tuple[int, np.ndarray]:
        """A sound of 8,000 samples per second with a mel spectrogram (1, 32, 32); see `core.PlaysPictures`."""
        power = playing.powers(playing.require_audible(modality, _AUDIO.name, view, SIDE))
        return RATE, playing.sound_of_powers(playing.spread_bands(power, mel_filters()), window=_WINDOW, hop=_HOP)

    def visible(self, modality: str) -> tuple[str, ...]:
        """The label: who speaks is heard in one modality alone, so no other can be asked for it."""
        return ("label",)

    def _usable(self, spoken: sounds.Recordings, split: Split) -> np.ndarray:
        """Which recordings a split may use, (N,) bool."""
        if self._settings["recordings"] == "takes":
            return np.isin(spoken.numbers, _TAKES[split])
        place = np.maximum(spoken.speakers - len(spoken.names) + 3, 0)  # 0 trains, 1 validates, 2 tests
        return np.asarray(place == SPLITS.index(split))
