"""The published figures of the two ideal codes, and what they should have been."""

import numpy as np
import pytest

from molyneux.measure.disentanglement import METRICS, hoyer, outcomes
from molyneux.measure.disentanglement.information import count_pairs, entropy, equal_width, mutual_information, published_bins
from molyneux.measure.disentanglement.mig import gaps, one_factor_only

PUBLISHED = {
    "higgins": ((1.0, 0.0), (1.0, 0.0)),
    "kim_mnih": ((1.0, 0.0), (1.0, 0.0)),
    "modularity": ((1.0, 5e-5), (1.0, 5e-5)),
    "mig": ((0.8105, 4 * 0.0005), (0.0554, 5e-5)),
    "dci_disentanglement": ((0.6573, 4 * 0.0132), (0.5891, 4 * 0.0233)),
    "dci_completeness": ((0.6574, 4 * 0.0132), (0.3932, 4 * 0.0233)),
    "dci_informativeness": ((0.996, 0.005), (0.9952, 0.005)),
    "sap": ((0.0467, 4 * 0.0016), (0.0398, 0.002)),
    "explicitness": ((0.9079, 4 * 0.0013), (0.9868, 4 * 0.0009)),
}
"""By score: Table 1's figures of Examples 1 and 2 and four standard deviations over seeds, from the published code."""

LIBRARY = {
    "higgins": (1.0, 1.0),
    "kim_mnih": (1.0, 1.0),
    "mig": (0.811, 0.0541),
    "modularity": (0.99998, 0.99998),
    "sap": (0.0502, 0.0045),
}


def test_the_sentences_and_codes_are_the_published_ones(letters):
    assert letters.digest == "989e86d6ca9b135ad81f975e5c290345"
    assert letters.values[0][:, 0] == pytest.approx([0.097627, -0.682061, 0.450509, -0.670612], abs=5e-7)
    assert letters.first.var(0, ddof=1) == pytest.approx([0.213197, 0.363131, 0.375292, 0.348433], abs=5e-7)


@pytest.mark.parametrize("metric", ["higgins", "kim_mnih", "modularity", "mig", "dci", "sap", "explicitness"])
def test_published_variants_give_the_published_figures(metric, letters):
    for example, codes in enumerate((letters.first, letters.second)):
        for score, outcome in outcomes(codes, letters.factors, metric, variant="published").items():
            figure, spread = PUBLISHED[score][example]
            assert outcome.value == pytest.approx(figure, abs=spread + 1e-9), (score, example)


@pytest.mark.parametrize("metric", LIBRARY)
def test_the_librarys_settings_give_its_figures(metric, letters):
    for figure, codes in zip(LIBRARY[metric], (letters.first, letters.second), strict=True):
        assert outcomes(codes, letters.factors, metric, variant="dlib")[metric].value == pytest.approx(
            figure, abs=0.006 if metric == "sap" else 0.002
        )


def test_the_largest_variance_is_a_misprint_and_so_are_the_names_of_the_importances(letters):
    assert outcomes(letters.first, letters.factors, "kim_mnih", variant="paper")["kim_mnih"].value == pytest.approx(
        0.33, abs=0.03
    )
    code, printed = (outcomes(letters.second, letters.factors, "dci", variant=variant) for variant in ("published", "paper"))
    assert printed["dci_disentanglement"].value == pytest.approx(code["dci_completeness"].value, abs=0.06)
    assert printed["dci_completeness"].value == pytest.approx(code["dci_disentanglement"].value, abs=0.1)


@pytest.mark.parametrize("metric", METRICS)
def test_recommended_variants_give_what_theory_demands(metric, letters):
    second = {"mig": 0.0, "sap": 0.0, "dci_completeness": 1 - np.log(2) / np.log(8)}
    for score, outcome in outcomes(letters.first, letters.factors, metric).items():
        assert outcome.value == pytest.approx(1.0, abs=1e-9), score
    for score, outcome in outcomes(letters.second, letters.factors, metric).items():
        assert outcome.value == pytest.approx(second.get(score, 1.0), abs=0.01 if score == "dci_completeness" else 1e-9), score


def test_the_printed_gap_of_the_second_code_is_an_error_of_reading(letters):
    """Numbers read by repeated multiplication, as old pandas does, miss by an ulp: two dimensions lose their maximum."""
    first, second = (np.vectorize(read_inexactly)(values) for values in letters.values)
    assert outcomes(letters.codes(first), letters.factors, "mig", variant="published")["mig"].value == pytest.approx(
        0.8105, abs=0.002
    )
    value = outcomes(letters.codes(second), letters.factors, "mig", variant="published")["mig"].value
    assert f"{100 * value:.2f}" == "5.73"
    lost = (published_bins(letters.codes(second)) < 0).sum(0)
    assert sorted(lost[lost > 0].tolist()) == [1569, 1605]
    assert np.count_nonzero((published_bins(letters.second) < 0).any(0)) == 1


def read_inexactly(number):
    """A decimal as pandas 1.1's `xstrtod` reads it."""
    whole, _, part = repr(abs(float(number))).partition(".")
    value = 0.0
    for digit in whole + part:
        value = value * 10.0 + int(digit)
    power, left = 10.0, len(part)
    while left:
        if left & 1:
            value /= power
        left >>= 1
        power *= power
    return value if number >= 0 else -value


def test_exact_bins_of_the_ideal_codes(letters):
    for codes, bins, heights, by_factor, total in (
        (
            letters.first,
            [14, 14, 11, 12],
            [2.58004, 2.51073, 2.29235, 2.38677],
            [0.860298, 0.837150, 0.764140, 0.795844],
            0.814358,
        ),
        (
            letters.second,
            [13, 12, 12, 14, 11, 13, 14, 12],
            [2.48316, 2.39065, 2.38746, 2.58060, 2.27679, 2.48383, 2.54877, 2.39322],
            [0.030883, 0.064481, 0.069117, 0.051927],
            0.054102,
        ),
    ):
        places = equal_width(codes)
        counts = [count_pairs(places, column, width=20, height=20) for column in letters.factors.T]
        marginal = counts[0].sum(1)
        assert np.count_nonzero(marginal, axis=1).tolist() == bins
        assert entropy(marginal) == pytest.approx(heights, abs=5e-6)
        shares = np.stack([mutual_information(pairs) / entropy(pairs[0].sum(1)) for pairs in counts], 1)
        assert gaps(shares) == pytest.approx(by_factor, abs=5e-7)
        assert gaps(shares).mean() == pytest.approx(total, abs=5e-7)


def test_the_gap_of_all_sentences_of_the_letters(letters):
    for values, population in zip(letters.values, (0.815550, 0.055009), strict=True):
        heights = np.array([[entropy(np.bincount(code)) for code in equal_width(part.reshape(20, -1)).T] for part in values])
        ordered = np.sort(heights / np.log(20), axis=1)
        assert (ordered[:, -1] - (ordered[:, -2] if heights.shape[1] > 1 else 0)).mean() == pytest.approx(population, abs=5e-7)


def test_evenly_spaced_values_give_one_and_in_two_copies_nothing(letters):
    grid = np.linspace(0, 1, 20)[letters.factors]
    for variant in ("published", "dlib", "recommended"):
        assert outcomes(grid, letters.factors, "mig", variant=variant)["mig"].value == pytest.approx(1.0, abs=0.01)
        twice = outcomes(np.tile(grid, 2), letters.factors, "mig", variant=variant)["mig"].value
        assert twice == pytest.approx(0.0, abs=1e-9)


def test_the_figures_of_the_trained_code_follow_from_its_information():
    information = np.array(
        [
            [0.8445, 1.3282, 1.2761, 2.2955],
            [0.0360, 0.0373, 0.0529, 0.0439],
            [0.0151, 0.0152, 0.0335, 0.0110],
            [0.1508, 0.1302, 0.0868, 0.0106],
        ]
    ).T
    shares = information / np.array([2.99561, 2.99533, 2.99554, 2.99546])
    assert gaps(shares) == pytest.approx([0.322900, 0.003017, 0.006103, 0.006857], abs=5e-5)
    assert gaps(shares).mean() == pytest.approx(0.084719, abs=2e-5)
    assert one_factor_only(information).mean() == pytest.approx(0.995669, abs=2e-5)


def test_sparsity_of_known_codes(letters):
    for codes, scaled, raw in ((letters.first, 0.197868, 0.206624), (letters.second, 0.200152, 0.206045)):
        assert hoyer(codes) == pytest.approx(scaled, abs=5e-7)
        assert hoyer(codes, scaled=False) == pytest.approx(raw, abs=5e-7)
