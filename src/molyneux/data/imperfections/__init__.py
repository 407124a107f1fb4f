"""Imperfections: seeded corruptions of samples, by kind of modality."""

from molyneux.data.imperfections.corruption import Corrupted, Corruption
from molyneux.data.imperfections.corruptions import Blur, Dropout, Erasing, GaussianNoise, Substitution

__all__ = ["Blur", "Corrupted", "Corruption", "Dropout", "Erasing", "GaussianNoise", "Substitution"]
