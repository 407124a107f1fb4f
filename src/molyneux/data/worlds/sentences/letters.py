"""Letters: the smallest language, four independent words in a fixed order."""

from __future__ import annotations

from molyneux.core import ConfigError
from molyneux.data.worlds.sentences.forms import Group, template
from molyneux.data.worlds.sentences.language import Language
from molyneux.data.worlds.sentences.sentence_world import Method, SentenceWorld, divided, setting_problems

NAMES = ("A", "B", "C", "D")
VALUES = 20


class Letters(SentenceWorld):
    """Sentences such as "A1 B20 C3 D7": every combination of four words, which are the four factors.

    The toy data of Zhang, Prokhorov and Shareghi, "Unsupervised Representation Disentanglement of Text: An Evaluation on
    Synthetic Datasets" (RepL4NLP 2021): 20 x 20 x 20 x 20 = 160,000 sentences of 4 words, divided 96,000 / 32,000 / 32,000. A
    view has 5 symbols of 83. `ideal_codes` gives the published ideal representations. See `SentenceWorld` for views and splits.

    Args:
        split: "keyed", or "published": the sentences of the published files in their order.
        split_seed: what decides on the splits; 0 is published.

    Raises:
        ConfigError: settings that cannot be used; all problems at once.
    """

    def __init__(self, *, split: Method = "keyed", split_seed: int = 0) -> None:
        if problems := setting_problems(split, (), ()):
            raise ConfigError(problems)
        self._settings = {"split": split, "split_seed": split_seed}
        groups = tuple(Group(name, tuple(f"{name}{value + 1}" for value in range(VALUES))) for name in NAMES)
        self._language = Language(groups, (template("{A} {B} {C} {D}", groups, order=NAMES),))
        self._division = divided(self, self._language, split, seed=split_seed)

    @property
    def name(self) -> str:
        """Name with version."""
        return "letters-v1"
