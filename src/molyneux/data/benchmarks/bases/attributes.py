"""Attribute vectors: several symbols of one alphabet, each at its own place, and their exact reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from molyneux.core import Factor, Modality, Reading


def attribute_modality(count: int, symbols: Sequence[str]) -> Modality:
    """The modality `attributes`: so many symbols, of which the place says what they are about.

    It is a text, whose categorical likelihood is a sum over places: of two symbols, that of independent Bernoulli variables.
    """
    return Modality("attributes", "text", (count,), "uint8", tuple(symbols))


class AttributeReader:
    """Reads the factor of each place of an attribute vector; satisfies `core.Reader`.

    Args:
        modality: what is read; its symbols are the values of every factor.
        factors: one for each place.
    """

    version = "1"
    """Raised whenever some view may be read otherwise."""

    def __init__(self, modality: Modality, factors: Sequence[Factor]) -> None:
        self._modality = modality
        self.factors = tuple(factor.name for factor in factors)

    @property
    def modality(self) -> str:
        """Name of the modality it reads."""
        return self._modality.name

    @property
    def accuracy(self) -> Mapping[str, float]:
        """Every view is read without error."""
        return dict.fromkeys(self.factors, 1.0)

    def read(self, view: Tensor) -> Reading:
        """Factor codes (B, F) of views (B, F): the symbols themselves."""
        return Reading(view.long().clone(), self.factors)
