"""MuJoCo Push: windows of trajectories, control from the file alone, statistics of the training split."""

import h5py
import numpy as np
import pytest

from molyneux.core import ConfigError, DataError
from molyneux.data import MuJoCoPush
from molyneux.data.imperfections import Corrupted, GaussianNoise

FILES = {"train": "gentle_push_1000.hdf5", "validation": "gentle_push_10.hdf5", "test": "gentle_push_300.hdf5"}


def written(folder, lengths=(41, 250, 16), seed=0, **settings):
    content = {}
    for number, (split, name) in enumerate(FILES.items()):
        rng = np.random.default_rng(seed + number)
        with h5py.File(folder / name, "w") as file:
            for trajectory, length in enumerate(lengths):
                values = {
                    "Cylinder0_pos": rng.normal(size=(length, 3)),
                    "object-state": rng.normal(size=(length, 10)),
                    "eef_pos": rng.normal(size=(length, 3)),
                    "force": rng.normal(3, 2, (length, 6)),
                    "contact": rng.integers(0, 2, length).astype(float),
                    "image": rng.random((length, 32, 32)),
                }
                for key, item in values.items():
                    file[f"trajectory{trajectory}/{key}"] = item.astype(np.float32)
                content[split, trajectory] = {key: item.astype(np.float32) for key, item in values.items()}
    return MuJoCoPush(folder, **settings), content


def windows(found, length=16):
    """The published rule in a loop: two offsets, whole windows only."""
    for offset in (0, length // 2):
        rest = len(found["eef_pos"]) - offset
        for number in range(rest // length):
            yield slice(offset + number * length, offset + (number + 1) * length)


def test_windows_and_modalities_are_the_published_ones(tmp_path):
    dataset, content = written(tmp_path, scales="none")
    for split in FILES:
        batch, row = dataset.rows(np.arange(dataset.splits[split]), split), 0
        for trajectory in range(3):
            found = content[split, trajectory]
            before = np.concatenate([found["eef_pos"][:1], found["eef_pos"][:-1]])
            contact = found["contact"][:, None]
            control = np.concatenate([before, found["eef_pos"] - before, contact], 1)
            for window in windows(found):
                np.testing.assert_array_equal(batch.views["gripper_pos"][row], found["eef_pos"][window])
                np.testing.assert_array_equal(batch.views["gripper_sensors"][row, :, :6], found["force"][window])
                np.testing.assert_array_equal(batch.views["gripper_sensors"][row, :, 6:], contact[window])
                np.testing.assert_allclose(batch.views["control"][row], control[window], atol=1e-6)
                np.testing.assert_array_equal(batch.views["image"][row, :, 0], found["image"][window])
                np.testing.assert_array_equal(batch.targets["object"][row], found["Cylinder0_pos"][window, :2])
                row += 1
        assert row == dataset.splits[split]


def test_a_trajectory_of_250_steps_has_30_windows(tmp_path):
    dataset, _ = written(tmp_path, lengths=(250,))
    assert dataset.splits["train"] == 30


def test_statistics_are_those_of_the_training_split(tmp_path):
    dataset, content = written(tmp_path)
    steps = np.concatenate([content["train", number]["force"] for number in range(3)]).astype(float)
    puck = np.concatenate([content["train", number]["Cylinder0_pos"][:, :2] for number in range(3)]).astype(float)
    batch = dataset.rows(np.arange(1), "test")
    wanted = (content["test", 0]["force"][:16] - steps.mean(0)) / steps.std(0)
    np.testing.assert_allclose(batch.views["gripper_sensors"][0, :, :6], wanted, atol=1e-5)
    np.testing.assert_allclose(
        batch.targets["object"][0], (content["test", 0]["Cylinder0_pos"][:16, :2] - puck.mean(0)) / puck.std(0), atol=1e-5
    )
    published = MuJoCoPush(tmp_path, scales="published").rows(np.arange(1), "test")
    np.testing.assert_allclose(
        published.targets["object"][0],
        (content["test", 0]["Cylinder0_pos"][:16, :2] - [0.4970164, -0.00916641]) / [0.0572766, 0.06118315],
        rtol=1e-4,
    )


def test_noise_on_one_modality_reaches_no_other(tmp_path):
    """Noise on the end effector's position was added in place, and so was in the control, too."""
    dataset, _ = written(tmp_path)
    clean = dataset.source("test").batch(np.arange(10))
    noisy = Corrupted(dataset.source("test"), GaussianNoise(modalities=("gripper_pos",)), 0.8, seed=1).batch(np.arange(10))
    assert not noisy.views["gripper_pos"].equal(clean.views["gripper_pos"])
    for name in ("gripper_sensors", "control", "image"):
        assert noisy.views[name].equal(clean.views[name])
    assert noisy.targets["object"].equal(clean.targets["object"])
    assert dataset.source("test").batch(np.arange(10)).views["gripper_pos"].equal(clean.views["gripper_pos"])


def broken(folder, change):
    written(folder)
    with h5py.File(folder / FILES["train"], "r+") as file:
        change(file)
    return MuJoCoPush(folder)


def replace(file, name, values):
    del file[name]
    file[name] = values


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda file: file.__delitem__("trajectory1"), r"expected groups trajectory0, trajectory1, \.\.\. without gaps"),
        (lambda file: file.__delitem__("trajectory1/force"), "trajectory1: expected a data set 'force', got none"),
        (
            lambda file: replace(file, "trajectory0/force", np.zeros((41, 5))),
            r"expected 'force' as numbers of shape \(any, 6\), got float64 \(41, 5\)",
        ),
        (lambda file: replace(file, "trajectory0/contact", np.zeros(40)), "trajectory0: expected data sets of as many steps"),
        (
            lambda file: replace(file, "trajectory0/image", np.zeros((41, 64, 64))),
            r"expected 'image' as numbers of shape \(41, 32, 32\)",
        ),
        (
            lambda file: file["trajectory0/eef_pos"].__setitem__((3, 1), np.nan),
            "trajectory0, eef_pos: expected finite numbers, got nan in sample 3, column 1",
        ),
    ],
)
def test_files_that_are_something_else_are_refused(change, complaint, tmp_path):
    with pytest.raises(DataError, match=complaint):
        _ = broken(tmp_path, change).splits


def test_foreign_and_cut_files_are_refused(tmp_path):
    written(tmp_path)
    (tmp_path / FILES["test"]).write_bytes(b"no HDF5")
    with pytest.raises(DataError, match=r"gentle_push_300\.hdf5: expected a whole HDF5 file"):
        _ = MuJoCoPush(tmp_path).splits


def test_settings(tmp_path):
    with pytest.raises(ConfigError) as caught:
        MuJoCoPush(tmp_path, train="a.hdf5", test="a.hdf5", scales="all")
    assert len(caught.value.problems) == 2
