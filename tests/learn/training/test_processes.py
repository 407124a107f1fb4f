"""Several processes make the training that one makes, and all end together."""

import importlib
import multiprocessing
import pickle
import signal
import textwrap

import numpy as np
import pytest
import torch
from torch import nn

from molyneux.core import Batch, ConfigError, DataError, Loss, Modality, Spec, TrainingError, store
from molyneux.data import ArraySource
from molyneux.learn import MMVAE, Stage, Training, fit
from molyneux.learn.training import processes
from molyneux.learn.training.batches import Positions
from molyneux.learn.training.processes import Group, process_count
from molyneux.learn.training.shared_draws import SharedDraws
from molyneux.learn.training.whole_batch import whole_batch_problem

SPEC = Spec((Modality("a", "tabular", (3,)), Modality("b", "tabular", (4,))))
SOURCES = """
import multiprocessing, os, signal, time
from molyneux.core.sources import DerivedSource
from torch import nn

class Told(DerivedSource):
    '''Does something in the first process, or in the others, when it has made so many batches.'''

    def __init__(self, source, after, where, what):
        super().__init__(source)
        self.after, self.where, self.what, self.made = after, where, what, 0

    def batch(self, indices):
        if (multiprocessing.parent_process() is None) == (self.where == "first"):
            self.made += 1
            if self.made == self.after:
                if self.what == "raise":
                    raise LookupError("no such sample")
                os.kill(os.getpid(), getattr(signal, self.what))
        return self.source.batch(indices)
"""


def settings(**changes):
    rest = {"precision": "32", "device": "cpu", "memory": "stream", "prefetch": 0, "clip": 5.0, "threads": 1}
    return Training(**{"epochs": 3, "batch_size": 14, "tensorboard": False, **rest, **changes})


def samples(size, seed=0, *, missing=True):
    random = torch.Generator().manual_seed(seed)
    common = torch.randn(size, 1, generator=random)
    views = {item.name: common + 0.3 * torch.randn(size, *item.shape, generator=random) for item in SPEC.modalities}
    present = {"b": torch.rand(size, generator=random) < 0.7} if missing else {}
    return ArraySource(SPEC, Batch(views, present))


def model():
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return MMVAE(SPEC, latent_dim=4)


def losses(history):
    return [[value for name, value in row.items() if "second" not in name] for row in history.rows]


def assert_near(first, second, rtol=1e-5):
    """Equal but for rounding."""
    np.testing.assert_allclose(losses(first[1]), losses(second[1]), rtol=rtol)
    for name, tensor in first[0].state_dict().items():
        torch.testing.assert_close(second[0].state_dict()[name], tensor, rtol=1e-4, atol=1e-5)


def trained(folder, source, count, **changes):
    made = model()
    return made, fit(made, source, samples(33, 1), settings(**changes), folder, seed=5, processes=count)


@pytest.fixture
def told(tmp_path, monkeypatch):
    """A source in a module that other processes can import."""
    (tmp_path / "told_sources.py").write_text(textwrap.dedent(SOURCES), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return importlib.import_module("told_sources").Told


@pytest.fixture
def heard():
    """What SIGTERM does is told by an exception, as on the command line."""

    def stop(number, frame):
        raise SystemExit(number)

    before = {
        signal.SIGTERM: signal.signal(signal.SIGTERM, stop),
        signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler),  # also where the tests run in the background
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def assert_all_ended(folder):
    assert not multiprocessing.active_children()
    assert not torch.distributed.is_initialized()
    with store.locked(folder):
        pass


def test_two_make_what_one_makes(tmp_path):
    """Stages of which one trains a part, missing modalities, uneven parts, a last validation batch of fewer samples."""
    stages = (Stage(name="first", parameters=("*encoders*",), epochs=1), Stage(name="then", epochs=2))
    one = trained(tmp_path / "one", samples(65), 1, stages=stages, batch_size=13)
    two = trained(tmp_path / "two", samples(65), 2, stages=stages, batch_size=13)
    assert_near(one, two)
    assert len(two[1].rows) == 3
    assert_all_ended(tmp_path / "two")


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize(("before", "after", "number"), [(4, 1, "SIGTERM"), (1, 2, "SIGINT")])
def test_another_number_goes_on(tmp_path, told, before, after, number):
    """A signal ends the step under way and all processes; in the midst of an epoch, whose means are whole in the end."""
    expected = trained(tmp_path / "whole", samples(70), 1)
    with pytest.raises((KeyboardInterrupt, SystemExit)):
        trained(tmp_path / "cut", told(samples(70), 8, "first", number), before, checkpoint_seconds=1e6)
    assert [path.name for path in (tmp_path / "cut" / "checkpoints").iterdir()] == ["checkpoint-01-000000008"]
    assert_all_ended(tmp_path / "cut")
    assert_near(expected, trained(tmp_path / "cut", samples(70), after))


@pytest.mark.parametrize(
    ("what", "error", "message"),
    [
        ("raise", LookupError, "no such sample"),
        ("SIGKILL", TrainingError, r"ended with status -9.*goes on from the last checkpoint"),
    ],
)
def test_an_error_in_another_process_ends_all(tmp_path, told, what, error, message):
    with pytest.raises(error, match=message):
        trained(tmp_path / "run", told(samples(70), 3, "others", what), 2)
    assert_all_ended(tmp_path / "run")


def test_samples_of_another_part_are_checked(tmp_path):
    source = samples(70)
    source._arrays["view.a" if "view.a" in source._arrays else "a"][:, 0] = np.where(np.arange(70) == 40, np.nan, 1.0)
    with pytest.raises(DataError, match="sample 40"):
        trained(tmp_path / "run", source, 2)
    assert_all_ended(tmp_path / "run")


class Wild(nn.Module):
    """A loss that is a mean over samples, or something else."""

    spec = SPEC

    def __init__(self, kind):
        super().__init__()
        self.kind, self.layer, self.norm = kind, nn.Linear(3, 2), nn.BatchNorm1d(2)

    def loss(self, batch, progress, generator=None):
        found = self.layer(batch.views["a"])
        noise = torch.randn(found.shape, generator=generator)
        if self.kind == "norm":
            return Loss((self.norm(found) + noise).square().mean())
        if self.kind == "own noise":
            return Loss((found + torch.randn(2 * len(found), 2, generator=generator)[::2]).square().mean())
        if self.kind == "contrast":
            return Loss((found @ found.T).logsumexp(1).mean())
        if self.kind == "known":
            mask = batch.mask("b")
            return Loss((found.square().sum(1) * mask).sum() / mask.sum())
        return Loss((found + noise).square().mean())


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("mean", ""),
        ("norm", "it changes buffers by the batch, as batch normalisation does"),
        ("own noise", "its loss of a few samples together"),
        ("contrast", "its loss of a few samples together"),
        ("known", "its loss of a few samples together"),
    ],
)
def test_losses_that_are_no_mean_over_samples(kind, message):
    def loss(made, rows, share):
        generator = torch.Generator().manual_seed(1)
        if share is None:
            return made.loss(rows, None, generator)
        with SharedDraws(generator, share):
            return made.loss(rows, None, generator)

    found = whole_batch_problem(Wild(kind), loss, samples(20).batch(np.arange(20)), 1)
    assert found.startswith(message)
    assert bool(found) == bool(message)


def test_such_a_loss_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"a mean over samples, got that of MMVAE, .*free bits.*: train it with one process"):
        from molyneux.learn.objectives import ELBO

        fit(
            MMVAE(SPEC, latent_dim=4, objective=ELBO(free_bits=0.1)), samples(70), None, settings(), tmp_path / "run", processes=2
        )
    assert_all_ended(tmp_path / "run")


def test_what_cannot_be_sent_is_refused(tmp_path):
    made = model()
    made.hook = lambda: None
    with pytest.raises(ConfigError, match="processes: expected a model and samples that can be sent to another process"):
        fit(made, samples(70), None, settings(), tmp_path / "run", processes=2)
    assert_all_ended(tmp_path / "run")


@pytest.mark.parametrize("count", [0, -1, 2.0, True, "all", 2000])
def test_numbers_of_processes(count):
    with pytest.raises(ConfigError, match="processes: expected a number from 1 to 1,024, or auto, got"):
        process_count(count, "cpu")


def test_numbers_of_devices(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    assert [process_count(count, "cuda") for count in ("auto", 1, 3)] == [3, 1, 3]
    assert process_count("auto", "cpu") == 1
    with pytest.raises(ConfigError, match="processes: expected at most 3, the CUDA devices of this machine, got 4"):
        process_count(4, "cuda")
    with pytest.raises(ConfigError, match="processes: expected 1 on MPS"):
        process_count(2, "mps")


def test_small_batches_are_refused():
    with pytest.raises(ConfigError, match="batch_size: expected at least 16 for 8 processes, two samples for each, got 14"):
        fit(model(), samples(70), None, settings(), processes=8)


@pytest.mark.parametrize(("size", "together", "count"), [(13, 1, 2), (13, 1, 4), (24, 4, 3), (10, 4, 2), (2, 1, 4)])
def test_parts_of_a_batch(size, together, count):
    positions = Positions(7, np.arange(100, 100 + size))
    parts = [Group(rank, count).part(positions, together) for rank in range(count)]
    assert np.array_equal(np.concatenate([part.indices for part in parts]), positions.indices)
    assert all(part.share == (part.indices[0] - 100, len(part.indices), size) for part in parts if len(part.indices))
    assert all(part.share.start % together == 0 for part in parts)
    sets = [-(-len(part.indices) // together) for part in parts]
    assert max(sets) - min(sets) <= 1
    read = [list(Group(rank, count).parts([positions], together)) for rank in range(count)]
    assert [len(item) for item in read] == [int(number > 0) for number in sets]


def test_an_error_that_cannot_be_sent_is_told():
    class OwnError(Exception):
        def __init__(self, first, second):
            super().__init__(first)

    found = processes._sendable(OwnError("what happened", 2))
    assert isinstance(found, TrainingError)
    assert "what happened" in str(pickle.loads(pickle.dumps(found)))
