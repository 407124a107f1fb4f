"""Coherence: agreement of generated modalities with what they were generated from, or with each other."""

from molyneux.measure.coherence.answers import Answers, always, best_constant, features_chance, majority, strict_chance
from molyneux.measure.coherence.coherence import Coherence
from molyneux.measure.coherence.confusion import confusion
from molyneux.measure.coherence.directions import Direction, subsets
from molyneux.measure.coherence.joint import Readings
from molyneux.measure.coherence.letters import ConstantText, Letters
from molyneux.measure.coherence.published import published_features
from molyneux.measure.coherence.reading import words

__all__ = [
    "Answers",
    "Coherence",
    "ConstantText",
    "Direction",
    "Letters",
    "Readings",
    "always",
    "best_constant",
    "confusion",
    "features_chance",
    "majority",
    "published_features",
    "strict_chance",
    "subsets",
    "words",
]
