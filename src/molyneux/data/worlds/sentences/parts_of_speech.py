"""Parts of speech: sentences of many structures, whose factors are what each part of speech says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import ClassVar, get_args

import numpy as np

from molyneux.core import ConfigError, choice_problems
from molyneux.data.worlds.sentences.language import Definition, FiniteLanguage, Form, Place, WordGroup, label_problems
from molyneux.data.worlds.sentences.sentence_world import Method, SentenceWorld

GROUPS = (
    WordGroup("n.", ("dogs", "cats", "foxes", "horses", "tigers")),
    WordGroup("v.", ("want", "need", "have", "get", "require")),
    WordGroup("adv.", ("really", "recently", "gradually", "frequently", "eventually")),
    WordGroup("adj.", ("happy", "big", "small", "beautiful", "fantastic")),
    WordGroup("prep.", ("on", "in", "for", "to", "of")),
    WordGroup("conj1.", ("although", "because", "when", "where", "whereas")),
    WordGroup("conj2.", ("and", "or")),
    WordGroup("comma", (",",)),
    WordGroup("end-punc.", (".", "!")),
)
"""Tags and their words, in the published order."""

KINDS = ("simple", "I", "II", "III")
LIMITS = range(6, 15)
"""Numbers of tags, without punctuation, that the two parts of a complex structure may have together."""

_WORDS = {group.name: group.words for group in GROUPS}
_NOUN = (("n.",), ("adj.", "n."))
_VERB = (("v.",), ("adv.", "v."), ("v.", "prep."), ("adv.", "v.", "prep."))
_END = ("end-punc.",)

_CAP, _LIMIT = 10_000, 9


class PartsOfSpeech(SentenceWorld):
    """Sentences such as "although dogs want cats , big tigers really need foxes ." in 16 simple and 279 complex structures.

    A structure is a row of parts of speech (tags), made by rule (`structures`); each of 9 tags has its own words, 35 in all, and
    no word stands twice in a sentence. Of each structure at most 10,000 sentences are drawn without repetition, and divided
    60/20/20: 2,872,800 sentences, 1,723,680 / 574,560 / 574,560, of up to 12 words (Zhang, Prokhorov and Shareghi, "Unsupervised
    Representation Disentanglement of Text: An Evaluation on Synthetic Datasets", RepL4NLP 2021, section 3). A view has 13 symbols
    of 38. Factors are the tags but the comma, which has one word; a sentence without a word of a tag has -1 there. See
    `SentenceWorld` for views and splits.

    Args:
        factors: "ordered": the value of a tag is the tuple of all its words in the sentence, in their order, as published (140,
            25, 25, 85, 25, 5, 2, 2 values; the tuple's length depends on the structure); "positions": each tag gives a factor for
            its first word in the sentence, its second, and so on, such as `n.1` to `n.4`.
        nuisances: further factors that are known of a sentence: "structure" (such as `n.+v.+n.+end-punc.`), "kind" ("simple", or
            the rule of a complex one, "I" to "III").
        cap: at most so many sentences of each structure; null = all, 376,984,800.
        limit: tags of the two halves of a complex structure together, 6 to 14; 9 as published.
        split: "keyed", or "published": the sentences of the published generator in the order of its files. It shuffles every
            sentence of every structure, once a process: half a minute.
        split_seed: what decides on draws and splits; 0 is published.

    Raises:
        ConfigError: settings that cannot be used; all problems at once.
    """

    name: ClassVar[str] = "pos-v1"

    def __init__(
        self,
        *,
        factors: Definition = "ordered",
        nuisances: Sequence[str] = (),
        cap: int | None = _CAP,
        limit: int = _LIMIT,
        split: Method = "keyed",
        split_seed: int = 0,
    ) -> None:
        problems = choice_problems(factors=(factors, get_args(Definition)), split=(split, get_args(Method)))
        problems += label_problems(nuisances, ("structure", "kind"))
        if cap is not None and (not isinstance(cap, int | np.integer) or cap < 5):
            problems.append(
                f"expected cap as a whole number of at least 5, which gives each split a sentence, or null, got {cap!r}"
            )
        if limit not in LIMITS:
            problems.append(f"expected limit from {LIMITS[0]} to {LIMITS[-1]}, got {limit}")
        if split == "published" and (cap, limit) != (_CAP, _LIMIT):
            problems.append(f"the published split has cap {_CAP} and limit {_LIMIT}, got {cap} and {limit}: leave them out")
        if problems:
            raise ConfigError(problems)
        settings = {
            "factors": factors,
            "nuisances": list(nuisances),
            "cap": cap,
            "limit": limit,
            "split": split,
            "split_seed": split_seed,
        }
        language = FiniteLanguage(GROUPS, structures(limit), definition=factors, nuisances=tuple(nuisances))
        super().__init__(language, settings, cap=cap, by_form=True)


def structures(limit: int) -> tuple[Form, ...]:
    """Every structure: each simple one, followed by the complex ones that start with it.

    A simple one is `(adj.) n. (adv.) v. (prep.) (adj.) n. end-punc.`. Of two simple ones, S1 and S2, rule I makes
    `conj1. S1 comma S2 end-punc.`, rule II `S1 conj1. S2 end-punc.`, and rule III `S1 comma conj2. S2 end-punc.`.

    Args:
        limit: S1 and S2 have at most so many tags together, end-punc. not counted; 9 as published.
    """
    simple = [first + verb + last for first, verb, last in product(_NOUN, _VERB, _NOUN)]
    return tuple(_form(tags, kind) for first in simple for tags, kind in _beginning(first, simple, limit))


def _beginning(first: tuple[str, ...], simple: list[tuple[str, ...]], limit: int) -> Iterator[tuple[tuple[str, ...], str]]:
    """Tags and kind of the structures that begin with a simple one."""
    yield first + _END, "simple"
    for second in simple:
        if len(first) + len(second) <= limit:
            yield ("conj1.", *first, "comma", *second, *_END), "I"
            yield (*first, "conj1.", *second, *_END), "II"
            yield (*first, "comma", "conj2.", *second, *_END), "III"


def _form(tags: tuple[str, ...], kind: str) -> Form:
    places = tuple(Place("free", _WORDS[tag], tag) for tag in tags)
    return Form(places, tuple(dict.fromkeys(tags)), {"structure": "+".join(tags), "kind": kind})
