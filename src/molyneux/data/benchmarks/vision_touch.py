"""Vision & Touch: a real robot arm puts pegs into holes, seen, felt and measured."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, final

import numpy as np

from molyneux.core import Batch, Modality, Spec, Target, choice_problems, seeds
from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark, FileSamples, tensors
from molyneux.data.dataset import SPLITS, Split
from molyneux.data.formats.hdf5_files import find_dataset, open_hdf5

_PATTERN = "**/*_1000.h5"
SIDE, _FORCES, _PROPRIO, ACTION = 128, 32, 8, 4
_SHAPES: Mapping[str, tuple[int | None, ...]] = {
    "image": (None, SIDE, SIDE, 3),
    "proprio": (None, None),
    "ee_forces_continuous": (None, None, 6),
    "action": (None, ACTION),
    "contact": (None, None),
}

Unit = Literal["run", "file"]
"""What is never in two splits: the files of a run together, or each file."""


@final
class VisionTouch(FileBenchmark):
    """A robot arm inserting pegs: 147,000 steps; Lee et al. (ICRA, 2019).

    Layout: files `<run>_<k>_1000.h5` of 50 steps with `image` (50, 128, 128, 3) uint8, `depth_data` (50, 128, 128) with or
    without a last axis of 1, `proprio` (50, >= 8), `ee_forces_continuous` (50, >= 32, 6), `action` (50, 4) and `contact` (50,
    any); each step but the last is a sample. Files are opened when their samples are asked for.

    Modalities are `image` (3, 128, 128), `force`, the hyperbolic tangent of the last 32 forces and torques as a series (32, 6),
    `proprio` (8,), `depth` (1, 128, 128), and `action` (4,), that of the next step, as published. There are two targets, both of
    the next step: the class `contact`, and the number `pose`, the first four values of `proprio`.

    The published loader has no test split, and draws validation files with replacement from a generator without a seed. Here
    splits are drawn once, from `split_seed`, without replacement, and by default so that the files of one run, which follow each
    other in time, are in one split.

    Args:
        folder: see `FileBenchmark`.
        fractions: shares of runs or files that train, validate and test.
        unit: what is never in two splits.
        split_seed: of what is drawn.
    """

    name = "vision-touch-v1"
    licence = "MIT"
    origin = "Lee, Zhu, Srinivasan, Shah, Savarese, Fei-Fei, Garg and Bohg (ICRA 2019)"
    page = "https://github.com/stanford-iprl-lab/multimodal_representation"
    metric = "accuracy of contact; MSE of the pose"
    sizes = "117,600 / 29,400, no test split"
    folders = ("vision-touch", "triangle_real_data")
    files = ()
    published_as = f"the files triangle_real_data that {page} links"

    def __init__(
        self,
        folder: Path | None = None,
        *,
        fractions: tuple[float, float, float] = (0.8, 0.1, 0.1),
        unit: Unit = "run",
        split_seed: int = 0,
    ) -> None:
        problems = choice_problems(unit=(unit, ("run", "file")))
        if len(fractions) != 3 or min(fractions) <= 0 or abs(sum(fractions) - 1) > 1e-6:
            problems.append(f"fractions: expected three shares above 0 whose sum is 1, got {list(fractions)}")
        super().__init__(folder, {"fractions": tuple(fractions), "unit": unit, "split_seed": split_seed}, problems)

    def many(self) -> Sequence[Path]:
        """The files of steps."""
        return self.listed(_PATTERN)

    def open(self, paths: Mapping[str, Path]) -> FileSamples:
        """See `FileBenchmark`."""
        files = self.many()
        counts = np.array([self._steps(path) for path in files]) - 1
        table = np.stack([np.repeat(np.arange(len(files)), counts), np.concatenate([np.arange(count) for count in counts])], 1)
        parts = self._parts(files)
        rows = {split: np.flatnonzero(np.isin(table[:, 0], part)) for split, part in parts.items()}
        spec = Spec(
            (
                Modality("image", "image", (3, SIDE, SIDE), "uint8"),
                Modality("force", "series", (_FORCES, 6)),
                Modality("proprio", "tabular", (_PROPRIO,)),
                Modality("depth", "image", (1, SIDE, SIDE)),
                Modality("action", "tabular", (ACTION,)),
            ),
            targets=(Target("contact", "class", ("no contact", "contact")), Target("pose", "number", shape=(ACTION,))),
        )
        return FileSamples(spec, rows, lambda rows: self._batch(table[rows], files))

    def _steps(self, path: Path) -> int:
        """How many steps a file has, which must have all data sets."""
        with open_hdf5(path) as file:
            found = {name: find_dataset(file, name, shape, str(path)) for name, shape in _SHAPES.items()}
            steps = len(found["image"])
            found["depth_data"] = find_dataset(file, "depth_data", (steps, SIDE, SIDE, *_depth_axis(file)), str(path))
            least = {"proprio": _PROPRIO, "ee_forces_continuous": _FORCES}
            short = [name for name, width in least.items() if found[name].shape[1] < width]
            if short or steps < 2 or any(len(item) != steps for item in found.values()):
                wanted = f"at least 2 steps in all data sets, {_PROPRIO} columns of proprio and {_FORCES} of forces"
                raise self.wrong(path, wanted, ", ".join(f"{name} {item.shape}" for name, item in found.items()))
            return int(steps)

    def _parts(self, files: Sequence[Path]) -> dict[Split, np.ndarray]:
        """The numbers of the files of each split."""
        names = [re.sub(r"_\d+_1000\.h5$", "", str(path)) if self._settings["unit"] == "run" else str(path) for path in files]
        units, inverse = np.unique(names, return_inverse=True)
        if len(units) < len(SPLITS):
            raise self.wrong(
                self.folder, f"files of at least {len(SPLITS)} runs, one for each split (or set unit to file)", f"{len(units)}"
            )
        order = seeds.generator(int(self._settings["split_seed"]), self.name, "splits").permutation(len(units))
        shares = self._settings["fractions"]
        held = [max(1, int(share * len(units))) for share in shares[1:]]
        ends = (held[0], sum(held))
        chosen = {"train": order[ends[1] :], "validation": order[: ends[0]], "test": order[ends[0] : ends[1]]}
        return {split: np.flatnonzero(np.isin(inverse, part)) for split, part in chosen.items()}

    def _batch(self, chosen: np.ndarray, files: Sequence[Path]) -> Batch:
        """The samples of files and steps (B, 2); each file is opened once."""
        parts = list[dict[str, np.ndarray]]()
        places = list[np.ndarray]()
        for number in np.unique(chosen[:, 0]).tolist():
            own = np.flatnonzero(chosen[:, 0] == number)
            steps, inverse = np.unique(chosen[own, 1], return_inverse=True)
            with open_hdf5(files[number]) as file:
                parts.append({name: values[inverse] for name, values in self._read(file, steps, files[number]).items()})
            places.append(own)
        order = np.argsort(np.concatenate(places))
        found = {name: np.concatenate([part[name] for part in parts])[order] for name in parts[0]}
        targets = {name: found.pop(name) for name in ("contact", "pose")}
        return Batch(tensors(**found), targets=tensors(**targets))

    def _read(self, file: Any, steps: np.ndarray, path: Path) -> dict[str, np.ndarray]:
        """Views and targets of rising steps of a file."""
        after = steps + 1
        forces = file["ee_forces_continuous"][steps][:, -_FORCES:]
        numbers = {
            "force": np.tanh(forces),
            "proprio": file["proprio"][steps][:, :_PROPRIO],
            "depth": file["depth_data"][steps].reshape(-1, 1, SIDE, SIDE),
            "action": file["action"][after],
            "pose": file["proprio"][after][:, :ACTION],
        }
        found = {name: self.finite(values, f"{path}, {name}", steps) for name, values in numbers.items()}
        touched = self.finite(file["contact"][after], f"{path}, contact", after).sum(1)
        found["contact"] = np.array(touched > 0, np.int64)
        found["image"] = file["image"][steps].transpose(0, 3, 1, 2).astype(np.uint8)
        return {name: found[name] for name in ("image", "force", "proprio", "depth", "action", "contact", "pose")}


def _depth_axis(file: Any) -> tuple[int, ...]:
    found = file.get("depth_data")
    return (1,) if getattr(found, "ndim", 3) == 4 else ()
