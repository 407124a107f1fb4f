"""Sentences go to the published files and come back; the published files come out byte for byte."""

import hashlib

import numpy as np
import pytest
import torch

from molyneux.core import ConfigError, ConflictError, DataError, StoreError
from molyneux.data import Letters, PartsOfSpeech, Ynoc, export_sentences, load_sentences

SMALL = {
    "root.txt": "who: Ann Bob\nwhat: tea milk\nmark: .\n",
    "vocab.txt": "likes\nAnn\nBob\nmilk\ntea\n.\nto\ndrink",
    "train.txt": "Ann likes tea .\nBob likes drink milk .\n",
    "test.txt": "Ann likes milk .\n",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in SMALL.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def digest(path):
    return hashlib.md5(path.read_bytes()).hexdigest()[:8]


@pytest.mark.parametrize(
    ("world", "digests"),
    [
        (Letters(split="published"), {"test": "989e86d6"}),
        (Ynoc(split="published"), {"train": "e75e9cf1", "valid": "cd8d6835", "test": "ee4aabbd", "vocab": "7384c51b"}),
    ],
    ids=["letters", "ynoc"],
)
def test_published_files(tmp_path, world, digests):
    export_sentences(world, tmp_path / "out", seed=8)
    assert {name: digest(tmp_path / "out" / f"{name}.txt") for name in digests} == digests
    test = load_sentences(tmp_path / "out")["test"]
    rows = np.arange(0, len(test), 100)
    assert torch.equal(test.batch(rows).factors, world.batch(rows, split="test", seed=0).factors)


@pytest.mark.parametrize("factors", ["ordered", "positions"])
def test_there_and_back(tmp_path, factors, same):
    world = PartsOfSpeech(cap=20, factors=factors, nuisances=["structure"])
    told = []
    export_sentences(world, tmp_path / "a", seed=4, chunk=77, progress=told.append)
    export_sentences(world, tmp_path / "b", seed=4)
    assert sum(told) == sum(world.splits.values())
    assert all(digest(path) == digest(tmp_path / "b" / path.name) for path in (tmp_path / "a").iterdir())
    for path in (tmp_path / "a").iterdir():
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    found = load_sentences(tmp_path / "a", factors=factors, nuisances=["structure"])
    for split, size in world.splits.items():
        assert found[split].spec == world.spec
        assert same(found[split].batch(np.arange(size)), world.batch(np.arange(size), split=split, seed=4))
    with pytest.raises(ConflictError, match="exists: choose"):
        export_sentences(world, tmp_path / "a")
    with pytest.raises(ConfigError, match="chunk of at least 1"):
        export_sentences(world, tmp_path / "c", chunk=0)


def test_own_files(folder):
    found = load_sentences(folder)
    assert set(found) == {"train", "test"}
    spec = found["test"].spec
    assert spec.modality("text").symbols[3:] == ("likes", "Ann", "Bob", "milk", "tea", ".", "to", "drink")
    assert [(factor.name, factor.values) for factor in spec.factors] == [("who", ("Ann", "Bob")), ("what", ("tea", "milk"))]
    batch = found["train"].batch(np.array([1, 0]))
    assert batch.views["text"].tolist() == [[5, 3, 10, 6, 8, 2], [4, 3, 7, 8, 2, 0]]
    assert batch.factors.tolist() == [[1, 1], [0, 0]]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("test.txt", "Ann likes tea .\nAnn likes teas .\n", "test.txt, line 2: 'teas' is not in vocab.txt; did you mean \"tea\""),
        ("test.txt", "Ann likes  tea .\n", "test.txt, line 1: expected words with single spaces"),
        ("test.txt", "Ann likes tea .\n\n", "test.txt, line 2: expected words with single spaces"),
        ("test.txt", "", "test.txt is empty"),
        ("test.txt", b"\xff\n", "expected text in UTF-8"),
        ("vocab.txt", "likes\nlikes\n", "vocab.txt, line 2: expected one word, and none twice, got 'likes'"),
        ("vocab.txt", "likes\nAnn\tBob\n", "vocab.txt, line 2: expected one word, and none twice, got 'Ann.tBob'"),
        ("vocab.txt", "likes\nAnn\u2003Bob\n", "vocab.txt, line 2: expected one word, and none twice, got 'Ann.u2003Bob'"),
        ("vocab.txt", "likes\nAnn\n", "expected all words of root.txt, got none of Bob, tea"),
        ("root.txt", "who Ann Bob\n", "root.txt, line 1: expected 'factor: word word ...', got 'who Ann Bob'"),
        ("root.txt", "who: Ann\nwho: Bob\n", "no two of one name"),
        ("root.txt", "who: Ann Bob\nwhom: Bob\n", "the word 'Bob' stands in who and in whom"),
        ("structure.txt", "who+what+marks\n", "structure.txt, line 1: 'marks' is no factor of root.txt; did you mean \"mark\""),
        ("structure.txt", "\n", "structure.txt, line 1: '' is no factor"),
        ("structure.txt", "who+what+mark\n", "train.txt, line 1: expected at most 3 words"),
        ("structure.txt", "who+what+who+what+mark\n", "train.txt, line 1: word 2: expected what, got 'likes'"),
        ("structure.txt", "who+who+who+mark\n", "the form 'who who who mark' has no sentences"),
    ],
)
def test_files_that_cannot_be_used(folder, name, text, message):
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError, match=message.replace("(", r"\(")):
        load_sentences(folder)


def test_repeated_words_are_found(folder):
    (folder / "train.txt").write_text("Ann likes Bob .\nAnn likes Ann .\n")
    with pytest.raises(DataError, match=r"train.txt, line 2: word 3: 'Ann' is word 1 already, and words of who differ"):
        load_sentences(folder)


def test_files_that_are_not_there(folder):
    with pytest.raises(ConfigError, match="unknown nuisance 'structure'"):
        load_sentences(folder, nuisances=["structure"])
    with pytest.raises(ConfigError, match="factors: expected one of ordered, positions, got 'order'"):
        load_sentences(folder, factors="order")
    (folder / "vocab.txt").unlink()
    with pytest.raises(StoreError, match=r"vocab\.txt"):
        load_sentences(folder)
    with pytest.raises(StoreError, match=r"root\.txt"):
        load_sentences(folder / "nowhere")


@pytest.mark.parametrize("definition", ["ordered", "positions"])
def test_sentences_without_a_factor_of_two_words_are_read(folder, definition):
    (folder / "root.txt").write_text("who: Ann\nwhat: tea\n")
    (folder / "test.txt").write_text("Ann likes tea\nAnn likes drink milk\n")
    (folder / "train.txt").unlink()
    source = load_sentences(folder, factors=definition)["test"]
    assert source.spec.factors == ()
    batch = source.batch(np.arange(2)).check(source.spec)
    assert batch.views["text"].tolist() == [[4, 3, 7, 2, 0], [4, 3, 10, 6, 2]]
    assert batch.factors.shape == (2, 0)


def test_byte_order_marks_belong_to_no_word(folder, same):
    (folder / "structure.txt").write_text("who+verb+what+mark\n")
    (folder / "root.txt").write_text("who: Ann Bob\nverb: likes\nwhat: tea milk\nmark: .\n")
    (folder / "train.txt").write_text("Ann likes tea .\nBob likes milk .\n")
    plain = load_sentences(folder, nuisances=["structure"])
    for path in folder.iterdir():
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    marked = load_sentences(folder, nuisances=["structure"])
    assert [factor.name for factor in marked["train"].spec.factors] == ["who", "what", "structure"]
    assert marked["train"].spec == plain["train"].spec
    assert all(same(marked[split].batch(np.arange(1)), plain[split].batch(np.arange(1))) for split in plain)


def test_a_text_in_place_of_a_list_of_nuisances_is_one_mistake(folder):
    for make in (
        lambda: load_sentences(folder, nuisances="structure"),
        lambda: PartsOfSpeech(nuisances="structure"),
        lambda: Ynoc(nuisances="structure"),
    ):
        with pytest.raises(ConfigError) as caught:
            make()
        (problem,) = caught.value.problems
        assert "nuisances: expected" in problem
        assert "names, got the text 'structure': write [" in problem
