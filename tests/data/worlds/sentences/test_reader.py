"""The reader accepts every sentence of a language, nothing else, and says why."""

import numpy as np
import pytest
import torch

from molyneux.core import ConfigError, SpecError
from molyneux.data import Letters, PartsOfSpeech, Ynoc
from molyneux.data.worlds.sentences.language import FiniteLanguage, WordGroup, template

YNOC = Ynoc(vocabulary="realistic", nuisances=["template"])
POS = PartsOfSpeech(nuisances=["structure", "kind"])
PLACES = PartsOfSpeech(factors="positions")


def written(world, text):
    """A sentence as a row of ids; nothing is added to it."""
    symbols, length = world.language.symbols, world.language.length
    ids = [symbols.index(word) for word in text.split(" ")]
    return torch.tensor([ids + [0] * (length - len(ids))])


def read(world, text):
    """What is read by factor, as words, and the reason."""
    reading = world.readers()["text"].read(written(world, text))
    values = [
        None if code < 0 else world.spec.factor(name).values[code]
        for name, code in zip(reading.factors, reading.codes[0], strict=True)
    ]
    return dict(zip(reading.factors, values, strict=True)), reading.reasons.get(0)


def test_sentences_are_read():
    codes, reason = read(POS, "although dogs want cats , big tigers really need foxes ! <eos>")
    assert reason is None
    assert codes == {
        "n.": "dogs cats tigers foxes",
        "v.": "want need",
        "adv.": "really",
        "adj.": "big",
        "prep.": None,
        "conj1.": "although",
        "conj2.": None,
        "end-punc.": "!",
        "structure": "conj1.+n.+v.+n.+comma+adj.+n.+adv.+v.+n.+end-punc.",
        "kind": "I",
    }
    assert read(PLACES, "dogs want cats . <eos>")[0]["n.2"] == "cats"
    assert read(YNOC, "Anna was an actor in Rome in 2015 . <eos>") == (
        {"year": "2015", "name": "Anna", "occupation": "actor", "city": "Rome", "template": "III"},
        None,
    )


@pytest.mark.parametrize(
    "world", [Letters(), YNOC, Ynoc(article="agreeing"), POS, PLACES], ids=["letters", "ynoc", "agreeing", "pos", "places"]
)
def test_random_rows_are_read_only_if_they_are_sentences(world):
    """One symbol changed: the reader accepts what it writes the same way again."""
    random = np.random.default_rng(0)
    batch = world.batch(np.arange(3000), split="train", seed=0)
    view = batch.views["text"].clone()
    columns = torch.from_numpy(random.integers(0, view.shape[1], 3000))
    view[torch.arange(3000), columns] = torch.from_numpy(random.integers(0, len(world.language.symbols), 3000)).to(view.dtype)
    reading = world.readers()["text"].read(view)
    accepted = torch.tensor([row not in reading.reasons for row in range(3000)])
    same = (view == batch.views["text"]).all(1)
    assert accepted[same].all()
    assert torch.equal(reading.codes[same], batch.factors[same])
    assert 0 < (accepted & ~same).sum() < 1500
    texts = {tuple(row) for row in view[accepted & ~same].tolist()}
    assert all(plain_check(world, [world.language.symbols[i] for i in row]) for row in texts)
    assert not any(plain_check(world, [world.language.symbols[i] for i in row]) for row in view[~accepted].tolist())
    assert all(isinstance(reading.reasons[row], str) and reading.reasons[row] != "it is a sentence" for row in reading.reasons)
    assert (reading.codes != batch.factors).any(1)[~accepted].all()


def plain_check(world, words):
    """Whether words are a sentence, by comparison with every form."""
    while words and words[-1] == "<pad>":
        words = words[:-1]
    if not words or words[-1] != "<eos>":
        return False
    return any(plain_fits(form, words[:-1]) for form in world.language.forms)


def plain_fits(form, words):
    if len(words) != len(form.places) or not all(word in place.words for word, place in zip(words, form.places, strict=True)):
        return False
    free = {place.group: (place, word) for place, word in zip(form.places, words, strict=True) if place.role == "free"}
    agree = all(
        place.words[free[place.group][0].words.index(free[place.group][1])] == word
        for place, word in zip(form.places, words, strict=True)
        if place.role == "agreeing"
    )
    own = [word for place, word in zip(form.places, words, strict=True) if place.role == "free"]
    return agree and len(set(own)) == len(own)


@pytest.mark.parametrize(
    ("world", "text", "reason", "lost"),
    [
        (POS, "dogs want dogs . <eos>", "word 3: 'dogs' is word 1 already, and words of n. differ in a sentence", {"n."}),
        (POS, "dogs want , . <eos>", "word 3: expected n., adj. or prep., got ','", {"n."}),
        (POS, "dogs of cats . <eos>", "word 2: expected v. or adv., got 'of'", {"v."}),
        (POS, "dogs want cats <eos>", "word 4: expected conj1., comma or end-punc., got '<eos>'", None),
        (POS, "dogs want cats .", "word 5: expected <eos>, got '<pad>'", None),
        (POS, "dogs want cats . <eos> dogs", "word 6: expected <pad>, got 'dogs'", None),
        (POS, "<bos> dogs want cats . <eos>", "word 1: expected n., adj. or conj1., got '<bos>'", set()),
        (
            YNOC,
            "Anna was a actor in Rome in 2015 . <eos>",
            "word 3: expected 'an', which agrees with 'actor', got 'a'",
            {"occupation"},
        ),
        (YNOC, "Anna was an actor in Emma in 2015 . <eos>", "word 6: expected city, got 'Emma'", {"city"}),
        (YNOC, "Anna was an actor in Rome of 2015 . <eos>".replace("of", "was"), "word 7: expected 'in', got 'was'", None),
    ],
)
def test_reasons(world, text, reason, lost):
    codes, found = read(world, text)
    assert found == reason
    true = {
        "n.": "dogs cats",
        "v.": "want",
        "end-punc.": ".",
        "year": "2015",
        "name": "Anna",
        "occupation": "actor",
        "city": "Rome",
    }
    absent = {"adv.", "adj.", "prep.", "conj1.", "conj2.", "structure", "kind", "template"}
    readable = {name for name in codes if name not in absent} - lost if lost is not None else set()
    if text.startswith("dogs want ,"):
        true["n."] = None
    assert {name for name, value in codes.items() if value is not None} == readable
    assert all(codes[name] == true[name] for name in readable)


def test_rows_that_are_no_rows():
    reader = POS.readers()["text"]
    reading = reader.read(torch.full((2, 13), 38))
    assert reading.reasons[1] == "word 1: its id is none of the 38 symbols"
    assert (reading.codes == -1).all()
    assert len(reader.read(torch.zeros(0, 13, dtype=torch.uint8)).codes) == 0
    with pytest.raises(SpecError, match=r"shape \(B, 13\), got \(2, 12\)"):
        reader.read(torch.zeros(2, 12))
    for dtype in (torch.float32, torch.bool):
        with pytest.raises(SpecError, match=f"^expected sentences as ids, which are integers, got {str(dtype)[6:]}"):
            reader.read(torch.zeros(2, 13, dtype=dtype))


def test_languages_that_cannot_be_read():
    groups = (WordGroup("who", ("Ann", "Bob")), WordGroup("whom", ("Bob", "Cid")))
    with pytest.raises(ConfigError, match="the word 'Bob' stands in who and in whom"):
        FiniteLanguage(groups, (template("{who} meets {whom}", groups, order=("who", "whom")),))
