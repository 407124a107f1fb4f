"""Labelled texts against a second implementation with Python's csv and re, on small files of the published layout."""

import csv
import json
import os
import pickle
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from molyneux.core import ConfigError, DataError, Dataset, Spec, StoreError, views
from molyneux.data import AGNews, DBpedia, YahooAnswers, load
from molyneux.data.benchmarks.texts.text_samples import SPECIAL, divided
from molyneux.data.formats.labelled_text_files import read_labels

SPLITS = ("train", "validation", "test")
FIELDS = {AGNews: 2, DBpedia: 2, YahooAnswers: 3}
CLASSES = {AGNews: 4, DBpedia: 14, YahooAnswers: 10}
WORDS = np.array(
    [
        *(f"word{number}" for number in range(40)),
        'He said "hi",',
        "naïve",
        "Zürich",
        "don't",
        "3.5%",
        "two\\nlines",
        "back\\slash",
        "",
    ]
)


def write(kind, folder, *, train=30, test=20, seed=0):
    """Files of `train` and `test` rows a class; the first word of a row is its number in the file."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    for name, each in (("train", train), ("test", test)):
        if each:
            labels = rng.permutation(np.repeat(np.arange(CLASSES[kind]), each))
            with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as stream:
                writer = csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n")
                for row, label in enumerate(labels):
                    texts = [" ".join(rng.choice(WORDS, rng.integers(0, 12))) for _ in range(FIELDS[kind] - 1)]
                    writer.writerow([label + 1, f"{name}{row}", *texts])
    (folder / "classes.txt").write_text("\n".join(f"Class {number}" for number in range(CLASSES[kind])) + "\n")
    return folder


@pytest.fixture(params=FIELDS, ids=lambda kind: kind.__name__)
def kind(request):
    return request.param


@pytest.fixture
def files():
    return write


def plain(path, line_break):
    """Rows of a file as (class, words)."""
    with path.open(encoding="utf-8", newline="") as stream:
        for label, *fields in csv.reader(stream):
            text = " ".join(fields).lower().replace(line_break, " ")
            yield int(label) - 1, re.findall(r"[^\W_]+|[^\w\s]|_", text)


def shown_texts(world, split, seed=0):
    """By sample its class and its words as shown."""
    batch = world.batch(np.arange(world.splits[split]), split=split, seed=seed)
    shown = views.text_strings(world.spec.modality("text"), batch.views["text"])
    return batch.targets["label"].tolist(), [text.split() for text in shown]


def rows_of(world):
    """By split the rows of its files, as (file, number)."""
    names = [name for name in ("train.csv", "test.csv") if (world.folder / name).is_file()]
    labels = {name: read_labels(world.folder / name, world.columns, classes=world.classes) for name in names}
    settings = world.settings
    limits = settings["per_class"] and tuple(settings["per_class"])
    parts = divided(labels, classes=world.classes, limits=limits, name=world.name, seed=settings["split_seed"])
    return {split: {(file, int(row)) for row in rows} for split, (file, rows) in parts.items()}


def test_words_and_classes_are_those_of_a_second_implementation(kind, files, tmp_path):
    world = kind(folder=files(kind, tmp_path), words=50, length=9, per_class=(20, 2, 11))
    rows = {name: list(plain(tmp_path / name, world.line_break)) for name in ("train.csv", "test.csv")}
    parts = {split: [rows[file][row] for file, row in part] for split, part in rows_of(world).items()}
    counts = Counter(word for _, words in parts["train"] for word in words[:9])
    vocabulary = sorted(counts, key=lambda word: (-counts[word], word))[:50]
    assert world.spec.modality("text").symbols == (*SPECIAL, *vocabulary)
    for split, part in parts.items():
        expected = Counter((label, *(word if word in vocabulary else "<unk>" for word in words[:9])) for label, words in part)
        labels, texts = shown_texts(world, split)
        assert Counter((label, *words) for label, words in zip(labels, texts, strict=True)) == expected
        assert np.bincount(labels).tolist() == len(world.spec.target("label").symbols) * [
            {"train": 20, "validation": 2, "test": 11}[split]
        ]


def test_no_row_is_in_two_splits_and_smaller_limits_give_some_of_the_same(files, tmp_path):
    folder = files(AGNews, tmp_path)
    whole, some = rows_of(AGNews(folder=folder, per_class=None)), rows_of(AGNews(folder=folder, per_class=(20, 2, 11)))
    assert [len(whole[split]) for split in SPLITS] == [4 * 27, 4 * 3, 4 * 20]
    assert len(set.union(*whole.values())) == 4 * 50
    assert all(some[split] < whole[split] for split in SPLITS)
    assert rows_of(AGNews(folder=folder, split_seed=1))["train"] != whole["train"]
    assert {file for file, _ in whole["train"] | whole["validation"]} == {"train.csv"}
    assert {file for file, _ in whole["test"]} == {"test.csv"}


def test_a_test_file_alone_is_divided(files, tmp_path):
    folder = files(AGNews, tmp_path, train=0, test=25)
    parts = rows_of(AGNews(folder=folder))
    assert [len(parts[split]) for split in SPLITS] == [4 * 15, 4 * 5, 4 * 5]
    assert len(set.union(*parts.values())) == 100


def test_samples_are_the_same_in_any_order_and_process(kind, files, tmp_path):
    world = kind(folder=files(kind, tmp_path))
    source = world.source("train", 40, seed=3)
    batch = source.batch(np.arange(40)).check(world.spec)
    assert batch.factors is None
    assert batch.targets["label"].max() < len(world.spec.target("label").symbols)
    assert isinstance(world, Dataset)
    other = pickle.loads(pickle.dumps(source))
    assert len(pickle.dumps(source)) < 2_000
    assert torch.equal(other.batch(np.array([7, 0, 7])).views["text"], batch.views["text"][[7, 0, 7]])
    assert load(source).batch(np.arange(40)).views["text"].equal(batch.views["text"])
    assert Spec.from_json(json.loads(json.dumps(world.spec.to_json()))) == world.spec
    first, second = (shown_texts(world, "test", seed)[1] for seed in (1, 2))
    assert first != second
    assert sorted(first) == sorted(second)


def test_long_texts_are_cut_without_an_end_and_empty_ones_are_an_end(tmp_path):
    (tmp_path / "classes.txt").write_text("a\nb\nc\nd\n")
    rows = [f'"{label}","","{text}"' for label in range(1, 5) for text in ("", "one two three four", "one two three", "one")]
    (tmp_path / "test.csv").write_text("\n".join(10 * rows) + "\n")
    world = AGNews(folder=tmp_path, length=3)
    batch = world.batch(np.arange(world.splits["train"]), split="train", seed=0)
    text = world.spec.modality("text")
    assert text.symbols == (*SPECIAL, "one", "three", "two")
    found = {tuple(row) for row in batch.views["text"].tolist()}
    assert found == {(2, 0, 0), (4, 6, 5), (4, 2, 0)}
    assert (text.padding, text.start, text.end) == (0, 1, 2)


def test_a_byte_order_mark_belongs_to_no_class(files, tmp_path):
    folder = files(AGNews, tmp_path)
    (folder / "classes.txt").write_text("a\nb\nc\nd\n", encoding="utf-8-sig")
    assert AGNews(folder=folder).spec.target("label").symbols == ("a", "b", "c", "d")


def test_fields_are_chosen(files, tmp_path):
    folder = files(YahooAnswers, tmp_path)
    world = YahooAnswers(folder=folder, fields=("best_answer", "question_title"))
    assert {words[-1][:4] for words in shown_texts(world, "validation")[1]} <= {"trai", "<unk"}
    assert world.settings["fields"] == ["best_answer", "question_title"]


def test_settings_know_the_files_but_not_their_place(files, tmp_path):
    one, other = (AGNews(folder=files(AGNews, tmp_path / name)) for name in ("one", "other"))
    assert one.settings == other.settings
    assert json.loads(json.dumps(one.settings)) == one.settings
    assert str(tmp_path) not in json.dumps(one.settings)
    files(AGNews, tmp_path / "other", seed=1)
    assert one.settings["files"] != other.settings["files"]


def test_folders_are_found_by_the_variable(files, tmp_path, monkeypatch):
    monkeypatch.setenv("MOLYNEUX_DATA", str(tmp_path))
    files(DBpedia, tmp_path / "dbpedia_csv")
    assert DBpedia().splits["train"] == 14 * 27
    with pytest.raises(
        StoreError, match=rf"expected test.csv, classes.txt \(and train.csv, .*\) in {tmp_path}/ag-news, .*as ag_news_csv"
    ):
        _ = AGNews().spec
    monkeypatch.delenv("MOLYNEUX_DATA")
    with pytest.raises(ConfigError, match="set MOLYNEUX_DATA to one that holds it as yahoo-answers"):
        _ = YahooAnswers().spec
    assert YahooAnswers().name == "yahoo-answers-v1"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('"class","title","description"\n', "row 1: expected a class from 1 to 4 and no line of titles, got 'class'"),
        ('"1","a","b"\n"5","a","b"\n', "row 2: expected a class from 1 to 4 and no line of titles, got '5'"),
        ('"1","a","b"\n"2","a"\n', "expected rows of quoted fields, separated by commas"),
        (b'"1","a","\xff\xfe"\n', "expected rows of quoted fields, separated by commas, in UTF-8"),
        ("", "expected rows of quoted fields"),
    ],
)
def test_files_that_are_something_else_are_refused(content, complaint, files, tmp_path):
    folder = files(AGNews, tmp_path)
    (folder / "test.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=re.escape(f"{folder / 'test.csv'}") + ".*" + complaint):
        _ = AGNews(folder=folder).splits


WHOLE = b'"1","a b","He said ""hi"",\r\nand left"\n"2","c","""quoted"""\r\n3,5" disk,no quotes\n"4","","end"'


@pytest.mark.parametrize("ending", [b"", b"\n", b"\r\n", b'\n"1","x","says ""so"""', b'\n4,an 8" disk,plain', b'\n"1","x",""'])
@pytest.mark.parametrize("block", [1, 7, 1 << 20])
def test_whole_files_are_read_whatever_their_quotes(files, tmp_path, monkeypatch, ending, block):
    monkeypatch.setattr("molyneux.data.formats.labelled_text_files._SCANNED", block)
    folder = files(AGNews, tmp_path)
    (folder / "train.csv").unlink()
    (folder / "test.csv").write_bytes(WHOLE + ending)
    rows = 4 + (len(ending) > 2)
    assert len(read_labels(folder / "test.csv", ("title", "description"), classes=4)) == rows


@pytest.mark.parametrize("block", [1, 7, 1 << 20])
@pytest.mark.parametrize(
    ("cut", "line"),
    [
        (b'\n"1","abc","de', 7),
        (b'\n"1","abc","de\n', 7),
        (b'\n"1","abc","', 7),
        (b'\n"1","abc","say ""so""', 7),
        (b'\n"1","abc","one\ntwo\nthree', 7),
        (b'\n"1","abc","it"\n"1', 8),
        (b'\n3,5" disk,"de', 7),
    ],
)
def test_a_file_that_was_cut_within_quotes_is_refused(files, tmp_path, monkeypatch, cut, line, block):
    monkeypatch.setattr("molyneux.data.formats.labelled_text_files._SCANNED", block)
    folder = files(AGNews, tmp_path)
    (folder / "test.csv").write_bytes(b"\n".join([WHOLE.replace(b"4", b"1"), b'"2","a","b"']) + cut)
    told = f"{folder / 'test.csv'}, line {line}: expected a quote that closes the field before the end of the file, got none"
    with pytest.raises(DataError, match=f"^{re.escape(told)}"):
        _ = AGNews(folder=folder).splits


def test_classes_that_do_not_fit_are_refused(files, tmp_path):
    folder = files(AGNews, tmp_path)
    (folder / "classes.txt").write_text("a\nb\n")
    with pytest.raises(DataError, match="expected 4 classes, one a line and none twice, got 2 lines"):
        _ = AGNews(folder=folder).spec


def test_bad_settings_are_told_at_once():
    with pytest.raises(ConfigError) as caught:
        AGNews(fields=("titel",), words=0, length=0, per_class=(1, 0, 1))
    assert len(caught.value.problems) == 4
    assert 'did you mean "title"' in caught.value.problems[0]
    with pytest.raises(ConfigError) as caught:
        AGNews(fields="title")
    assert caught.value.problems == ("fields: expected a list of names, got the text 'title': write [title]",)


def test_samples_outside_of_a_split_are_refused(files, tmp_path):
    world = AGNews(folder=files(AGNews, tmp_path))
    with pytest.raises(ConfigError, match="at most the 12 samples of the split validation, got a size of 13"):
        world.source("validation", 13, seed=0)
    with pytest.raises(DataError, match="of its 12 samples"):
        world.batch(np.array([12]), split="validation", seed=0)
    with pytest.raises(ConfigError, match="holds no combination out"):
        world.source("heldout", 1, seed=0)


@pytest.mark.realdata
@pytest.mark.skipif("MOLYNEUX_DATA" not in os.environ, reason="MOLYNEUX_DATA is not set")
def test_ag_news_as_published():
    world = AGNews()
    if (world.folder / "train.csv").is_file():
        pytest.skip("the division of a test file alone is looked at")
    assert world.splits == {"train": 4560, "validation": 1520, "test": 1520}
    assert world.spec.target("label").symbols == ("World", "Sports", "Business", "Sci/Tech")
    assert world.spec.modality("text").symbols[4:10] == (".", "the", ",", "-", "to", "a")
    texts = [text for split in SPLITS for text in map(tuple, shown_texts(world, split)[1])]
    assert len(set(texts)) > 0.999 * 7600
    rows = list(plain(Path(world.folder, "test.csv"), "\\"))
    assert Counter(label for label, _ in rows) == dict.fromkeys(range(4), 1900)
    cut = Counter(len(words) > 64 for _, words in rows)
    assert sum(len(text) == 64 for text in texts) >= cut[True]
