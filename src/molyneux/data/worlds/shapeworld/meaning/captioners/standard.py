"""The captioners of ShapeWorld: existential, relational, selection, quantification and their kin, by skeletons.

Weights of changes are those of the published code (Kuhnle & Copestake; ShapeWorld at 2021).
"""

from __future__ import annotations

from collections.abc import Sequence

from molyneux.core import ConfigError, nearest
from molyneux.data.worlds.shapeworld.meaning.captioners.changes import (
    Change,
    Negate,
    Replace,
    ReplaceAttribute,
    bounds,
    inverse,
    others,
    quantifiers,
)
from molyneux.data.worlds.shapeworld.meaning.captioners.composed import ChangedCaptioner
from molyneux.data.worlds.shapeworld.meaning.captioners.parts import (
    OTHER,
    REFERENCE,
    SAME_COLOUR,
    SAME_SHAPE,
    SUBJECT,
    THIRD,
    TOUCHING,
    Nouns,
    NumberBound,
    OneOf,
    Part,
    Row,
    SymbolPart,
)
from molyneux.data.worlds.shapeworld.meaning.captioners.quantities import UNSAID
from molyneux.data.worlds.shapeworld.meaning.trees.trees import DISTANCE_SELECTORS, RELATIONS, SELECTORS, SYMBOLS
from molyneux.data.worlds.shapeworld.meaning.truth.semantics import Semantics
from molyneux.data.worlds.shapeworld.scenes.scenes import SHAPES
from molyneux.data.worlds.shapeworld.scenes.settings import PUBLISHED_COLOURS

NOUN = {"both": 5.0, "shape": 2.0, "colour": 2.0, "any": 1.0}
"""What nouns of relations mention, by weight."""

SINGLE = {"shape": 1.0, "colour": 1.0}
"""Nouns that mention one attribute."""

PREDICATION = {"any shape": 1.0, "any colour": 1.0, "any both": 1.0, "shape colour": 1.0, "colour shape": 1.0}
"""A noun, and a type that is said of it and repeats or contradicts nothing."""

ATTRIBUTE_EDITS = ("colour", "shape", "object", "colours", "shapes")
COUNT_EDITS = (*ATTRIBUTE_EDITS, "removed")
"""Differences of scenes that captions about attributes, and about numbers, tell apart."""

RELATION_FAMILIES = {
    "x": ("left", "right"),
    "y": ("above", "below"),
    "depth": ("behind", "in-front"),
    "size": ("smaller", "bigger"),
    "shade": ("darker", "lighter"),
    "shape": ("same-shape", "different-shape"),
    "colour": ("same-colour", "different-colour"),
    "besides": ("besides",),
    "distance": ("closer", "farther"),
}
"""Relations by what they compare."""

BARE_QUANTIFIERS = ("ratio-eq-0", "bare-the", "exists", "bare-two", "bare-most", "ratio-eq-1")
"""The six of the paper: "no", "the", "a", "two", "most" and "all"."""

_OTHER = {"x": REFERENCE, "y": REFERENCE, "depth": TOUCHING, "size": SAME_SHAPE, "shade": SAME_COLOUR}


def there_is(semantics: Semantics | None = None, colours: Sequence[str] = PUBLISHED_COLOURS) -> ChangedCaptioner:
    """Captions such as "There is a red square", "there is a square", of which half mention both."""
    part = Row(SymbolPart("there-is"), Nouns({"both": 2, "shape": 1, "colour": 1}))
    return ChangedCaptioner(part, _attribute_changes(colours), semantics, ATTRIBUTE_EDITS)


def existential(semantics: Semantics | None = None, colours: Sequence[str] = PUBLISHED_COLOURS) -> ChangedCaptioner:
    """Captions such as "There is a red square" (1/3), "a square is red" (2/3)."""
    some = Row(SymbolPart("there-is"), Nouns({"both": 2, "shape": 1, "colour": 1}))
    is_so = Row(SymbolPart("exists"), Nouns(PREDICATION, (SUBJECT, SUBJECT)))
    return ChangedCaptioner(OneOf(some, is_so, weights=(1, 2)), _attribute_changes(colours), semantics, ATTRIBUTE_EDITS)


def single_attribute(semantics: Semantics | None = None, colours: Sequence[str] = PUBLISHED_COLOURS) -> ChangedCaptioner:
    """Existential captions that mention one attribute, or relations of nouns that have one."""
    some = Row(SymbolPart("there-is"), Nouns(SINGLE))
    relation = Row(SymbolPart("exists"), Nouns(SINGLE), _relations(tuple(RELATION_FAMILIES), SINGLE))
    changes = [*_attribute_changes(colours)[:2], (Replace("inverse", inverse(_OPPOSITES)), 1.0)]
    return ChangedCaptioner(OneOf(some, relation, weights=(1, 2)), changes, semantics)


def relational(
    semantics: Semantics | None = None,
    colours: Sequence[str] = PUBLISHED_COLOURS,
    *,
    families: Sequence[str] = tuple(RELATION_FAMILIES),
    negated: float = 0.5,
) -> ChangedCaptioner:
    """Captions such as "A red square is (not) to the left of a circle".

    Args:
        semantics: when a caption is true.
        colours: names of colours that captions may have.
        families: names of `RELATION_FAMILIES`.
        negated: share of captions with a negation.

    Raises:
        ConfigError: an unknown family, or none.
    """
    unknown = [name for name in families if name not in RELATION_FAMILIES]
    if unknown or not families:
        raise ConfigError(f"families: {nearest(unknown[0], RELATION_FAMILIES) if unknown else 'expected at least one'}")
    one = [name for name in RELATIONS if any(name in RELATION_FAMILIES[family] for family in families)]
    changes: list[tuple[Change, float]] = [
        (ReplaceAttribute("reference", "either", argument=1, shapes=SHAPES, colours=colours), 2.0),
        (ReplaceAttribute("subject", "either", argument=0, shapes=SHAPES, colours=colours), 1.0),
        (Replace("inverse", inverse(_OPPOSITES)), 1.0),
    ]
    changes += [(Replace("relation", others(one)), 1.0)] if len(one) > 1 else []
    changes += [(Negate("negation"), 2.0 * negated)] if negated else []
    negation = SymbolPart("", "not", weights=(1 - negated, negated), as_form=True)
    return ChangedCaptioner(Row(SymbolPart("exists"), Nouns(NOUN), negation, _relations(families, NOUN)), changes, semantics)


def selection(semantics: Semantics | None = None, colours: Sequence[str] = PUBLISHED_COLOURS) -> ChangedCaptioner:
    """Captions such as "The left circle is red", "the square closest to the only cross is blue"."""
    scopes = {
        "axis": {
            "any none shape": 1.0,
            "any none colour": 1.0,
            "any none both": 1.0,
            "shape none colour": 1.0,
            "colour none shape": 1.0,
        },
        "size": {"shape none colour": 1.0},
        "shade": {"colour none shape": 1.0},
        "distance": {f"{scope} {point} {body}": 1.0 for scope, body in _PAIRS for point in ("shape", "colour", "both")},
    }
    families = {
        "axis": [name for name in SELECTORS if name.startswith(("left", "right", "up", "low"))],
        "size": [name for name in SELECTORS if name.startswith(("small", "big"))],
        "shade": [name for name in SELECTORS if name.startswith(("dark", "light"))],
        "distance": list(DISTANCE_SELECTORS),
    }
    rows = []
    for family, names in families.items():
        for of_two in (True, False):
            symbols = [name for name in names if name.endswith("-of-two") == of_two]
            described = Nouns(scopes[family], (SUBJECT, REFERENCE, SUBJECT), before=("", "unique", ""))
            rows.append(Row(SymbolPart("exists"), SymbolPart(*symbols), described))
    opposites = inverse([name for names in families.values() for name in _paired(names)])
    alike = others(SELECTORS) | others(DISTANCE_SELECTORS)
    changes: list[tuple[Change, float]] = [(Replace("selector", alike), 1.0), (Replace("inverse", opposites), 1.0)]
    body = ReplaceAttribute("body", "either", argument=1, shapes=SHAPES, colours=colours)
    return ChangedCaptioner(OneOf(*rows), [*changes, (body, 1.0)], semantics)


def quantification(
    semantics: Semantics | None = None,
    colours: Sequence[str] = PUBLISHED_COLOURS,
    *,
    kinds: Sequence[str] = ("count", "ratio"),
) -> ChangedCaptioner:
    """Captions such as "At least two squares are red", "less than half of the shapes are circles".

    Args:
        semantics: when a caption is true.
        colours: names of colours that captions may have.
        kinds: of "count", "ratio" and "bare", the six quantifiers of the paper.

    Raises:
        ConfigError: an unknown kind, or none.
    """
    changes = _quantity_changes(colours, bare=tuple(kinds) == ("bare",))
    return ChangedCaptioner(Row(_quantifier(kinds), _counted()), changes, semantics, COUNT_EDITS)


def number_bound(semantics: Semantics | None = None, colours: Sequence[str] = PUBLISHED_COLOURS) -> ChangedCaptioner:
    """Captions such as "More than one of the three squares is red"."""
    changes: list[tuple[Change, float]] = [
        (Replace("inner", quantifiers("any")), 3.0),
        (Replace("off by one", bounds((-1, 1))), 1.0),
        (Replace("off by two", bounds((-2, 2))), 1.0),
        (Replace("random", others([f"of-{number}" for number in range(2, 9)])), 1.0),
    ]
    return ChangedCaptioner(NumberBound([_named("count"), _named("ratio")], _counted()), changes, semantics, COUNT_EDITS)


def comparison(semantics: Semantics | None = None, colours: Sequence[str] = PUBLISHED_COLOURS) -> ChangedCaptioner:
    """Captions such as "Two more squares than circles are red", "twice as many red shapes as blue shapes are crosses"."""
    symbols = [symbol.name for symbol in SYMBOLS.values() if symbol.kind in ("difference", "quotient")]
    differences = [name for name in symbols if SYMBOLS[name].kind == "difference"]
    quotients = [name for name in symbols if SYMBOLS[name].kind == "quotient"]
    patterns = {"shape shape colour": 1.0, "colour colour shape": 1.0}
    nouns = Nouns(patterns, (SUBJECT, OTHER, (SUBJECT, OTHER)))
    rows = [Row(SymbolPart(*names), nouns) for names in (differences, quotients)]
    changes = _quantity_changes(colours, last=2)
    changes.insert(1, (ReplaceAttribute("comparison", "either", argument=1, shapes=SHAPES, colours=colours), 2.0))
    return ChangedCaptioner(OneOf(*rows), changes, semantics, COUNT_EDITS)


_PAIRS = (("any", "shape"), ("any", "colour"), ("shape", "colour"), ("colour", "shape"))

_OPPOSITES = tuple(name for names in RELATION_FAMILIES.values() if len(names) == 2 for name in names)


def _paired(names: Sequence[str]) -> list[str]:
    """Selectors of one family with opposites next to each other: as they are, in pairs."""
    return [name for of_two in (True, False) for name in names if name.endswith("-of-two") == of_two]


def _counted() -> Nouns:
    """A noun that is counted, and a type that some of its entities may have."""
    return Nouns(PREDICATION, (SUBJECT, (SUBJECT, REFERENCE)))


def _quantifier(kinds: Sequence[str]) -> Part:
    unknown = [kind for kind in kinds if kind not in ("count", "ratio", "bare")]
    if unknown or not kinds:
        raise ConfigError(f"kinds: {nearest(unknown[0], ('count', 'ratio', 'bare')) if unknown else 'expected at least one'}")
    return OneOf(*(SymbolPart(*(BARE_QUANTIFIERS if kind == "bare" else _named(kind))) for kind in kinds))


def _named(kind: str) -> list[str]:
    """The quantifiers of a kind that captions have."""
    return [symbol.name for symbol in SYMBOLS.values() if symbol.kind == kind and symbol.name not in UNSAID]


def _relations(families: Sequence[str], nouns: dict[str, float]) -> Part:
    rows: list[Part] = []
    for family in families:
        symbol = SymbolPart(*RELATION_FAMILIES[family])
        if family == "distance":
            pairs = {
                f"{one} {other}": weight * also
                for one, weight in nouns.items()
                for other, also in nouns.items()
                if other != "any"
            }
            rows.append(Row(symbol, Nouns(pairs, (REFERENCE, THIRD), before=("", "unique"))))
        else:
            rows.append(Row(symbol, Nouns(nouns, (_OTHER.get(family, REFERENCE),))))
    return OneOf(*rows)


def _attribute_changes(colours: Sequence[str]) -> list[tuple[Change, float]]:
    return [(ReplaceAttribute(what, what, shapes=SHAPES, colours=colours), 1.0) for what in ("shape", "colour", "both")]


def _quantity_changes(colours: Sequence[str], last: int = 1, *, bare: bool = False) -> list[tuple[Change, float]]:
    changes: list[tuple[Change, float]] = [
        (ReplaceAttribute("restrictor", "either", argument=0, shapes=SHAPES, colours=colours), 3.0),
        (ReplaceAttribute("body", "either", argument=last, shapes=SHAPES, colours=colours), 3.0),
    ]
    if bare:
        return [*changes, (Replace("quantifier", others(BARE_QUANTIFIERS)), 6.0)]
    weights = {"closest": 3.0, "range": 1.0, "quantity": 1.0, "any": 1.0}
    return [*changes, *((Replace(by, quantifiers(by)), weight) for by, weight in weights.items())]
