"""Missing: masks drawn at rates, for all samples or depending on classes and factors."""

import itertools

import numpy as np
import pytest
import torch

from molyneux.core import Batch, ConfigError
from molyneux.data import MAR, MCAR, MNAR, ArraySource, Missing


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
    assert (found[gone, 1:].sum(1) == 1).all()  # one of those that it has stays, although their rates are 1
    assert 0.3 < found[gone, 1].mean() < 0.7
    assert found[~gone, 0].all()
    assert not found[~gone, 1:].any()
    never_empty = masks(Missing(source, {"image": 0.5, "text": 0.9, "touch": 0.9}, seed=1), np.arange(300))
    assert never_empty.any(1).all()


def test_no_sample_loses_everything_to_two_of_them(make):
    source, _ = make(300)
    twice = Missing(Missing(source, {"image": 0.9, "touch": 0.9}, seed=1), {"text": 1.0}, seed=2)
    assert masks(twice, np.arange(300)).any(1).all()
    nothing = Missing(source, {"image": 1.0, "text": 1.0, "touch": 1.0}, seed=1, empty=True)
    assert not masks(Missing(nothing, {"text": 0.5}, seed=2), np.arange(300)).any()


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


def test_rates_by_class_are_multiplied_and_those_of_several_names_too(make):
    source, batch = make(9_000)
    by = {"agrees": {"yes": 1.5, "no": 0.5}, "place": {"left": 0.0}}
    found = masks(Missing(source, {"text": 0.6, "touch": 0.2}, seed=1, by=by), np.arange(9_000))
    yes, left = batch.targets["agrees"].numpy() == 1, batch.factors[:, 1].numpy() == 0
    assert found[left].all()
    assert found[:, 0].all()
    for rows, factor in ((yes & ~left, 1.5), (~yes & ~left, 0.5)):
        for column, rate in ((1, 0.6), (2, 0.2)):
            expected = 1 - factor * rate
            assert abs(found[rows, column].mean() - expected) < 4 * np.sqrt(expected * (1 - expected) / rows.sum())
    one = Missing(source, {"text": 0.5}, seed=1, by={"agrees": {"yes": 1.0}})
    assert (masks(one, np.arange(99)) == masks(Missing(source, {"text": 0.5}, seed=1), np.arange(99))).all()
    unknown = Batch(batch.views, targets=batch.targets, known={"agrees": torch.zeros(9_000, dtype=torch.bool)})
    blind = Missing(ArraySource(source.spec, Batch(**{**vars(unknown), "factors": batch.factors})), {"text": 0.5}, seed=1, by=by)
    assert abs(masks(blind, np.arange(9_000))[~left, 1].mean() - 0.5) < 0.03  # not known: the rate as it is


def test_what_depends_on_a_class_is_told_by_the_origin(make):
    class Known(ArraySource):
        @property
        def origin(self):
            return {"name": "x"}

    source = Known(make(4)[0].spec, make(4)[1])
    assert Missing(source, {"text": 0.5}, seed=1, by={"agrees": {"no": 0}}).origin["by"] == {"agrees": {"no": 0}}
    assert "by" not in Missing(source, {"text": 0.5}, seed=1).origin


def test_multiplied_rates_that_cannot_be_used(make):
    source, _ = make(3)
    with pytest.raises(ConfigError, match=r"expected rates of at most 1, got 1.2 for text where agrees yes: lower"):
        Missing(source, {"text": 0.6}, seed=0, by={"agrees": {"yes": 2, "no": 0.1}})
    with pytest.raises(ConfigError, match="expected numbers of at least 0 that rates are multiplied by, got -1 for 'no'"):
        Missing(source, {"text": 0.6}, seed=0, by={"agrees": {"no": -1}})
    for endless in (float("inf"), float("nan")):
        with pytest.raises(ConfigError) as caught:
            Missing(source, {"text": 0.0}, seed=0, by={"agrees": {"yes": endless}})
        expected = f"agrees: expected numbers of at least 0 that rates are multiplied by, got {endless} for 'yes'"
        assert caught.value.problems == (expected,)
    with pytest.raises(ConfigError, match="agrees: no value 'yse'"):  # although by names it too
        Missing(source, {"text": 0.5}, seed=0, where={"agrees": ["yse"]}, by={"agrees": {"yes": 0.5}})
    with pytest.raises(ConfigError, match="no value 'maybe'"):
        Missing(source, {"text": 0.6}, seed=0, by={"agrees": {"maybe": 1}})
    with pytest.raises(ConfigError, match="nothing would be left"):
        Missing(source, {"image": 0.5, "text": 0.5, "touch": 0.5}, seed=0, by={"agrees": {"yes": 2}})
    half = {"image": 1, "text": 1, "touch": 1}
    assert Missing(source, half, seed=0, by={"agrees": {"yes": 0.5, "no": 0.9}}).batch(np.arange(3))


def test_completely_at_random_does_not_depend_on_the_sample(make):
    source, batch = make(9_000)
    rates = {"text": 0.4, "touch": 0.7}
    found = masks(MCAR(source, rates, seed=2), np.arange(9_000))
    np.testing.assert_array_equal(found, masks(Missing(source, rates, seed=2), np.arange(9_000)))
    for code in (0, 1):
        share = found[batch.factors[:, 0].numpy() == code].mean(0)
        assert np.abs(share - [1, 0.6, 0.3]).max() < 0.03


def test_at_random_depends_on_what_an_observed_modality_shows(make):
    source, batch = make(9_000)
    by = {"colour": {"red": 0.0, "blue": 2.0}}
    found = masks(MAR(source, {"image": 0.3, "touch": 0.4}, observed="text", by=by, seed=2), np.arange(9_000))
    red = batch.factors[:, 0].numpy() == 0
    assert found[:, 1].all()
    assert found[red].all()
    assert np.abs(found[~red].mean(0) - [0.4, 1, 0.2]).max() < 0.03
    with pytest.raises(ConfigError) as caught:
        MAR(source, {"image": 0.3, "text": 0.1}, observed="text", by={}, seed=2)
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["observed", "by"]


def test_not_at_random_depends_on_what_goes_missing(make):
    source, batch = make(6_000, masks=True)
    found = masks(MNAR(source, {"image": 0.5, "touch": 0.9}, above={"image": 0.5, "touch": 0.2}, seed=2), np.arange(6_000))
    bright = (batch.views["image"].double() / 255).mean((1, 2, 3)).numpy() > 0.5
    here, lengths = batch.present["image"].numpy(), batch.lengths["touch"].numpy()
    means = np.array(
        [view[:length].mean() if length else 0.0 for view, length in zip(batch.views["touch"].numpy(), lengths, strict=True)]
    )
    assert found[here & ~bright, 0].all()
    assert 0.4 < found[here & bright, 0].mean() < 0.6
    assert found[means < 0.19, 2].all()
    assert found[means > 0.21, 2].mean() < 0.3
    by_class = masks(MNAR(make(6_000)[0], {"text": 0.5}, by={"agrees": {"no": 0.0}}, seed=2), np.arange(6_000))
    yes = make(6_000)[1].targets["agrees"].numpy() == 1
    assert by_class[~yes].all()
    assert abs(by_class[yes, 1].mean() - 0.5) < 0.03
    with pytest.raises(ConfigError, match="by, above: expected what the rates depend on"):
        MNAR(source, {"image": 0.5}, seed=2)
    with pytest.raises(ConfigError) as caught:
        MNAR(source, {"image": 0.5}, above={"text": 0.5, "touch": 0.1, "sound": 0.1}, seed=2)
    told = [problem.partition(",")[0] for problem in caught.value.problems]
    assert told == [
        "above: unknown modality 'sound'; known: image",
        "above: expected modalities of numbers",
        "above: expected a rate for text",
        "above: expected a rate for touch",
    ]


def test_a_sample_loses_everything_only_where_that_is_asked_for(make):
    source, _ = make(8_000)
    rates = {"image": 0.5, "text": 0.8, "touch": 0.6}
    found = masks(Missing(source, rates, seed=4, empty=True), np.arange(8_000))
    assert np.abs(found.mean(0) - [0.5, 0.2, 0.4]).max() < 0.02
    assert abs((~found.any(1)).mean() - 0.5 * 0.8 * 0.6) < 0.02
    assert masks(Missing(source, rates, seed=4), np.arange(8_000)).any(1).all()
    assert not masks(Missing(source, dict.fromkeys(rates, 1.0), seed=4, empty=True), np.arange(9)).any()


def test_each_split_has_masks_of_its_own_source(make):
    train, test = (MCAR(make(500)[0], {"text": 0.5}, seed=seed) for seed in (1, 2))
    assert (masks(train, np.arange(500)) != masks(test, np.arange(500))).any()
    assert MCAR(make(5)[0], {"text": 0.5}, seed=1).origin is None  # arrays in memory cannot say where they are from
