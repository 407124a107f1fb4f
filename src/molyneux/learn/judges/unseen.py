"""Ghosts of recipes that no judge learns from: they tell whether refusing was learnt, or ghosts were learnt by heart.

Medians come near to recast ghosts, and of foreign shapes the disc is taught where a world has no circle; `Defocused` and the
other shapes are new to a judge.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Batch, Source, Spec, views
from molyneux.learn.judges.augment import blur
from molyneux.learn.judges.ghosts import Ghosts, answers
from molyneux.learn.judges.legibility import NOT_TAUGHT
from molyneux.learn.judges.lesson import codes_of, recode
from molyneux.learn.judges.wreckage import Material

_SIGMA = 8
"""Pixels of standard deviation of what is out of focus: a third of a big object."""


class Medians:
    """Medians in place of means, a `Source`: of the ghosts with at least five members of equal weight. Their edges are sharp.

    Args:
        ghosts: whose members are taken.
        source: whose views the members are.
        modality: name of the modality.
    """

    def __init__(self, ghosts: Ghosts, source: Source, modality: str) -> None:
        counts = (ghosts.weights > 0).sum(1)
        self._rows = np.flatnonzero((counts >= 5) & np.isclose(ghosts.weights[:, 0] * counts, 1))
        self._ghosts, self._source, self._modality = ghosts, source, source.spec.modality(modality)

    @property
    def spec(self) -> Spec:
        """That of the ghosts."""
        return self._ghosts.spec

    def __len__(self) -> int:
        return len(self._rows)

    def batch(self, indices: np.ndarray) -> Batch:
        """The medians at these positions."""
        rows = self._rows[indices]
        medians = [self._median(self._ghosts.members[row, self._ghosts.weights[row] > 0]) for row in rows]
        stored = views.to_stored(self._modality, torch.stack(medians))
        return Batch({self._modality.name: stored}, factors=torch.from_numpy(self._ghosts.codes[rows]))

    def _median(self, members: np.ndarray) -> Tensor:
        view = self._source.batch(members).views[self._modality.name]
        return views.to_model(self._modality, view).median(0).values


class Defocused:
    """Pictures out of focus, a `Source`: no form of an object can be told in them.

    Args:
        material: whose true views are blurred.
        modality: name of the modality, of kind image.
        factors: names of the factors that a judge reads.
    """

    def __init__(self, material: Material, modality: str, factors: Sequence[str]) -> None:
        self._material, self._modality = material, material.true.spec.modality(modality)
        self._factors = answers(material.true, factors)

    @property
    def spec(self) -> Spec:
        """The modality, and the factors that are read."""
        return Spec((self._modality,), self._factors)

    def __len__(self) -> int:
        return len(self._material.true)

    def batch(self, indices: np.ndarray) -> Batch:
        """The pictures at these positions."""
        batch = self._material.true.batch(indices)
        view = blur(views.to_model(self._modality, batch.views[self._modality.name]), _SIGMA)
        codes = torch.full((len(codes_of(batch)), len(self._factors)), NOT_TAUGHT)
        for column, factor in enumerate(self._factors):
            if factor.name in self._material.of_form:
                codes[:, column] = len(factor.values) - 1
        return Batch({self._modality.name: views.to_stored(self._modality, view)}, factors=codes)


class Foreign:
    """Pictures of objects of shapes that a world does not have, a `Source`: their form is not known, the rest is.

    Args:
        material: with foreign objects.
        modality: name of the modality.
        factors: names of the factors that a judge reads.
    """

    def __init__(self, material: Material, modality: str, factors: Sequence[str]) -> None:
        assert material.foreign is not None  # made only of material that has them
        self._source, self._modality = material.foreign, material.true.spec.modality(modality)
        self._material, self._factors = material, answers(material.true, factors)

    @property
    def spec(self) -> Spec:
        """The modality, and the factors that are read."""
        return Spec((self._modality,), self._factors)

    def __len__(self) -> int:
        return len(self._source)

    def batch(self, indices: np.ndarray) -> Batch:
        """The pictures at these positions."""
        batch = self._source.batch(indices)
        codes = recode(codes_of(batch), self._source.spec, self._factors)
        for column, factor in enumerate(self._factors):
            if factor.name in self._material.of_form:
                codes[:, column] = len(factor.values) - 1
            elif factor.name in self._material.of_extent:
                codes[:, column] = NOT_TAUGHT
        return Batch({self._modality.name: batch.views[self._modality.name]}, factors=codes)
