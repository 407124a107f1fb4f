"""Ctrl-C and SIGTERM during a training: a checkpoint is written before they take effect, and nothing is lost."""

import itertools
import signal
import threading

import pytest
import torch
from torch import nn

from molyneux.core import Batch, Loss, Modality, Spec
from molyneux.learn import Training, fit
from molyneux.learn.training.checkpoints import Checkpoints
from molyneux.learn.training.interruptions import Interruptions
from molyneux.learn.training.post_fit import KeptFit

SPEC = Spec((Modality("x", "tabular", (2,)),))


class Model(nn.Module):
    spec = SPEC

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(2))

    def loss(self, batch, progress, generator=None):
        noise = torch.randn(batch.views["x"].shape, generator=generator)
        return Loss((batch.views["x"] + noise - self.weight).square().mean())


class Points:
    """Points, and a signal, or several, at some batches."""

    def __init__(self, size, signals=None):
        self.spec, self.size, self.signals, self.made = SPEC, size, signals or {}, 0

    def __len__(self):
        return self.size

    def batch(self, indices):
        for number in self.signals.get(self.made, ()):
            signal.raise_signal(number)
        self.made += 1
        return Batch({"x": torch.from_numpy(indices[:, None] * [0.1, -0.2]).float()})


def settings():
    return Training(
        epochs=3, batch_size=10, tensorboard=False, memory="stream", prefetch=0, device="cpu", checkpoint_seconds=1e6, threads=1
    )


def losses(history):
    return [{name: value for name, value in row.items() if "second" not in name} for row in history.rows]


@pytest.fixture
def heard():
    """What SIGTERM does is told by an exception, as on the command line."""

    def stop(number, frame):
        raise SystemExit(number)

    before = {number: signal.signal(number, handler) for number, handler in HANDLERS.items()} | {
        signal.SIGTERM: signal.signal(signal.SIGTERM, stop)
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


HANDLERS = {signal.SIGINT: signal.default_int_handler}
KINDS = {signal.SIGINT: KeyboardInterrupt, signal.SIGTERM: SystemExit}


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize("number", KINDS)
@pytest.mark.parametrize("place", ["train", "validation"])
@pytest.mark.parametrize("batch", range(7))
def test_nothing_is_lost(tmp_path, number, place, batch):
    """Seven batches: in the first and second epoch, at their beginning and end, and in the midst of a validation."""
    whole, cut = Model(), Model()
    expected = fit(whole, Points(50), Points(35), settings(), tmp_path / "whole", seed=1)
    sources = {"train": Points(50), "validation": Points(35)}
    sources[place].signals = {batch: [number]}
    before = signal.getsignal(number)
    with pytest.raises(KINDS[number]):
        fit(Model(), *sources.values(), settings(), tmp_path / "cut", seed=1)
    assert signal.getsignal(number) is before
    done = sources["train"].made
    assert [path.name for path in (tmp_path / "cut" / "checkpoints").iterdir()] == [f"checkpoint-01-{done:09d}"]
    again = Points(50)
    assert losses(fit(cut, again, Points(35), settings(), tmp_path / "cut", seed=1)) == losses(expected)
    assert again.made == 15 - done  # no step is made twice
    assert torch.equal(whole.weight, cut.weight)


@pytest.mark.usefixtures("heard")
def test_the_second_takes_effect_at_once(tmp_path):
    source = Points(50, {7: [signal.SIGINT, signal.SIGINT]})
    with pytest.raises(KeyboardInterrupt):
        fit(Model(), source, None, settings(), tmp_path, seed=1)
    assert source.made == 7
    assert not list((tmp_path / "checkpoints").glob("*"))
    assert fit(Model(), Points(50), None, settings(), tmp_path, seed=1).steps == 15


@pytest.mark.usefixtures("heard")
def test_a_second_one_while_the_checkpoint_is_written_leaves_nothing_half_written(tmp_path, monkeypatch):
    save = Checkpoints.save

    def interrupted(self, *given):
        signal.raise_signal(signal.SIGINT)
        save(self, *given)

    monkeypatch.setattr(Checkpoints, "save", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fit(Model(), Points(50, {3: [signal.SIGINT]}), None, settings(), tmp_path, seed=1)
    assert not list((tmp_path / "checkpoints").glob("*"))


def test_a_handler_of_the_users_is_called_and_the_training_goes_on(tmp_path):
    heard = []
    before = signal.signal(signal.SIGTERM, lambda *given: heard.append(given[0]))
    try:
        assert fit(Model(), Points(50, {3: [signal.SIGTERM]}), None, settings(), tmp_path, seed=1).steps == 15
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == [signal.SIGTERM]


def test_an_ignored_signal_stays_ignored(tmp_path):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert fit(Model(), Points(50, {3: [signal.SIGINT]}), None, settings(), tmp_path, seed=1).steps == 15
    finally:
        signal.signal(signal.SIGINT, before)


def test_in_a_thread_no_handler_is_set(tmp_path):
    before, found = signal.getsignal(signal.SIGINT), []

    class Looking(Points):
        def batch(self, indices):
            found.append(signal.getsignal(signal.SIGINT))
            return super().batch(indices)

    thread = threading.Thread(target=fit, args=(Model(), Looking(50), None, settings(), tmp_path), kwargs={"seed": 1})
    thread.start()
    thread.join()
    assert len(found) == 15
    assert {*found} == {before}


@pytest.mark.usefixtures("heard")
def test_a_fit_after_training_is_kept_where_it_was_stopped(tmp_path):
    path = tmp_path / "fit.safetensors"
    kept = KeptFit(path, 1e6)
    assert kept.state({"a": 1}) == {}
    kept.keep(1, 10, 5, lambda: {"done": torch.tensor(1)})
    assert not path.exists()
    signal.raise_signal(signal.SIGINT)  # noted
    with pytest.raises(KeyboardInterrupt):
        kept.keep(2, 10, 5, lambda: {"done": torch.tensor(2)})
    kept.close()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    again = KeptFit(path, 1e6)
    assert again.state({"a": 1})["done"].item() == 2
    for step in range(3, 11):
        again.keep(step, 10, 5, lambda: {"done": torch.tensor(10)})
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("heard")
def test_what_waits_takes_effect_at_the_end_and_not_over_an_error():
    with pytest.raises(KeyboardInterrupt), Interruptions():
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(ValueError, match="first"), Interruptions():
        signal.raise_signal(signal.SIGINT)
        raise ValueError("first")
    for number, times in itertools.product(KINDS, (1, 2)):
        with pytest.raises(KINDS[number]), Interruptions():
            for _ in range(times):
                signal.raise_signal(number)
