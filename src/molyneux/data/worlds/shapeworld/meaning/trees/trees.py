"""The formal meaning of captions: typed trees of symbols with a fixed number of arguments, and their Polish notation.

A symbol has a sort. A *type* describes entities by colour and shape, a *selector* picks one of them out, and both are *nouns*:
what a sentence may be about. A *predicate* is what an entity may be: of a type, in a relation, or not so. A *statement* is true
or false of a scene. The symbols follow the caption objects of ShapeWorld (Kuhnle & Copestake, 2017); each has one arity, so that
a tree is its symbols in Polish notation.

>>> tree = Tree.of("exists", Tree.of("both", "red", "square"), Tree.of("left", "circle"))
>>> tree.polish
('exists', 'both', 'red', 'square', 'left', 'circle')
>>> Tree.from_polish(tree.polish) == tree
True
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from molyneux.core import DataError, nearest
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES

Sort = Literal["colour", "shape", "type", "selector", "noun", "relation", "deniable", "predicate", "quantified", "statement"]
"""What a tree is, or what an argument has to be."""

_KINDS_OF: dict[Sort, tuple[Sort, ...]] = {
    "type": ("colour", "shape"),
    "noun": ("type", "colour", "shape", "selector"),
    "deniable": ("type", "colour", "shape", "relation"),
    "predicate": ("type", "colour", "shape", "relation", "deniable"),
    "statement": ("quantified",),
}
"""The narrower sorts that an argument of a wider sort may have."""


@dataclass(frozen=True)
class Symbol:
    """A symbol of the trees.

    Args:
        name: as in Polish notation.
        kind: what family of symbols it belongs to, such as `relation`.
        sort: of a tree with this symbol at its root.
        arguments: sorts of its arguments, in order.
        comparator: of a quantifier: `lt`, `leq`, `eq`, `neq`, `geq` or `gt`.
        quantity: of a quantifier, a number bound or a comparison of two counts.
    """

    name: str
    kind: str
    sort: Sort
    arguments: tuple[Sort, ...] = ()
    comparator: str = ""
    quantity: float = 0.0


COMPARATORS = ("lt", "leq", "eq", "neq", "geq", "gt")

RATIOS = {"0": 0.0, "quarter": 0.25, "third": 1 / 3, "half": 0.5, "two-thirds": 2 / 3, "three-quarters": 0.75, "1": 1.0}
"""Shares that ratio quantifiers compare with, by name."""

FACTORS = {"half": 0.5, "equal": 1.0, "twice": 2.0}
"""Quotients that comparative quantifiers compare with, by name."""

RELATIONS = (
    *("left", "right", "above", "below", "behind", "in-front", "smaller", "bigger", "darker", "lighter"),
    *("same-shape", "different-shape", "same-colour", "different-colour", "besides"),
)
"""Relations to a reference; `closer` and `farther` compare the distances to a third entity."""

SELECTORS = (
    *(
        "left-of-two",
        "right-of-two",
        "upper-of-two",
        "lower-of-two",
        "smaller-of-two",
        "bigger-of-two",
        "darker-of-two",
        "lighter-of-two",
    ),
    *("leftmost", "rightmost", "uppermost", "lowermost", "smallest", "biggest", "darkest", "lightest"),
)
"""Descriptions of one entity among those of a noun; `closest` and the like also name what the distance is measured from."""

DISTANCE_SELECTORS = ("closer-of-two", "farther-of-two", "closest", "farthest")

BARE = ("two", "most")
"""Quantifiers of the paper's QUANTIFICATION, of one word each, that are neither a count nor a share: at least two, and most."""


def _symbols() -> Iterator[Symbol]:
    yield Symbol("any", "type", "type")
    yield from (Symbol(name, "colour", "colour") for name in COLOURS)
    yield from (Symbol(name, "shape", "shape") for name in SHAPES)
    yield Symbol("both", "type", "type", ("colour", "shape"))
    yield Symbol("not", "negation", "predicate", ("deniable",))
    yield from (Symbol(name, "relation", "relation", ("noun",)) for name in RELATIONS)
    yield from (Symbol(name, "relation", "relation", ("noun", "noun")) for name in ("closer", "farther"))
    yield Symbol("unique", "selector", "selector", ("type",))
    yield from (Symbol(name, "selector", "selector", ("type",)) for name in SELECTORS)
    yield from (Symbol(name, "selector", "selector", ("type", "noun")) for name in DISTANCE_SELECTORS)
    yield Symbol("there-is", "existential", "statement", ("type",))
    yield Symbol("exists", "existential", "statement", ("noun", "predicate"))
    two: tuple[Sort, Sort] = ("type", "predicate")
    yield Symbol("bare-the", "bare", "statement", two)
    yield from (Symbol(f"bare-{name}", "bare", "quantified", two) for name in BARE)
    for comparator in COMPARATORS:
        for count in range(1 if comparator in ("lt", "leq") else 0, 6):
            yield Symbol(f"count-{comparator}-{count}", "count", "quantified", two, comparator, count)
    for comparator in COMPARATORS:
        for name, ratio in RATIOS.items():
            if not (name == "0" and comparator in ("lt", "leq")) and not (name == "1" and comparator in ("geq", "gt")):
                yield Symbol(f"ratio-{comparator}-{name}", "ratio", "quantified", two, comparator, ratio)
    yield from (Symbol(f"of-{bound}", "bound", "statement", ("quantified",), "eq", bound) for bound in range(2, 9))
    three: tuple[Sort, Sort, Sort] = ("type", "type", "predicate")
    for difference in (-5, -4, -3, -2, -1, 1, 2, 3, 4, 5):
        name = f"{abs(difference)}-{'more' if difference > 0 else 'fewer'}-than"
        yield Symbol(name, "difference", "statement", three, "eq", difference)
    for comparator in ("lt", "eq", "gt"):
        for name, factor in FACTORS.items():
            yield Symbol(f"times-{comparator}-{name}", "quotient", "statement", three, comparator, factor)
    yield Symbol("not-true", "negation", "statement", ("statement",))
    yield from (
        Symbol(name, "connective", "statement", ("statement", "statement")) for name in ("and", "or", "either", "if", "iff")
    )


SYMBOLS = {symbol.name: symbol for symbol in _symbols()}
"""Every symbol by name. The first argument of quantifiers is the noun that is counted; `if` has the consequent first."""


def symbols_for(sort: Sort) -> tuple[Symbol, ...]:
    """The symbols that a tree may have at its root where an argument has to be of a sort."""
    return tuple(symbol for symbol in SYMBOLS.values() if symbol.sort in (sort, *_KINDS_OF.get(sort, ())))


PADDING = 0
"""Code of what follows the end of a shorter tree; the codes of symbols begin with 1, in the order of `SYMBOLS`."""

CODES = {name: code for code, name in enumerate(SYMBOLS, 1)}
"""Code of each symbol in arrays of Polish notation."""

_COMMUTATIVE = frozenset(("and", "or", "either", "iff"))


def fits_sort(wanted: Sort, sort: Sort) -> bool:
    """Whether a tree of a sort may stand where another one, or a wider one, is asked for."""
    return sort == wanted or sort in _KINDS_OF.get(wanted, ())


@dataclass(frozen=True)
class Tree:
    """The meaning of a caption, or a part of it.

    Args:
        symbol: its root, a name of `SYMBOLS`.
        children: its arguments, each of the sort that the symbol asks for or of a narrower one.

    Raises:
        DataError: an unknown symbol, or arguments that do not fit it.
    """

    symbol: str
    children: tuple[Tree, ...] = ()

    def __post_init__(self) -> None:
        if self.symbol not in SYMBOLS:
            raise DataError(f"unknown symbol {self.symbol!r} of a caption's meaning; {nearest(str(self.symbol), SYMBOLS)}")
        wanted, got = SYMBOLS[self.symbol].arguments, tuple(child.sort for child in self.children)
        fits = len(wanted) == len(got) and all(fits_sort(want, have) for want, have in zip(wanted, got, strict=True))
        if not fits:
            raise DataError(f"{self.symbol} takes {_sorts(wanted)}, got {_sorts(got)}")

    @classmethod
    def of(cls, symbol: str, *children: Tree | str) -> Tree:
        """A tree whose leaves may be given by their names."""
        return cls(symbol, tuple(child if isinstance(child, Tree) else cls(child) for child in children))

    @property
    def sort(self) -> Sort:
        """Its sort."""
        return SYMBOLS[self.symbol].sort

    @property
    def kind(self) -> str:
        """The family of its root symbol."""
        return SYMBOLS[self.symbol].kind

    @cached_property
    def polish(self) -> tuple[str, ...]:
        """Its symbols in Polish notation, the root first."""
        return (self.symbol, *(name for child in self.children for name in child.polish))

    @property
    def size(self) -> int:
        """How many symbols it has."""
        return len(self.polish)

    @property
    def depth(self) -> int:
        """Symbols on the longest way from the root to a leaf."""
        return 1 + max((child.depth for child in self.children), default=0)

    @classmethod
    def from_polish(cls, symbols: Sequence[str]) -> Tree:
        """The tree of symbols in Polish notation.

        Raises:
            DataError: an unknown symbol, arguments that do not fit, or symbols missing or left over.
        """
        if isinstance(symbols, str) or not isinstance(symbols, Sequence) or not all(isinstance(one, str) for one in symbols):
            raise DataError(f"expected symbols in Polish notation, as a list of names, got {str(symbols)[:80]!r}")
        tree, end = cls._read(symbols, 0)
        if end < len(symbols):
            raise DataError(f"the tree ends after {end} of {len(symbols)} symbols; {' '.join(symbols[end:])} is left over")
        return tree

    @classmethod
    def _read(cls, symbols: Sequence[str], start: int) -> tuple[Tree, int]:
        if start >= len(symbols):
            raise DataError(f"symbols are missing after {' '.join(symbols) or 'nothing'}")
        name, end, children = symbols[start], start + 1, []
        for _ in SYMBOLS[name].arguments if name in SYMBOLS else ():
            child, end = cls._read(symbols, end)
            children.append(child)
        return cls(name, tuple(children)), end

    def to_json(self) -> list[object]:
        """Nested lists: the symbol, then the children."""
        return [self.symbol, *(child.to_json() for child in self.children)]

    @classmethod
    def from_json(cls, value: object) -> Tree:
        """The tree of what `to_json` gave.

        Raises:
            DataError: no list that begins with a symbol, or arguments that do not fit.
        """
        if not isinstance(value, list) or not value or not isinstance(value[0], str):
            raise DataError(f"expected a list that begins with a symbol, got {str(value)[:80]}")
        return cls(value[0], tuple(cls.from_json(child) for child in value[1:]))

    def normal(self) -> Tree:
        """Its normal form: the arguments of symmetric connectives in one order, and no statement denied twice.

        Trees of one normal form are true of the same scenes; the converse does not hold.
        """
        children = tuple(child.normal() for child in self.children)
        if self.symbol == "not-true" and children[0].symbol == "not-true":
            return children[0].children[0]
        return Tree(self.symbol, tuple(sorted(children, key=_place)) if self.symbol in _COMMUTATIVE else children)

    def __str__(self) -> str:
        return self.symbol + (f"({', '.join(map(str, self.children))})" if self.children else "")


def _place(tree: Tree) -> tuple[int, ...]:
    return tuple(CODES[name] for name in tree.polish)


def _sorts(sorts: Sequence[Sort]) -> str:
    return " and ".join(f"a {sort}" for sort in sorts) or "no arguments"
