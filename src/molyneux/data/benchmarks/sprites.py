"""Sprites: animated figures, their attributes, and what they do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import final

import numpy as np

from molyneux.core import Batch, Factor, Modality, Reader, Spec, Target
from molyneux.data.benchmarks.bases.attributes import AttributeReader, attribute_modality
from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark, FileSamples, last_twelfth_of_classes, tensors
from molyneux.data.formats.array_files import map_array
from molyneux.data.lookup_reader import label_reader

ACTIONS, DIRECTIONS = ("walk", "spellcard", "slash"), ("front", "left", "right")
"""What figures do, and from where they are seen."""

MOVES = tuple(f"{action} {direction}" for action in ACTIONS for direction in DIRECTIONS)
_FILES = tuple(
    f"{move.replace(' ', '_')}_{what}_{part}.npy"
    for part in ("train", "test")
    for move in MOVES
    for what in ("frames", "attributes")
)
FRAMES, SIDE, PLACES, VALUES = 8, 64, 4, 6
_ATTRIBUTES = tuple(Factor(f"attribute {place + 1}", tuple(map(str, range(VALUES)))) for place in range(PLACES))


@final
class Sprites(FileBenchmark):
    """Animated figures: frames, attributes and moves, 11,664 samples; Li and Mandt (ICML 2018).

    Layout: `{action}_{direction}_{frames|attributes}_{train|test}.npy` for the actions walk, spellcard and slash and the
    directions front, left and right, 36 files, in the folder or in `npy` below it. Frames are (N, 8, 64, 64, 3), numbers from 0
    to 1 or bytes; attributes (N, 8, 4, 6) or (N, 4, 6), one of six values at each of four places (skin, clothes and hair).

    Modalities are `frames`, videos (8, 3, 64, 64) in bytes; `attributes`, a symbol at each place (see `attribute_modality`);
    and `move`, the label of action and direction. They are factors too: `attribute 1` to `attribute 4` in the order of the
    files, and `move`; the target is `move`. The last twelfth of the training samples of each move validates. Frames stay in
    their files; rows are read when they are asked for. Attributes and moves are read exactly.

    Args:
        folder: see `FileBenchmark`.
    """

    name = "sprites-v1"
    licence = "CC BY-SA 3.0 and GPL 3.0 (Liberated Pixel Cup)"
    origin = "Li and Mandt (ICML 2018), made of figures of the Liberated Pixel Cup"
    page = "https://github.com/YingzhenLi/Sprites"
    metric = "coherence of each direction"
    sizes = "8,253 / 747 / 2,664"
    folders = ("sprites", "Sprites")
    files = _FILES
    published_as = f"the folder npy of {page}"

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder)

    @property
    def expected(self) -> tuple[str, ...]:
        """The files that have to be there."""
        inner = (self.folder / "npy").is_dir()
        return tuple(f"npy/{name}" for name in self.files) if inner else self.files

    def open(self, paths: Mapping[str, Path]) -> FileSamples:
        """See `FileBenchmark`."""
        frames, attributes, moves, train = [], [], [], []
        for number, name in enumerate(self.expected):
            path, place = paths[name], number // 2
            if number % 2 == 0:
                mapped, found = map_array(path)
                frames.append((mapped, self.array(found, (None, FRAMES, SIDE, SIDE, 3), path), path))
                continue
            codes = self._codes(path, len(frames[-1][1]))
            attributes.append(codes)
            moves.append(np.full(len(codes), place % len(MOVES)))
            train.append(np.full(len(codes), place < len(MOVES)))
        codes, moved, trains = np.concatenate(attributes), np.concatenate(moves), np.concatenate(train)
        starts = np.cumsum([0, *(len(array) for _, array, _ in frames)])
        video = Modality("frames", "video", (FRAMES, 3, SIDE, SIDE), "uint8")
        spec = Spec(
            (video, attribute_modality(PLACES, _ATTRIBUTES[0].values), _move()),
            (*_ATTRIBUTES, Factor("move", MOVES)),
            (Target("move", "class", MOVES),),
        )

        def read(rows: np.ndarray) -> Batch:
            pixels, file = np.empty((len(rows), *video.shape), np.uint8), np.searchsorted(starts, rows, "right") - 1
            for number in np.unique(file):
                mapped, array, path = frames[number]
                own = file == number
                values = mapped.take(array, rows[own] - starts[number])
                if values.dtype != np.uint8:
                    values = np.rint(255 * self.finite(values, path, rows[own] - starts[number])).clip(0, 255).astype(np.uint8)
                pixels[own] = values.transpose(0, 1, 4, 2, 3)
            views = tensors(frames=pixels, attributes=codes[rows].astype(np.uint8), move=moved[rows])
            factors = tensors(codes=np.column_stack([codes[rows], moved[rows]]))["codes"]
            return Batch(views, factors=factors, targets=tensors(move=moved[rows]))

        rows = last_twelfth_of_classes(moved, trains)
        return FileSamples(spec, rows, read, [mapped for mapped, _, _ in frames])

    def readers(self) -> Mapping[str, Reader]:
        """The exact readers of attributes and of moves."""
        attributes = AttributeReader(attribute_modality(PLACES, _ATTRIBUTES[0].values), _ATTRIBUTES)
        return {"attributes": attributes, "move": label_reader(_move(), Factor("move", MOVES))}

    def visible(self, modality: str) -> tuple[str, ...]:
        """The attributes in `attributes`, the move in `move`, both in `frames`."""
        attributes = tuple(factor.name for factor in _ATTRIBUTES)
        return {"attributes": attributes, "move": ("move",)}.get(modality, (*attributes, "move"))

    def _codes(self, path: Path, count: int) -> np.ndarray:
        """The values (N, 4) int64 of the attributes of a file; those of the first frame where every frame has them."""
        found = np.asarray(map_array(path)[1])
        found = found[:, 0] if found.ndim == 4 else found
        values = self.finite(self.array(found, (count, PLACES, VALUES), path), path)
        if ((values > 0).sum(2) != 1).any():
            place = int(np.argwhere((values > 0).sum(2) != 1)[0, 0])
            raise self.wrong(path, "one value at each place", f"none or several in sample {place}")
        return np.asarray(values.argmax(2), np.int64)


def _move() -> Modality:
    return Modality("move", "label", (), "int64", MOVES)
