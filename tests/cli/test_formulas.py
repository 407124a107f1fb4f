"""Everything that the lists of metrics, models, objectives and measures name has a formula, which is legible as text."""

import re

import pytest

from molyneux.cli.formulas import _sections, formula, readable
from molyneux.cli.listing import listing

KINDS = ("auxiliary-objectives", "fusions", "imputations", "measures", "metrics", "models", "objectives")


@pytest.mark.parametrize("kind", KINDS)
def test_everything_has_a_formula_or_says_how_it_is_computed(kind):
    named = set(listing(kind))
    assert {name for name in named if not formula(kind, name)} == set()
    assert {name for found, name in _sections() if found == kind} == named, "a section of what is no longer there"


def test_every_posterior_that_the_page_shows_can_be_imported():
    from molyneux.learn import posteriors

    assert {name for kind, name in _sections() if kind == "posteriors"} <= set(posteriors.__all__)


@pytest.mark.parametrize(("kind", "name"), list(_sections()))
def test_formulas_are_legible(kind, name):
    text = formula(kind, name)
    assert not re.search(r"[\\{}$&]", text)
    assert text.count("(") == text.count(")")
    assert max(map(len, text.splitlines())) <= 160


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\frac{1}{N} \sum_{i=1}^{N} x_i", "1/N ∑_(i=1)^N x_i"),
        (r"\frac{a + b}{c - d}", "(a + b)/(c - d)"),
        (r"\frac{f(x)}{g(h(x))}", "f(x)/g(h(x))"),
        (r"\sigma_d^{-2} = \hat{x}^{2}, \quad \|a\|", "\N{GREEK SMALL LETTER SIGMA}_d⁻² = x̂²\n‖a‖"),
        (r"\left( a \, b \right) \in \mathbb{E}", "(a b) ∈ \N{MATHEMATICAL DOUBLE-STRUCK CAPITAL E}"),
        (r"\sqrt{a + 1} \mathrm{active\ units}", "√(a + 1) active units"),
    ],
)
def test_latex_as_text(latex, text):
    assert readable(latex) == text


def test_an_unknown_command_is_named():
    with pytest.raises(ValueError, match=r"\\oint"):
        readable(r"\oint x")


def test_the_formula_of_mig_is_that_of_its_code():
    """The text for `A_df`, computed for a code that determines the factor and one that knows nothing, gives what `mig` gives."""
    import numpy as np

    from molyneux.measure.disentanglement import expected_information, outcomes

    assert "A_df = (I(z_d; v_f) - E_df)/(H(v_f) - E_df)" in formula("metrics", "mig")
    factors = np.repeat(np.arange(4), 250)[:, None]
    half = factors // 2  # one of two bits: I = ln 2, H = ln 4
    rng = np.random.default_rng(0)
    codes = np.concatenate([half + 0.0, np.zeros_like(half)], 1) + 0.0
    codes[:, 1] = rng.permutation(np.arange(1000))
    expected = expected_information(np.full(4, 250), np.full(2, 500))
    share = (np.log(2) - expected) / (np.log(4) - expected)
    found = outcomes(codes, factors, "mig", variant="recommended", dead=0)["mig"]
    assert found.matrix[:, 0].max() == pytest.approx(share, abs=1e-9)
