"""Small files in the layout of the publishers."""

import csv
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from molyneux.data import AGNews, DBpedia, YahooAnswers

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


@pytest.fixture(scope="session")
def foils():
    """The module that writes small files in the layouts of pictures with texts."""
    path = Path(__file__).with_name("foils.py")
    found = spec_from_file_location("foils", path)
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module
