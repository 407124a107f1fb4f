"""Data sets, and the conditions that a model is measured under."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

from molyneux.core.batch import Source
from molyneux.core.errors import DataError
from molyneux.core.reader import Reader
from molyneux.core.score import About
from molyneux.core.spec import Spec


@runtime_checkable
class Dataset(Protocol):
    """Samples in splits.

    A world is a data set whose splits are endless and whose factors are known; a benchmark is one that is read from files.

    Attributes:
        name: with version, such as `cdsprites-v1`; an attribute of the class, so that no data set is made to find one.
        licence: under which terms the samples may be used; `Apache-2.0` for what is generated here.
        origin: who published it, and where.
    """

    name: ClassVar[str]
    licence: ClassVar[str]
    origin: ClassVar[str]

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings as plain data; together with name, split and seed they determine every byte of the samples."""
        ...

    @property
    def spec(self) -> Spec:
        """What a batch looks like."""
        ...

    @property
    def splits(self) -> Mapping[str, int | None]:
        """Names of the splits and how many samples each has; None for one that is endless."""
        ...

    def source(self, split: str, size: int | None = None, *, seed: int = 0) -> Source:
        """The first `size` samples of a split; all by default, which an endless split cannot give.

        Raises:
            ConfigError: no such split, a size below 1 or beyond the split, or none for an endless split.
        """
        ...

    def readers(self) -> Mapping[str, Reader]:
        """Exact readers by modality; empty where no modality can be read exactly."""
        ...


@dataclass(frozen=True)
class Condition:
    """Samples on which a model is measured: as they are, corrupted, with missing modalities, a partition, or another split.

    Args:
        about: what tells its scores from those of other conditions, merged into `Score.about`, such as
            `{"corruption": "noise", "strength": "0.5"}`; empty for the samples as they are.
        source: the samples, as they are under this condition.
        reference: the same samples without the corruption: what generated views are compared with. None where `source` holds
            the true views.
    """

    source: Source
    about: About = field(default_factory=dict)
    reference: Source | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.source, Source) or not isinstance(self.reference, Source | None):
            kinds = f"{type(self.source).__name__} and {type(self.reference).__name__}"
            raise DataError(f"Condition: expected a source, and a source or None as reference, got {kinds}")
        if not isinstance(self.about, Mapping):
            kind = type(self.about).__name__
            raise DataError(f"Condition: expected a dictionary as about, got a {kind}: name the argument, such as reference=")
