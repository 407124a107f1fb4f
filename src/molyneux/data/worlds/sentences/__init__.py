"""Worlds of sentences: words as symbols, known factors, splits of known size."""

from molyneux.data.worlds.sentences.letters import Letters, ideal_codes
from molyneux.data.worlds.sentences.parts_of_speech import PartsOfSpeech
from molyneux.data.worlds.sentences.sentence_world import SentenceWorld
from molyneux.data.worlds.sentences.ynoc import Ynoc

__all__ = ["Letters", "PartsOfSpeech", "SentenceWorld", "Ynoc", "ideal_codes"]
