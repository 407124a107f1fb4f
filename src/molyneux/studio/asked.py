"""A model of which Molyneux's question is asked, with test samples and how they were kept apart in its training."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import molyneux.run as runs
from molyneux.core import Batch, ConfigError
from molyneux.studio import story

if TYPE_CHECKING:
    from molyneux.report import KeptApart
    from molyneux.studio.library import Library

SAMPLES = 300
"""Test samples of all values."""


@dataclass(frozen=True)
class Asked:
    """A model of which the question is asked.

    Args:
        model: the model.
        kept: how samples were kept apart in its training.
        factor: by which they were.
        samples: test samples of all values.
    """

    model: runs.TrainedModel
    kept: KeptApart
    factor: str
    samples: Batch

    @property
    def values(self) -> tuple[str, ...]:
        """The values of the factor, those that were kept apart first."""
        apart = self.kept.where[self.factor]
        return (*apart, *(value for value in self.model.spec.factor(self.factor).values if value not in apart))

    def of(self, value: str) -> Batch:
        """The samples of a value."""
        assert self.samples.factors is not None
        spec = self.model.spec
        codes = self.samples.factors[:, spec.factor_index(self.factor)]
        return self.samples[(codes == spec.factor(self.factor).code(value)).nonzero()[:, 0]]

    def kinds(self) -> list[tuple[str, Batch, Collection[str]]]:
        """Each kind of sample that came in training: what it is called, one of them, and the modalities that it came with."""
        spec, apart = self.model.spec, self.kept.where[self.factor]
        others = [value for value in self.values if value not in apart]
        sets = self.kept.sets or (tuple(name for name in spec.names if name not in self.kept.missing),)
        words = ["all"] if len(sets) == 1 else ["some", *("other" for _ in sets[1:])]
        found: list[tuple[str, Batch, Collection[str]]] = [
            (f"{word} {story.plural(apart)}", self.of(apart[0])[slice(place, place + 1)], names)
            for place, (word, names) in enumerate(zip(words, sets, strict=True))
        ]
        whole = [name for name in spec.names if name not in self.kept.missing]
        return [*found, *([(f"all {story.plural(others)}", self.of(others[0])[slice(0, 1)], whole)] if others else [])]


def asked_of(library: Library, model: runs.TrainedModel) -> Asked:
    """A model that the library opened, with what the question needs of it.

    Raises:
        ConfigError: it kept nothing apart, or has no name and two senses. What `Library.samples` raises.
    """
    from molyneux.report import flatten, kept_apart

    kept = kept_apart(flatten(runs.overview(library.folder(model.name)).settings))
    factor = next(iter(kept.where), "")
    if not factor or not story.paths_of(model.spec) or "generate" not in model.abilities:
        raise ConfigError(
            f"the question cannot be asked of {model.name}: expected a model of a name and two senses, trained with data.apart"
        )
    return Asked(model, kept, factor, library.once(model, f"{SAMPLES} samples", lambda: library.samples(model, SAMPLES)))
