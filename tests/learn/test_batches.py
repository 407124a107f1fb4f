import re
import threading
import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
import torch

from molyneux.core import Batch, DataError, Factor, Modality, Quantity, Spec, SpecError, Target
from molyneux.learn import Training
from molyneux.learn.batches import LoadedSource, Reader, check, evaluation_order, load, readers, sample_bytes, training_order


def order(epoch, **changes):
    return training_order(**{"size": 96, "batch_size": 10, "seed": 1, "epoch": epoch, **changes})


def test_every_sample_once_an_epoch_in_another_order():
    epochs = [np.concatenate([positions.indices for positions in order(epoch)]) for epoch in (0, 1)]
    assert all(len(rows) == len(set(rows)) == 90 for rows in epochs)
    assert not np.array_equal(*epochs)
    assert np.array_equal(epochs[1], np.concatenate([positions.indices for positions in order(1, first=9)]))
    assert [positions.number for positions in order(1, first=9)] == list(range(9, 18))


def test_evaluation_keeps_everything(source):
    batches = list(Reader(source).read(evaluation_order(96, 40)))
    assert [len(batch) for batch in batches] == [40, 40, 16]
    assert torch.equal(torch.cat([batch.batch.views["touch"] for batch in batches]), source.touch)


def test_batch_that_does_not_fit_its_spec(source):
    wrong = Batch({"image": torch.zeros(8, 3, 8, 8), "touch": torch.zeros(8, 4, 2)})
    source.batch = lambda indices: wrong
    with pytest.raises(SpecError, match="modality image: expected uint8"):
        next(Reader(source).read(evaluation_order(96, 8)))


FULL = Spec(
    (
        Modality("left-camera", "series", (4, 2)),
        Modality("caption", "text", (5,), "uint8", tuple("abcd"), 0),
        Modality("a/b", "label", (), "int64", tuple("0123456789")),
    ),
    (Factor("shape", ("x", "y")),),
    (
        Target("mood", "class", ("sad", "glad", "neither")),
        Target("topics", "multilabel", ("war", "sport")),
        Target("price", "number", bounds=(0.0, None)),
        Target("match", "agreement"),
    ),
    (Quantity("angle", (0.0, 360.0), periodic=True),),
)


def full(**tensors):
    """Six samples that use everything a batch can have; sample 4 lacks all that can be lacking."""
    there = torch.arange(6) != 4
    parts = {
        "view.left-camera": torch.zeros(6, 4, 2),
        "view.caption": torch.zeros(6, 5, dtype=torch.uint8),
        "view.a/b": torch.arange(6),
        "length.left-camera": torch.full((6,), 3),
        "length.caption": torch.full((6,), 2),
        "factors": torch.full((6, 1), -1),
        "quantities": torch.full((6, 1), float("nan")),
        "target.mood": torch.arange(6) % 3,
        "target.topics": torch.ones(6, 2, dtype=torch.uint8),
        "target.price": torch.ones(6),
        "target.match": torch.arange(6) % 2,
        **{f"present.{name}": there for name in FULL.names},
        **{f"known.{target.name}": there for target in FULL.targets},
    }
    return Batch.from_tensors(parts | tensors)


def changed(name, place, value):
    tensor = full().tensors()[name].clone()
    tensor[place] = value
    return full(**{name: tensor})


POSITIONS = np.arange(100, 106)
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("name", "place", "value", "sentence"),
    [
        ("view.left-camera", (2, 1, 0), NAN, "modality left-camera: expected finite numbers, got NaN or infinity in sample 102"),
        ("view.left-camera", (2, 2, 1), -INF, "modality left-camera: expected finite numbers"),
        (
            "view.caption",
            (3, 1),
            4,
            "modality caption: expected ids 0..3 of its 4 symbols, got 4 in sample 103: correct the data",
        ),
        ("view.a/b", 5, -1, "modality a/b: expected ids 0..9 of its 10 symbols, got -1 in sample 105"),
        ("length.caption", 1, 6, "lengths of caption: expected 0..5, got 6 in sample 101"),
        ("target.mood", 0, 3, "target mood: expected codes 0..2, got 3 in sample 100: correct the data or mark the target"),
        ("target.topics", (0, 1), 2, "target topics: expected codes 0..1, got 2"),
        ("target.price", 2, -0.5, "target price: expected numbers within the bounds (0.0, None), got -0.5 in sample 102"),
        ("target.price", 2, NAN, "target price: expected numbers within the bounds (0.0, None), got nan in sample 102"),
        ("target.match", 2, 2, "target match: expected codes 0..1, got 2"),
        ("factors", (5, 0), 2, "factor shape: expected codes 0..1, or -1 where it is absent, got 2 in sample 105"),
        ("quantities", (5, 0), INF, "quantities: expected finite numbers, or NaN where they are absent"),
    ],
)
def test_numbers_out_of_range_are_named(name, place, value, sentence):
    assert check(full(), FULL, POSITIONS)
    with pytest.raises(DataError, match=re.escape(sentence)):
        check(changed(name, place, value), FULL, POSITIONS)


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("view.left-camera", 4, NAN),  # absent
        ("view.left-camera", (2, 3), INF),  # beyond the length
        ("view.caption", (1, 2), 9),
        ("view.a/b", 4, 77),
        ("length.caption", 4, -3),
        ("target.mood", 4, -1),
        ("target.price", 4, NAN),
        ("quantities", 4, 1000.0),
    ],
)
def test_what_is_masked_or_beyond_a_length_is_not_looked_at(name, place, value):
    check(changed(name, place, value), FULL, POSITIONS)


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
    expected = read_all(Reader(source))
    for memory, prefetch in (("load", 2), ("stream", 0), ("stream", 3), ("auto", 1)):
        picky = Picky(source)
        reader, validation = readers(picky, picky, Training(memory=memory, prefetch=prefetch), device="cpu")
        assert isinstance(reader.source, LoadedSource) == isinstance(validation.source, LoadedSource) == (memory != "stream")
        for ours, theirs in zip(read_all(reader), expected, strict=True):
            assert ours.keys() == theirs.keys()
            assert all(torch.equal(ours[name], theirs[name]) and ours[name].dtype == theirs[name].dtype for name in ours)
        assert picky.threads == ({"prefetch"} if memory == "stream" and prefetch else {"MainThread"})


def test_auto_loads_what_is_small_and_what_lies_in_memory_is_left_there(source, monkeypatch):
    monkeypatch.setattr("molyneux.learn.batches.LOADED_BYTES", 96 * sample_bytes(source.spec))
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
        patch.setattr("molyneux.learn.batches._CHUNK_BYTES", 32 * sample_bytes(source.spec))
        assert load(source) is None


def test_errors_of_the_thread_reach_the_caller_in_turn_and_the_thread_ends(source):
    before = threading.active_count()
    read = []
    with pytest.raises(OSError, match="the disk is gone"):
        for batch in Reader(Picky(source, fail_at=4), prefetch=2).read(order(0, batch_size=16)):
            read.append(batch.number)
    assert read == [0, 1, 2]
    stopped = Reader(Picky(source), prefetch=2).read(order(0, batch_size=16))
    next(stopped)
    stopped.close()
    for _ in range(100):
        if threading.active_count() == before:
            break
        time.sleep(0.01)
    assert threading.active_count() == before


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from Linux's /proc")
def test_a_sparse_set_of_two_gigabytes_is_trained_on_in_little_memory():
    path = Path(__file__).parents[2] / "benchmarks" / "trainer.py"
    description = spec_from_file_location("benchmark_of_the_trainer", path)
    benchmark = module_from_spec(description)
    description.loader.exec_module(benchmark)
    assert benchmark.streamed(2.0, 60)["more memory, MB"] < 300
