import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from molyneux.core import ConfigError, Factor, Reader, SpecError
from molyneux.core.views import text_strings
from molyneux.data.worlds import CdSprites
from molyneux.data.worlds.captions import CaptionReader, TemplateCaptions, encode

GRAMMARS = {level: CdSprites(level=level).grammar for level in range(1, 6)}
READERS = {level: CaptionReader(grammar) for level, grammar in GRAMMARS.items()}
FACTORS = (Factor("place", ("top left", "right")), Factor("colour", ("red", "blue")))


def read(level, caption):
    return READERS[level].read(torch.from_numpy(encode([caption], GRAMMARS[level].length)))


@pytest.mark.parametrize("level", GRAMMARS)
def test_every_true_caption_is_read(level):
    grammar, reader = GRAMMARS[level], READERS[level]
    reading = reader.read(torch.from_numpy(grammar.ids))
    assert np.array_equal(reading.codes.numpy(), grammar.combinations.codes)
    assert reading.factors == grammar.names
    assert not reading.reasons
    assert reader.accuracy == dict.fromkeys(grammar.names, 1.0)
    assert isinstance(reader, Reader)


@pytest.mark.parametrize("level", GRAMMARS)
def test_every_wrong_letter_is_noticed(level):
    """All single substitutions, in the padding too: unreadable or read as something else, and never the truth."""
    grammar = GRAMMARS[level]
    ids, codes = (rows[:: max(1, level**2 // 3)] for rows in (grammar.ids, grammar.combinations.codes))
    count, length = ids.shape
    wrong = np.repeat(ids, length * 26, 0).reshape(count, length, 26, length)
    for place in range(length):
        wrong[:, place, :, place] = (ids[:, place, None] + np.arange(1, 27)) % 27
    reading = READERS[level].read(torch.from_numpy(wrong.reshape(-1, length)))
    truth = np.repeat(codes, length * 26, 0)
    assert (reading.codes.numpy() != truth).any(1).all()


@settings(max_examples=200, deadline=None)
@given(
    level=st.integers(1, 5),
    number=st.integers(0, 239),
    place=st.integers(0, 44),
    letter=st.sampled_from(" abcxyz"),
    cut=st.booleans(),
)
def test_inserted_and_dropped_letters_are_noticed(level, number, place, letter, cut):
    grammar = GRAMMARS[level]
    caption = grammar.captions[number % len(grammar.captions)]
    place = place % len(caption)
    edited = caption[:place] + caption[place + 1 :] if cut else caption[:place] + letter + caption[place:]
    if edited != caption and len(edited) <= grammar.length:
        reading = read(level, edited)
        assert (reading.codes == -1).any()
        assert list(reading.reasons) == [0]


@pytest.mark.parametrize(
    ("level", "caption", "reason"),
    [
        (3, "big gren heart", "position 2: expected a colour, got 'gren'; did you mean \"green\"?"),
        (1, "heartx", "position 1: expected a shape, got 'heartx'; did you mean \"heart\"?"),
        (1, "", "position 1: expected a shape, got nothing"),
        (2, "big", "position 2: expected a shape, got nothing"),
        (3, "bigsmall red heart", "position 1: expected a size, got 'bigsmall'; did you mean \"small\"?"),
        (2, " big heart", "position 1: expected a size, got nothing"),
        (2, "big  heart", "position 2: expected a shape, got nothing"),
        (4, "big red heart at top lef", "position 4: expected a position, got 'at top lef'; did you mean \"at top left\"?"),
        (4, "big red heart at top left on", "position 7: expected the end, got 'on'"),
        (5, "big red heart at top left on dark on", "position 9: expected the end, got 'on'"),
        (3, "big red qqqqq", "position 3: expected a shape, got 'qqqqq'; known: ellipse, heart, square"),
    ],
)
def test_reasons(level, caption, reason):
    reading = read(level, caption)
    assert (reading.codes == -1).any()
    assert dict(reading.reasons) == {0: reason}


def test_published_mistakes_are_not_repeated():
    """The published scorer counts "heartxxxxx" as right and reads "bigsmall square" as small (substring search)."""
    big = GRAMMARS[2].factors[0].code("big")
    assert read(2, "big heartxx").codes.tolist() == [[big, -1]]
    assert read(2, "bigsmall square"[:13]).codes.tolist() == [[-1, -1]]


def test_ids_outside_the_alphabet_are_unreadable():
    ids = torch.from_numpy(GRAMMARS[1].ids.astype(np.int64))
    ids[0, 1], ids[1, 2] = 27, -5
    reading = READERS[1].read(ids)
    assert reading.codes[:2].flatten().tolist() == [-1, -1]
    assert "letter 2" in reading.reasons[0]
    assert "letter 3" in reading.reasons[1]
    assert len(reading.reasons) == 2


def test_other_lengths_are_refused():
    with pytest.raises(SpecError, match=r"\(B, 13\)"):
        READERS[2].read(torch.zeros(4, 12, dtype=torch.uint8))


@pytest.mark.parametrize(
    ("level", "caption", "codes"),
    [
        (3, "big gren heart", [1, -1, 2]),
        (3, "bog gren heart", [-1, -1, 2]),
        (3, "big green heart big", [-1, -1, -1]),
        (3, "big heart", [-1, -1, -1]),
        (3, "green big heart", [-1, -1, 2]),
        (2, "big  heart", [-1, -1]),
        (5, "big green heart at tip left on dark", [1, 2, 2, -1, 1]),
        (5, "big green heart at top left in dark", [1, 2, 2, 0, -1]),
    ],
)
def test_only_misspelt_factors_are_unreadable_where_every_place_has_its_words(level, caption, codes):
    values = [[factor.values[code] if code >= 0 else None for factor, code in zip(GRAMMARS[level].factors, codes, strict=True)]]
    reading = read(level, caption)
    found = [
        [factor.values[code] if code >= 0 else None for factor, code in zip(GRAMMARS[level].factors, row, strict=True)]
        for row in reading.codes.tolist()
    ]
    assert found == values
    assert list(reading.reasons) == [0]


def test_a_misspelt_word_of_the_template_makes_a_caption_unreadable():
    grammar = TemplateCaptions("{size} and {shape}", (Factor("size", ("small", "big")), Factor("shape", ("heart", "square"))))
    captions = ["small and hart", "small end hart", "small end heart", "small and heart"]
    codes = CaptionReader(grammar).read(torch.from_numpy(encode(captions, grammar.length))).codes
    assert codes.tolist() == [[0, -1], [-1, -1], [-1, -1], [0, 0]]


def test_ids_of_the_sheet():
    """Fact 7: "heart" is 8, 5, 1, 18, 20 in the alphabet of 27 symbols, padded with the space."""
    assert encode(["heart"], 7).tolist() == [[8, 5, 1, 18, 20, 0, 0]]


def test_template_orders_words_and_factors():
    grammar = TemplateCaptions("{colour} at the {place}", FACTORS)
    assert grammar.captions == ("red at the top left", "red at the right", "blue at the top left", "blue at the right")
    assert grammar.names == ("colour", "place")
    assert grammar.length == 20
    assert grammar.modality("words").shape == (20,)


def test_written_ids_are_the_captions():
    grammar = TemplateCaptions("{colour} at the {place}", FACTORS)
    codes = np.array([[1, 0], [0, 1], [0, 1]])
    written = text_strings(grammar.modality(), torch.from_numpy(grammar.write(codes)))
    assert written == ["blue at the top left", "red at the right", "red at the right"]


@pytest.mark.parametrize(
    ("template", "factors", "clause"),
    [
        ("{shape}", FACTORS, "no factor"),
        ("{colour}", (Factor("colour", ("Red",)),), "got 'Red': rename it"),
        ("{colour}", (Factor("colour", ("dark  red",)),), "single spaces"),
        ("{colour}", (Factor("colour", ("red ",)),), "single spaces"),
        ("{a} {b}", (Factor("a", ("red", "red at")), Factor("b", ("at top", "top"))), "same caption"),
    ],
)
def test_bad_grammars_are_refused(template, factors, clause):
    with pytest.raises(ConfigError, match=clause):
        TemplateCaptions(template, factors)
