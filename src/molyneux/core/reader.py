"""Readers: functions from views to factor codes, with which coherence judges generated views.

A world offers exact readers where it has them (the parser of its caption grammar). A *judge* is a learned reader; the world
supplies what it is trained on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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


UNREADABLE = "unreadable"
"""The value of a factor, for a judge, where a view does not show it; the last of its values."""

NO_LABEL = -1
"""The code of a factor that is neither readable nor unreadable in a view: a judge learns nothing of it."""


@dataclass(frozen=True)
class JudgeMaterial:
    """What a judge of one modality is trained on.

    Args:
        views: the true views.
        altered: views that do not show all factors, or show them as no true view does. Its factors have `UNREADABLE` as their
            last value; codes may be `NO_LABEL`. As many as there are true views.
    """

    views: Source
    altered: Source | None = None
