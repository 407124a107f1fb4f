"""SimulatedPush: where is a pushed puck, by a camera, by forces, by the place of the finger and by its control?"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, Literal, final

import numpy as np
import torch

from molyneux.core import Batch, ConfigError, Modality, Quantity, Spec, Target, choice_problems, seeds
from molyneux.data.dataset import SPLITS, Split, World
from molyneux.data.formats.hdf5_files import appearing_hdf5, require_h5py
from molyneux.data.worlds.push.simulation import FRICTIONS, MASSES, SIDE, STEPS, Trajectories, pictures, simulate

LENGTH = 16
"""Steps of a window."""

BEGINS = np.array([begin for offset in (0, LENGTH // 2) for begin in range(offset, STEPS - LENGTH + 1, LENGTH)])
"""First steps of the windows of a trajectory: those of the published loader, of 250 steps 30."""

_KEPT = 4_000
"""Trajectories that stay in memory, 20 kB each."""

SCALES: Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "gripper_pos": (
        (0.50092, -0.0028548, 0.84715),
        (0.068723, 0.070883, 0.028656),
    ),
    "gripper_sensors": (
        (-0.013974, -0.025829, 1.9265, -0.0017753, 0.001848, -3.3589e-05, 0.24348),
        (0.37083, 0.35685, 0.2824, 0.045888, 0.048671, 0.0013195, 0.42918),
    ),
    "control": (
        (0.50091, -0.0032256, 0.84733, 5.8426e-06, 0.00037088, -0.00018089, 0.24348),
        (0.068646, 0.070989, 0.028734, 0.0034373, 0.0035982, 0.0032406, 0.42918),
    ),
    "object": (
        (0.49947, -0.00022688),
        (0.054144, 0.056713),
    ),
}
"""Means and standard deviations of the first 200 training trajectories of seed 0, by modality, and of the target `object`."""


@final
class SimulatedPush(World):
    """Windows of simulated trajectories of a finger that pushes a puck on a table: the task MuJoCo Push, by physics of our own.

    The task of Lee et al., "Multimodal Sensor Fusion with Differentiable Filters" (IROS 2020), as MultiBench has it: windows of
    16 steps that begin at the steps 0, 16, 32, ... and 8, 24, 40, ... of trajectories of 250 steps (20 a second), of which
    1,000 train, 10 validate and 300 test. Modalities are series: `gripper_pos` (16, 3), the place of the finger's tip;
    `gripper_sensors` (16, 7), forces, torques and contact; `control` (16, 7), the place one step before, the way since, and
    contact; and the video `image` (16, 1, 32, 32), a grey camera from above. The target is the number `object` (16, 2), the place
    (x, y) of the puck at each step. Quantities are the puck's `mass` and `friction`, which differ from trajectory to trajectory.

    The arm of the published data, its camera at an angle and its shades are not imitated, so scores are not to be compared with
    published ones; the mean squared error of a constant is about 1 here as there. Pictures are drawn without OpenGL.

    Trajectories are simulated when they are first asked for, about 20 a second on one core, and stay in memory. The bytes are
    the same on one machine with one version of MuJoCo. `export_push` writes them in the published layout.

    Args:
        trajectories: how many train, validate and test.
        scales: "fixed": series and target have the mean 0 and the standard deviation 1 over the first 200
            training trajectories of seed 0, by constants. "none": metres, newtons and newton metres.
        threads: that simulate at the same time; the bytes do not depend on it.

    Raises:
        ConfigError: settings that cannot be used; all problems at once; or, when samples are asked for, mujoco is not installed.
    """

    name: ClassVar[str] = "simulated-push-v1"
    origin: ClassVar[str] = "simulated by this package with MuJoCo; the task of Lee et al. (IROS 2020)"

    def __init__(
        self,
        *,
        trajectories: tuple[int, int, int] = (1000, 10, 300),
        scales: Literal["fixed", "none"] = "fixed",
        threads: int = 1,
    ) -> None:
        counts = tuple(trajectories)
        problems = choice_problems(scales=(scales, ("fixed", "none")))
        if len(counts) != 3 or min(counts) < 1:
            problems.append(
                f"trajectories: expected three numbers of at least 1, for training, validation and testing, got {trajectories}"
            )
        if threads < 1:
            problems.append(f"threads: expected at least 1, got {threads}")
        if problems:
            raise ConfigError(problems)
        self._settings: dict[str, Any] = {"trajectories": list(counts), "scales": scales}
        self._threads = threads
        self._made: OrderedDict[tuple[Split, int, int], Trajectories] = OrderedDict()

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings as plain data: with name, split and seed they determine every byte on a machine."""
        return self._settings

    @property
    def splits(self) -> Mapping[Split, int]:
        """How many windows each split has."""
        return {split: count * len(BEGINS) for split, count in zip(SPLITS, self._settings["trajectories"], strict=True)}

    @cached_property
    def spec(self) -> Spec:
        """Three series and a video, the target `object`, and the quantities `mass` and `friction`."""
        series = tuple(Modality(name, "series", (LENGTH, width)) for name, width in _WIDTHS.items())
        video = Modality("image", "video", (LENGTH, 1, SIDE, SIDE), "uint8")
        quantities = (Quantity("mass", MASSES, "kg"), Quantity("friction", FRICTIONS))
        return Spec((*series, video), targets=(Target("object", "number", shape=(LENGTH, 2)),), quantities=quantities)

    def batch(self, indices: np.ndarray, *, split: Split, seed: int) -> Batch:
        """The windows of these numbers (B,) of a split, those of a trajectory in a row; errors as `SplitDataset.batch`."""
        numbers, window = np.divmod(self.numbers(indices, split), len(BEGINS))
        which, place = np.unique(numbers, return_inverse=True)
        found = self.trajectories(which, split=split, seed=seed)
        values = {name: self._scaled(name, value) for name, value in _values(found).items()}
        steps = BEGINS[window][:, None] + np.arange(LENGTH)
        views = {name: torch.from_numpy(values[name][place[:, None], steps]) for name in _WIDTHS}
        finger, puck = (part[place[:, None], steps].reshape(-1, part.shape[-1]) for part in (found.finger, found.puck))
        views["image"] = torch.from_numpy(pictures(finger, puck).reshape(-1, LENGTH, 1, SIDE, SIDE))
        return Batch(
            views,
            factors=torch.zeros((len(place), 0), dtype=torch.int64),
            targets={"object": torch.from_numpy(values["object"][place[:, None], steps])},
            quantities=torch.from_numpy(np.stack([found.mass, found.friction], 1)[place]),
        )

    def trajectories(self, numbers: np.ndarray, *, split: Split, seed: int) -> Trajectories:
        """Whole trajectories of a split, in metres and newtons; what is missing in memory is simulated.

        Raises:
            ConfigError: mujoco is not installed.
        """
        missing = np.array([number for number in numbers.tolist() if (split, seed, number) not in self._made], np.int64)
        found = {(split, seed, number): self._made[split, seed, number] for number in numbers.tolist() if number not in missing}
        if len(missing):
            made = simulate(seeds.key(seed, self.name, split), missing, threads=self._threads)
            for row, number in enumerate(missing.tolist()):
                found[split, seed, number] = self._made[split, seed, number] = Trajectories(*(part[row] for part in made))
        while len(self._made) > _KEPT:
            self._made.popitem(last=False)
        if not len(numbers):
            return Trajectories(*(np.zeros((0, *shape), np.float32) for shape in _SHAPES))
        kept = [found[split, seed, number] for number in numbers.tolist()]
        return Trajectories(*(np.stack([part[place] for part in kept]) for place in range(len(_SHAPES))))

    def __reduce__(self) -> tuple[Callable[[], SimulatedPush], tuple[()]]:
        """Travel to other processes as settings, without what was simulated."""
        counts, scales = tuple(self._settings["trajectories"]), self._settings["scales"]
        return partial(SimulatedPush, trajectories=counts, scales=scales, threads=self._threads), ()

    def _scaled(self, name: str, values: np.ndarray) -> np.ndarray:
        if self._settings["scales"] == "none":
            return values
        mean, deviation = (np.array(part, np.float32) for part in SCALES[name])
        return np.asarray((values - mean) / deviation)


def export_push(
    world: SimulatedPush, folder: Path | str, *, seed: int = 0, progress: Callable[[int], None] | None = None
) -> dict[Split, Path]:
    """Write all trajectories in the published layout, a file for each split, and give their paths.

    `gentle_push_1000.hdf5` holds the training trajectories, `gentle_push_10.hdf5` and `gentle_push_300.hdf5` the others; the
    numbers are those of the world. A file has groups `trajectory0`, `trajectory1`, ... of float32 data sets of 250 steps:
    `Cylinder0_pos` (T, 3), `object-state` (T, 10: position, quaternion, velocity), `eef_pos` (T, 3), `force` (T, 6), `contact`
    (T,), and `image` (T, 32, 32), 0..1. Values are in metres and newtons, whatever the `scales` of the world.

    Args:
        world: what to write.
        folder: where to; it is made.
        seed: of the source.
        progress: called with the number of trajectories written since the last call.

    Raises:
        ConfigError: h5py is not installed, or two splits have as many trajectories, and so the same name.
        ConflictError: a file stands there. StoreError: no space, no permission.
    """
    folder = Path(folder)
    require_h5py()
    counts = dict(zip(SPLITS, world.settings["trajectories"], strict=True))
    if len(set(counts.values())) < len(counts):
        raise ConfigError(f"trajectories: files are named by their number, so expected three different ones, got {counts}")
    paths = {split: Path(folder) / f"gentle_push_{count}.hdf5" for split, count in counts.items()}
    for split, path in paths.items():
        with appearing_hdf5(path) as file:
            for start in range(0, counts[split], 64):
                numbers = np.arange(start, min(start + 64, counts[split]))
                found = world.trajectories(numbers, split=split, seed=seed)
                for row, number in enumerate(numbers.tolist()):
                    group = file.create_group(f"trajectory{number}")
                    for name, values in _published(Trajectories(*(value[row] for value in found))).items():
                        group[name] = values
                if progress is not None:
                    progress(len(numbers))
    return paths


_WIDTHS = {"gripper_pos": 3, "gripper_sensors": 7, "control": 7}
_SHAPES = ((STEPS, 3), (STEPS, 6), (STEPS,), (STEPS, 10), (), ())


def _values(found: Trajectories) -> dict[str, np.ndarray]:
    """Series and target of whole trajectories, (N, STEPS, width) each."""
    contact = found.contact[..., None]
    before = np.concatenate([found.finger[:, :1], found.finger[:, :-1]], 1)
    return {
        "gripper_pos": found.finger,
        "gripper_sensors": np.concatenate([found.force, contact], -1),
        "control": np.concatenate([before, found.finger - before, contact], -1),
        "object": found.puck[..., :2],
    }


def _published(found: Trajectories) -> dict[str, np.ndarray]:
    """The data sets of one trajectory."""
    return {
        "Cylinder0_pos": found.puck[:, :3],
        "object-state": found.puck,
        "eef_pos": found.finger,
        "force": found.force,
        "contact": found.contact,
        "image": pictures(found.finger, found.puck).astype(np.float32) / np.float32(255.0),
    }
