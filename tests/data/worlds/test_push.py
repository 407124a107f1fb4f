"""SimulatedPush: physics, windows and the published layout."""

import pickle

import h5py
import numpy as np
import pytest
import torch

from molyneux.core import ConfigError, ConflictError, seeds
from molyneux.data import SimulatedPush, export_push, store_samples
from molyneux.data.worlds.push import push, simulation

FEW = (3, 1, 2)


@pytest.fixture(scope="module")
def world():
    return SimulatedPush(trajectories=FEW, scales="none")


@pytest.fixture(scope="module")
def found(world):
    return world.trajectories(np.arange(3), split="train", seed=0)


def test_a_trajectory_is_a_function_of_its_number_alone(found):
    stream = seeds.key(0, SimulatedPush.name, "train")
    alone = simulation.simulate(stream, np.array([2]))
    turned = simulation.simulate(stream, np.array([1, 0]), threads=2)
    for part, one, two in zip(found, alone, turned, strict=True):
        assert one.tobytes() == part[2:3].tobytes()
        assert two.tobytes() == part[[1, 0]].tobytes()
        assert np.isfinite(part).all()


def test_the_puck_lies_on_the_table_and_moves_only_where_it_is_pushed(found):
    assert found.puck[..., 2] == pytest.approx(0.82, abs=3e-3)
    assert np.linalg.norm(found.puck[..., 3:7], axis=-1) == pytest.approx(1, abs=1e-5)
    moved = np.linalg.norm(np.diff(found.puck[..., :2], axis=1), axis=-1)
    apart = np.linalg.norm(found.puck[..., :2] - found.finger[..., :2], axis=-1) > 0.07
    still = apart[:, 1:] & apart[:, :-1]
    speed = np.linalg.norm(found.puck[..., 7:9], axis=-1)
    assert moved[still & (speed[:, :-1] < 1e-3)].max() < 2e-4  # friction holds it
    touched = found.contact[:, 1:] > 0
    assert moved[touched].mean() > 4 * moved[~touched].mean()
    assert moved.sum(1).min() > 0.1
    assert 0.1 < found.contact.mean() < 0.45
    assert set(np.unique(found.contact)) == {0.0, 1.0}


def test_forces_push_against_the_finger_and_carry_its_weight_in_the_air(found):
    free = found.contact == 0
    assert np.median(found.force[..., 2][free]) == pytest.approx(0.2 * 9.81, rel=0.02)  # 0.2 kg hang at the wrist
    assert np.median(np.linalg.norm(found.force[..., :2][free], axis=-1)) < 0.2
    steps = np.diff(found.puck[..., :2], axis=1)
    pushed = (np.linalg.norm(steps, axis=-1) > 1e-3) & (found.contact[:, 1:] > 0) & (found.contact[:, :-1] > 0)
    force, way = found.force[:, 1:, :2][pushed], steps[pushed]
    along = (force * way).sum(-1) / (np.linalg.norm(force, axis=-1) * np.linalg.norm(way, axis=-1))
    assert abs(np.median(along)) > 0.8
    held = np.linalg.norm(found.force[..., :2][found.contact > 0], axis=-1)
    limit = found.friction * found.mass * 9.81
    assert np.median(held) < 2 * limit.max()  # about what friction of the table asks for


def test_the_finger_never_is_inside_the_puck(found):
    low = found.finger[..., 2] < 0.835
    apart = np.linalg.norm(found.puck[..., :2] - found.finger[..., :2], axis=-1)[low]
    assert apart.min() > 0.035 + 0.012 - 0.004


def test_pictures_show_puck_and_finger_where_they_are():
    puck, finger = np.array([[0.55, 0.05], [0.42, -0.1]]), np.array([[0.45, -0.05], [0.6, 0.1]])
    shown = simulation.pictures(finger, puck).astype(float)
    assert shown.shape == (2, 32, 32)
    assert shown[:, 0, 0] == pytest.approx(60)
    for row, place in enumerate(puck):
        bright = np.argwhere(shown[row] > 150)
        middle = (bright.mean(0) + 0.5) / 32
        assert middle[1] == pytest.approx(0.5 + (place[0] - 0.5) / 0.4, abs=0.02)
        assert middle[0] == pytest.approx(0.5 - place[1] / 0.4, abs=0.02)
        assert (shown[row] - 60).sum() == pytest.approx(np.pi * ((0.035 * 80) ** 2 * 170 + (0.012 * 80) ** 2 * 70), rel=0.05)


def test_windows_are_those_of_the_published_loader(world, found):
    assert world.splits == {"train": 90, "validation": 30, "test": 60}
    assert push.BEGINS.tolist() == [*range(0, 235, 16), *range(8, 235, 16)]
    batch = world.batch(np.array([30 + 2, 16]), split="train", seed=0).check(world.spec)
    for row, (trajectory, begin) in enumerate(((1, 32), (0, 24))):
        steps = slice(begin, begin + 16)
        assert (batch.views["gripper_pos"][row].numpy() == found.finger[trajectory, steps]).all()
        sensors = batch.views["gripper_sensors"][row].numpy()
        assert (sensors[:, :6] == found.force[trajectory, steps]).all()
        assert (sensors[:, 6] == found.contact[trajectory, steps]).all()
        control = batch.views["control"][row].numpy()
        assert (control[:, :3] == found.finger[trajectory, begin - 1 : begin + 15]).all()
        assert control[:, :3] + control[:, 3:6] == pytest.approx(found.finger[trajectory, steps], abs=1e-6)
        assert (batch.targets["object"][row].numpy() == found.puck[trajectory, steps, :2]).all()
        assert batch.quantities[row].tolist() == [found.mass[trajectory], found.friction[trajectory]]
    first = world.batch(np.array([0]), split="train", seed=0).views["control"][0]
    assert (first[0, :3] == torch.from_numpy(found.finger[0, 0])).all()
    assert not first[0, 3:6].any()


def test_standardised_values_have_about_the_deviation_one():
    world, plain = (SimulatedPush(trajectories=(12, 1, 1), scales=scales) for scales in ("fixed", "none"))
    plain._made = world._made
    rows = np.arange(12 * 30)
    batch, other = (item.batch(rows, split="train", seed=0) for item in (world, plain))
    for name, values in {**batch.views, **batch.targets}.items():
        if name != "image":
            flat = values.flatten(0, 1)
            assert flat.mean(0).abs().max() < 0.5, name
            assert ((flat.std(0) - 1).abs() < 0.5).all(), name
            mean, deviation = (torch.tensor(part) for part in push.SCALES[name])
            undone = values * deviation + mean
            same = {**other.views, **other.targets}[name]
            assert torch.allclose(undone, same, atol=1e-5)


def test_memory_is_bounded_and_order_does_not_matter(world, monkeypatch):
    whole = world.batch(np.arange(90), split="train", seed=0)
    monkeypatch.setattr(push, "_KEPT", 1)
    small = pickle.loads(pickle.dumps(world))
    rows = np.array([89, 3, 45, 3])
    part = small.batch(rows, split="train", seed=0)
    assert len(small._made) == 1
    for name, tensor in part.tensors().items():
        assert torch.equal(tensor, whole.tensors()[name][torch.from_numpy(rows)]), name
    assert len(small.batch(np.arange(0), split="train", seed=0).check(world.spec)) == 0


def test_the_published_layout(world, found, tmp_path):
    written = []
    paths = export_push(world, tmp_path / "files", seed=0, progress=written.append)
    names = {split: path.name for split, path in paths.items()}
    assert names == {"train": "gentle_push_3.hdf5", "validation": "gentle_push_1.hdf5", "test": "gentle_push_2.hdf5"}
    assert sum(written) == 6
    with h5py.File(paths["train"]) as file:
        assert set(file) == {"trajectory0", "trajectory1", "trajectory2"}
        shapes = {name: item.shape for name, item in file["trajectory1"].items()}
        widths = {"Cylinder0_pos": (3,), "object-state": (10,), "eef_pos": (3,), "force": (6,), "contact": (), "image": (32, 32)}
        assert shapes == {name: (250, *width) for name, width in widths.items()}
        assert all(item.dtype == np.float32 for item in file["trajectory1"].values())
        assert (file["trajectory1/eef_pos"][:] == found.finger[1]).all()
        assert (file["trajectory1/force"][:] == found.force[1]).all()
        picture = world.batch(np.array([30]), split="train", seed=0).views["image"][0, :, 0].numpy()
        assert file["trajectory1/image"][:16] * 255 == pytest.approx(picture, abs=1e-4)
    with pytest.raises(ConflictError, match="exists"):
        export_push(world, tmp_path / "files")
    with pytest.raises(ConfigError, match="expected three different ones"):
        export_push(SimulatedPush(trajectories=(2, 2, 1)), tmp_path / "others")


def test_it_can_be_stored(world, tmp_path):
    source = world.source("test", 20, seed=1)
    stored = store_samples(source, tmp_path / "stored")
    read, made = stored.batch(np.arange(20)), source.batch(np.arange(20))
    assert torch.equal(read.views["image"], made.views["image"])
    assert torch.equal(read.quantities, made.quantities)


def test_settings_that_cannot_be_used_are_told_at_once():
    with pytest.raises(ConfigError) as caught:
        SimulatedPush(trajectories=(1, 0, 1), scales="fix", threads=0)
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["scales", "trajectories", "threads"]
