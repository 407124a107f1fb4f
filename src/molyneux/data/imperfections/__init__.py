"""Imperfections: seeded corruptions of samples, by kind of modality."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.data.imperfections.combined import Chain, Correlated, Mixture
    from molyneux.data.imperfections.corruption import Corrupted, Corruption, ModalityBatch
    from molyneux.data.imperfections.occasional import (
        Brightness,
        ChannelIsolation,
        Contrast,
        Crop,
        Flip,
        Grayscale,
        Inversion,
        Rotation,
        Tint,
        Translation,
        WhiteBalance,
    )
    from molyneux.data.imperfections.pixels import Blur, Erasing, PeriodicNoise, SaltAndPepper
    from molyneux.data.imperfections.signals import Dropout, GaussianNoise, StructuredDropout, TemporalDropout, ValueSwap
    from molyneux.data.imperfections.texts import (
        LetterShuffle,
        LetterSwap,
        Omission,
        StickyKeys,
        Substitution,
        Typos,
        WordDropout,
        WordSwap,
    )

__all__ = [
    "Blur",
    "Brightness",
    "Chain",
    "ChannelIsolation",
    "Contrast",
    "Correlated",
    "Corrupted",
    "Corruption",
    "Crop",
    "Dropout",
    "Erasing",
    "Flip",
    "GaussianNoise",
    "Grayscale",
    "Inversion",
    "LetterShuffle",
    "LetterSwap",
    "Mixture",
    "ModalityBatch",
    "Omission",
    "PeriodicNoise",
    "Rotation",
    "SaltAndPepper",
    "StickyKeys",
    "StructuredDropout",
    "Substitution",
    "TemporalDropout",
    "Tint",
    "Translation",
    "Typos",
    "ValueSwap",
    "WhiteBalance",
    "WordDropout",
    "WordSwap",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
