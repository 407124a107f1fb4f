"""Captions that are one change away from a caption: other words for one symbol of its meaning, and foils of every kind.

>>> tree = Tree.of("ratio-eq-1", "square", "red")
>>> quantifier, shape, colour = exchanges(tree, symbols=("bare-most", "square", "circle", "red", "blue"))
>>> quantifier.words, tuple(quantifier.options), tuple(shape.options), tuple(colour.options)
('all', ('most',), ('circles',), ('blue',))
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from molyneux.core import DataError, seeds
from molyneux.data.worlds.shapeworld.meaning.foils.foils import FOILS, foils
from molyneux.data.worlds.shapeworld.meaning.language.captions import language_of
from molyneux.data.worlds.shapeworld.meaning.trees.programs import programs_of, trees_of
from molyneux.data.worlds.shapeworld.meaning.trees.trees import SYMBOLS, Symbol, Tree
from molyneux.data.worlds.shapeworld.meaning.truth.semantics import Semantics
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES, Scenes

_QUANTIFIERS, _COMPARISONS = ("existential", "bare", "count", "ratio"), ("difference", "quotient")
_NAMES = {**dict.fromkeys(_QUANTIFIERS, "quantifier"), **dict.fromkeys(_COMPARISONS, "comparison"), "bound": "number"}
_DRAWS = 6
"""Foils of each kind that are drawn; many are the same."""


@dataclass(frozen=True)
class WordExchange:
    """One symbol of a caption's meaning, and what could stand in its place.

    Args:
        kind: of the symbol: `colour`, `shape`, `quantifier`, `relation`, `selector`, `comparison`, `number` or `connective`.
        words: of the caption that change with it.
        options: by other words in their place, the meaning of the caption with these.
    """

    kind: str
    words: str
    options: Mapping[str, Tree]


@dataclass(frozen=True)
class FoilCaption:
    """A caption that differs in one thing from another one, and in its truth.

    Args:
        kind: what it differs in, one of `FOILS`.
        tree: its meaning.
        caption: its words.
    """

    kind: str
    tree: Tree
    caption: str


def exchanges(tree: Tree, *, symbols: Collection[str] = tuple(SYMBOLS), language: str = "english") -> tuple[WordExchange, ...]:
    """What each symbol of a caption could be exchanged for, in the order of the symbols; those without alternative are left out.

    Args:
        tree: the meaning of the caption.
        symbols: names of the symbols that may be new.
        language: of the words.

    Raises:
        DataError: the tree is no statement. ConfigError: an unknown language.
    """
    spoken, found = language_of(language), []
    now = spoken.say(tree)
    for place, name in enumerate(tree.polish):
        others = [other for other in SYMBOLS.values() if other.name in symbols and _replaces(other, SYMBOLS[name])]
        said: list[tuple[list[str], Tree]] = []
        for other in others:
            try:
                changed = Tree.from_polish((*tree.polish[:place], other.name, *tree.polish[place + 1 :]))
                said.append((spoken.say(changed), changed))
            except DataError:  # arguments that do not fit, or nothing that a sentence says
                continue
        if said:
            start, end = _common(now, [words for words, _ in said])
            options = {" ".join(words[start : len(words) - end]): changed for words, changed in said}
            kind = SYMBOLS[name].kind
            found.append(WordExchange(_NAMES.get(kind, kind), " ".join(now[start : len(now) - end]), options))
    return tuple(found)


def _replaces(other: Symbol, symbol: Symbol) -> bool:
    """Whether a symbol may stand where another one does, and says something of the same kind."""
    groups = ((symbol.kind,), _QUANTIFIERS, _COMPARISONS)
    alike = any(symbol.kind in group and other.kind in group for group in groups)
    return alike and symbol.kind not in ("type", "negation") and other != symbol and len(other.arguments) == len(symbol.arguments)


def _common(now: Sequence[str], others: Sequence[Sequence[str]]) -> tuple[int, int]:
    """How many words at the beginning, and how many at the end, several rows of words share with one."""
    shortest = min(len(words) for words in (now, *others))
    start = next((place for place in range(shortest) if any(words[place] != now[place] for words in others)), shortest)
    ends = range(shortest - start)
    end = next((place for place in ends if any(words[-1 - place] != now[-1 - place] for words in others)), len(ends))
    if start + end == shortest:  # the shortest would have no words left
        start, end = max(0, start - 1), end if start else max(0, end - 1)
    return start, end


def foil_captions(
    scene: Scenes,
    tree: Tree,
    *,
    kinds: Sequence[str] = FOILS,
    semantics: Semantics | None = None,
    seed: int = 0,
    language: str = "english",
    shapes: Sequence[str] = SHAPES,
    colours: Sequence[str] = COLOURS,
) -> tuple[FoilCaption, ...]:
    """Captions that differ in one thing from a caption and are true of a scene where it is false, or the other way round.

    Args:
        scene: one.
        tree: the meaning of the caption; if it is undetermined, it has no foils.
        kinds: names of `FOILS`.
        semantics: when a caption is true.
        seed: of what is drawn, such as another colour.
        language: of the words.
        shapes: names of shapes that may be new.
        colours: names of colours that may be new.

    Raises:
        ConfigError: an unknown kind or language. DataError: the tree is no statement, or other than one scene.
    """
    if len(scene) != 1:
        raise DataError(f"expected one scene, got {len(scene)}")
    return tuple(_drawn(scene, tree, kinds, semantics, seed, language, shapes, colours))


def _drawn(
    scene: Scenes,
    tree: Tree,
    kinds: Sequence[str],
    semantics: Semantics | None,
    seed: int,
    language: str,
    shapes: Sequence[str],
    colours: Sequence[str],
) -> Iterator[FoilCaption]:
    spoken, numbers = language_of(language), np.arange(_DRAWS)
    programs, known = np.repeat(programs_of([tree]), _DRAWS, 0), {tree}
    for kind in kinds:
        stream = seeds.key(seed, "foil", kind)
        made = foils(
            scene[np.zeros(_DRAWS, np.int64)], programs, stream, numbers, kinds=(kind,), semantics=semantics, shapes=shapes,
            colours=colours,
        )  # fmt: skip
        for found in trees_of(made.programs[made.ok]):
            if found not in known:
                known.add(found)
                yield FoilCaption(kind, found, " ".join(spoken.say(found)))
