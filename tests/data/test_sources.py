"""What every source promises, whatever it is made of; and what each of them does."""

import itertools
import json
import pickle

import numpy as np
import pytest
import torch

from molyneux.core import Batch, ConfigError, DataError, Modality, Source, Spec, SpecError
from molyneux.data import ArraySource, Lacking, Missing, StoredSource, Subset, Views, generate, load


@pytest.fixture(params=["arrays", "lacking", "missing", "stored", "subset", "views"])
def source(request, tmp_path, make):
    whole = make(30, masks=True)[0]
    generate(whole, tmp_path / "samples")
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
    stored = generate(source, tmp_path / "samples")
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


def masks(source, rows):
    batch = source.batch(rows)
    return np.stack([batch.mask(name).numpy() for name in source.spec.names], 1)


def test_follows_the_conditional_distribution(make):
    """Shares of all patterns against brute force: independent, given that one is present."""
    source, _ = make(40_000)
    rates = {"image": 0.8, "text": 0.5, "touch": 0.9}
    found = masks(Missing(source, rates, seed=3), np.arange(40_000))
    weights = {
        pattern: np.prod([1 - rate if here else rate for here, rate in zip(pattern, rates.values(), strict=True)])
        for pattern in itertools.product((False, True), repeat=3)
        if any(pattern)
    }
    for pattern, weight in weights.items():
        expected = weight / sum(weights.values())
        share = (found == pattern).all(1).mean()
        assert abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / 40_000), pattern
    assert found.any(1).all()


def test_a_sample_keeps_its_mask(make):
    missing = Missing(make(200)[0], {"image": 0.5, "text": 0.5}, seed=1)
    whole = masks(missing, np.arange(200))
    rows = np.random.default_rng(0).permutation(200)
    np.testing.assert_array_equal(masks(missing, rows), whole[rows])
    assert whole[:, 2].all()
    assert (masks(Missing(make(200)[0], {"image": 0.5, "text": 0.5}, seed=2), np.arange(200)) != whole).any()


def test_what_is_missing_stays_missing(make):
    source, batch = make(300, masks=True)
    found = masks(Missing(source, {"text": 1.0, "touch": 1.0}, seed=1), np.arange(300))
    gone = ~batch.present["image"].numpy()
    assert not found[gone, 0].any()
    assert found[gone, 1:].any(1).sum() == 0  # nothing that could be present is left: rates of 1 are kept
    assert found[~gone, 0].all()
    never_empty = masks(Missing(source, {"image": 0.5, "text": 0.9, "touch": 0.9}, seed=1), np.arange(300))
    assert never_empty.any(1).all()


def test_samples_of_some_classes_or_of_some_values_of_a_factor_lack_modalities(make):
    source, batch = make(6_000)
    by_class = masks(Missing(source, {"text": 0.7}, seed=1, where={"agrees": ["yes"]}), np.arange(6_000))
    yes = batch.targets["agrees"].numpy() == 1
    assert by_class[~yes].all()
    assert abs(by_class[yes, 1].mean() - 0.3) < 0.03
    assert by_class[:, [0, 2]].all()
    place = batch.factors[:, 1].numpy()
    where = {"place": ["left", "top"], "agrees": ["no"]}
    both = masks(Missing(source, {"text": 0.5, "touch": 0.5}, seed=1, where=where), np.arange(6_000))
    hit = np.isin(place, [0, 2]) & ~yes
    assert both[~hit].all()
    assert abs(both[hit, 1].mean() - 0.5) < 0.04
    unknown = Batch(
        batch.views, factors=batch.factors, targets=batch.targets, known={"agrees": torch.zeros(6_000, dtype=torch.bool)}
    )
    assert masks(
        Missing(ArraySource(source.spec, unknown), {"text": 0.9}, seed=1, where={"agrees": ["yes"]}), np.arange(99)
    ).all()
    assert Missing(source, {"text": 0.5}, seed=1, where={"agrees": ["yes"]}).where == {"agrees": ["yes"]}


def test_values_that_do_not_exist_are_told(make):
    source, _ = make(3)
    with pytest.raises(ConfigError) as caught:
        Missing(source, {"text": 0.5}, seed=0, where={"agree": ["yes"], "place": ["bottom"], "colour": []})
    assert caught.value.problems == (
        "expected a factor or a target of task class, got 'agree'; did you mean \"agrees\"?",
        "colour: expected at least one value, got none",
        "place: no value 'bottom'; known: left, right, top",
    )


def test_rates_that_cannot_be_used(make):
    source, _ = make(3)
    with pytest.raises(ConfigError) as caught:
        Missing(source, {"imaeg": 0.1, "text": 1.5}, seed=0)
    assert caught.value.problems == (
        "unknown modality 'imaeg'; did you mean \"image\"?",
        "expected a rate from 0 to 1 for text, got 1.5",
    )
    with pytest.raises(ConfigError, match="nothing would be left"):
        Missing(source, {"image": 1, "text": 1, "touch": 1}, seed=0)


def test_views_are_untouched(make):
    source, batch = make(10)
    found = Missing(source, {"image": 0.9}, seed=0).batch(np.arange(10))
    assert all(torch.equal(found.views[name], batch.views[name]) for name in batch.views)
    assert isinstance(source, ArraySource)


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
