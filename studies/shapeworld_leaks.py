"""Checks of leaks: what predictors know about agreement that see the text alone, or the picture alone."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from scipy.sparse import csr_matrix, hstack
from shapeworld_parts import PAPER, Part, Row, batches, interval
from sklearn.linear_model import LogisticRegression
from torch import nn

from molyneux.core import Batch, Source, Spec
from molyneux.data import ShapeWorld
from molyneux.data.worlds.shapeworld.kinds import KINDS
from molyneux.data.worlds.shapeworld.meaning.trees.programs import structures
from molyneux.learn import Training, fit
from molyneux.learn.predictors import PictureOnly, Predictor, TextOnly

STEPS = 400
"""Of the LSTM, in batches of 128."""

PUBLISHED = {
    ("multishape", "train"): 61.1,
    ("multishape", "validation"): 65.8,
    ("multishape", "test"): 66.8,
    ("spatial", "train"): 54.8,
    ("oneshape", "train"): 49.6,
    ("quantification", "train"): 75.3,
    ("quantification", "validation"): 77.1,
    ("quantification", "test"): 76.5,
}
"""Accuracy, %, of the majority label of each structure on captions of the published code, fitted on captions of training."""


@dataclass(frozen=True)
class Texts:
    """Captions with their agreement.

    Args:
        ids: (n, L) of words.
        lengths: (n,) words.
        structures: (n,) what captions are but for their shapes and colours.
        agrees: (n,) bool.
        change: (n,) codes of the factor `change`.
    """

    ids: np.ndarray
    lengths: np.ndarray
    structures: np.ndarray
    agrees: np.ndarray
    change: np.ndarray

    def batch(self, rows: np.ndarray) -> Batch:
        """Some of them as the model reads them."""
        targets = {"agreement": torch.from_numpy(self.agrees[rows].astype(np.int64))}
        lengths = {"text": torch.from_numpy(self.lengths[rows])}
        return Batch({"text": torch.from_numpy(self.ids[rows])}, lengths=lengths, targets=targets)

    def __len__(self) -> int:
        return len(self.agrees)


def world_of(kind: str, variant: str) -> ShapeWorld:
    """A world without pictures: their captions are the same."""
    return ShapeWorld(kind=kind, variant=variant, views=("text", "meaning"))  # type: ignore[arg-type]


def texts_of(world: ShapeWorld, count: int, *, split: str, seed: int, first: int = 0) -> Texts:
    """Captions of a split."""
    found = list(batches(world, count, split=split, seed=seed, first=first))
    column = world.spec.factor_index("change")
    return Texts(
        np.concatenate([batch.views["text"].numpy() for batch in found]),
        np.concatenate([batch.lengths["text"].numpy() for batch in found]),
        np.concatenate([structures(batch.views["meaning"].numpy().astype(np.int16)) for batch in found]),
        np.concatenate([batch.targets["agreement"].numpy() == 1 for batch in found]),
        np.concatenate([batch.factors[:, column].numpy() for batch in found]),
    )


class TextSource:
    """Captions as a source to train from."""

    in_memory = True

    def __init__(self, spec: Spec, texts: Texts) -> None:
        self.spec = Spec(tuple(m for m in spec.modalities if m.name == "text"), (), spec.targets)
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    def batch(self, indices: np.ndarray) -> Batch:
        """Captions by position."""
        return self._texts.batch(indices)


def table_answers(train: Texts, test: Texts) -> np.ndarray:
    """The majority label of each caption's structure, (n,) bool; of all captions for an unknown one."""
    known, rows = np.unique(train.structures, return_inverse=True)
    share = np.bincount(rows, train.agrees) / np.bincount(rows)
    place = np.minimum(np.searchsorted(known, test.structures), len(known) - 1)
    return np.where(known[place] == test.structures, share[place] > 0.5, train.agrees.mean() > 0.5)


def ngrams(texts: Texts, words: int) -> csr_matrix:
    """How often each word and each pair of neighbours occurs."""
    parts, ids = [], texts.ids.astype(np.int64)
    for values, kept, size in (
        (ids, ids > 0, words),
        (ids[:, :-1] * words + ids[:, 1:], (ids[:, :-1] > 0) & (ids[:, 1:] > 0), words * words),
    ):
        rows = np.nonzero(kept)[0]
        parts.append(csr_matrix((np.ones(len(rows)), (rows, values[kept])), shape=(len(ids), size)))
    return hstack(parts).tocsr()


def regression_answers(train: Texts, test: Texts, words: int) -> np.ndarray:
    """Answers of a logistic regression on words and pairs of neighbours, (n,) bool."""
    model = LogisticRegression(C=0.1, solver="liblinear", max_iter=50).fit(ngrams(train, words), train.agrees)
    return np.asarray(model.predict(ngrams(test, words)))


def lstm_answers(spec: Spec, train: Texts, test: Texts, *, steps: int, seed: int) -> np.ndarray:
    """Answers of the LSTM-only model of the paper, (n,) bool."""
    source = TextSource(spec, train)
    model = trained(TextOnly, source, steps=steps, seed=seed)
    return answers(model, [test.batch(rows) for rows in np.array_split(np.arange(len(test)), max(1, len(test) // 1000))])


def trained(make: type[Predictor], source: Source, *, steps: int, seed: int) -> nn.Module:
    """A predictor after a few steps in batches of 128."""
    torch.manual_seed(seed)
    model = make(source.spec)
    settings = Training(
        steps=steps, batch_size=128, schedule="constant", keep="last", tensorboard=False, threads=1, precision="32"
    )
    with tempfile.TemporaryDirectory() as folder:
        fit(model, source, None, settings, Path(folder), seed=seed)
    return model


def answers(model: nn.Module, parts: list[Batch]) -> np.ndarray:
    """What a predictor answers, (n,) bool."""
    with torch.no_grad():
        found = [model.predict(batch)["agreement"].probs > 0.5 for batch in parts]  # type: ignore[operator]
    return torch.cat(found).numpy()


def blind(world: ShapeWorld, train: Texts, test: Texts, *, quick: bool, seed: int) -> dict[str, np.ndarray]:
    """Answers of the three predictors that read the text alone."""
    words = len(world.spec.modality("text").symbols)
    return {
        "structures": table_answers(train, test),
        "n-grams": regression_answers(train, test, words),
        "LSTM": lstm_answers(world.spec, train, test, steps=5 if quick else STEPS, seed=seed),
    }


def leaks(*, size: int, seed: int, quick: bool) -> Iterator[Row]:
    """The three predictors on every kind, balanced; then on what the published samplers give."""
    for kind in KINDS:
        world = world_of(kind, "balanced")
        train = texts_of(world, size // 2, split="train", seed=seed)
        test = texts_of(world, size, split="train", seed=seed + 1000)
        yield row_of(world, "train", test, blind(world, train, test, quick=quick, seed=seed))
    for kind in PAPER:
        world = world_of(kind, "published")
        train = texts_of(world, size, split="train", seed=seed)
        for split in ("train", *(("validation", "test") if kind in ("multishape", "quantification") else ())):
            test = texts_of(world, size, split=split, seed=seed + 1000)
            row = row_of(world, split, test, blind(world, train, test, quick=quick, seed=seed))
            known = PUBLISHED.get((kind, split))
            yield row if known is None else {**row, "structures, published code, %": known}


def row_of(world: ShapeWorld, split: str, test: Texts, found: dict[str, np.ndarray]) -> Row:
    """The accuracies of predictors, and the interval of the best."""
    right = {name: int((answer == test.agrees).sum()) for name, answer in found.items()}
    shares = {f"{name}, %": 100 * count / len(test) for name, count in right.items()}
    best = max(right.values())
    return {
        "kind": world.kinds[0],
        "variant": world.variant,
        "split": split,
        "instances": len(test),
        **shares,
        "interval of the best": interval(best, len(test)),
        "true, %": 100 * float(test.agrees.mean()),
    }


def pictures(*, size: int, seed: int, quick: bool) -> Iterator[Row]:
    """A CNN that sees the picture alone, on the paper's data sets."""
    for variant in ("balanced", "published"):
        for kind in PAPER:
            world = ShapeWorld(kind=kind, variant=variant, views=("image",))  # type: ignore[arg-type]
            steps = 3 if quick else 200
            model = trained(PictureOnly, world.source("train", 128 * steps, seed=seed), steps=steps, seed=seed)
            right = 0
            for batch in batches(world, size, split="train", seed=seed + 1000, at_once=1000):
                right += int((answers(model, [batch]) == (batch.targets["agreement"].numpy() == 1)).sum())
            row: dict[str, str | int | float] = {"kind": kind, "variant": variant, "instances": size, "steps": steps}
            yield {**row, "CNN, %": 100 * right / size, "interval": interval(right, size)}


PARTS = (
    Part(
        "leaks",
        "Accuracy of predictors that read the caption alone, on new samples: the majority label of each structure (a caption "
        "without its shapes and colours), a logistic regression on words and pairs of neighbours, and the paper's LSTM "
        f"after {STEPS} steps of 128",
        leaks,
        50_000,
        400,
    ),
    Part("pictures", "Accuracy of the paper's CNN on the picture alone, on new samples", pictures, 4000, 100),
)
