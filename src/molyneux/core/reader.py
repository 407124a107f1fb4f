"""Readers: functions from views to factor codes, with which coherence judges generated views.

A world offers exact readers where it has them (the parser of its caption grammar). A *judge* is a learned reader; the world
supplies what it is trained on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Protocol, runtime_checkable

from torch import Tensor

from molyneux.core.batch import Source


@dataclass(frozen=True)
class Reading:
    """The result of a reader.

    Args:
        codes: (B, F) int64 in the order of `factors`; -1 = unreadable.
        factors: names of the factors read; a view need not show all factors of its Spec.
        reasons: why a sample could not be read, by its position in the batch.
        forced: (B, F) codes where the reader may not abstain (forced choice); None where it has no forced choice.
    """

    codes: Tensor
    factors: tuple[str, ...]
    reasons: Mapping[int, str] = field(default_factory=dict)
    forced: Tensor | None = None


@runtime_checkable
class Reader(Protocol):
    """Maps views of one modality to factor codes."""

    @property
    def modality(self) -> str:
        """Name of the modality it reads."""
        ...

    @property
    def factors(self) -> tuple[str, ...]:
        """Names of the factors it reads."""
        ...

    @property
    def accuracy(self) -> Mapping[str, float]:
        """Held-out accuracy per factor, 0..1: the ceiling of every score this reader gives. Exact readers have 1."""
        ...

    def read(self, view: Tensor) -> Reading:
        """Factor codes of views (B, *modality.shape), in their stored form."""
        ...


@runtime_checkable
class LearnedReader(Reader, Protocol):
    """A judge: a trained reader, which records its origin."""

    @property
    def origin(self) -> Mapping[str, Any]:
        """Which judge it is and how it was validated, as plain data for the origin of scores."""
        ...


SAMPLE = ""
"""As a nuisance: which sample a view is of, in which any two views differ."""

Codes = float | Mapping[str, float]
"""A number of codes; or one for each value of another factor."""


@dataclass(frozen=True)
class NuisanceWindow:
    """How far views may lie apart in a nuisance until a factor can no longer be read in their mean.

    The mean of a square over all rotations is a disc: it shows no shape. A judge is trained to abstain there.

    Args:
        nuisance: name of a factor with ordered codes; or `SAMPLE`, for views whose mean shows nothing because each has, say, a
            start of its own.
        near: window of codes within which the mean still shows the factor.
        far: window of codes which the views must exceed for the mean not to show the factor; infinite where it always does.
        period: after how many codes the view repeats itself.
        by: factor on whose value the three depend, where they are mappings. Where a source lacks it, the largest number holds.
    """

    nuisance: str
    near: Codes
    far: Codes = inf
    period: Codes = inf
    by: str = ""


@dataclass(frozen=True)
class JudgeMaterial:
    """What a judge of one modality is trained on: views, the same scenes altered, and what their means show.

    Args:
        views: the true views.
        windows: by factor, the nuisances over which its mean does not show it.
        restyled: the same scenes, each `styles` times in a row, in other textures.
        styles: how often; 1 where there are no textures.
        empty: the same scenes without their object.
        filled: the same scenes with an object that fills the view.
        silhouette: the objects of the same scenes, white on black, in one channel.
        unknown_shapes: the same scenes with objects of shapes that the world does not have; for validation alone.
        round_negatives: whether discs and nearly round ellipses are unknown shapes.
        object_factors: the factors that cannot be read without the object.
        shape_factors: those of them that cannot be read where the object has an unknown shape.
        extent_factors: those that are not defined for an object of unknown shape.
        place_factors: those that say where the object is.
    """

    views: Source
    windows: Mapping[str, Sequence[NuisanceWindow]] = field(default_factory=dict)
    restyled: Source | None = None
    styles: int = 1
    empty: Source | None = None
    filled: Source | None = None
    silhouette: Source | None = None
    unknown_shapes: Source | None = None
    round_negatives: bool = False
    object_factors: tuple[str, ...] = ()
    shape_factors: tuple[str, ...] = ()
    extent_factors: tuple[str, ...] = ()
    place_factors: tuple[str, ...] = ()
