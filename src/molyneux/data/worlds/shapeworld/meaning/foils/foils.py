"""Foils: false captions that differ from a true one in one thing; and paraphrases, which differ in words and not in meaning.

Kinds follow the field's test sets: an attribute, an object or a relation replaced, exchanged or added (VALSE; Parcalabescu et
al., 2022. ARO; Yuksekgonul et al., 2023. SugarCrepe; Hsieh et al., 2023), numbers and negation. Truth is evaluated on the scene:
a foil is false of it, and what is undetermined is never used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from molyneux.core import ConfigError, nearest
from molyneux.data.worlds.shapeworld.meaning.captioners.captioner import Captions, Proposed, redrawn
from molyneux.data.worlds.shapeworld.meaning.captioners.changes import (
    Alternatives,
    Change,
    Negate,
    Replace,
    ReplaceAttribute,
    bounds,
    inverse,
    others,
    quantifiers,
)
from molyneux.data.worlds.shapeworld.meaning.captioners.parts import PICKS, Seen, seen
from molyneux.data.worlds.shapeworld.meaning.captioners.quantities import suitable
from molyneux.data.worlds.shapeworld.meaning.captioners.rewriting import (
    AddAttribute,
    AddObject,
    Restate,
    Then,
    exchange_attributes,
    exchange_clauses,
    exchange_nouns,
)
from molyneux.data.worlds.shapeworld.meaning.trees.programs import well_typed
from molyneux.data.worlds.shapeworld.meaning.trees.trees import DISTANCE_SELECTORS, RELATIONS, SELECTORS
from molyneux.data.worlds.shapeworld.meaning.truth.semantics import Semantics
from molyneux.data.worlds.shapeworld.meaning.truth.truth import truth
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES, Scenes

FOILS = (
    *("shape replaced", "colour replaced", "object replaced", "attribute added", "object added"),
    *("attributes exchanged", "nouns exchanged", "clauses exchanged"),
    *("relation turned", "relation replaced", "selector turned", "selector replaced"),
    *("number changed", "quantifier changed", "negation", "denial", "connective replaced"),
)
"""What a foil differs in."""

TWO_SIDED = tuple(kind for kind in FOILS if not kind.endswith("added"))
"""Foils that can be true where the caption is false; a caption follows from a foil to which something is added."""

PARAPHRASES = ("converse", "same turned", "existence", "at least one", "comparator", "clauses exchanged")
"""How a paraphrase differs: "a left of b" and "b right of a"; "a same shape as b" and the reverse; "there is" and "is"; "a" and
"at least one"; "more than one" and "at least two"; the order of clauses."""

_TURNED = inverse(
    ("left", "right", "above", "below", "behind", "in-front", "smaller", "bigger", "darker", "lighter", "closer", "farther")
)
_SYMMETRIC = ("same-shape", "different-shape", "same-colour", "different-colour")
_CONNECTIVES = ("and", "or", "either", "if", "iff")
_ROUNDS = (1, 4, 16, 64)


def foils(
    scenes: Scenes,
    programs: np.ndarray,
    stream: np.ndarray,
    indices: np.ndarray,
    *,
    kinds: Sequence[str] = FOILS,
    semantics: Semantics | None = None,
    shapes: Sequence[str] = SHAPES,
    colours: Sequence[str] = COLOURS,
) -> Captions:
    """A foil of each caption: its kind is the position in `kinds`.

    The words of a foil may give it away ("a triangle is a red circle"); those of `balanced.contrasted` do not.

    Args:
        scenes: n of them.
        programs: (n, L), captions that are true of them.
        stream: key of the random numbers, from `seeds.key`.
        indices: (n,) numbers of the samples.
        kinds: names of `FOILS`, tried with equal probability; many fit few captions, and `ok` says where none was found.
        semantics: when a caption is true.
        shapes: names of shapes that may be new.
        colours: names of colours that may be new.

    Raises:
        ConfigError: an unknown kind, or none.
        DataError: not as many captions as scenes.
    """
    changes = _chosen(kinds, _foils(shapes, colours), "kinds")
    return _changed(scenes, programs, changes, stream, indices, semantics or Semantics(), flipped=True)


def paraphrases(
    scenes: Scenes,
    programs: np.ndarray,
    stream: np.ndarray,
    indices: np.ndarray,
    *,
    kinds: Sequence[str] = PARAPHRASES,
    semantics: Semantics | None = None,
) -> Captions:
    """A paraphrase of each caption, with the same truth value, which is not undetermined; arguments and errors as `foils`.

    Paraphrases mean the same where nothing is undetermined; whether something is may differ.
    """
    return _changed(
        scenes, programs, _chosen(kinds, _paraphrases(), "kinds"), stream, indices, semantics or Semantics(), flipped=False
    )


def _changed(
    scenes: Scenes,
    programs: np.ndarray,
    changes: Sequence[Change],
    stream: np.ndarray,
    indices: np.ndarray,
    semantics: Semantics,
    *,
    flipped: bool,
) -> Captions:
    """Captions with a change that turns their truth value round, or keeps it."""
    values = truth(programs, scenes, semantics)
    numbers = 1 + PICKS + max(change.numbers for change in changes)
    length = programs.shape[1] + GROWTH

    def propose(rows: np.ndarray, drawn: np.ndarray) -> Proposed:
        which = np.minimum((drawn[:, 0] * len(changes)).astype(np.int64), len(changes) - 1)
        about, out = seen(scenes, rows, drawn[:, 1 : 1 + PICKS]), np.zeros((len(rows), length), np.int16)
        done = np.zeros(len(rows), bool)
        for place, change in enumerate(changes):
            mine = np.flatnonzero((which == place) & (values[rows] != 0))
            if len(mine):
                its = Seen(*(array[mine] for array in about))
                changed, done[mine] = change.apply(programs[rows[mine]], its, drawn[mine, 1 + PICKS : 1 + PICKS + change.numbers])
                out[mine, : changed.shape[1]] = changed
        done &= well_typed(out)
        some = np.flatnonzero(done)
        wanted = -values[rows[some]] if flipped else values[rows[some]]
        different = (out[some, : programs.shape[1]] != programs[rows[some]]).any(1) | out[some, programs.shape[1] :].any(1)
        done[some] = suitable(out[some]) & (truth(out[some], scenes, semantics, rows=rows[some]) == wanted) & different
        return out, which.astype(np.int16), done

    return redrawn(propose, stream, indices, numbers=numbers, length=length, rounds=_ROUNDS)


GROWTH = 5
"""Symbols by which a caption may grow: an object is added with five."""


def _chosen(kinds: Sequence[str], known: dict[str, Change], name: str) -> list[Change]:
    unknown = [kind for kind in kinds if kind not in known]
    if unknown or not kinds:
        raise ConfigError(f"{name}: {nearest(unknown[0], known) if unknown else 'expected at least one'}")
    return [known[kind] for kind in kinds]


def _foils(shapes: Sequence[str], colours: Sequence[str]) -> dict[str, Change]:
    def attribute(name: str, what: str) -> Change:
        return ReplaceAttribute(name, what, shapes=shapes, colours=colours)

    numbers = {**bounds((-2, -1, 1, 2)), **_without(quantifiers("quantity"), lambda one, other: one in _WORDS or other in _WORDS)}
    paired = inverse(_paired_selectors())
    selectors = _without(others(SELECTORS) | others(DISTANCE_SELECTORS), lambda one, other: other in paired[one])
    relations = _without(others(RELATIONS), lambda one, other: other in _TURNED.get(one, ()))
    made: list[Change] = [
        attribute("shape replaced", "shape"),
        attribute("colour replaced", "colour"),
        attribute("object replaced", "both"),
        AddAttribute("attribute added", shapes, colours),
        AddObject("object added", shapes, colours),
        exchange_attributes("attributes exchanged"),
        exchange_nouns("nouns exchanged"),
        exchange_clauses("clauses exchanged", _CONNECTIVES),
        Replace("relation turned", _TURNED),
        Replace("relation replaced", relations),
        Replace("selector turned", paired),
        Replace("selector replaced", selectors),
        Replace("number changed", numbers),
        Replace("quantifier changed", {**quantifiers("range"), **_said_by_words()}),
        Negate("negation"),
        Negate("denial", statement=True),
        Replace("connective replaced", others(_CONNECTIVES)),
    ]
    return {change.name: change for change in made}


_WORDS = tuple(f"ratio-{comparator}-{number}" for comparator in ("eq", "neq") for number in (0, 1))
"""Shares that are said by no number: "no", "all", "some" and "not all"."""


def _said_by_words() -> dict[str, tuple[str, ...]]:
    """Each of those by the other ones."""
    return others(_WORDS)


def _without(alternatives: Alternatives, leave_out: Callable[[str, str], bool]) -> dict[str, tuple[str, ...]]:
    """Alternatives without some pairs."""
    found = {name: tuple(other for other in others_ if not leave_out(name, other)) for name, others_ in alternatives.items()}
    return {name: left for name, left in found.items() if left}


def _paired_selectors() -> tuple[str, ...]:
    """Selectors with opposites next to each other, as they are listed."""
    return (*SELECTORS, *DISTANCE_SELECTORS)


def _paraphrases() -> dict[str, Change]:
    more = {f"count-gt-{number}": (f"count-geq-{number + 1}",) for number in range(5)}
    fewer = {f"count-lt-{number + 1}": (f"count-leq-{number}",) for number in range(1, 5)}
    equal = {"ratio-gt-0": ("ratio-neq-0",), "ratio-lt-1": ("ratio-neq-1",), "bare-two": ("count-geq-2",)}
    pairs = {**more, **fewer, **equal}
    table = {name: (others_[0],) for name, others_ in pairs.items()}
    back: dict[str, tuple[str, ...]] = {}
    for name, (other,) in table.items():
        back[other] = (*back.get(other, ()), name)
    directed = tuple(name for name in _TURNED if name not in ("closer", "farther"))
    made: list[Change] = [
        Then("converse", exchange_nouns("", directed), Replace("", _TURNED)),
        exchange_nouns("same turned", _SYMMETRIC),
        Restate("existence"),
        Replace("at least one", others(("exists", "count-geq-1", "count-gt-0"))),
        Replace("comparator", {**table, **back}),
        exchange_clauses("clauses exchanged", ("and", "or", "either", "iff")),
    ]
    return {change.name: change for change in made}
