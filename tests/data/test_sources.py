"""What every source promises, whatever it is made of; and what each of them does."""

import json
import pickle

import numpy as np
import pytest
import torch

from molyneux.core import Batch, ConfigError, DataError, Modality, Source, Spec, SpecError
from molyneux.data import ArraySource, Lacking, Missing, StoredSource, Subset, Views, load, store_samples


@pytest.fixture(params=["arrays", "lacking", "missing", "stored", "subset", "views"])
def source(request, tmp_path, make):
    whole = make(30, masks=True)[0]
    store_samples(whole, tmp_path / "samples")
    return {
        "arrays": lambda: whole,
        "lacking": lambda: Lacking(whole, ("touch",)),
        "missing": lambda: Missing(whole, {"text": 0.5, "touch": 0.5}, seed=1),
        "stored": lambda: StoredSource(tmp_path / "samples"),
        "subset": lambda: Subset(whole, np.arange(29, -1, -1)),
        "views": lambda: Views(whole, ("touch", "image")),
    }[request.param]()


def test_any_rows_in_any_order(source, same):
    assert isinstance(source, Source)
    whole = source.batch(np.arange(len(source))).check(source.spec)
    for rows in (np.array([3, 29, 3]), np.arange(0), np.arange(30)[::-1], np.array([7], dtype=np.uint8)):
        assert same(source.batch(rows).check(source.spec), whole[torch.from_numpy(rows.astype(np.int64))])


def test_travels_to_other_processes(source, same):
    rows = np.arange(len(source))
    assert same(pickle.loads(pickle.dumps(source)).batch(rows), source.batch(rows))


def test_rows_outside_are_refused(source):
    for rows in ([len(source)], [-1], [0.5]):
        with pytest.raises(DataError, match="expected positions"):
            source.batch(np.array(rows))


def test_origin_is_plain(source):
    if not isinstance(source, ArraySource):
        origin = source.origin
        assert json.loads(json.dumps(origin)) == origin


def test_reads_what_it_was_given(make, same):
    source, batch = make(11, masks=True)
    assert isinstance(source, Source)
    rows = np.array([10, 0, 0, 5])
    assert same(source.batch(rows), batch[torch.from_numpy(rows)])
    source.batch(rows).views["image"].fill_(0)
    assert same(source.batch(rows), batch[torch.from_numpy(rows)])


def test_a_batch_that_does_not_fit():
    with pytest.raises(SpecError, match=r"expected float32 \(2, 3\), got torch.float32 \(2, 4\)"):
        ArraySource(Spec((Modality("x", "tabular", (3,)),)), Batch({"x": torch.zeros(2, 4)}))


@pytest.mark.parametrize("threads", [1, 3])
def test_load_reads_everything(tmp_path, make, same, threads):
    source, batch = make(50, masks=True)
    stored = store_samples(source, tmp_path / "samples")
    assert same(load(stored, chunk=7, threads=threads).batch(np.arange(50)), batch)
    assert same(load(Subset(source, np.arange(5, 9))).batch(np.arange(4)), batch[5:9])
    assert load(source) is source


def test_load_refuses_what_cannot_be_used(make):
    source, _ = make(5)
    with pytest.raises(ConfigError, match="threads"):
        load(source, threads=0)
    with pytest.raises(DataError, match="at least one sample"):
        load(Subset(source, np.arange(0)))


def test_subset_of_a_subset(make, same):
    source, batch = make(20)
    inner = Subset(source, np.array([4, 9, 19, 2]))
    outer = Subset(inner, np.array([3, 1]))
    assert len(outer) == 2
    assert same(outer.batch(np.array([1, 0])), batch[torch.tensor([9, 2])])
    with pytest.raises(DataError, match="from 0 to 3, got 4"):
        Subset(inner, np.array([4]))
    with pytest.raises(DataError, match="from 0 to 1"):
        outer.batch(np.array([2]))


def test_views(make):
    source, batch = make(20, masks=True)
    views = Views(source, ("touch", "text"))
    assert views.spec.names == ("touch", "text")
    found = views.batch(np.arange(20)).check(views.spec)
    assert list(found.views) == ["touch", "text"]
    assert found.present == {}
    assert torch.equal(found.factors, batch.factors)
    with pytest.raises(SpecError, match='did you mean "text"'):
        Views(source, ("tekst",))
    with pytest.raises(ConfigError, match="got none"):
        Views(source, ())


def test_lacking_masks_a_modality_in_every_sample(make):
    source, batch = make(12, masks=True)
    found = Lacking(source, ("text", "touch")).batch(np.arange(12)).check(source.spec)
    assert not found.mask("text").any()
    assert not found.mask("touch").any()
    assert torch.equal(found.mask("image"), batch.mask("image"))
    assert torch.equal(found.views["text"], batch.views["text"])
    both = Missing(Lacking(source, ("text",)), {"image": 0.5}, seed=1).batch(np.arange(12))
    assert not both.mask("text").any()
    with pytest.raises(ConfigError, match='did you mean "text"'):
        Lacking(source, ("tekst",))
    with pytest.raises(ConfigError, match="to be left"):
        Lacking(source, source.spec.names)
