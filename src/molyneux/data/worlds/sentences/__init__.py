"""Worlds of sentences: words as symbols, known factors, splits of known size."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.data.worlds.sentences.letters import Letters, ideal_codes
    from molyneux.data.worlds.sentences.parts_of_speech import PartsOfSpeech
    from molyneux.data.worlds.sentences.sentence_world import SentenceWorld
    from molyneux.data.worlds.sentences.ynoc import Ynoc

__all__ = ["Letters", "PartsOfSpeech", "SentenceWorld", "Ynoc", "ideal_codes"]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
