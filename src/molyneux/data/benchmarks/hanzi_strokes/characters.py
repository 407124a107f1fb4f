"""Chinese characters that are seen and written, and of which some are only known by one sense."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, final

import numpy as np
import torch

from molyneux.core import Batch, ConfigError, Factor, Modality, Spec, seeds, whole_problems
from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark, FileSamples
from molyneux.data.benchmarks.hanzi_strokes import views
from molyneux.data.benchmarks.hanzi_strokes.glyphs import FEWEST, MOST, Glyphs, glyphs
from molyneux.data.benchmarks.hanzi_strokes.pairs import alike_pairs, small_pictures
from molyneux.data.dataset import SPLITS, Split
from molyneux.data.formats.json_files import read_document
from molyneux.data.worlds.molyneux_shapes.bridging import ROLES, check_senses, dealt, senses, share_problems, shown_things

_FIRST, _LAST = "\u4e00", "\u9fff"
"""The block of characters that are read, "CJK Unified Ideographs"; others are radicals and parts of characters."""

_COUNTS = tuple(str(count) for count in range(FEWEST, MOST + 1))
_CHARACTER, _SENSE, _DRAWS = 0, 1, 2


@dataclass(frozen=True)
class CharacterBridging:
    """Which characters training samples show, in which senses, and which are asked about.

    As `Bridging` of the shapes of `molyneux-v1`: of `pool` characters, `bridged` are seen and written in the same sample, and the
    others are `parted`, which each sample shows to one sense. `asked` characters each are only `felt` (written), only `seen`, and
    `new` to both senses; a quarter of them is asked about in validation, and the others in the test, each beside at most `asked`
    characters that are bridged and as many that are parted, the same in both. The two characters of an alike pair have the same
    role.

    Args:
        bridged: how many characters are seen and written together, from 0 to `pool`; an even number.
        pool: how many are bridged or parted; an even number.
        asked: how many have each of the three other roles; a multiple of 8. The more there are, the more samples it takes to have
            several of each.
        assignment: another number gives the roles to other characters.
        share: of the training samples, that which shows bridged characters, if there are any; None shows all characters equally
            often, so that fewer bridged characters are also fewer bridged samples.

    Raises:
        ConfigError: numbers of characters that cannot be; all at once.
    """

    bridged: int = 1024
    pool: int = 4096
    asked: int = 128
    assignment: int = 0
    share: float | None = None

    def __post_init__(self) -> None:
        whole = {"bridged": self.bridged, "pool": self.pool, "asked": self.asked, "assignment": self.assignment}
        if problems := whole_problems(**whole):
            raise ConfigError(problems)
        problems += [f"pool: expected an even number from 2, got {self.pool}"] * (self.pool < 2 or self.pool % 2)
        if not 0 <= self.bridged <= self.pool or self.bridged % 2:
            problems.append(f"bridged: expected an even number from 0 to {self.pool}, got {self.bridged}")
        problems += [f"asked: expected a multiple of 8 from 8, got {self.asked}"] * (self.asked < 8 or self.asked % 8)
        problems += share_problems(self.share)
        if problems:
            raise ConfigError(problems)

    @property
    def count(self) -> int:
        """How many characters there are in all."""
        return self.pool + 3 * self.asked


@final
class HanziStrokes(FileBenchmark):
    """Chinese characters as pictures and as the strokes of a pen: a counterpart of `MolyneuxShapes` with shapes of the world.

    Layout: the folder of the unpacked package `hanzi-writer-data`, with a file such as `永.json` for each character, in which
    `strokes` are outlines of strokes (paths of SVG) and `medians` the way of the pen along each. Read are the characters of the
    block "CJK Unified Ideographs" with 4 to 20 strokes. They come in pairs that are alike: the two of a pair have as many strokes
    and almost as much ink, and their pictures are near (`alike_pairs` of the module `pairs`); characters without such a partner
    are left out. Of more pairs than `bridging` has characters for, the nearest are used.

    Modalities are `image` (1, side, side), the filled outlines, white on black, rotated by up to 10 degrees, scaled to 0.70 to
    0.85 of the side, moved by up to 0.03 of it, with strokes of 0.7 to 1.4 times their thickness; and `strokes`, a series of 128
    moments: x and y of the pen, from its first place, and 1 where it writes, 0 where it is lifted. The frame of the pen is turned
    by up to 15 degrees and scaled by 0.8 to 1.2, and the pen changes its speed and trembles. What happens to one sense does not
    happen to the other. Factors are `character`, its `pair`, how many `strokes` it has, and with `bridging`, `role`.

    Splits have no end: sample i of a split is a function of files, settings, split, seed and i, as that of a world. Reading the
    9,042 characters of version 2.0.1 of the package takes 20 seconds; they then stay in memory.

    Args:
        folder: see `FileBenchmark`.
        image_size: side of the picture in pixels, 32 to 128.
        bridging: which characters training samples have in which senses, and which are asked about; by default all samples of all
            splits have all characters and senses.

    Raises:
        ConfigError: settings that cannot be used.
    """

    name = "hanzi-strokes-v1"
    licence = "Arphic Public License"
    origin = "Make Me a Hanzi (Kishore), from fonts of Arphic Technology; as the package hanzi-writer-data (Chanin)"
    page = "https://github.com/chanind/hanzi-writer-data"
    metric = "two-way choice between picture and strokes, of pairs that are alike"
    sizes = "without end"
    folders = ("hanzi-writer-data", "hanzi-writer-data/package")
    files = ()
    published_as = f"the unpacked package hanzi-writer-data of npm, version 2.0.1, of {page}"

    def __init__(self, folder: Path | None = None, *, image_size: int = 64, bridging: CharacterBridging | None = None) -> None:
        problems = [f"expected an image_size from 32 to 128 pixels, got {image_size}"] * (not 32 <= image_size <= 128)
        super().__init__(folder, {"image_size": image_size, "bridging": bridging}, problems)
        self.bridging = bridging

    @property
    def choices(self) -> Mapping[str, Any]:
        """The settings but for the files, as plain data."""
        return {**self._settings, "bridging": None if self.bridging is None else asdict(self.bridging)}

    @property
    def splits(self) -> Mapping[Split, int | None]:  # type: ignore[override]
        """Names of the splits, which have no end."""
        return dict.fromkeys(SPLITS)

    def many(self) -> Sequence[Path]:
        """The files of characters."""
        return [path for path in self.listed("*.json") if len(path.stem) == 1 and _FIRST <= path.stem <= _LAST]

    def characters(self, split: Split) -> np.ndarray:
        """Numbers of the characters that a split shows, (k,) int64."""
        self.size(split)
        return self._samples.rows[split]

    def open(self, paths: Mapping[str, Path]) -> FileSamples:
        """See `FileBenchmark`; its rows are the characters of each split, as the files have them."""
        found = self._glyphs
        roles, part = self._roles(len(found.signs))
        rows: dict[Split, np.ndarray] = {"train": np.flatnonzero(roles != ROLES.index("new"))}
        rows |= {split: np.flatnonzero((part == 0) | (part == asked)) for asked, split in enumerate(SPLITS[1:], 1)}
        side = self._settings["image_size"]
        factors = [
            Factor("character", found.signs),
            Factor("pair", tuple(map(str, range(len(found.signs) // 2)))),
            Factor("strokes", _COUNTS),
        ]
        factors += [] if self.bridging is None else [Factor("role", ROLES)]
        modalities = (
            Modality("image", "image", (1, side, side), "uint8"),
            Modality("strokes", "series", (views.STEPS, len(views.CHANNELS)), channels=views.CHANNELS),
        )

        def read(rows: np.ndarray) -> Batch:
            written = np.full((len(rows), views.STROKE_DRAWS), 0.5)
            written[:, views.UNEVEN :] = 0.0
            return self._view(rows, np.full((len(rows), views.PICTURE_DRAWS), 0.5), written)

        return FileSamples(Spec(modalities, tuple(factors)), rows, read)

    def batch(self, indices: np.ndarray, *, split: Split, seed: int) -> Batch:
        """The samples of these numbers (B,), any order, any non-negative integers; errors as `SplitDataset.batch` and `paths`."""
        numbers = self.numbers(indices, split)
        rows, draws = self._drawn(numbers, split, seed)
        pictured = seeds.uniforms(seeds.key(seed, self.name, split, "image"), numbers, views.PICTURE_DRAWS)
        written = seeds.uniforms(seeds.key(seed, self.name, split, "strokes"), numbers, views.STROKE_DRAWS)
        batch = self._view(rows, pictured, written)
        if self.bridging is None:
            return batch
        sight, touch = np.ones(len(rows), bool), np.ones(len(rows), bool)
        if split == "train":
            roles, signs = self._roles(len(self._glyphs.signs))[0][rows], self._glyphs.signs
            sight, touch = senses(roles, draws[:, _SENSE])
            check_senses(roles, sight, touch, lambda row: f"the character {signs[rows[row]]}")
        present = {"image": torch.from_numpy(sight), "strokes": torch.from_numpy(touch)}
        return Batch(batch.views, present, batch.factors)

    def factor_codes(self, indices: np.ndarray, *, split: Split, seed: int) -> np.ndarray:
        """See `SplitDataset`; no view is made."""
        return self._codes(self._drawn(self.numbers(indices, split), split, seed)[0])

    def _drawn(self, numbers: np.ndarray, split: Split, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The character of each sample (n,), and all draws of its scene (n, 2)."""
        draws = seeds.uniforms(seeds.key(seed, self.name, split), numbers, _DRAWS)
        share = self.bridging.share if self.bridging is not None and split == "train" else None
        roles = self._roles(len(self._glyphs.signs))[0]
        return shown_things(self.characters(split), roles, draws[:, _CHARACTER], share), draws

    def _view(self, rows: np.ndarray, pictured: np.ndarray, written: np.ndarray) -> Batch:
        image = views.pictures(self._glyphs, rows, pictured, self._settings["image_size"])
        seen = {"image": torch.from_numpy(image), "strokes": torch.from_numpy(views.strokes(self._glyphs, rows, written))}
        return Batch(seen, factors=torch.from_numpy(self._codes(rows)))

    def _codes(self, rows: np.ndarray) -> np.ndarray:
        columns = [rows, rows // 2, self._glyphs.counts[rows] - FEWEST]
        columns += [] if self.bridging is None else [self._roles(len(self._glyphs.signs))[0][rows]]
        return np.stack(columns, 1)

    def _roles(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Roles (N,), and where each character is asked about (N,): as `dealt` gives them, or 3, in training alone."""
        design = self.bridging
        if design is None:
            return np.zeros(count, np.int64), np.zeros(count, np.int64)
        draws = seeds.uniforms(seeds.key(design.assignment, self.name, "roles"), np.arange(count // 2), 1)[:, 0]
        order = np.argsort(draws)
        roles, part = dealt(order, design.bridged, design.pool, design.asked)
        characters = (2 * order[:, None] + np.arange(2)).ravel()
        part[characters[min(design.asked, design.bridged) : design.bridged]] = len(SPLITS)  # in no split but training
        part[characters[design.bridged + design.asked : design.pool]] = len(SPLITS)
        return roles, part

    @cached_property
    def _glyphs(self) -> Glyphs:
        """All characters, the two of a pair in a row."""
        listed = "".join(f"{path.name} {path.stat().st_size} {path.stat().st_mtime_ns}\n" for path in self.many())
        found = _paired(self.folder, hashlib.blake2b(listed.encode(), digest_size=8).hexdigest())
        wanted = len(found.signs) if self.bridging is None else self.bridging.count
        if wanted > len(found.signs):
            raise ConfigError(
                f"bridging: expected at most {len(found.signs):,} characters in all, which are in alike pairs, got {wanted:,} "
                f"(pool and three times asked): choose fewer"
            )
        return found[np.arange(wanted)]

    def _read(self) -> Glyphs:
        """The characters of the files in alike pairs, the two of a pair in a row, the nearest pairs first.

        Raises:
            StoreError: there are no files, or one cannot be read. DataError: one holds no strokes; names it.
        """
        signs, strokes, ways = list[str](), list[list[str]](), list[list[np.ndarray]]()
        for path in self.many():
            outlines, medians = self.known(read_document(path), ("strokes", "medians"), path)
            try:
                places = [np.array(median, np.float64).reshape(-1, 2) for median in medians]
            except (TypeError, ValueError) as error:
                raise self.wrong(path, "medians that are lists of places [x, y]", str(error)) from error
            if len(places) != len(outlines) or not all(len(place) and np.isfinite(place).all() for place in places):
                raise self.wrong(path, "a median of finite places for each stroke", f"{len(places)} for {len(outlines)}")
            if FEWEST <= len(places) <= MOST:
                signs.append(path.stem)
                strokes.append(outlines)
                ways.append(places)
        found = glyphs(signs, strokes, ways)
        return found[alike_pairs(small_pictures(found.outlines), found.counts).ravel()]


@lru_cache(maxsize=2)
def _paired(folder: Path, digest: str) -> Glyphs:
    """What the files of a folder hold; read once while their digest stays the same, whatever the settings are."""
    return HanziStrokes(folder)._read()
