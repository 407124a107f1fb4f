"""Factors that some samples lack: their presence is not knowledge of their value, and noise is worth nothing."""

import numpy as np
import pytest

from molyneux.core import NotApplicableError
from molyneux.measure.disentanglement import METRICS, adjusted_information, outcomes, tabulate
from molyneux.measure.disentanglement.information import entropy
from molyneux.measure.disentanglement.mig import published_information

PRESENT = [1, 1, 0.55207, 0.84099, 0.55207, 0.64745, 0.32359, 1]
ENTROPIES = [4.86671, 3.08670, 2.18393, 3.10844, 2.18393, 1.60944, 0.69315, 0.69315]
SLOW = {"dci"}


def test_the_table_of_these_tests_is_that_of_the_sentences(sentences):
    factors = sentences(100_000)
    assert (factors >= 0).mean(0) == pytest.approx(PRESENT, abs=0.005)
    heights = [entropy(np.bincount(column[column >= 0])) for column in factors.T]
    assert heights == pytest.approx(ENTROPIES, abs=0.01)
    assert (factors.max(0) + 1).tolist() == [140, 25, 25, 85, 25, 5, 2, 2]


@pytest.fixture(scope="module")
def carried(sentences):
    """Sentences, a code that holds nothing but whether conj2. is present, and one that is constant where it is."""
    factors = sentences(50_000)
    present = factors[:, 6] >= 0
    noise = np.random.default_rng(1).random(len(factors))
    return factors, {"present": present.astype(float), "constant there": np.where(present, 0.0, noise)}


def test_presence_passes_for_knowledge_as_published(carried, tags):
    factors, codes = carried
    for code, conj1, conj2 in (("present", 0.391, 0.908), ("constant there", -0.278, 3.67)):
        table = tabulate(codes[code][:, None], factors, names=tags)
        heights = np.array([entropy(np.bincount(column[column >= 0])) for column in table.factors.T])
        shares = published_information(table, np.random.default_rng(0), metric="mig")[0] / heights
        assert shares[[5, 6]] == pytest.approx([conj1, conj2], abs=0.02)


def test_presence_is_not_knowledge_as_recommended(carried, tags):
    factors, codes = carried
    noise = np.random.default_rng(2).normal(size=(len(factors), 3))
    for code in codes.values():
        table = tabulate(np.column_stack([code, noise]), factors, names=tags)
        assert adjusted_information(table)[0, 2:] == pytest.approx(np.zeros(6), abs=0.003)
        by_factor = {
            metric: METRICS[metric].variants["recommended"](table, np.random.default_rng(0)) for metric in ("sap", "explicitness")
        }
        assert by_factor["sap"]["sap"].factors[2:] == pytest.approx(np.zeros(6), abs=0.01)
        assert by_factor["explicitness"]["explicitness"].factors[2:] == pytest.approx(np.zeros(6), abs=0.05)


@pytest.mark.parametrize("metric", ["higgins", "kim_mnih", "irs"])
def test_sampled_metrics_do_not_see_presence_either(metric):
    """Two unrelated factors, one of them often absent; the code says only whether it is there."""
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, (20_000, 2))
    factors[rng.random(20_000) < 0.6, 1] = -1
    codes = np.stack([factors[:, 1] >= 0, rng.normal(size=20_000)], 1).astype(float)
    assert outcomes(codes, factors, metric)[metric].value == pytest.approx(0, abs=0.1)
    blind = tabulate(codes, factors).with_presence()
    assert blind.names == ("factor 1", "factor 2", "factor 2 is present")
    assert METRICS[metric].variants["recommended"](blind, np.random.default_rng(0))[metric].value > 0.2


def test_presence_as_a_factor_of_its_own(carried, tags):
    factors, codes = carried
    table = tabulate(codes["present"][:, None], factors, names=tags, presence=True)
    assert len(table.names) == 8 + 5
    known = dict(zip(table.names, adjusted_information(table)[0], strict=True))
    assert known["conj2. is present"] == pytest.approx(1.0)
    assert known["conj2."] == 0.0


@pytest.mark.parametrize("metric", sorted(set(METRICS) - SLOW))
@pytest.mark.parametrize("world", ["letters", "ynoc", "pos"])
def test_random_codes_score_nothing(metric, world, sentences, tags):
    rng = np.random.default_rng(3)
    n = 20_000
    factors = sentences(n) if world == "pos" else rng.integers(0, [20] * 4 if world == "letters" else [10, 40, 20, 30], (n, 4))
    (outcome,) = outcomes(rng.normal(size=(n, 6)), factors, metric).values()
    noise = {"higgins": 0.04, "kim_mnih": 0.04, "explicitness": 0.02, "irs": 0.02}.get(metric, 0.0)
    assert outcome.value == pytest.approx(0.0, abs=noise)


def test_forests_find_nothing_in_random_codes_of_sentences(sentences):
    found = outcomes(np.random.default_rng(4).normal(size=(8000, 4)), sentences(8000), "dci")
    assert [outcome.value for outcome in found.values()] == [0.0, 0.0, 0.0]


def test_published_modularity_rewards_noise(sentences):
    rng = np.random.default_rng(5)
    few, many = rng.integers(0, 20, (10_000, 4)), sentences(200_000)
    assert outcomes(rng.normal(size=(10_000, 8)), few, "modularity", variant="published")["modularity"].value < 0.3
    assert outcomes(rng.normal(size=(200_000, 8)), many, "modularity", variant="published")["modularity"].value > 0.85


def test_a_code_of_the_values_is_found_whatever_is_absent(sentences, tags):
    """Each dimension holds a factor where it is present and noise elsewhere; n. is the ideal case of dependence on another."""
    rng, factors = np.random.default_rng(6), sentences(20_000)
    codes = np.where(factors >= 0, factors, 200 * rng.random(factors.shape)) / [9, 2, 9, 9, 9, 9, 9, 1]
    for metric, least in (
        ("mig", 0.95),
        ("modularity", 0.99),
        ("sap", 0.95),
        ("kim_mnih", 0.99),
        ("higgins", 0.99),
        ("irs", 0.99),
    ):
        (outcome,) = outcomes(codes, factors, metric).values()
        assert outcome.value > least, metric


@pytest.mark.parametrize("variant", ["published", "dlib"])
def test_what_other_variants_need_is_said(variant, sentences, tags):
    factors = sentences(5000)
    with pytest.raises(NotApplicableError, match=r"cannot handle absent factors|draws 10,000 samples that have the factor"):
        outcomes(np.random.default_rng(0).normal(size=(5000, 3)), factors, "mig", variant=variant, names=tags)
