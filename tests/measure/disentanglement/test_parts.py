"""What metrics are made of, against closed forms, brute force, SciPy and scikit-learn."""

import numpy as np
import pytest
import torch
from scipy.stats import rankdata, spearmanr
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.metrics import roc_auc_score

from molyneux.core import ConfigError, DataError, NotApplicableError
from molyneux.measure.disentanglement import (
    correlation_matrix,
    expected_information,
    gaussian_total_correlation,
    hoyer,
    outcomes,
    top_counts,
    unsupervised_ranking,
)
from molyneux.measure.disentanglement.dci import completeness, disentanglement
from molyneux.measure.disentanglement.explicitness import area_under_curve, discriminants
from molyneux.measure.disentanglement.fixed_factor import mean_difference, softmax_nets
from molyneux.measure.disentanglement.information import equal_mass
from molyneux.measure.disentanglement.table import sort_columns


def twice(matrix):
    return np.concatenate([matrix, matrix])


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        (np.eye(5), (1.0, 1.0)),
        (np.zeros((5, 5)), (0.0, 0.0)),
        (twice(np.eye(5)), (1.0, 1 - np.log(2) / np.log(10))),
        (twice(np.eye(5)).T, (1 - np.log(2) / np.log(10), 1.0)),
        (np.diag([1.0, 1.0, 0, 0, 0]), (1.0, 1.0)),
    ],
    ids=["diagonal", "nothing", "every code twice", "one code for two factors", "two of five"],
)
def test_importances_of_small_cases(matrix, expected):
    assert (disentanglement(matrix), completeness(matrix)) == pytest.approx(expected)


def test_ranks_and_areas_agree_with_scipy_and_sklearn():
    rng = np.random.default_rng(0)
    scores = np.round(rng.normal(size=(300, 3)), 1)
    positive = rng.random((300, 3)) < 0.3
    assert sort_columns(scores).ranks * 300 + 0.5 == pytest.approx(rankdata(scores, axis=0))
    expected = [roc_auc_score(truth, column) for truth, column in zip(positive.T, scores.T, strict=True)]
    assert area_under_curve(scores, positive) == pytest.approx(expected)


def test_discriminants_agree_with_sklearn():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 2000)
    features = rng.normal(size=(4, 3))[labels] + rng.normal(size=(2000, 3))
    weights, offsets = discriminants(features, labels, classes=5)
    reference = LinearDiscriminantAnalysis(solver="lsqr").fit(features, labels)
    assert ((features @ weights + offsets).argmax(1) == reference.predict(features)).mean() > 0.999
    assert offsets[4] == -np.inf


def test_softmax_nets_learn_what_logistic_regression_does():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 4000)
    features = 1.5 * np.eye(3)[labels] + rng.normal(size=(4000, 3))
    nets = softmax_nets(features, labels, rng, nets=2)
    tested = np.concatenate([features[3200:], np.ones((800, 1))], 1)
    accuracy = ((tested @ nets).argmax(-1) == labels[3200:]).mean(1)
    reference = LogisticRegression().fit(features[:2560], labels[:2560]).score(features[3200:], labels[3200:])
    assert accuracy == pytest.approx(np.full(2, reference), abs=0.02)


def test_the_mean_difference_of_all_pairs():
    values = np.random.default_rng(0).normal(size=(60, 2))
    gaps = np.abs(values[:, None] - values[None])
    assert mean_difference(values) == pytest.approx(gaps.sum((0, 1)) / (60 * 59))


def test_robustness_as_printed_by_brute_force():
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 3, (500, 2))
    codes = factors @ rng.normal(size=(2, 3)) + 0.1 * rng.normal(size=(500, 3))
    largest = np.abs(codes - codes.mean(0)).max(0)
    matrix = np.empty((3, 2))
    for factor in range(2):
        parts = [codes[factors[:, factor] == value] for value in range(3)]
        matrix[:, factor] = 1 - np.mean([np.abs(part - part.mean(0)).max(0) for part in parts], 0) / largest
    assert outcomes(codes, factors, "irs", variant="paper")["irs"].value == pytest.approx(matrix.max(1) @ largest / largest.sum())


def rows_of_one_value(factor, rng):
    """All samples that share the value of a random one."""
    return np.flatnonzero(factor == factor[rng.integers(len(factor))])


def higgins_by_brute_force(codes, factors, rng):
    """1,000 batches of 64 pairs of each factor; a linear softmax net on 64 % of them, its accuracy on the last 20 %."""
    features, labels = [], []
    for label, factor in enumerate(factors.T):
        for _ in range(1000):
            sharing = rows_of_one_value(factor, rng)
            first, second = (rng.permutation(sharing)[:64] for _ in range(2))
            features.append(np.abs(codes[first] - codes[second]).mean(0))
            labels.append(label)
    order, stream = rng.permutation(len(labels)), torch.Generator().manual_seed(int(rng.integers(2**31)))
    inputs, targets = torch.tensor(np.array(features)[order]).float(), torch.tensor(labels)[order]
    tested, fitted = int(0.8 * len(labels)), int(0.64 * len(labels))
    net = torch.nn.Linear(inputs.shape[1], factors.shape[1])
    torch.nn.init.xavier_uniform_(net.weight, generator=stream)
    torch.nn.init.zeros_(net.bias)
    adam = torch.optim.Adam(net.parameters(), lr=0.01, eps=1e-7)
    for _ in range(10):
        for rows in torch.randperm(fitted, generator=stream).split(64):
            adam.zero_grad()
            torch.nn.functional.cross_entropy(net(inputs[rows]), targets[rows]).backward()
            adam.step()
    return (net(inputs[tested:]).argmax(1) == targets[tested:]).double().mean().item()


def kim_mnih_by_brute_force(codes, factors, rng):
    """The dimension of the smallest relative variance in 1,000 batches of 64 of each factor; majority of 80 %, ten times."""
    votes = []
    for label, factor in enumerate(factors.T):
        for _ in range(1000):
            batch = codes[rng.permutation(rows_of_one_value(factor, rng))[:64]]
            votes.append((int(np.argmin(batch.var(0) / codes.var(0))), label))
    split, accuracies = int(0.8 * len(votes)), []
    for _ in range(10):
        order = rng.permutation(len(votes))
        fitted, tested = [votes[place] for place in order[:split]], [votes[place] for place in order[split:]]
        counts = [[fitted.count((dimension, label)) for label in range(factors.shape[1])] for dimension in range(codes.shape[1])]
        accuracies.append(np.mean([np.argmax(counts[dimension]) == label for dimension, label in tested]))
    return np.mean(accuracies)


@pytest.mark.parametrize(("metric", "brute_force"), [("higgins", higgins_by_brute_force), ("kim_mnih", kim_mnih_by_brute_force)])
def test_published_accuracies_are_those_of_brute_force_within_noise(metric, brute_force):
    rng = np.random.default_rng(5)
    factors = rng.integers(0, [3, 4, 2], (2000, 3))
    codes = np.column_stack([factors + 1.2 * rng.normal(size=(2000, 3)), rng.normal(size=2000)])
    found = [outcomes(codes, factors, metric, variant="published", seed=seed)[metric].value for seed in range(4)]
    expected = [brute_force(codes, factors, np.random.default_rng(seed)) for seed in range(4)]
    error = np.sqrt((np.var(found, ddof=1) + np.var(expected, ddof=1)) / 4)
    assert 0.6 < np.mean(expected) < 0.95
    assert error < 0.06
    assert np.mean(found) == pytest.approx(np.mean(expected), abs=4 * error)


def test_sparsity():
    assert hoyer(np.eye(5), scaled=False) == pytest.approx(1.0)
    assert hoyer(np.ones((4, 5)), scaled=False) == pytest.approx(0.0)
    normal = np.random.RandomState(0).randn(10_000, 8)
    assert hoyer(normal) == pytest.approx(0.275909, abs=5e-7)
    collapsed = np.column_stack([normal, 0.5 + 0.001 * normal[:, 0]])
    assert hoyer(collapsed) > 0.9 > 0.4 > hoyer(collapsed, centred=True)
    assert hoyer(np.column_stack([normal, np.full(len(normal), 3.0)])) == hoyer(normal)
    with pytest.raises(DataError, match="at least two dimensions that vary, got 1 of 2"):
        hoyer(np.column_stack([normal[:, 0], np.ones(10_000)]))


def test_total_correlation_of_a_correlated_pair():
    rng = np.random.default_rng(0)
    first = rng.normal(size=50_000)
    codes = np.stack([first, 3 * (0.8 * first + 0.6 * rng.normal(size=50_000)), np.ones(50_000)], 1)
    assert gaussian_total_correlation(codes) == pytest.approx(-0.5 * np.log(1 - 0.64), abs=0.01)
    assert gaussian_total_correlation(np.stack([first, 2 * first], 1)) > 10
    assert gaussian_total_correlation(codes[:, :1]) == 0.0


@pytest.mark.parametrize("relation", ["lasso", "spearman", "information"])
def test_seeds_that_agree_up_to_order_and_sign_rank_first(relation):
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(2000, 4))
    rotation = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    alike = [codes, -codes[:, [2, 0, 3, 1]], np.column_stack([codes * 2, np.zeros(2000)])]
    found = unsupervised_ranking([*alike, codes @ rotation], relation=relation)
    assert found[:3] == pytest.approx(np.full(3, found[0]), abs=0.02)
    assert found[3] < found[0] - 0.2
    assert found[0] == pytest.approx(0.9 if relation == "lasso" else 1.0, abs=0.12)
    hidden = unsupervised_ranking(alike, active=[np.ones(4, bool), np.ones(4, bool), np.zeros(5, bool)], relation=relation)
    assert hidden[2] == 0.0
    with pytest.raises(DataError, match="at least two models"):
        unsupervised_ranking([codes])


def test_information_does_not_ask_for_an_order_of_values():
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 20, (5000, 3))
    one, other = (rng.uniform(-1, 1, (3, 20))[range(3), factors] for _ in range(2))
    assert unsupervised_ranking([one, other], relation="information") == pytest.approx([1.0, 1.0])
    assert unsupervised_ranking([one, other[rng.permutation(5000)]], relation="information").tolist() == [0.0, 0.0]
    for relation in ("lasso", "spearman"):
        assert unsupervised_ranking([one, other], relation=relation).max() < 0.6
    few = [part[:50] for part in (one, other)]
    with pytest.raises(NotApplicableError, match="needs at least"):
        unsupervised_ranking(few, relation="information")


def test_agreement_of_two_models_by_hand():
    rng = np.random.default_rng(0)
    first = rng.normal(size=(500, 3))
    second = first @ rng.normal(size=(3, 2)) + rng.normal(size=(500, 2))

    def agreement(strength):
        return np.concatenate([strength.max(axis) ** 2 / strength.sum(axis) for axis in (0, 1)]).mean()

    ranks = np.abs(spearmanr(first, second).statistic[:3, 3:])
    assert unsupervised_ranking([first, second], relation="spearman") == pytest.approx([agreement(ranks)] * 2)
    scaled = [(part - part.mean(0)) / part.std(0) for part in (first, second)]
    lasso = [agreement(np.abs(Lasso(alpha=0.1).fit(a, b).coef_)) for a, b in ((scaled[1], scaled[0]), (scaled[0], scaled[1]))]
    assert unsupervised_ranking([first, second]) == pytest.approx(lasso)


def test_measures_are_correlated_over_the_runs_that_have_both():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(20, 3))
    table[:, 1] += table[:, 0]
    missing = np.column_stack([table, np.ones(20)])
    missing[3, 2] = np.nan
    found = correlation_matrix(missing)
    assert found[:2, :2] == pytest.approx(np.corrcoef(table[:, :2], rowvar=False))
    kept = np.delete(table, 3, 0)
    assert found[0, 2] == pytest.approx(np.corrcoef(kept[:, [0, 2]], rowvar=False)[0, 1])
    assert np.isnan(found[3]).all()
    assert correlation_matrix(table, kind="spearman") == pytest.approx(spearmanr(table).statistic)


def test_the_three_best_get_a_point_and_ties_share():
    table = np.array([[9, 1.0], [8, 2], [7, 3], [6, 4], [5, np.nan]])
    assert top_counts(table).tolist() == [1, 2, 2, 1, 0]
    assert top_counts(table, higher_is_better=[True, False]).tolist() == [2, 2, 2, 0, 0]
    tied = np.array([[3.0], [2], [1], [1], [1]])
    assert top_counts(tied) == pytest.approx([1, 1, 1 / 3, 1 / 3, 1 / 3])
    assert top_counts(np.random.default_rng(0).normal(size=(9, 6))).sum() == 18


def test_dependence_that_rounding_hides_is_infinite():
    codes = np.random.default_rng(0).normal(size=(1000, 2))
    assert gaussian_total_correlation(np.column_stack([codes, codes.sum(1)])) == np.inf
    assert gaussian_total_correlation(np.column_stack([codes, codes.sum(1) + 1e-3 * codes[::-1, 0]])) < 20


def test_what_cannot_be_compared_is_refused_in_one_sentence():
    codes = np.random.default_rng(0).normal(size=(50, 3))
    spoilt = np.where(np.arange(3) == 1, np.nan, codes)
    for call, error, message in (
        (lambda: unsupervised_ranking([codes, codes], relation="spaerman"), ConfigError, 'did you mean "spearman"'),
        (lambda: unsupervised_ranking([codes, codes], active=[[True], [True]]), DataError, "one entry a dimension"),
        (lambda: correlation_matrix(codes, kind="kendal"), ConfigError, "unknown kind 'kendal'"),
        (lambda: gaussian_total_correlation(spoilt), DataError, r"the first \(nan\) in row 0, dimension 1"),
        (lambda: hoyer([["a", "b"], ["c", "d"]]), DataError, "expected real numbers"),
        (lambda: hoyer([[1, 2], [3]]), DataError, "makes no such array"),
        (lambda: correlation_matrix([[1, 2], [3]]), DataError, "expected a table"),
        (lambda: correlation_matrix([["a"], ["b"], ["c"]]), DataError, "expected a table"),
        (lambda: top_counts(codes, higher_is_better=[True]), DataError, "one answer for each of 3 measures"),
        (lambda: top_counts(codes, top=0), ConfigError, "at least 1 place"),
        (lambda: unsupervised_ranking([codes, codes], relation="information"), NotApplicableError, "100 samples, got 50"),
        (lambda: expected_information([3, 4], [5, 3]), DataError, "7 in rows and 8 in columns"),
    ):
        with pytest.raises(error, match=message):
            call()
    assert hoyer(codes.tolist()) == hoyer(codes)
    assert expected_information([3, 4], [5, 2]) > 0


@pytest.mark.parametrize("kind", ["int8", "uint8", "float16", "float32"])
def test_sparsity_of_small_numbers_does_not_overflow(kind):
    codes = np.array([[100, 50, 3], [7, 100, 90], [120, 1, 60]])
    for scaled in (False, True):
        assert hoyer(codes.astype(kind), scaled=scaled) == pytest.approx(hoyer(codes.astype(float), scaled=scaled))
    assert hoyer(np.array([[100, 0], [0, 100]], np.int8), scaled=False) == 1.0


@pytest.mark.parametrize("scaled", [False, True])
def test_sparsity_of_huge_codes_is_that_of_small_ones(scaled):
    codes = np.random.default_rng(0).normal(size=(1000, 3)) * [1, 2, 0]
    assert hoyer(codes * 1e200, scaled=scaled) == pytest.approx(hoyer(codes, scaled=scaled))


def test_dependence_of_huge_codes_is_that_of_small_ones():
    codes = np.random.default_rng(0).normal(size=(1000, 2))
    codes[:, 1] += codes[:, 0]
    assert gaussian_total_correlation(1e200 * codes) == pytest.approx(gaussian_total_correlation(codes))


def test_a_dimension_that_does_not_vary_is_related_to_none():
    codes = np.random.default_rng(0).normal(size=(200, 2))
    still = np.column_stack([codes, np.zeros(200)])
    for relation in ("spearman", "information"):
        found = unsupervised_ranking([still, still], active=[np.ones(3, bool)] * 2, relation=relation)
        assert found == pytest.approx(unsupervised_ranking([codes, codes], relation=relation) * 2 / 3)


def test_bins_of_equal_mass_keep_equal_codes_together():
    codes = np.stack([np.arange(100)[::-1] ** 3, np.repeat([0.5, -2.0, 7.0, 0.5], 25), np.repeat(np.arange(50), 2)], 1)
    found = equal_mass(codes, 10)
    assert found[:, 0].tolist() == [place // 10 for place in range(100)][::-1]
    assert found[:, 1].tolist() == np.repeat([1, 0, 2, 1], 25).tolist()
    assert found[:, 2].tolist() == [place // 10 for place in range(100)]
