"""Forms of captions with open places, and how a batch of them is filled from scenes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from molyneux.core import ConfigError, DataError
from molyneux.data.worlds.shapeworld.meaning.trees import CODES, SYMBOLS, Tree
from molyneux.data.worlds.shapeworld.scenes import COLOURS, SHAPES, Scenes

_COLOUR_CODES = np.array([CODES[name] for name in COLOURS], np.int16)
_SHAPE_CODES = np.array([CODES[name] for name in SHAPES], np.int16)


@dataclass(frozen=True)
class Skeleton:
    """The meaning of captions that differ only in some symbols.

    Args:
        name: of the form, such as `spatial`.
        tree: with one of the possible symbols at each open place.
        nouns: by the number of an entity of the scene that is meant, the places of its colour and its shape in Polish notation;
            None where it is not mentioned.
        choices: the other open places, each with the symbols that are equally likely there.

    Raises:
        ConfigError: a place outside the tree or named twice, or symbols that cannot stand at their place.
    """

    name: str
    tree: Tree
    nouns: tuple[tuple[int | None, int | None], ...] = ()
    choices: tuple[tuple[int, tuple[str, ...]], ...] = ()

    def __post_init__(self) -> None:
        polish = self.tree.polish
        places = [place for noun in self.nouns for place in noun if place is not None] + [place for place, _ in self.choices]
        if len(set(places)) != len(places) or any(not 0 <= place < len(polish) for place in places):
            raise ConfigError(f"{self.name}: expected different places of 0 to {len(polish) - 1}, got {places}")
        for noun in self.nouns:
            for place, kind in zip(noun, ("colour", "shape"), strict=True):
                if place is not None and SYMBOLS[polish[place]].kind != kind:
                    raise ConfigError(f"{self.name}: expected a {kind} at place {place}, got {polish[place]}")
        for place, symbols in self.choices:
            if not symbols:
                raise ConfigError(f"{self.name}: expected at least one symbol for place {place}, got none")
            for name in symbols:
                try:
                    Tree.from_polish([*polish[:place], name, *polish[place + 1 :]])
                except DataError as error:
                    raise ConfigError(f"{self.name}: {name} cannot stand in place of {polish[place]}: {error}") from error

    @property
    def draws(self) -> int:
        """How many uniform numbers a caption takes."""
        return len(self.nouns) + len(self.choices)

    def covers(self, tree: Tree) -> bool:
        """Whether a tree has this form: the same symbols but at the open places, where each is a possible one."""
        polish, own = tree.polish, self.tree.polish
        if len(polish) != len(own):
            return False
        possible = dict(self.choices)
        kinds = {place for noun in self.nouns for place in noun if place is not None}
        return all(
            name in possible[place]
            if place in possible
            else SYMBOLS[name].kind == SYMBOLS[own[place]].kind
            if place in kinds
            else name == own[place]
            for place, name in enumerate(polish)
        )

    def fill(self, scenes: Scenes, uniforms: np.ndarray, length: int | None = None) -> np.ndarray:
        """Captions whose nouns describe entities of the scenes, (n, L) int16 in Polish notation.

        Args:
            scenes: n of them, each with at least one entity.
            uniforms: (n, draws) numbers of [0, 1): which entities and which symbols.
            length: L; that of the tree by default.

        Raises:
            DataError: a length below that of the tree, or not as many numbers as it takes.
        """
        codes = [CODES[name] for name in self.tree.polish]
        wanted = len(codes) if length is None else length
        if wanted < len(codes) or uniforms.shape != (len(scenes), self.draws):
            raise DataError(
                f"{self.name}: expected a length of at least {len(codes)} and numbers {(len(scenes), self.draws)}, "
                f"got {wanted} and {uniforms.shape}"
            )
        programs = np.zeros((len(scenes), wanted), np.int16)
        programs[:, : len(codes)] = codes
        rows, counts = np.arange(len(scenes)), scenes.present.sum(1)
        for column, (colour, shape) in enumerate(self.nouns):
            entity = np.minimum((uniforms[:, column] * counts).astype(np.int64), np.maximum(counts - 1, 0))
            if colour is not None:
                programs[:, colour] = _COLOUR_CODES[scenes.colour[rows, entity]]
            if shape is not None:
                programs[:, shape] = _SHAPE_CODES[scenes.shape[rows, entity]]
        for column, (place, symbols) in enumerate(self.choices, len(self.nouns)):
            known = np.array([CODES[name] for name in symbols], np.int16)
            programs[:, place] = known[np.minimum((uniforms[:, column] * len(known)).astype(np.int64), len(known) - 1)]
        return programs


_NOUNS: tuple[tuple[tuple[str, ...], tuple[int | None, int | None]], ...] = (
    (("both", "red", "square"), (1, 2)),
    (("red",), (0, None)),
    (("square",), (None, 0)),
)
"""The ways in which an entity is described, with the places of its colour and its shape."""

SPATIAL = ("left", "right", "above", "below")


def existential() -> tuple[Skeleton, ...]:
    """Captions such as "there is a red square", "there is a red shape", "there is a square"."""
    return tuple(_skeleton("existential", ["there-is"], [noun]) for noun in range(3))


def relational(relations: Sequence[str] = SPATIAL) -> tuple[Skeleton, ...]:
    """Captions such as "a red square is to the left of a circle", for nouns of every kind."""
    return tuple(
        _skeleton("relational", ["exists", relations[0]], [first, second], {1: tuple(relations)}, after=1)
        for first in range(3)
        for second in range(3)
    )


def quantified(quantifiers: Sequence[str]) -> tuple[Skeleton, ...]:
    """Captions such as "most squares are red", for the pairs of nouns that say something of each other.

    Args:
        quantifiers: names of symbols that take a noun and a predicate.
    """
    pairs = ((2, 1), (1, 2), (2, 0), (0, 2))
    return tuple(_skeleton("quantified", [quantifiers[0]], list(pair), {0: tuple(quantifiers)}) for pair in pairs)


def _skeleton(
    name: str,
    head: Sequence[str],
    nouns: Sequence[int],
    choices: dict[int, tuple[str, ...]] | None = None,
    *,
    after: int | None = None,
) -> Skeleton:
    """A skeleton of a head and nouns; `after`: the symbol of the head that follows the first noun."""
    polish, places = list(head if after is None else head[:after]), list[tuple[int | None, int | None]]()
    opened = dict(choices or {})
    for number, noun in enumerate(nouns):
        if after is not None and number == 1:
            if after in opened:
                opened = {**{place: some for place, some in opened.items() if place != after}, len(polish): opened[after]}
            polish += head[after:]
        symbols, (colour, shape) = _NOUNS[noun]
        start = len(polish)
        places.append((None if colour is None else start + colour, None if shape is None else start + shape))
        polish += symbols
    kinds = "-".join(("both", "colour", "shape")[noun] for noun in nouns)
    return Skeleton(f"{name}-{kinds}", Tree.from_polish(polish), tuple(places), tuple(opened.items()))
