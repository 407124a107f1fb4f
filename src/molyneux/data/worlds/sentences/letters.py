"""Letters: the smallest language, four independent words in a fixed order, and the ideal codes of its factors."""

from __future__ import annotations

from typing import ClassVar, Literal, get_args

import numpy as np

from molyneux.core import ConfigError, DataError, choice_problems
from molyneux.data.worlds.sentences.language import FiniteLanguage, WordGroup, template
from molyneux.data.worlds.sentences.sentence_world import Method, SentenceWorld

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

    name: ClassVar[str] = "letters-v1"

    def __init__(self, *, split: Method = "keyed", split_seed: int = 0) -> None:
        if problems := choice_problems(split=(split, get_args(Method))):
            raise ConfigError(problems)
        groups = tuple(WordGroup(name, tuple(f"{name}{value + 1}" for value in range(VALUES))) for name in NAMES)
        language = FiniteLanguage(groups, (template("{A} {B} {C} {D}", groups, order=NAMES),))
        super().__init__(language, {"split": split, "split_seed": split_seed})


def ideal_codes(factors: np.ndarray, example: Literal[1, 2], *, seed: int = 0) -> np.ndarray:
    """Codes that know each letter in one dimension (example 1), or in two (example 2).

    Zhang et al., "Unsupervised Representation Disentanglement of Text" (RepL4NLP 2021), Table 1. Each value of each factor has a
    number drawn uniformly from [-1, 1), two in example 2; both come from one stream, which NumPy's `RandomState` gives as the
    published script does. Values are drawn, not spaced, so some share a bin where codes are cut into bins.

    Args:
        factors: (N, 4) codes of the letters, 0..19.
        example: which of the two; codes are (N, 4) float64 for example 1, (N, 8) for example 2.
        seed: of the draws; 0 is published.

    Raises:
        ConfigError: another example. DataError: factors of another shape or range.
    """
    if example not in (1, 2):
        raise ConfigError(f"expected example 1 or 2, got {example!r}")
    factors = np.asarray(factors)
    if factors.ndim != 2 or factors.shape[1] != len(NAMES) or factors.dtype.kind not in "iu":
        raise DataError(f"expected factors as integers (N, {len(NAMES)}), got {factors.dtype} {factors.shape}")
    if factors.size and (factors.min() < 0 or factors.max() >= VALUES):
        raise DataError(f"expected factors from 0 to {VALUES - 1}, got {factors.min()} to {factors.max()}")
    drawn = np.random.RandomState(seed).uniform(-1, 1, (len(NAMES), VALUES, 3))
    chosen = drawn[:, :, :1] if example == 1 else drawn[:, :, 1:]
    return np.concatenate([values[factors[:, column]] for column, values in enumerate(chosen)], 1)
