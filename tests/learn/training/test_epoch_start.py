"""The step before an epoch: when it is taken, what a copy learns, and that an interrupted training repeats nothing."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from molyneux.core import EpochStart, Loss, Progress, seeds
from molyneux.learn import Stage, Training, fit
from molyneux.learn.training.batches import BatchReader, training_order


class Small(nn.Module):
    """A model of the touch from the picture, with dropout, batch statistics and drawn noise."""

    def __init__(self, spec):
        super().__init__()
        self.spec = spec
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.first, self.norm, self.drop, self.linear = (
                nn.Linear(192, 6, bias=False),
                nn.BatchNorm1d(6),
                nn.Dropout(0.2),
                nn.Linear(6, 8),
            )

    def loss(self, batch, progress, generator=None):
        hidden = self.drop(self.norm(self.first(batch.views["image"].flatten(1) / 255)).relu())
        noise = torch.randn(len(batch), 8, generator=generator)
        error = (self.linear(hidden) + 0.1 * noise - batch.views["touch"].flatten(1)).square().sum(1).mean()
        return Loss((1 + progress.fraction) * error, {"error": error.detach()})


class Estimating(Small):
    """Scales its loss by how much a copy of it learned from half of the samples before the epoch."""

    def __init__(self, spec):
        super().__init__(spec)
        self.register_buffer("scale", torch.ones(()))
        self.calls = []

    def start_epoch(self, epoch):
        self.calls.append((epoch.progress.stage, epoch.number, epoch.progress.step, epoch.seed))
        assert len(epoch.train) == 96
        assert len(epoch.validation) == 40
        other, rows = copy.deepcopy(self), np.arange(0, 96, 2)
        before = epoch.loss(other, rows)
        epoch.fit(other, rows, 1)
        self.scale.fill_(epoch.loss(other, rows) / before)

    def loss(self, batch, progress, generator=None):
        found = super().loss(batch, progress, generator)
        return type(found)(self.scale * found.total, found.terms)


class DiedError(Exception):
    pass


class DyingSource:
    """A source that dies after so many batches."""

    def __init__(self, source, batches):
        self.source, self.spec, self.left = source, source.spec, batches

    def __len__(self):
        return len(self.source)

    def batch(self, indices):
        self.left -= 1
        if self.left < 0:
            raise DiedError
        return self.source.batch(indices)


def settings(**changes):
    return Training(
        **{"epochs": 3, "batch_size": 16, "tensorboard": False, "memory": "stream", "prefetch": 0, "precision": "32", **changes}
    )


def test_it_is_taken_before_every_epoch_of_every_stage(source, validation, tmp_path):
    model = Estimating(source.spec)
    assert isinstance(model, EpochStart)
    assert not isinstance(Small(source.spec), EpochStart)
    stages = (Stage(name="first", epochs=2), Stage(name="second", epochs=1, parameters=("linear.*",)))
    fit(model, source, validation, settings(stages=stages), tmp_path, seed=1)
    assert [call[:3] for call in model.calls] == [("first", 0, 0), ("first", 1, 6), ("second", 0, 0)]
    assert len({call[3] for call in model.calls}) == 3
    assert 0 < model.scale < 1


@pytest.mark.kernels
@pytest.mark.parametrize("batches", [4, 11, 16, 34])
def test_an_interrupted_training_gives_bit_for_bit_what_another_gives(source, validation, tmp_path, batches):
    """A step before an epoch reads 9 batches: the source dies in the first, in the midst of an epoch, in the second, later."""
    whole, broken = Estimating(source.spec), Estimating(source.spec)
    expected = fit(whole, source, validation, settings(), tmp_path / "whole", seed=5)
    dying = DyingSource(source, batches)
    with pytest.raises(DiedError):
        fit(Estimating(dying.spec), dying, validation, settings(checkpoint_seconds=0.0), tmp_path / "broken", seed=5)
    found = fit(broken, source, validation, settings(), tmp_path / "broken", seed=5)
    for name, tensor in whole.state_dict().items():
        assert torch.equal(broken.state_dict()[name], tensor), name
    assert [row["train/loss"] for row in found.rows] == [row["train/loss"] for row in expected.rows]
    assert len(broken.calls) == 3 - (batches > 9) - (batches > 24)


def test_a_copy_learns_as_the_model_would_and_the_model_does_not(source, tmp_path):
    """Against a plain loop; the training itself is that of a model without the step."""
    found = {}

    class Watching(Small):
        def start_epoch(self, epoch):
            if epoch.number == 1:
                other = copy.deepcopy(self)
                other.drop.p = 0.0
                found["before"] = copy.deepcopy(other)
                found["loss"] = epoch.loss(other, np.arange(50))
                epoch.fit(other, np.arange(40), 2)
                found["after"], found["seed"], found["rates"] = other, epoch.seed, epoch.progress

    training = settings(epochs=4, keep="last")
    model, other = Watching(source.spec), Small(source.spec)
    fit(model, source, None, training, tmp_path / "1", seed=3)
    fit(other, source, None, training, tmp_path / "2", seed=3)
    assert all(torch.equal(model.state_dict()[name], tensor) for name, tensor in other.state_dict().items())

    plain = found["before"]
    assert found["rates"] == Progress(6, 24)
    optimizer = torch.optim.Adam(plain.parameters())
    plain.train()
    for epoch in range(2):
        for batch in BatchReader(source).read(training_order(40, 16, seed=found["seed"], epoch=epoch, first=6 + 2 * epoch)):
            optimizer.param_groups[0]["lr"] = training.rate(batch.number, 24)
            optimizer.zero_grad()
            generator = seeds.torch_generator(found["seed"], "learn", "noise", "train", batch.number)
            plain.loss(batch.batch, Progress(batch.number, 24), generator).total.backward()
            optimizer.step()
    for name, tensor in plain.state_dict().items():
        torch.testing.assert_close(found["after"].state_dict()[name], tensor, rtol=1e-4, atol=1e-5)
