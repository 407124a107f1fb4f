import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from molyneux.core import Reader, SpecError
from molyneux.data.worlds import CdSprites
from molyneux.data.worlds.caption_reader import CaptionReader
from molyneux.data.worlds.grammar import encode

GRAMMARS = {level: CdSprites(level=level).grammar for level in range(1, 6)}
READERS = {level: CaptionReader(grammar) for level, grammar in GRAMMARS.items()}


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
    count, length = grammar.ids.shape
    wrong = np.repeat(grammar.ids, length * 26, 0).reshape(count, length, 26, length)
    for place in range(length):
        wrong[:, place, :, place] = (grammar.ids[:, place, None] + np.arange(1, 27)) % 27
    reading = READERS[level].read(torch.from_numpy(wrong.reshape(-1, length)))
    truth = np.repeat(grammar.combinations.codes, length * 26, 0)
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
        codes = read(level, edited).codes
        assert (codes == -1).all()


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
    assert (reading.codes == -1).all()
    assert dict(reading.reasons) == {0: reason}


def test_published_mistakes_are_not_repeated():
    """The published scorer counts "heartxxxxx" as right and reads "bigsmall square" as small (substring search)."""
    assert (read(2, "big heartxx").codes == -1).all()
    assert (read(2, "bigsmall square"[:13]).codes == -1).all()


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
