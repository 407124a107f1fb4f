"""Checks of foils: blind predictors of the text, a reader that knows the semantics, and random scores, by kind of foil."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

import numpy as np
import torch
from shapeworld_leaks import blind, texts_of, world_of
from shapeworld_parts import Part, Row, batches
from torch.distributions import Bernoulli, Distribution

from molyneux.core import Batch, Predicts
from molyneux.data import ShapeWorld
from molyneux.data.worlds.shapeworld.kinds import KINDS

CHANCE = {"text": 25.0, "image": 25.0, "group": 100 / 6}
"""Scores of random numbers, %: Thrush et al., Winoground (CVPR 2022), table 3."""


class PerfectReader:
    """The semantics as a model: it reads the entities of the scene and parses the caption."""

    def __init__(self, world: ShapeWorld) -> None:
        self.world = world

    def predict(self, batch: Batch, observed: Collection[str] | None = None) -> dict[str, Distribution]:
        """Sure of what the semantics says."""
        return {"agreement": Bernoulli(logits=10.0 * self.world.evaluate(batch).float())}


class RandomScorer:
    """Random numbers, whatever the sample is."""

    def __init__(self, seed: int) -> None:
        self._generator = torch.Generator().manual_seed(seed)

    def predict(self, batch: Batch, observed: Collection[str] | None = None) -> dict[str, Distribution]:
        """Random logits."""
        return {"agreement": Bernoulli(logits=torch.randn(len(batch), generator=self._generator))}


def set_scores(scores: np.ndarray) -> dict[str, np.ndarray]:
    """Which sets are right by text, image and group score, (n,) bool each, of scores (n, 2, 2) of picture and caption.

    Thrush et al. (2022), equations 1 to 3: each caption agrees more with its picture than the other caption does, each picture
    more with its caption than the other picture does, and both.
    """
    own, other = np.stack([scores[:, 0, 0], scores[:, 1, 1]], 1), (scores[:, 0, 1], scores[:, 1, 0])
    text = (own > np.stack(other, 1)).all(1)
    image = (own > np.stack(other[::-1], 1)).all(1)
    return {"text": text, "image": image, "group": text & image}


def foils(*, size: int, seed: int, quick: bool) -> Iterator[Row]:
    """All kinds of captions, so many instances of each; rows by kind of foil."""
    found: dict[str, dict[str, list[np.ndarray]]] = defaultdict(lambda: defaultdict(list))
    for kind in KINDS:
        size = size // 4 * 4
        blind_world = world_of(kind, "foils")
        train = texts_of(blind_world, size // 8 * 4, split="train", seed=seed)
        test = texts_of(blind_world, size, split="train", seed=seed + 1000)
        changes = blind_world.spec.factor("change").values
        for name, answer in blind(blind_world, train, test, quick=quick, seed=seed).items():
            for code, change in enumerate(changes):
                found[change][name].append((answer == test.agrees)[test.change == code])
        for name, right in read(kind, size // 2, seed=seed).items():
            for code, change in enumerate(changes):
                found[change][name].append(right[test.change[: size // 2 : 4] == code])
    for columns in list(found.values()):
        for name, parts in columns.items():
            found["all"][name] += parts
    for change, columns in sorted(found.items()):
        shares = {name: np.concatenate(parts) for name, parts in columns.items()}
        count = len(shares["structures"])
        if count:
            yield {"foil": change, "instances": count, **{f"{name}, %": 100 * float(np.mean(a)) for name, a in shares.items()}}


def read(kind: str, size: int, *, seed: int) -> dict[str, np.ndarray]:
    """Which sets the perfect reader and random scores get right, by score."""
    world = ShapeWorld(kind=kind, variant="foils", views=("text", "scene"))  # type: ignore[arg-type]
    models: dict[str, Predicts] = {
        "perfect reader": PerfectReader(world),
        "random": RandomScorer(100 * seed + list(KINDS).index(kind)),
    }  # type: ignore[arg-type]
    scores: dict[str, list[np.ndarray]] = defaultdict(list)
    for batch in batches(world, size, split="train", seed=seed + 1000):
        for name, model in models.items():
            scores[name].append(model.predict(batch)["agreement"].logits.numpy())  # type: ignore[attr-defined]
    return {
        f"{name}, {score}": right
        for name, parts in scores.items()
        for score, right in set_scores(np.concatenate(parts).reshape(-1, 2, 2)).items()
    }


PARTS = (
    Part(
        "foils",
        "By kind of foil, over all kinds of captions: accuracy of the three predictors that read the caption alone; and text, "
        "image and group score of a reader that evaluates the caption on the scene, and of random numbers (chance: 25, 25 "
        "and 16.7 %)",
        foils,
        4000,
        400,
    ),
)
