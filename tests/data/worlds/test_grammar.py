import numpy as np
import pytest

from molyneux.core import ConfigError, Factor
from molyneux.core.views import text_strings
from molyneux.data.worlds.grammar import Grammar, encode

FACTORS = (Factor("place", ("top left", "right")), Factor("colour", ("red", "blue")))


def test_ids_of_the_sheet():
    """Fact 7: "heart" is 8, 5, 1, 18, 20 in the alphabet of 27 symbols, padded with the space."""
    assert encode(["heart"], 7).tolist() == [[8, 5, 1, 18, 20, 0, 0]]


def test_template_orders_words_and_factors():
    grammar = Grammar("{colour} at the {place}", FACTORS)
    assert grammar.captions == ("red at the top left", "red at the right", "blue at the top left", "blue at the right")
    assert grammar.names == ("colour", "place")
    assert grammar.length == 20
    assert grammar.modality("words").shape == (20,)


def test_written_ids_are_the_captions():
    grammar = Grammar("{colour} at the {place}", FACTORS)
    codes = np.array([[1, 0], [0, 1], [0, 1]])
    import torch

    written = text_strings(grammar.modality(), torch.from_numpy(grammar.write(codes)))
    assert written == ["blue at the top left", "red at the right", "red at the right"]


@pytest.mark.parametrize(
    ("template", "factors", "clause"),
    [
        ("{shape}", FACTORS, "no factor"),
        ("{colour}", (Factor("colour", ("Red",)),), "'R'"),
        ("{colour}", (Factor("colour", ("dark  red",)),), "single spaces"),
        ("{colour}", (Factor("colour", ("red ",)),), "single spaces"),
        ("{a} {b}", (Factor("a", ("red", "red at")), Factor("b", ("at top", "top"))), "same caption"),
    ],
)
def test_bad_grammars_are_refused(template, factors, clause):
    with pytest.raises(ConfigError, match=clause):
        Grammar(template, factors)
