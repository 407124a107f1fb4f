"""MuJoCo Push: a robot arm pushes a puck; where is it, by camera, force and joint sensors?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, final

import numpy as np

from molyneux.core import Batch, Modality, Spec, Target, choice_problems
from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark, FileSamples, Standardisation, tensors
from molyneux.data.dataset import Split
from molyneux.data.formats.hdf5_files import find_dataset, open_hdf5

_STEPS, SIDE = 16, 32
FILES: Mapping[Split, str] = {
    "train": "gentle_push_1000.hdf5",
    "validation": "gentle_push_10.hdf5",
    "test": "gentle_push_300.hdf5",
}
_SHAPES = {"Cylinder0_pos": (None, None), "eef_pos": (None, 3), "force": (None, 6), "contact": (None,)}

_PUBLISHED = {
    "gripper_pos": ((0.46806443, -0.0017836, 0.88028437), (0.02410769, 0.02341035, 0.04018243)),
    "gripper_sensors": (
        (0.49182904, 0.045039989, -3.2791464, -0.0033874984, 0.011552566, -0.00084817986, 0.21303751),
        (1.6152629, 1.666905, 1.9186896, 0.14219016, 0.14232528, 0.01675198, 0.40950698),
    ),
    "control": (
        (0.46594709, -0.0025247163, 0.88094306, 0.0001293995, -0.000054364675, -0.00061112235, 0.22041667),
        (0.02239027, 0.02356066, 0.0405312, 0.00054858, 0.0005754, 0.00046352, 0.41451886),
    ),
    "object": ((0.4970164, -0.00916641), (0.0572766, 0.06118315)),
}
"""Means and standard deviations of the published training file, as its loader has them."""

Scales = Literal["training", "published", "none"]
"""By what values are standardised: the training split's statistics, the published ones, or not at all."""


@final
class MuJoCoPush(FileBenchmark):
    """A simulated arm pushing a puck: 38,000 windows of 16 steps; Lee et al. (IROS, 2020).

    Layout: `gentle_push_1000.hdf5` to train, `gentle_push_10.hdf5` to validate and `gentle_push_300.hdf5` to test. Each has
    groups `trajectory0`, `trajectory1`, ... of data sets `Cylinder0_pos` (T, >= 2), the puck; `eef_pos` (T, 3), the end effector;
    `force` (T, 6), forces and torques; `contact` (T,); and `image` (T, 32, 32). Pictures are read when they are asked for.

    Modalities are series of 16 steps: `gripper_pos` (3), `gripper_sensors` (forces, torques and contact, 7), and `control` (the
    end effector one step before, its movement since, and contact, 7); and `image`, a video (16, 1, 32, 32). The target is the
    number `object`, the position (x, y) of the puck at each step. Windows begin at the steps 0, 16, 32, ... and 8, 24, 40, ...
    of each trajectory. All but the pictures is standardised, the target too. Each modality is made from the file for itself, so
    that noise on one of them reaches no other.

    Args:
        folder: see `FileBenchmark`.
        train: the file of the training trajectories.
        validation: the file of the validation trajectories.
        test: the file of the test trajectories.
        scales: by what values are standardised.
    """

    name = "mujoco-push-v1"
    licence = "MIT"
    origin = "Lee, Yi, Martín-Martín, Savarese and Bohg (IROS 2020)"
    page = "https://github.com/brentyi/multimodalfilter"
    metric = "MSE"
    sizes = "1,000 / 10 / 300 trajectories"
    folders = ("mujoco-push", "gentle_push")
    files = tuple(FILES.values())
    published_as = f"the files that {page} links"

    def __init__(
        self,
        folder: Path | None = None,
        *,
        train: str = FILES["train"],
        validation: str = FILES["validation"],
        test: str = FILES["test"],
        scales: Scales = "training",
    ) -> None:
        settings = {"train": train, "validation": validation, "test": test, "scales": scales}
        problems = choice_problems(scales=(scales, ("training", "published", "none")))
        if len({train, validation, test}) < 3:
            problems.append(f"test: expected three different files, got {train}, {validation} and {test}")
        super().__init__(folder, settings, problems)

    @property
    def expected(self) -> tuple[str, ...]:
        """The three files."""
        return tuple(str(self._settings[split]) for split in FILES)

    def open(self, paths: Mapping[str, Path]) -> FileSamples:
        """See `FileBenchmark`."""
        files = [paths[name] for name in self.expected]
        parts = [list(self._trajectories(path)) for path in files]
        ends = np.cumsum([sum(len(found["eef_pos"]) for found in part) for part in parts])
        steps = {key: np.concatenate([found[key] for part in parts for found in part]) for key in _SHAPES}
        first, rows, windows, start = 0, dict[Split, np.ndarray](), list[np.ndarray](), 0
        for number, (split, part) in enumerate(zip(FILES, parts, strict=True)):
            own = []
            for trajectory, found in enumerate(part):
                length = len(found["eef_pos"])
                begins = np.concatenate([np.arange(offset, length - _STEPS + 1, _STEPS) for offset in (0, _STEPS // 2)])
                own.append(np.stack([np.full_like(begins, number), np.full_like(begins, trajectory), begins, first + begins], 1))
                first += length
            table = np.concatenate([np.empty((0, 4), np.int64), *own])
            rows[split] = np.arange(start, start + len(table))
            windows.append(table)
            start += len(table)
        values = _derived(steps, np.cumsum([0, *(len(found["eef_pos"]) for part in parts for found in part)])[:-1])
        scales = {name: self._scale(name, found[: ends[0]]) for name, found in values.items()}
        table = np.concatenate(windows)
        shown = {name: scales[name](found) for name, found in values.items()}
        widths = {name: found.shape[1] for name, found in shown.items() if name != "object"}
        spec = Spec(
            (
                *(Modality(name, "series", (_STEPS, width)) for name, width in widths.items()),
                Modality("image", "video", (_STEPS, 1, SIDE, SIDE)),
            ),
            targets=(Target("object", "number", shape=(_STEPS, 2)),),
        )

        def read(rows: np.ndarray) -> Batch:
            chosen = table[rows]
            at = chosen[:, 3:] + np.arange(_STEPS)
            views = {name: shown[name][at] for name in widths}
            views["image"] = self._pictures(chosen, files)
            return Batch(tensors(**views), targets=tensors(object=shown["object"][at]))

        return FileSamples(spec, rows, read)

    def _trajectories(self, path: Path) -> Iterator[dict[str, np.ndarray]]:
        """What each trajectory of a file has but its pictures, in the order of their numbers."""
        with open_hdf5(path) as file:
            names = [f"trajectory{number}" for number in range(len(file))]
            if not names or any(name not in file for name in names):
                raise self.wrong(
                    path, "groups trajectory0, trajectory1, ... without gaps", f"{len(file)}: {', '.join(list(file)[:3])}"
                )
            for name in names:
                where = f"{path}, {name}"
                found = {key: find_dataset(file[name], key, shape, where) for key, shape in _SHAPES.items()}
                length = len(found["eef_pos"])
                find_dataset(file[name], "image", (length, SIDE, SIDE), where)
                if any(len(item) != length for item in found.values()) or found["Cylinder0_pos"].shape[1] < 2:
                    got = ", ".join(f"{key} {item.shape}" for key, item in found.items())
                    raise self.wrong(where, "data sets of as many steps, and two coordinates of the puck", got)
                yield {key: self.finite(item[:], f"{where}, {key}") for key, item in found.items()}

    def _scale(self, name: str, train: np.ndarray) -> Standardisation:
        if self._settings["scales"] == "training":
            return Standardisation.of([train])
        columns = train.shape[1]
        mean, deviation = _PUBLISHED[name] if self._settings["scales"] == "published" else ((0.0,) * columns, (1.0,) * columns)
        return Standardisation(np.array(mean), np.array(deviation))

    def _pictures(self, chosen: np.ndarray, files: list[Path]) -> np.ndarray:
        """Pictures (B, 16, 1, 32, 32) of windows: file, trajectory and first step each; a file is opened once."""
        found = np.empty((len(chosen), _STEPS, 1, SIDE, SIDE), np.float32)
        for number in np.unique(chosen[:, 0]).tolist():
            with open_hdf5(files[number]) as file:
                for place in np.flatnonzero(chosen[:, 0] == number).tolist():
                    _, trajectory, begin, _ = chosen[place].tolist()
                    found[place, :, 0] = file[f"trajectory{trajectory}/image"][begin : begin + _STEPS]
        return self.finite(found, "image of the files of trajectories")


def _derived(steps: Mapping[str, np.ndarray], begins: np.ndarray) -> dict[str, np.ndarray]:
    """Values (steps, D) of the modalities that are series, and of the target; `begins` are the first steps of trajectories."""
    position, contact = steps["eef_pos"], steps["contact"][:, None]
    before = np.roll(position, 1, axis=0)
    before[begins] = position[begins]
    return {
        "gripper_pos": position,
        "gripper_sensors": np.concatenate([steps["force"], contact], 1),
        "control": np.concatenate([before, position - before, contact], 1),
        "object": steps["Cylinder0_pos"][:, :2],
    }
