"""What every data set in a published layout keeps: its splits, its bytes, its sentences about files that are not there."""

import inspect
import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch

from molyneux.core import ConfigError, DataError, Dataset, MolyneuxError, StoreError
from molyneux.data import Lacking, load, write_twin
from molyneux.data.benchmarks.bases.file_benchmark import Standardisation, shuffled
from molyneux.data.benchmarks.twins import twin_kinds
from molyneux.data.dataset import SPLITS
from molyneux.data.formats.array_files import map_array
from molyneux.data.formats.mapped_files import MappedFile, blocks


def whole(dataset, split, seed=0):
    source = dataset.source(split, seed=seed)
    return source.batch(np.arange(len(source)))


def equal(first, second):
    first, second = first.tensors(), second.tensors()
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def test_every_split_has_samples_that_fit_the_spec(twins, case):
    dataset = twins[case]
    assert isinstance(dataset, Dataset)
    assert tuple(dataset.splits) == SPLITS
    for split, size in dataset.splits.items():
        batch = whole(dataset, split).check_values(dataset.spec, np.arange(size))
        assert len(batch) == size > 0


def test_no_sample_is_in_two_splits_and_each_is_served_once(twins, case):
    """Published loaders tested on the training split, drew validation files twice, and left the last batch out."""
    dataset = twins[case]
    rows = [dataset._samples.rows[split] for split in SPLITS]
    together = np.concatenate(rows)
    assert len(set(together.tolist())) == len(together)
    for split in SPLITS:
        source, order = dataset.source(split, seed=5), []
        for start in range(0, len(source), 7):
            order.append(_rows_of(dataset, split, 5)[start : start + 7])
            assert len(source.batch(np.arange(start, min(start + 7, len(source))))) == len(order[-1])
        assert sorted(np.concatenate(order).tolist()) == sorted(dataset._samples.rows[split].tolist())


def _rows_of(dataset, split, seed):
    """The rows in the files that the samples of a source are of, found by what is read."""
    taken = []
    samples = dataset._samples
    spied = replace(samples, read=lambda rows: (taken.append(rows), samples.read(rows))[1])
    dataset.__dict__["_samples"] = spied
    try:
        whole(dataset, split, seed)
    finally:
        dataset.__dict__["_samples"] = samples
    return taken[0]


def test_any_slice_in_any_order_gives_the_same_bytes(twins, case):
    dataset = twins[case]
    batch, order = whole(dataset, "train", seed=2), np.random.default_rng(0).permutation(dataset.splits["train"])
    source = type(dataset)(**{**dataset._settings, "folder": dataset.folder}).source("train", seed=2)
    parts = [source.batch(order[start : start + 5]) for start in range(0, len(order), 5)]
    joined = {name: torch.cat([part.tensors()[name] for part in parts]) for name in batch.tensors()}
    for name, tensor in batch.tensors().items():
        assert torch.equal(tensor[torch.from_numpy(order)], joined[name]), name
    repeated = source.batch(np.array([3, 3, 0]))
    assert all(torch.equal(tensor[0], tensor[1]) for tensor in repeated.tensors().values())


def test_what_is_done_to_a_batch_does_not_reach_the_next(twins, case):
    """Noise that was added in place to one modality leaked into another, and into the next batch."""
    dataset = twins[case]
    batch = whole(dataset, "test")
    tensors = batch.tensors().values()
    assert len({tensor.untyped_storage().data_ptr() for tensor in tensors}) == len(tensors)
    kept = {name: tensor.clone() for name, tensor in batch.tensors().items()}
    for tensor in batch.tensors().values():
        tensor.zero_() if tensor.dtype == torch.bool else tensor.add_(1)
    again = whole(dataset, "test").tensors()
    assert all(torch.equal(tensor, again[name]) for name, tensor in kept.items())


def test_it_travels_to_other_processes_as_settings(twins, case):
    dataset = twins[case]
    sent = pickle.loads(pickle.dumps(dataset))
    assert sent.settings == dataset.settings
    assert equal(whole(sent, "validation"), whole(dataset, "validation"))
    loaded = load(dataset.source("test")).batch(np.arange(2)).tensors()
    read = dataset.source("test").batch(np.arange(2)).tensors()
    assert all(torch.equal(tensor, loaded[name]) for name, tensor in read.items())


def test_missing_modalities_are_masks(twins, case):
    dataset = twins[case]
    first = dataset.spec.names[0]
    batch = Lacking(dataset.source("test"), (first,)).batch(np.arange(3))
    assert not batch.mask(first).any()


def test_absent_files_are_told_in_one_sentence(kind, tmp_path):
    dataset = next(item for item in twin_kinds() if item.__name__ == kind)(folder=tmp_path)
    assert dataset.name.endswith("-v1")
    assert dataset.licence
    assert dataset.origin
    for ask in (lambda: dataset.splits, lambda: dataset.spec, lambda: dataset.source("train")):
        with pytest.raises(StoreError) as caught:
            ask()
        told = str(caught.value)
        assert str(tmp_path) in told
        assert "\n" not in told
        assert told.endswith("nothing is downloaded")
        assert "http" in told or "authors" in told
        assert f"(licence: {dataset.licence}; cite {dataset.origin})" in told


def test_without_a_folder_the_variable_is_named(kind, monkeypatch):
    monkeypatch.delenv("MOLYNEUX_DATA", raising=False)
    with pytest.raises(ConfigError, match="set MOLYNEUX_DATA to one that holds it as"):
        _ = next(item for item in twin_kinds() if item.__name__ == kind)().splits


def test_twins_are_the_same_for_the_same_seed(kind, twins, tmp_path):
    again = write_twin(kind, tmp_path / "again", size=60, seed=3)
    assert equal(whole(again, "train"), whole(twins[kind], "train"))
    other = write_twin(twins[kind].name, tmp_path / "other", size=60, seed=4)
    assert other.splits.keys() == again.splits.keys()
    assert not equal(whole(other, "test"), whole(again, "test"))


def test_each_class_says_how_its_files_look(kind, twins):
    text = inspect.getdoc(type(twins[kind]))
    assert "Layout" in text or "for the layout" in text
    assert twins[kind].page
    assert twins[kind].metric


def test_twins_refuse_what_they_cannot_do(tmp_path):
    (tmp_path / "x").write_text("")
    with pytest.raises(ConfigError) as caught:
        write_twin("MIMICS", tmp_path, size=3)
    assert len(caught.value.problems) == 3
    assert 'did you mean "MIMIC"' in caught.value.problems[0]


def test_values_are_standardised_as_by_numpy():
    rng = np.random.default_rng(0)
    values = rng.normal(1e6, [1.0, 5.0, 0.0], (1000, 3))
    found = Standardisation.of(np.array_split(values, 7))
    np.testing.assert_allclose(found.mean, values.mean(0), rtol=1e-12)
    np.testing.assert_allclose(found.deviation[:2], values.std(0)[:2], rtol=1e-9)
    assert found.deviation[2] == 1


def test_order_is_that_of_random_shuffle():
    import random

    numbers = list(range(1000))
    random.seed(10)
    random.shuffle(numbers)
    assert shuffled(1000, 10).tolist() == numbers


def test_mapped_arrays(tmp_path):
    values = np.random.default_rng(0).normal(size=(5000, 1001))
    for order in ("C", "F"):
        np.save(tmp_path / "values.npy", np.asarray(values, order=order))
        mapped, found = map_array(tmp_path / "values.npy")
        np.testing.assert_array_equal(found[[4999, 0, 7]], values[[4999, 0, 7]])
        mapped.release()
        parts = list(blocks(found, np.arange(4999, -1, -1)))
        assert len(parts) == 2
        np.testing.assert_array_equal(np.concatenate(parts), values[::-1])
    (tmp_path / "cut.npy").write_bytes((tmp_path / "values.npy").read_bytes()[:-8])
    with pytest.raises(DataError, match="the file was cut"):
        map_array(tmp_path / "cut.npy")
    np.save(tmp_path / "objects.npy", np.array([{}, 1], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="Python objects"):
        map_array(tmp_path / "objects.npy")
    with pytest.raises(MolyneuxError):
        MappedFile(tmp_path / "absent")


def test_a_twin_is_named_by_its_class_too(tmp_path):
    assert write_twin(type(write_twin("MIMIC", tmp_path / "a")), str(tmp_path / "b")).name == "mimic-v1"
