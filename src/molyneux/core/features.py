"""Features of views: vectors by which measures compare sets of views, such as the Fréchet distance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from torch import Tensor


@runtime_checkable
class Features(Protocol):
    """Maps views of one modality to feature vectors, such as the last hidden layer of a judge."""

    @property
    def modality(self) -> str:
        """Name of the modality whose views it takes."""
        ...

    @property
    def origin(self) -> Mapping[str, Any]:
        """Which network it is, as plain data for the origin of scores."""
        ...

    def features(self, view: Tensor) -> Tensor:
        """Features (B, F) of views (B, *modality.shape), in their stored form."""
        ...
