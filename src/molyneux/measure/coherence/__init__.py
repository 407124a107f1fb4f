"""Coherence: agreement of generated modalities with what they were generated from, or with each other."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.measure.coherence.answers import (
        ReadCodes,
        always,
        best_constant,
        features_chance,
        majority,
        reading_text,
        strict_chance,
    )
    from molyneux.measure.coherence.coherence import Coherence
    from molyneux.measure.coherence.joint import Readings
    from molyneux.measure.coherence.letters import ConstantText, LetterAccuracy
    from molyneux.measure.coherence.scores import confusion

__all__ = [
    "Coherence",
    "ConstantText",
    "LetterAccuracy",
    "ReadCodes",
    "Readings",
    "always",
    "best_constant",
    "confusion",
    "features_chance",
    "majority",
    "reading_text",
    "strict_chance",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
