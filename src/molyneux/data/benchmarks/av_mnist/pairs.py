"""AV-MNIST: a handwritten digit with little of its energy, and the same digit spoken in noise."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, final, get_args

import numpy as np
import torch

from molyneux.core import (
    Batch,
    ConfigError,
    ConvertedViews,
    DataError,
    Factor,
    Modality,
    Spec,
    StoreError,
    Target,
    choice_problems,
    files,
    seeds,
    store,
)
from molyneux.data.benchmarks.av_mnist import playing, sounds
from molyneux.data.benchmarks.bases.benchmark import Benchmark
from molyneux.data.benchmarks.digits import images as digits
from molyneux.data.dataset import SPLITS, Split

Division = Literal["published", "separate", "speakers"]
"""How recordings and clips of noise are divided among the splits."""

_CLASSES = tuple("0123456789")
_AUDIO = Modality("audio", "image", (1, sounds.SIDE, sounds.SIDE), "uint8")
_VALIDATION = 5_000
"""Of the training pictures, the last so many."""

_TAKES: dict[Division, Mapping[Split, range]] = {
    "published": {"train": range(40), "validation": range(40), "test": range(40, 50)},
    "separate": {"train": range(35), "validation": range(35, 40), "test": range(40, 50)},
    "speakers": dict.fromkeys(SPLITS, range(50)),
}
_FOLDS: dict[Division, Mapping[Split, range]] = {
    "published": {"train": range(1, 5), "validation": range(1, 5), "test": range(5, 6)},
    "separate": {"train": range(1, 4), "validation": range(4, 5), "test": range(5, 6)},
    "speakers": {"train": range(1, 4), "validation": range(4, 5), "test": range(5, 6)},
}


class _Pairing(NamedTuple):
    """Of each sample of a split: its picture (28 * 28), its digit, and the recording that is heard."""

    images: np.ndarray
    labels: np.ndarray
    recordings: np.ndarray


@final
class AVMNIST(Benchmark):
    """AV-MNIST: pictures of MNIST without most of their energy, and spectrograms of the same digits spoken in noise.

    The data set of Vielzeuf et al., "CentralNet: a Multilayer Approach for Multimodal Fusion" (ECCV Workshops 2018), built from
    its parts in one folder: `mnist` (four files of the IDX format), `fsdd/recordings` (spoken digits,
    `{digit}_{speaker}_{n}.wav`) and `esc-10` (noise, `{class}/{fold}-{clip}-{take}.ogg`). Nothing is downloaded.

    A picture keeps the first principal components of the training pictures. A sound is a recording of the same digit, of 1 s,
    with a stretch of environmental sound at a fixed ratio of powers; its spectrogram has 112 frequencies from 0 to 4 kHz and 112
    times, in decibels. The target `label` is the digit that is seen and heard; factors are `digit`, `speaker` and `noise`, the
    class of the noise. Splits are the published ones: 55,000 training pictures, the last 5,000 to validate, and 10,000 to test.
    The recordings of each digit are dealt out in turn, in an order that `pairing_seed` decides on. The seed of a source is
    the order in which a split is read.

    The defaults aim at the published difficulty (65 % by picture, 42 % by sound). They were chosen on validation samples: a LeNet
    reached 69 % by picture (20,000 training samples, 6 epochs), and by sound, with takes apart, 35 % after 12,500 samples and 6
    epochs and more with more samples; at half the resolution, 41 % at -14 dB and 24 % at -19 dB. `energy` and `snr` change the
    difficulty.

    Differences from the published generator: components are fitted to the 55,000 training pictures alone (there separately to
    training and test pictures); sound and picture are of one digit by construction (there, parallel workers return sounds in
    the order of completion, whatever the digits); noise is mixed in (there its power is 0 unless it is changed); spectrograms are
    computed at their size (there they are drawn by Matplotlib); FSDD has six speakers (there four).

    Args:
        folder: holds `mnist`, `fsdd` and `esc-10`; by default the one that `MOLYNEUX_DATA` names.
        energy: share of the variance of pictures that is kept: by the fewest components that have it. "published": by the
            components that together have less than 25 %.
        snr: ratio of the powers of speech and noise in every sound, in decibels. "published": no noise is mixed in.
        recordings: "published": takes 0-39 of each speaker and digit train and validate, 40-49 test; noise of folds 1-4, and 5.
            "separate": takes 0-34 train, 35-39 validate and 40-49 test; noise of folds 1-3, 4 and 5. "speakers": the last
            speaker in the alphabet tests, the one before validates, the others train; noise as in "separate".
        pairing_seed: which recording and which noise goes with which picture.

    Raises:
        ConfigError: settings that cannot be used; all problems at once.
    """

    name = "av-mnist-v1"
    licence = "CC BY-SA 4.0 (MNIST CC BY-SA 3.0, FSDD CC BY-SA 4.0, ESC-10 CC BY 3.0)"
    origin = "MNIST (LeCun et al., 1998), FSDD (Jackson et al., 2018) and ESC-10 (Piczak, 2015), joined by this package"
    folders = (".",)
    files = tuple(f"mnist/{name}" for name in digits.FILES)
    published_as = (
        "what the owners of MNIST, of the Free Spoken Digit Dataset (GitHub: Jakobovski/free-spoken-digit-dataset) and of ESC-10 "
        "(GitHub: karoldvl/ESC-10) publish, as mnist, fsdd/recordings and esc-10"
    )
    parts: ClassVar[Mapping[str, str]] = {"fsdd/recordings": "{digit}_{speaker}_{n}.wav", "esc-10": "{class}/{fold}-{clip}.ogg"}
    """Folders of many files, and how these are named."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        energy: float | Literal["published"] = 0.25,
        snr: float | Literal["published"] = -16.0,
        recordings: Division = "published",
        pairing_seed: int = 0,
    ) -> None:
        super().__init__(None if folder is None else Path(folder))
        problems = choice_problems(recordings=(recordings, get_args(Division)))
        if energy != "published" and not (isinstance(energy, int | float) and 0.0 < energy <= 1.0):
            problems.append(f'energy: expected a share above 0 and up to 1, or "published", got {energy!r}')
        if snr != "published" and not (isinstance(snr, int | float) and abs(snr) <= 100.0):
            problems.append(f'snr: expected decibels from -100 to 100, or "published", got {snr!r}')
        if problems:
            raise ConfigError(problems)
        self._settings: dict[str, Any] = {
            "energy": energy if energy == "published" else float(energy),
            "snr": snr if snr == "published" else float(snr),
            "recordings": recordings,
            "pairing_seed": pairing_seed,
        }

    @property
    def choices(self) -> Mapping[str, Any]:
        """The settings but for the files, as plain data."""
        return self._settings

    @cached_property
    def settings(self) -> Mapping[str, Any]:
        """The settings as plain data, with a hash of the files of each part that are there in place of the folder."""
        mnist = [self.folder / name for name in self.files if (self.folder / name).is_file()]
        parts = {"mnist": mnist, "fsdd": self._recording_files, "esc-10": self._clip_files}
        return {**self.choices, "files": {name: _digest(paths) for name, paths in parts.items() if paths}}

    @property
    def splits(self) -> Mapping[Split, int]:
        """How many samples each split has."""
        return {split: len(pairing.labels) for split, pairing in self._pairings.items()}

    @cached_property
    def spec(self) -> Spec:
        """`image` (1, 28, 28) and `audio`, a spectrogram (1, 112, 112), as pictures; the target `label`.

        Raises:
            StoreError: files are missing. CorruptFileError: a file does not hold what it should.
        """
        factors = [Factor("digit", _CLASSES), Factor("speaker", self._recordings.names)]
        if self._noisy:
            factors.append(Factor("noise", tuple(sorted({path.parent.name for path in self._clip_files}))))
        image = Modality("image", "image", (1, digits.SIDE, digits.SIDE), "uint8")
        return Spec((image, _AUDIO), tuple(factors), (Target("label", "class", _CLASSES),))

    def rows(self, rows: np.ndarray, split: Split) -> Batch:
        """The samples at these rows (B,) of a split, in the order of the pictures; errors as `spec`."""
        pairing = self._pairings[split]
        heard, labels = pairing.recordings[rows], torch.from_numpy(pairing.labels[rows])
        waves, noise = self._waves(heard, rows, split)
        codes = [pairing.labels[rows], self._recordings.speakers[heard], *([noise] if self._noisy else [])]
        views = {
            "image": torch.from_numpy(pairing.images[rows].reshape(-1, 1, digits.SIDE, digits.SIDE)),
            "audio": torch.from_numpy(sounds.spectrograms(waves)[:, None]),
        }
        return Batch(views, factors=torch.from_numpy(np.stack(codes, 1)), targets={"label": labels})

    def waves(self, rows: np.ndarray, split: Split) -> np.ndarray:
        """The sounds (B, 8000) at 8 kHz whose spectrograms are at these rows (B,) of a split."""
        return self._waves(self._pairings[split].recordings[rows], rows, split)[0]

    @staticmethod
    def view_of_sound(modality: str, sound: Any, rate: int | None = None) -> ConvertedViews:
        """The spectrogram (1, 1, 112, 112) of a sound, of its first second, without noise; see `core.PicturesSounds`."""
        heard, notes = sounds.one_second(_AUDIO, modality, sound, rate)
        return ConvertedViews(torch.from_numpy(sounds.spectrograms(heard)[:, None]), notes=notes)

    @staticmethod
    def audible() -> tuple[str, ...]:
        """See `core.PlaysPictures`."""
        return (_AUDIO.name,)

    @staticmethod
    def sound_of_view(modality: str, view: Any) -> tuple[int, np.ndarray]:
        """A sound of 8,000 samples per second with a spectrogram (1, 112, 112); see `core.PlaysPictures`."""
        power = playing.powers(playing.require_audible(modality, _AUDIO.name, view, sounds.SIDE))
        return sounds.RATE, playing.sound_of_powers(power, window=sounds.WINDOW, hop=sounds.HOP)

    def __reduce__(self) -> tuple[Callable[[], AVMNIST], tuple[()]]:
        """Travel to other processes as settings, not as the content of the files."""
        return partial(AVMNIST, self._folder, **self._settings), ()

    @property
    def _noisy(self) -> bool:
        return bool(self._settings["snr"] != "published")

    @property
    def _recording_files(self) -> list[Path]:
        return sounds.recording_files(self.folder / "fsdd" / "recordings")

    @property
    def _clip_files(self) -> list[Path]:
        return sounds.clip_files(self.folder / "esc-10") if self._noisy else []

    @cached_property
    def _recordings(self) -> sounds.Recordings:
        return sounds.read_recordings(self._required("fsdd/recordings", self._recording_files))

    @cached_property
    def _clips(self) -> sounds.Clips:
        return sounds.Clips(self._required("esc-10", self._clip_files))

    @cached_property
    def _pairings(self) -> Mapping[Split, _Pairing]:
        """What each split has, without the noise."""
        paths = list(self.paths().values())
        train, test = digits.read_digits(*paths[:2]), digits.read_digits(*paths[2:])
        fitted = train.images[: (limit := max(len(train.labels) - _VALIDATION, 1))]
        published = self._settings["energy"] == "published"
        energy = 0.25 if published else self._settings["energy"]
        kept = digits.principal_components(fitted, energy, reaching=not published)
        images, labels = digits.without_energy(train.images, kept), train.labels
        parts = {
            "train": (images[:limit], labels[:limit]),
            "validation": (images[limit:], labels[limit:]),
            "test": (digits.without_energy(test.images, kept), test.labels),
        }
        return {split: _Pairing(*part, self._dealt(part[1], split)) for split, part in parts.items()}

    def _dealt(self, labels: np.ndarray, split: Split) -> np.ndarray:
        """Recordings of the digits (N,), those of each digit in turn."""
        found, seed = self._recordings, self._settings["pairing_seed"]
        usable = self._usable(split)
        out = np.empty(len(labels), np.int64)
        for digit in np.unique(labels):
            pool = np.flatnonzero(usable & (found.digits == digit))
            if not len(pool):
                names = f"{', '.join(found.names)} say {digit}"
                raise DataError(
                    f"split {split}: expected a recording of the digit {digit}, got none: restore those in which {names}"
                )
            rows = np.flatnonzero(labels == digit)
            order = seeds.generator(seed, self.name, split, "recordings", int(digit)).permutation(pool)
            out[rows] = order[np.arange(len(rows)) % len(order)]
        return out

    def _usable(self, split: Split) -> np.ndarray:
        """Which recordings a split may use, (N,) bool."""
        division, found = self._settings["recordings"], self._recordings
        usable = np.isin(found.numbers, _TAKES[division][split])
        if division == "speakers":
            last = len(found.names) - 1
            place = np.maximum(found.speakers - last + 2, 0)  # 0 trains, 1 validates, 2 tests
            usable &= place == SPLITS.index(split)
        return usable

    def _waves(self, heard: np.ndarray, rows: np.ndarray, split: Split) -> tuple[np.ndarray, np.ndarray]:
        """Sounds (B, 8000) of these recordings, and the classes (B,) of their noise; -1 without noise."""
        speech = self._recordings.sounds[heard]
        if not self._noisy:
            return speech, np.full(len(rows), -1)
        clips = self._clips
        pool = np.flatnonzero(np.isin(clips.folds, _FOLDS[self._settings["recordings"]][split]))
        draws = seeds.uniforms(seeds.key(self._settings["pairing_seed"], self.name, split, "noise"), rows, 2)
        chosen = pool[(draws[:, 0] * len(pool)).astype(np.int64)]
        noise = clips.stretches(chosen, draws[:, 1])
        mixture = sounds.mixed(speech, self._recordings.lengths[heard], noise, self._settings["snr"])
        return mixture, clips.classes[chosen]

    def _required(self, part: str, paths: list[Path]) -> list[Path]:
        if not paths:
            where = self.folder / part
            raise StoreError(
                f"expected {self.parts[part]} in {where}, got none: put there {self.published_as}; nothing is downloaded"
            )
        return paths


def _digest(paths: list[Path]) -> str:
    """The BLAKE2b hash of names and contents of files, 16 hex digits."""
    digest = hashlib.blake2b(digest_size=8)
    for path in paths:
        content = files.read_plain(path, most=store.MOST_LINES)
        digest.update(f"{path.parent.name}/{path.name}\x1f{len(content)}\x1f".encode())
        digest.update(content)
    return digest.hexdigest()
