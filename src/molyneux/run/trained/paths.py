"""Samples go a path of generation, from one sense to the next, and what is read at its end is compared with what is true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from torch import Tensor

from molyneux.core import Batch, ConfigError, Factor, NotApplicableError, nearest, seeds, views
from molyneux.run.trained.given import given_of
from molyneux.run.trained.judged import RightShare
from molyneux.run.trained.model import TrainedModel

NOT_READ = "not read"
"""Stands for the value of a factor that a reader does not read."""


@dataclass(frozen=True)
class PathWalk:
    """What samples became along a path of generation.

    Args:
        path: modalities; the first is given, each other one is generated from the one before it.
        views: by place in the path, (N, *shape) in stored form.
        factor: which is read at the end.
        read: codes that were read, (N,); -1 where none was.
        truth: codes of the samples, (N,).
    """

    path: tuple[str, ...]
    views: tuple[Tensor, ...]
    factor: Factor
    read: np.ndarray
    truth: np.ndarray

    @property
    def right(self) -> np.ndarray:
        """Whether the true value was read, (N,) bool."""
        found: np.ndarray = (self.read == self.truth) & (self.read >= 0)
        return found

    @property
    def share(self) -> RightShare:
        """The share that is right."""
        return RightShare(float(self.right.mean()), len(self.right))

    @property
    def guess(self) -> float:
        """The share that uniform guessing among the values of the factor gives."""
        return 1.0 / len(self.factor.values)

    def said(self, row: int) -> str:
        """What was read of a sample."""
        return self.factor.values[int(self.read[row])] if self.read[row] >= 0 else NOT_READ

    def shares(self) -> tuple[tuple[str, float], ...]:
        """Each value of the factor with the share of samples it was read of, and what was not read, where anything was not."""
        counts = Counter(self.said(row) for row in range(len(self.read)))
        names = (*self.factor.values, *((NOT_READ,) if counts[NOT_READ] else ()))
        return tuple((name, counts[name] / len(self.read)) for name in names)

    def wrong_first(self) -> np.ndarray:
        """Places of all samples, (N,): the wrong ones first."""
        return np.argsort(self.right, kind="stable")


def walk_path(
    model: TrainedModel,
    samples: Batch,
    path: Sequence[str],
    factor: str,
    *,
    seed: int = 0,
    told: Callable[[float], object] = lambda share: None,
) -> PathWalk:
    """Generate along a path: `("image", "text", "touch")` gives pictures, writes texts from them, and makes touch of these texts.

    `measure.Transfer` measures the same over a split, with controls.

    Args:
        model: generates.
        samples: with factors and the first modality of the path.
        path: modalities, at least two.
        factor: is read at the end.
        seed: of what is drawn.
        told: is called with the share of the work that is done, and may raise to stop.

    Raises:
        ConfigError: unknown modalities or factor, or a path of fewer than two modalities.
        NotApplicableError: nothing reads the factor at the end of the path, or there are no samples.
    """
    path = tuple(path)
    if len(path) < 2:
        raise ConfigError(f"expected a path of at least two modalities, got {' → '.join(path) or 'none'}")
    for name in path:
        if name not in model.modalities:
            raise ConfigError(f"{model.name} has no modality {name!r}; {nearest(name, model.modalities)}")
    known = [item.name for item in model.spec.factors]
    if factor not in known:
        raise ConfigError(f"the samples of {model.name} have no factor {factor!r}; {nearest(factor, known)}")
    reader = next((item for item in model.readers.get(path[-1], ()) if factor in item.factors), None)
    if reader is None or samples.factors is None or not len(samples):
        raise NotApplicableError(f"expected samples, and a reader of {factor} in {path[-1]}, got none: nothing can be counted")
    now, found = samples, [samples.views[path[0]]]
    for leg, (source, target) in enumerate(pairwise(path)):
        told(leg / len(path))
        drawn = int(seeds.key(seed, "path", *path[: leg + 2])[0])
        made = model.generate(target, seed=drawn, raw=True, inputs=given_of(now, model.spec, (source,))).views[target]
        modality = model.spec.modality(target)
        written = modality.kind == "text" and modality.end is None and target in samples.lengths
        now = Batch({target: made}, lengths={target: views.text_lengths(modality, made)} if written else {})
        found.append(made)
    told((len(path) - 1) / len(path))
    read = reader.read(found[-1]).codes.numpy()[:, list(reader.factors).index(factor)]
    truth = samples.factors[:, model.spec.factor_index(factor)].numpy()
    return PathWalk(path, tuple(found), model.spec.factor(factor), read, truth)
