import itertools
import threading
import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
import torch

from molyneux.core import Batch, DataError, Modality, Spec, SpecError
from molyneux.learn import MVAE, Training, fit
from molyneux.learn.training.batches import (
    BatchReader,
    LoadedSource,
    evaluation_order,
    load,
    readers,
    require_views,
    training_order,
)


def order(epoch, **changes):
    return training_order(**{"size": 96, "batch_size": 10, "seed": 1, "epoch": epoch, **changes})


def test_every_sample_once_an_epoch_in_another_order():
    epochs = [np.concatenate([positions.indices for positions in order(epoch)]) for epoch in (0, 1)]
    assert all(len(rows) == len(set(rows)) == 90 for rows in epochs)
    assert not np.array_equal(*epochs)
    assert np.array_equal(epochs[1], np.concatenate([positions.indices for positions in order(1, first=9)]))
    assert [positions.number for positions in order(1, first=9)] == list(range(9, 18))


@pytest.mark.parametrize("together", [1, 4])
def test_samples_in_blocks_are_read_from_few_blocks_at_a_time(together):
    found = order(3, size=1_003, block=20, together=together, first=7)
    assert [positions.number for positions in found] == list(range(7, 107))
    rows = np.concatenate([positions.indices for positions in found])
    assert len(set(rows.tolist())) == 1_000
    assert max(len(np.unique(positions.indices // 20)) for positions in found) <= 10
    assert all(len(np.unique(rows[start : start + 320] // 20)) <= 2 * 16 + 2 for start in range(0, 600, 320))
    rest = found[30:]
    assert [positions.number for positions in rest] == list(range(37, 107))
    assert np.array_equal(rest[0].indices, rows[300:310])
    other = np.concatenate([positions.indices for positions in order(4, size=1_003, block=20, together=together)])
    assert not np.array_equal(other, rows)


@pytest.mark.parametrize("memory", ["load", "stream"])
def test_the_order_of_blocks_does_not_depend_on_memory(source, memory):
    source.block_size = 8
    reader, _ = readers(source, None, Training(memory=memory), device="cpu")
    assert reader.block_size == 8


def test_values_that_a_source_checks_are_not_checked_again(source, monkeypatch):
    checked = []
    monkeypatch.setattr(Batch, "check_values", lambda batch, *_: checked.append(len(batch)) or batch)
    list(BatchReader(source).read(evaluation_order(96, 40)))
    source.checks_values = True
    list(BatchReader(source).read(evaluation_order(96, 40)))
    assert checked == [40, 40, 16]


def test_contrast_sets_stay_together():
    sets = np.concatenate([positions.indices for positions in order(0, size=98, batch_size=14, together=4)])
    assert sorted(sets) == list(range(98))
    assert np.array_equal(sets[:96].reshape(-1, 4), sets[:96:4, None] + np.arange(4))
    assert not np.array_equal(sets, np.arange(98))
    assert list(sets[96:]) == [96, 97]
    alone = [order(2, together=1), order(2)]
    assert all(np.array_equal(one.indices, other.indices) for one, other in zip(*alone, strict=True))


def test_evaluation_keeps_everything(source):
    batches = list(BatchReader(source).read(evaluation_order(96, 40)))
    assert [len(batch) for batch in batches] == [40, 40, 16]
    assert torch.equal(torch.cat([batch.batch.views["touch"] for batch in batches]), source.touch)


def test_batch_that_does_not_fit_its_spec(source):
    wrong = Batch({"image": torch.zeros(8, 3, 8, 8), "touch": torch.zeros(8, 4, 2)})
    source.batch = lambda indices: wrong
    with pytest.raises(SpecError, match="modality image: expected uint8"):
        next(BatchReader(source).read(evaluation_order(96, 8)))


class Picky:
    """A source that counts its calls and the threads that make them."""

    def __init__(self, source, fail_at=None):
        self.source, self.spec, self.calls, self.threads, self.fail_at = source, source.spec, 0, set(), fail_at

    def __len__(self):
        return len(self.source)

    def batch(self, indices):
        self.calls += 1
        self.threads.add(threading.current_thread().name.partition("_")[0])
        if self.calls == self.fail_at:
            raise OSError("the disk is gone")
        return self.source.batch(indices)


def read_all(reader):
    return [batch.batch.tensors() for batch in reader.read(order(0, batch_size=16))]


def test_batches_are_the_same_loaded_streamed_and_prefetched(source):
    source.present = {"touch": torch.arange(96) % 3 > 0}
    expected = read_all(BatchReader(source))
    for memory, prefetch in (("load", 2), ("stream", 0), ("stream", 3), ("auto", 1)):
        picky = Picky(source)
        reader, validation = readers(picky, picky, Training(memory=memory, prefetch=prefetch), device="cpu")
        assert isinstance(reader.source, LoadedSource) == isinstance(validation.source, LoadedSource) == (memory != "stream")
        for ours, theirs in zip(read_all(reader), expected, strict=True):
            assert ours.keys() == theirs.keys()
            assert all(torch.equal(ours[name], theirs[name]) and ours[name].dtype == theirs[name].dtype for name in ours)
        assert picky.threads == ({"prefetch"} if memory == "stream" and prefetch else {"MainThread"})


@pytest.mark.parametrize("prefetch", [0, 1, 5])
@pytest.mark.parametrize("first", [0, 1, 4])
def test_samples_of_several_batches_are_asked_for_at_once(source, prefetch, first):
    source.present = {"touch": torch.arange(96) % 3 > 0}
    expected = list(BatchReader(source).read(order(0)[first:]))
    sizes, plain = [], source.batch
    source.batch = lambda rows: sizes.append(len(rows)) or plain(rows)
    source.fetch_size = 32
    found = list(BatchReader(source, prefetch=prefetch).read(order(0)[first:]))
    assert sorted(sizes) == {0: [30, 30, 30], 1: [20, 30, 30], 4: [20, 30]}[first]
    assert [batch.number for batch in found] == [batch.number for batch in expected]
    for ours, theirs in zip(found, expected, strict=True):
        ours, theirs = ours.batch.tensors(), theirs.batch.tensors()
        assert ours.keys() == theirs.keys()
        assert all(torch.equal(ours[name], theirs[name]) for name in ours)


@pytest.mark.parametrize("fetch_size", [1, 32])
def test_a_thread_for_every_two_batches_ahead_asks_a_source_that_waits(source, fetch_size):
    """Four requests have to be under way at once, and the batches are those of one thread, in the same order."""
    together = threading.Barrier(4, timeout=60)
    source.fetch_size = fetch_size
    expected, plain = list(BatchReader(source).read([*order(0), *order(1)][:-1])), source.batch
    requests = 16 if fetch_size == 1 else 6

    def slow(rows):
        if next(asked) < requests // 4 * 4:
            together.wait()
        return plain(rows)

    source.batch, asked = slow, itertools.count()
    found = list(BatchReader(source, prefetch=8).read([*order(0), *order(1)][:-1]))
    assert [batch.number for batch in found] == [batch.number for batch in expected]
    for ours, theirs in zip(found, expected, strict=True):
        assert all(torch.equal(ours.batch.tensors()[name], tensor) for name, tensor in theirs.batch.tensors().items())


def test_what_is_asked_for_at_once_is_bounded(source, monkeypatch):
    sizes, plain = [], source.batch
    source.batch = lambda rows: sizes.append(len(rows)) or plain(rows)
    source.fetch_size = 96
    monkeypatch.setattr("molyneux.learn.training.batches._FETCHED_BYTES", 45 * source.spec.sample_bytes)
    list(BatchReader(source).read(order(0, batch_size=20)))
    list(BatchReader(source).read(order(0, batch_size=48)))
    assert sizes == [40, 40, 48, 48]


@pytest.mark.parametrize("prefetch", [0, 2])
def test_an_error_among_samples_asked_for_at_once_comes_in_its_turn(source, prefetch):
    source.touch[order(0)[4].indices[0]] = torch.nan
    source.fetch_size, read = 96, []
    with pytest.raises(DataError, match="NaN"):
        for batch in BatchReader(source, prefetch=prefetch).read(order(0)):
            read.append(batch.number)
    assert read == [0, 1, 2, 3]


def test_auto_loads_what_is_small_and_what_lies_in_memory_is_left_there(source, monkeypatch):
    monkeypatch.setattr("molyneux.learn.training.batches.LOADED_BYTES", 96 * source.spec.sample_bytes)
    train, validation = readers(source, source, Training(), device="cpu")
    assert isinstance(train.source, LoadedSource)
    assert validation.source is source
    source.in_memory = True
    assert readers(source, None, Training(memory="load"), device="cpu")[0].source is source


def test_a_source_with_masks_in_some_batches_only_is_streamed(source):
    mask = torch.ones(96, dtype=torch.bool)
    plain = source.batch
    source.batch = lambda rows: plain(rows) if 0 in rows else Batch(plain(rows).views, {"touch": mask[rows]}, plain(rows).factors)
    assert load(source) is not None  # one chunk
    source.spec = Spec((Modality("image", "image", (3, 8, 8), "uint8"), Modality("touch", "series", (4, 2))), source.spec.factors)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("molyneux.learn.training.batches._CHUNK_BYTES", 32 * source.spec.sample_bytes)
        assert load(source) is None


def test_errors_of_the_thread_reach_the_caller_in_turn_and_the_thread_ends(source):
    before = threading.active_count()
    read = []
    with pytest.raises(OSError, match="the disk is gone"):
        for batch in BatchReader(Picky(source, fail_at=4), prefetch=2).read(order(0, batch_size=16)):
            read.append(batch.number)
    assert read == [0, 1, 2]
    stopped = BatchReader(Picky(source), prefetch=2).read(order(0, batch_size=16))
    next(stopped)
    stopped.close()
    for _ in range(6000):  # a minute
        if threading.active_count() == before:
            break
        time.sleep(0.01)
    assert threading.active_count() == before


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from Linux's /proc")
def test_a_sparse_set_of_two_gigabytes_is_trained_on_in_little_memory():
    path = Path(__file__).parents[3] / "benchmarks" / "trainer.py"
    description = spec_from_file_location("benchmark_of_the_trainer", path)
    benchmark = module_from_spec(description)
    description.loader.exec_module(benchmark)
    assert benchmark.streamed(2.0, 60)["more memory, MB"] < 300


@pytest.mark.parametrize("where", ["train", "validation"])
@pytest.mark.parametrize("memory", ["stream", "auto"])
def test_a_model_of_several_modalities_refuses_a_sample_without_any(source, validation, model, where, memory):
    changed = {"train": source, "validation": validation}[where]
    changed.present = {name: torch.arange(len(changed)) % 7 != 3 for name in ("image", "touch")}
    changed.present["touch"][10] = True
    training = Training(epochs=1, batch_size=32, memory=memory, tensorboard=False)
    fit(model, source, validation, training)  # it does not say that it needs views
    first = r"expected at least one of image, touch in every sample to learn from, got none in sample \d+ \(and in \d+ others"
    model.needs_views = MVAE.needs_views
    with pytest.raises(DataError, match=first) as caught:
        fit(model, source, validation, training)
    assert int(str(caught.value).partition("sample to learn from")[2].split("sample ")[1].split()[0]) % 7 == 3
    changed.present = {"image": changed.present["image"]}  # the other is there in every sample
    require_views(changed.batch(np.arange(32)), changed.spec, np.arange(32))
