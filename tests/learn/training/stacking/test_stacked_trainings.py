"""Trainings that are computed at once: each is that of `fit` alone, also where others end, and goes on after an interruption."""

import math
import signal
from dataclasses import replace

import pytest
import torch
from torch import nn

from molyneux.core import ConfigError, Loss, TrainingError
from molyneux.learn import Stage, Training, fit
from molyneux.learn.training import fit_progress
from molyneux.learn.training.stacking import StackMember, fit_stacked

PLAIN = {"epochs": 3, "batch_size": 16, "tensorboard": False, "precision": "32"}
EQUAL = {"rtol": 1e-4, "atol": 1e-5}


def alone(members):
    return [fit(item.model, item.train, item.validation, item.training, item.folder, seed=item.seed) for item in members]


def assert_equal(found, expected):
    for one, other in zip(found, expected, strict=True):
        for name, tensor in other.state_dict().items():
            torch.testing.assert_close(one.state_dict()[name], tensor, **EQUAL, msg=lambda text, name=name: f"{name}: {text}")


def assert_same_history(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert len(one.rows) == len(other.rows)
        for row, own in zip(one.rows, other.rows, strict=True):
            for name in own.keys() - {"seconds", "samples_per_second"}:
                assert row[name] == pytest.approx(own[name], rel=1e-4, abs=1e-6), name


@pytest.fixture
def members_of(source, validation, make_model):
    """Trainings of models with dropout, batch normalisation and noise, each with its own weights and seed."""

    def make(*trainings, folder=None, **settings):
        return [
            StackMember(
                make_model(seed=number, **settings), source, validation, training, folder and folder / str(number), number + 5
            )
            for number, training in enumerate(trainings)
        ]

    return make


@pytest.mark.parametrize(
    "settings",
    [
        ({}, {}, {}),
        ({"learning_rate": 1e-3}, {"learning_rate": 3e-3}, {"learning_rate": 1e-3}),
        ({"optimizer": "sgd"}, {"optimizer": "adamw", "weight_decay": 0.1}, {"betas": (0.5, 0.9)}),
        ({"clip": 0.1}, {}, {"clip": 0.01, "warmup_steps": 4, "schedule": "linear"}),
        ({"keep": "last"}, {"patience": 1, "learning_rate": 0.3}, {}),
        ({"memory": "stream"},) * 2,
    ],
)
def test_each_is_its_training_alone(settings, members_of):
    trainings = [Training(**PLAIN, **each) for each in settings]
    together, own = members_of(*trainings), members_of(*trainings)
    assert_same_history(fit_stacked(together), alone(own))
    assert_equal([item.model for item in together], [item.model for item in own])
    assert not any(item.model.training for item in together)


def test_stages_with_parameters_of_their_own(members_of):
    stages = (Stage(name="first", parameters=("linear.*",), epochs=1), Stage(name="second", optimizer="sgd", epochs=2))
    trainings = [Training(**PLAIN, stages=stages, learning_rate=rate) for rate in (1e-3, 2e-3)]
    together, own = members_of(*trainings), members_of(*trainings)
    assert_same_history(fit_stacked(together), alone(own))
    assert_equal([item.model for item in together], [item.model for item in own])


def test_one_that_diverges_ends_alone(members_of, tmp_path):
    trainings = [Training(**PLAIN, optimizer="sgd", learning_rate=rate) for rate in (1e-3, 1e30, 1e-3)]
    together, own = members_of(*trainings, folder=tmp_path), members_of(*trainings)
    first, broken, third = fit_stacked(together)
    assert isinstance(broken, TrainingError)
    assert "expected finite numbers" in str(broken)
    assert [path.parent.name for path in tmp_path.glob("*/broken-batch-*")] == ["1"]
    assert_same_history([first, third], alone([own[0], own[2]]))
    assert_equal([together[0].model, together[2].model], [own[0].model, own[2].model])


class StopError(Exception):
    pass


class StopAt:
    def __init__(self, step):
        self.stop = step

    def step(self, done, total, samples_per_second, seconds_left):
        if done == self.stop:
            raise StopError

    def epoch(self, row):
        pass


class SignalAt(StopAt):
    def step(self, done, total, samples_per_second, seconds_left):
        if done == self.stop:
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("how", ["together", "alone", "some"])
def test_goes_on_from_its_checkpoints(how, members_of, tmp_path, monkeypatch):
    """After a kill between the checkpoints of two members, one of which is a step behind: at once, or each by `fit`."""
    monkeypatch.setattr(fit_progress, "_TOLD_EVERY", 0.0)
    trainings = [Training(**PLAIN, checkpoint_seconds=0.0, learning_rate=rate) for rate in (1e-3, 2e-3, 2e-3)]
    own, stopped, again = members_of(*trainings), members_of(*trainings, folder=tmp_path), members_of(*trainings, folder=tmp_path)
    histories = alone(own)
    with pytest.raises(StopError):
        fit_stacked([*stopped[:1], replace(stopped[1], progress=StopAt(8)), stopped[2]])
    assert [
        len(list(tmp_path.glob(f"{number}/checkpoints/checkpoint-01-00000000{step}"))) for number, step in enumerate("877")
    ] == [1, 1, 1]
    found = {"together": fit_stacked, "alone": alone, "some": lambda items: [*fit_stacked(items[:2]), *alone(items[2:])]}[how](
        again
    )
    assert_same_history(found, histories)
    assert_equal([item.model for item in again], [item.model for item in own])


def test_a_signal_ends_all_after_all_are_written(members_of, tmp_path, monkeypatch):
    monkeypatch.setattr(fit_progress, "_TOLD_EVERY", 0.0)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background may ignore it
    trainings = [Training(**PLAIN)] * 2
    first, second = members_of(*trainings, folder=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        fit_stacked([replace(first, progress=SignalAt(4)), second])
    signal.signal(signal.SIGINT, before)
    assert all(list(tmp_path.glob(f"{number}/checkpoints/checkpoint-01-000000004")) for number in range(2))
    again, own = members_of(*trainings, folder=tmp_path), members_of(*trainings)
    assert_same_history(fit_stacked(again), alone(own))


def test_seconds_are_shares(members_of):
    import time

    began = time.perf_counter()
    histories = fit_stacked(members_of(*[Training(**PLAIN)] * 4))
    assert sum(history.rows[-1]["seconds"] for history in histories) <= time.perf_counter() - began


class Weighted(nn.Module):
    """A model with numbers of all kinds in its loss."""

    def __init__(self, spec, *, weight=1.0, power=2, name="a", seed=0, width=4, branch=False, drawn=False):
        super().__init__()
        self.spec, self.settings, self.power, self.name, self.branch, self.drawn = (
            spec,
            {"weight": weight},
            power,
            name,
            branch,
            drawn,
        )
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.layer = nn.Linear(8, width)

    def loss(self, batch, progress, generator=None):
        weight = self.settings["weight"]
        if self.branch and weight > 1:
            weight = weight**2
        error = self.layer(batch.views["touch"].flatten(1)).abs().pow(self.power).mean()
        if self.drawn:
            error = error * torch.rand(())
        penalty = self.layer.weight.square().sum()
        return Loss(error + weight * penalty, {"penalty": penalty.detach()})


def weighted(source, *settings, **training):
    return [
        StackMember(Weighted(source.spec, **each), source, None, Training(**{**PLAIN, **training}), seed=1) for each in settings
    ]


def test_numbers_with_a_fraction_may_differ(source):
    settings = ({"weight": 0.5}, {"weight": 2.0, "seed": 1}, {"weight": 0.5, "seed": 2})
    together, own = weighted(source, *settings), weighted(source, *settings)
    assert_same_history(fit_stacked(together), alone(own))
    assert_equal([item.model for item in together], [item.model for item in own])
    assert [item.model.settings["weight"] for item in together] == [0.5, 2.0, 0.5]


@pytest.mark.parametrize(
    ("first", "second", "problem"),
    [
        ({}, {"power": 3}, "power: expected the same number, got 2 and 3"),
        ({}, {"name": "b"}, "name: expected the same value, got 'a' and 'b'"),
        ({}, {"width": 5}, "expected models with weights of the same shapes, got layer.bias|layer.weight of the shapes"),
        (
            {"branch": True},
            {"branch": True, "weight": 3.0},
            r"torch.vmap cannot compute its loss .*models differ in settings.weight \(1, 3\)",
        ),
        ({"drawn": True}, {"drawn": True, "seed": 1}, "torch.vmap cannot compute its loss .*random"),
    ],
)
def test_what_cannot_be_stacked_is_refused_by_name(first, second, problem, source, tmp_path):
    members = [replace(item, folder=tmp_path / str(number)) for number, item in enumerate(weighted(source, first, second))]
    before = [item.model.layer.weight.clone() for item in members]
    with pytest.raises(ConfigError, match=problem):
        fit_stacked(members)
    assert all(torch.equal(item.model.layer.weight, own) for item, own in zip(members, before, strict=True))
    assert not list(tmp_path.glob("*/checkpoints/checkpoint-*"))


def test_trainings_that_differ_in_more_are_refused(source, make_model, members_of):
    first, second = members_of(Training(**PLAIN), Training(**{**PLAIN, "batch_size": 8}))
    with pytest.raises(ConfigError, match=r"batch_size: expected the same .* got 16 and 8"):
        fit_stacked([first, second])
    with pytest.raises(ConfigError, match="model: expected one of its own"):
        fit_stacked([first, replace(first)])
    with pytest.raises(ConfigError, match="expected models of one class"):
        fit_stacked([first, replace(first, model=Weighted(source.spec))])
    with pytest.raises(ConfigError, match="at least one training"):
        fit_stacked([])


def test_a_loss_that_is_another_for_several_is_refused(source, monkeypatch):
    members = weighted(source, {}, {"seed": 1})
    for item in members:
        item.model.secret = torch.tensor(float(item.seed))
    members[1].model.secret = torch.tensor(7.0)
    with pytest.raises(ConfigError, match="secret: expected the same numbers, got a tensor that differs and is no buffer"):
        fit_stacked(members)


def test_one_alone_is_fit(members_of):
    together, own = members_of(Training(**PLAIN)), members_of(Training(**PLAIN))
    assert_same_history(fit_stacked(together), alone(own))
    assert math.isfinite(own[0].model.linear.weight.sum().item())
