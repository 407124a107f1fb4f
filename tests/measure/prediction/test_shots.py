import numpy as np
import pytest
import torch
from scipy import sparse

from molyneux.core import ConfigError, DataError
from molyneux.measure.prediction import FewShot, few_shot, net_predictions


def clouds(size, seed, spread=1.0):
    """Three classes around corners of a triangle, and two dimensions of noise."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, size)
    corners = np.array([[0, 0], [4, 0], [0, 4]])[labels]
    return np.concatenate([corners + spread * rng.normal(size=(size, 2)), rng.normal(size=(size, 2))], 1), labels


def curve(seed=0, **settings):
    codes, labels = clouds(600, 1)
    others, truth = clouds(400, 2)
    rng = np.random.default_rng(seed)
    return few_shot(codes, labels, test_codes=others, test_labels=truth, rng=rng, **{"shots": (1, 10, 100), **settings})


def test_more_samples_say_more():
    points = curve()
    assert [point.per_class for point in points] == [1, 10, 100]
    assert points[0].mean < points[1].mean < points[2].mean
    assert points[2].mean == pytest.approx(0.95, abs=0.03)
    assert all(point.accuracies.shape == (5,) and point.tests == 400 for point in points)


def test_a_stream_decides_on_the_draws():
    first, again, other = curve(0), curve(0), curve(1)
    assert [point.accuracies.tolist() for point in first] == [point.accuracies.tolist() for point in again]
    assert first[0].accuracies.tolist() != other[0].accuracies.tolist()


def test_every_class_gives_as_many_samples_without_repeats(monkeypatch):
    seen = []

    def remember(train, labels, test, *, regularization):
        seen.append((train[:, 0], labels))
        return np.zeros(len(test), int), True

    monkeypatch.setattr("molyneux.measure.prediction.classifiers.logistic_predictions", remember)
    labels = np.repeat([0, 1, 5], [7, 3, 40])
    codes = np.arange(50.0)[:, None]
    few_shot(codes, labels, test_codes=codes, test_labels=labels, rng=np.random.default_rng(0), shots=(3,), draws=4)
    assert len(seen) == 4
    for rows, given in seen:
        assert np.unique(given, return_counts=True)[1].tolist() == [3, 3, 3]
        assert len(set(rows)) == 9
        assert (labels[rows.astype(int)] == given).all()
    assert len({tuple(sorted(rows)) for rows, _ in seen}) == 4


def test_a_class_with_too_few_samples_leaves_no_accuracy():
    codes, labels = clouds(30, 0)
    point = few_shot(codes, labels, test_codes=codes, test_labels=labels, rng=np.random.default_rng(0), shots=(20,))[0]
    assert len(point.accuracies) == 0


def test_sparse_codes_are_taken_as_they_are():
    labels = np.arange(200) % 2
    words = sparse.csr_array(np.eye(4)[labels + 2 * (np.arange(200) % 3 == 0)])
    point = few_shot(words, labels, test_codes=words, test_labels=labels, rng=np.random.default_rng(0), shots=(30,))[0]
    assert point.mean == 1


def test_intervals_hold_what_draws_and_what_test_samples_leave_open():
    certain = FewShot(10, np.full(5, 0.9), 100)
    assert certain.interval == pytest.approx((0.8238, 0.9510), abs=1e-4)
    spread = FewShot(10, np.array([0.2, 0.9]), 10_000)
    assert spread.interval == (0.0, 1.0)
    assert FewShot(10, np.array([0.9]), 100).interval == pytest.approx(certain.interval)


def test_arrays_that_do_not_fit_are_refused():
    codes, labels = clouds(20, 0)
    with pytest.raises(DataError, match="got codes of 20 samples and 19 labels"):
        few_shot(codes, labels[1:], test_codes=codes, test_labels=labels, rng=np.random.default_rng(0))
    with pytest.raises(ConfigError, match="draws and shots of at least 1"):
        curve(draws=0)


def test_the_published_classifier_learns_what_a_line_separates_and_repeats():
    codes, labels = clouds(3000, 1)
    others, truth = clouds(500, 2)
    first, second = (net_predictions(codes, labels, others, generator=torch.Generator().manual_seed(seed)) for seed in (0, 0))
    assert (first == truth).mean() > 0.93
    assert (first == second).all()


def test_the_published_classifier_is_linear():
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(4000, 2))
    exclusive = ((codes[:, 0] > 0) ^ (codes[:, 1] > 0)).astype(int)
    said = net_predictions(codes, exclusive, codes, generator=torch.Generator().manual_seed(0))
    assert (said == exclusive).mean() < 0.65


def test_it_trains_where_measures_run():
    codes, labels = clouds(600, 1)
    with torch.inference_mode():
        said = net_predictions(codes, labels, codes, generator=torch.Generator().manual_seed(0))
    assert (said == labels).mean() > 0.8


def few(codes, labels, test_codes, test_labels):
    rng = np.random.default_rng(0)
    return few_shot(codes, labels, test_codes=test_codes, test_labels=test_labels, rng=rng, shots=(2,), draws=2)[0].accuracies


def published(codes, labels, test, _=None):
    return net_predictions(codes, labels, test, generator=torch.Generator().manual_seed(0))


def holed(codes):
    codes = codes.copy()
    codes[3, 1] = np.nan
    return codes


@pytest.mark.parametrize("classify", [few, published])
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"codes": holed}, r"(codes|train): expected finite numbers, got 1 .* \(nan\) in row 3, dimension 1"),
        ({"test": holed}, r"test(_codes)?: expected finite numbers, got 1 .* \(nan\) in row 3, dimension 1"),
        ({"codes": lambda codes: codes[:, 0]}, r"(codes|train): expected \(samples, dimensions\), .*, got shape \(20,\)"),
        ({"test": lambda codes: codes[:, :2]}, r"test(_codes)?: expected 4 dimensions, as the codes to fit have, got 2"),
        ({"codes": lambda codes: [[1.0], [1.0, 2.0]]}, r"(codes|train): expected numbers .*, got what makes no such array"),
        ({"codes": lambda codes: codes.astype(str)}, "(codes|train): expected real numbers .*, got <U"),
        ({"labels": lambda labels: labels + 0.5}, r"labels: expected whole numbers from 0, got \d\.5 in row 0"),
        ({"labels": lambda labels: labels * np.nan}, "labels: expected whole numbers from 0, got nan in row 0"),
        ({"labels": lambda labels: labels - 1 - labels.min()}, r"labels: .*, got -1 in row \d+: leave out .* absent"),
        ({"labels": lambda labels: labels[:, None]}, r"labels: expected whole numbers \(samples,\), got int64 \(20, 1\)"),
        ({"labels": lambda labels: labels[1:]}, "expected codes with a label each, .* of 20 samples and 19 labels"),
        (
            {"codes": lambda codes: codes[:0], "labels": lambda labels: labels[:0]},
            "expected codes .*, at least one, got .* 0 samples and 0 labels",
        ),
    ],
)
def test_what_cannot_be_classified_is_told_in_one_sentence(classify, change, told):
    codes, labels = clouds(20, 0)
    parts = {"codes": codes, "labels": labels, "test": codes, "truth": labels}
    with pytest.raises(DataError, match=f"^{told}"):
        classify(*(change.get(name, lambda same: same)(part) for name, part in parts.items()))


def test_lists_are_arrays_and_whole_numbers_are_integers():
    codes, labels = clouds(40, 0)
    plain = few(codes, labels, codes, labels)
    assert (few(codes.tolist(), labels.tolist(), codes.tolist(), labels.tolist()) == plain).all()
    assert (few(codes, labels.astype(float), codes, labels.astype(np.uint8)) == plain).all()
    assert (published(codes.tolist(), labels.astype(float), codes) == published(codes, labels, codes)).all()


def test_words_that_are_not_finite_are_found_where_they_stand():
    codes, labels = clouds(20, 0)
    words = sparse.csr_array(holed(codes))
    with pytest.raises(DataError, match=r"^codes: expected finite numbers, got 1 .* in row 3, dimension 1"):
        few(words, labels, words, labels)


def test_a_point_without_draws_has_no_mean():
    point = FewShot(3, np.empty(0), 10)
    for what in ("mean", "interval"):
        with pytest.raises(DataError, match=r"at least one draw .*, got none: a class has fewer than 3 samples"):
            getattr(point, what)
