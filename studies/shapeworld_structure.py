"""What the captions of ShapeWorld give away by their form alone: a table of caption structures as a model.

    python studies/shapeworld_structure.py

The structure of a caption is its meaning with every colour and every shape replaced by "a colour" and "a shape": which quantifier
or relation it has, and which attributes it mentions, but not which values. For every structure the table answers what most
training captions of that structure are, whatever the picture. The record goes to `studies/results/shapeworld-structure`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch.distributions import Bernoulli, Distribution

from molyneux.core import Batch, Predicts, Spec
from molyneux.data import ShapeWorld, Split, SplitSource
from molyneux.data.worlds.shapeworld.meaning.trees.trees import SYMBOLS
from molyneux.measure import Breakdown, Evaluation, Prediction, evaluate
from molyneux.report import StudyRun, save_records

RESULTS = Path(__file__).parent / "results" / "shapeworld-structure" / "records.jsonl"
KINDS = ("oneshape", "multishape", "spatial", "quantification")
VARIANTS = ("published", "balanced")
SPLITS: tuple[Split, ...] = ("test", "train", "validation")
CHUNK = 4096


class Unseen:
    """The last samples of a source."""

    def __init__(self, source: SplitSource, size: int) -> None:
        self.source, self.size, self.spec = source, size, source.spec

    def __len__(self) -> int:
        return self.size

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions."""
        return self.source.batch(np.asarray(indices) + len(self.source) - self.size)


class StructureTable:
    """Predicts agreement from the structure of the caption alone; satisfies `core.Predicts`.

    Args:
        spec: of samples with the view `meaning`.
    """

    def __init__(self, spec: Spec) -> None:
        kinds = [SYMBOLS[name].kind if name in SYMBOLS else name for name in spec.modality("meaning").symbols]
        words = [kind if kind in ("colour", "shape") else str(code) for code, kind in enumerate(kinds)]
        self._classes = np.unique(words, return_inverse=True)[1]
        self._counts: dict[bytes, np.ndarray] = {}

    def fit(self, batch: Batch) -> None:
        """Count the true and the false captions of every structure."""
        for structure, truth in zip(self._structures(batch), batch.targets["agreement"].tolist(), strict=True):
            self._counts.setdefault(structure, np.zeros(2))[truth] += 1

    def predict(self, batch: Batch, observed: tuple[str, ...] | None = None) -> dict[str, Distribution]:
        """The share of true captions among those of the same structure; half for one that was never seen."""
        shares = [
            (self._counts.get(key, np.zeros(2)) + 0.5) / (self._counts.get(key, np.zeros(2)).sum() + 1)
            for key in self._structures(batch)
        ]
        return {"agreement": Bernoulli(probs=torch.tensor([share[1] for share in shares]))}

    def _structures(self, batch: Batch) -> list[bytes]:
        return [row.tobytes() for row in self._classes[batch.views["meaning"].long().numpy()].astype(np.uint8)]


def study_run(kind: str, variant: str, *, train: int, test: int, seed: int) -> StudyRun:
    """Fit the table and measure it on three splits."""
    world = ShapeWorld(kind=kind, variant=variant, views=("meaning",))
    source = world.source("train", train + test, seed=seed)
    model = StructureTable(world.spec)
    for start in range(0, train, CHUNK):
        model.fit(source.batch(np.arange(start, min(start + CHUNK, train))))
    return measured("captions' structure", model, world, SPLITS, train=train, test=test, seed=seed, chunk=CHUNK)


def measured(
    name: str,
    model: Predicts,
    world: ShapeWorld,
    splits: Sequence[Split],
    *,
    train: int,
    test: int,
    seed: int,
    chunk: int,
) -> StudyRun:
    """The record of a model that was trained on the first `train` samples, on `test` others of each split."""
    origin = {"world": world.name, "settings": dict(world.settings), "seed": seed}
    evaluations = [
        Evaluation(
            model,
            Unseen(world.source("train", train + test, seed=seed), test)
            if split == "train"
            else world.source(split, test, seed=seed),
            about={} if split == splits[0] else {"split": split},
            seed=seed,
            samples=test,
            batch_size=chunk,
            origin={**origin, "split": split},
        )
        for split in splits
    ]
    crossed = (("truth", "nouns"), ("truth", "symbol"))
    found = evaluate([Prediction(alone=False), Breakdown(crossed=crossed)], evaluations)
    place = "data.world.init_args"
    settings = {"name": name, "seed": seed, "data.world.class_path": "molyneux.data.ShapeWorld"}
    made = {f"{place}.kind": world.settings["kind"][0], f"{place}.variant": world.settings["variant"], "data.train": train}
    return StudyRun({**settings, **made}, found.scores)


def print_accuracy(run: StudyRun, kind: str, variant: str) -> None:
    """Print the accuracy on each split."""
    for score in run.scores:
        if score.name == "prediction.accuracy":
            print(kind, variant, score.about.get("split", SPLITS[0]), round(score.value or 0.0, 2), flush=True)


def main() -> None:
    """Make the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS, help="file of the record (default: %(default)s)")
    parser.add_argument("--train", type=int, default=50_000, help="captions that the table counts (default: %(default)s)")
    parser.add_argument(
        "--test", type=int, default=20_000, help="captions of each split it is measured on (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, help="root of every random number (default: %(default)s)")
    options = parser.parse_args()
    runs = []
    for kind in KINDS:
        for variant in VARIANTS:
            runs.append(study_run(kind, variant, train=options.train, test=options.test, seed=options.seed))
            print_accuracy(runs[-1], kind, variant)
    save_records(options.out, runs)


if __name__ == "__main__":
    main()
