"""Sentences from the command line in the published files."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from molyneux.data import Letters, PartsOfSpeech, export_sentences, load_sentences

Run = Callable[..., "subprocess.CompletedProcess[str]"]
SENTENCES = ("--format", "sentences", "--quiet")


def test_sentences_are_written_as_published(molyneux: Run, tmp_path: Path) -> None:
    done = molyneux("data", "pos", "--cap", 5, "--seed", 3, "--out", "mine", *SENTENCES)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("1,475 all samples of pos-v1 (seed 3) in mine: ")
    export_sentences(PartsOfSpeech(cap=5), tmp_path / "expected", seed=3)
    names = {"root.txt", "structure.txt", "vocab.txt", "train.txt", "valid.txt", "test.txt"}
    assert {path.name for path in (tmp_path / "mine").iterdir()} == names
    assert all((tmp_path / "mine" / name).read_bytes() == (tmp_path / "expected" / name).read_bytes() for name in names)
    assert set(load_sentences(tmp_path / "mine")) == {"train", "validation", "test"}


def test_settings_that_have_the_name_of_an_option_are_told_apart(molyneux: Run, tmp_path: Path) -> None:
    done = molyneux("data", "letters", "--world.split", "published", "--out", "mine", *SENTENCES)
    assert (done.returncode, done.stderr) == (0, "")
    export_sentences(Letters(split="published"), tmp_path / "expected")
    assert (tmp_path / "mine" / "test.txt").read_bytes() == (tmp_path / "expected" / "test.txt").read_bytes()


def test_what_was_written_is_told_to_machines(molyneux: Run, tmp_path: Path) -> None:
    words = ("--cap", 5, "--out", "mine", "--contact-sheet", "sheet.png", "--json")
    told = json.loads(molyneux("data", "pos", *words, *SENTENCES).stdout)
    assert told.pop("seconds") >= 0
    expected = {
        "world": "pos-v1",
        "split": "all",
        "seed": 1,
        "samples": 1475,
        "contact_sheet": "sheet.png",
        "out": "mine",
        "stored_before": False,
    }
    assert told == expected
    assert (tmp_path / "sheet.png").is_file()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("cdsprites", "--out", "x", *SENTENCES),
            "expected a world of sentences for --format sentences, got cdsprites-v1: choose one of hdf5, native, parquet, png",
        ),
        (
            ("letters", "--out", "x", "--split", "test", *SENTENCES),
            "--format sentences writes every sentence of all splits: leave",
        ),
        (("letters", "--out", "x", "--size", 10, *SENTENCES), "--format sentences writes every sentence of all splits: leave"),
        (("letters", *SENTENCES), "expected --out, a place for the samples"),
        (
            ("letters", "--out", "x", "--format", "sentence"),
            "argument --format: invalid choice: 'sentence'; did you mean \"sentences\"?",
        ),
    ],
)
def test_what_cannot_be_written_is_told_in_one_sentence(
    molyneux: Run, tmp_path: Path, words: tuple[object, ...], told: str
) -> None:
    done = molyneux("data", *words)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"molyneux: {told}")
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten_with_sentences(molyneux: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    done = molyneux("data", "pos", "--cap", 5, "--out", "mine", *SENTENCES)
    assert done.returncode == 2
    assert done.stderr == "molyneux: mine exists: choose another place with --out, or move it away\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("data", "pos", "--out", "x", "--on", "ray"), "--part, --on and addresses are of samples in shards"),
        (("data", "pos", "--out", "x", "--shards", 2, "--on", "nowhere"), "expected local, ray or the address of a Ray cluster"),
        (("measure", ".", "--jobs", 2), "--jobs: expected --on with a cluster"),
        (("measure", "--model", "a:b", "--data", "pos", "--on", "ray"), "--on: expected a run, which every machine opens"),
    ],
)
def test_a_cluster_is_named_where_it_can_help(molyneux: Run, tmp_path: Path, words: tuple[object, ...], said: str) -> None:
    done = molyneux(*words)
    assert done.returncode == 2
    assert said in done.stderr
    assert not list(tmp_path.iterdir())


def test_shards_in_the_format_of_another_tool(molyneux: Run, tmp_path: Path) -> None:
    arguments = ("data", "CdSprites", "--size", 20, "--shards", 2, "--format", "webdataset", "--out", "tar")
    for part in ("1/2", "2/2"):
        done = molyneux(*arguments, "--part", part)
        assert done.returncode == 0, done.stderr
    names = sorted(path.name for path in (tmp_path / "tar").iterdir())
    assert names == ["000000000000-000000000010.tar", "000000000010-000000000020.tar", "manifest.json"]
    done = molyneux(*arguments[:-3], "png", "--out", "x")
    assert "expected one of the formats native, parquet, webdataset" in done.stderr
