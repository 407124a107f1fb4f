"""What the captions of ShapeWorld may be about: for each kind its scenes, its captioners, what is held out, and its foils."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from molyneux.data.worlds.shapeworld.meaning import captioners
from molyneux.data.worlds.shapeworld.meaning.captioners import Captioner, ComposedCaptioner, Logical, MixedCaptioner
from molyneux.data.worlds.shapeworld.meaning.captioners.quantities import UNSAID
from molyneux.data.worlds.shapeworld.meaning.trees.trees import SYMBOLS
from molyneux.data.worlds.shapeworld.meaning.truth.semantics import Semantics
from molyneux.data.worlds.shapeworld.scenes.scenes import SHAPES
from molyneux.data.worlds.shapeworld.scenes.settings import (
    ONESHAPE_HELD_OUT,
    PAPER_HELD_OUT,
    PAPER_SCENES,
    HeldOut,
    SceneSettings,
)

Kind = Literal[
    "oneshape",
    "multishape",
    "spatial",
    "quantification",
    "existential",
    "relational",
    "single_attribute",
    "negation",
    "selection",
    "count",
    "ratio",
    "quantities",
    "number_bound",
    "comparison",
    "complex",
    "logical",
]
"""The four data sets of Kuhnle & Copestake (2017), then those of the published code of 2021."""

_PAPER_COLOURS = tuple(PAPER_SCENES["oneshape"].colours)

_RELATIONAL = SceneSettings(counts=range(3, 11), attributes="reinforced", reinforcement=(1, 1))
_SELECTION = SceneSettings(counts=range(4, 11), attributes="reinforced", reinforcement=(1, 1))
_QUANTIFIED = SceneSettings(counts=range(5, 16), attributes="reinforced")
_LOGICAL = SceneSettings(counts=range(3, 16), attributes="reinforced")

_ATTRIBUTES = ("shape replaced", "colour replaced", "object replaced")
_STATEMENT = ("negation", "denial")
_RELATION = (*_ATTRIBUTES, "attributes exchanged", "nouns exchanged", "relation turned", "relation replaced", *_STATEMENT)
_QUANTITY = (*_ATTRIBUTES[:2], "nouns exchanged", "number changed", "quantifier changed", *_STATEMENT)


@dataclass(frozen=True)
class AgreementKind:
    """What captions are about.

    Args:
        scenes: of which captions are drawn; those of training, before anything is held out.
        captioner: makes the captioner, for a semantics.
        published: makes the published sampler, whose captions tell by themselves which are true; None: the captioner, which
            falsifies a true caption by one change.
        foils: kinds of foils that its captions have.
        families: of `SYMBOLS` and names of symbols that captions may have, besides those of nouns.
        longest: most words of a caption by language, the full stop included.
        held_out: what validation and test have and training does not.
        published_held_out: the same of the variant published, where it is another.
        noise: standard deviation of the noise of pixels, 0..1.
    """

    scenes: SceneSettings
    captioner: Callable[[Semantics | None], ComposedCaptioner]
    foils: tuple[str, ...]
    families: tuple[str, ...]
    longest: Mapping[str, int]
    published: Callable[[Semantics | None], Captioner] | None = None
    held_out: tuple[HeldOut, HeldOut] = (HeldOut(), HeldOut())
    published_held_out: tuple[HeldOut, HeldOut] | None = None
    noise: float = 0.0

    def held_out_of(self, variant: str) -> tuple[HeldOut, HeldOut]:
        """What validation and test of a variant hold out."""
        return self.published_held_out or self.held_out if variant == "published" else self.held_out

    def symbols(self, variant: str, colours: Sequence[str]) -> tuple[str, ...]:
        """The symbols of meaning that its captions may have, in the order of `SYMBOLS`.

        Args:
            variant: of the data; foils have negations and other symbols of the same family.
            colours: of the scenes.
        """
        families = {*self.families, *_MORE_FAMILIES.get(variant, ())}
        if variant == "foils" and "left" in self.families:
            families.add("relation")
        nouns = {"any", "both", *SHAPES, *colours, *self.scenes.colours}
        return tuple(
            name
            for name, symbol in SYMBOLS.items()
            if name not in UNSAID and (name in nouns or name in families or _family(name, symbol.kind) in families)
        )

    def longest_caption(self, variant: str, language: str) -> int:
        """Most words of its captions; foils may be denied as a whole."""
        return self.longest[language] + {"foils": _DENIAL[language], "related": _PARAPHRASE[language]}.get(variant, 0)


_MORE_FAMILIES = {
    "foils": ("not", "not-true"),
    "related": ("not-true", "there-is", "exists", "bare-two", "count", "ratio"),
}
"""Symbols of captions that are changed, besides those of the kind."""

_DENIAL = {"english": 6, "german": 6}
"""Words that a denial and a negation add."""

_PARAPHRASE = {"english": 12, "german": 12}
"""Words that a denial and another wording add at most."""


def _family(name: str, kind: str) -> str:
    """The family of a symbol; the two negations have none."""
    return "" if kind == "negation" else kind


def _paper(
    name: str,
    captioner: Callable[[Semantics | None], ComposedCaptioner],
    published: Callable[[Semantics | None], Captioner],
    foils: tuple[str, ...],
    families: tuple[str, ...],
    longest: Mapping[str, int],
    held_out: tuple[HeldOut, ...] | None = None,
) -> AgreementKind:
    scenes, (validation, test) = PAPER_SCENES[name], held_out or PAPER_HELD_OUT[name]
    return AgreementKind(
        scenes, captioner, foils, families, longest, published, (validation, test), PAPER_HELD_OUT[name], noise=0.1
    )


def _there_is(semantics: Semantics | None) -> ComposedCaptioner:
    return captioners.there_is(semantics, _PAPER_COLOURS)


def _published_existential(semantics: Semantics | None) -> Captioner:
    return captioners.PublishedExistential(semantics=semantics)


def _negation(semantics: Semantics | None) -> ComposedCaptioner:
    return captioners.relational(semantics, negated=1.0)


def _complex(semantics: Semantics | None) -> ComposedCaptioner:
    parts = (captioners.quantification, captioners.number_bound, captioners.comparison)
    return MixedCaptioner([part(semantics) for part in parts])


def _logical(semantics: Semantics | None) -> ComposedCaptioner:
    clauses = (captioners.existential, captioners.relational, captioners.selection, captioners.quantification)
    return Logical(MixedCaptioner([part(semantics) for part in clauses]))


_RELATIONS = ("exists", "relation", "unique")
_COUNTED = ("count", "ratio")

KINDS: Mapping[Kind, AgreementKind] = {
    "oneshape": _paper(
        "oneshape",
        _there_is,
        _published_existential,
        (*_ATTRIBUTES, "denial"),
        ("there-is",),
        {"english": 6, "german": 6},
        ONESHAPE_HELD_OUT,
    ),
    "multishape": _paper(
        "multishape", _there_is, _published_existential, (*_ATTRIBUTES, "denial"), ("there-is",), {"english": 6, "german": 6}
    ),
    "spatial": _paper(
        "spatial",
        lambda semantics: captioners.relational(semantics, _PAPER_COLOURS, families=("x", "y"), negated=0.0),
        lambda semantics: captioners.PublishedSpatial(semantics=semantics),
        _RELATION,
        ("exists", "left", "right", "above", "below"),
        {"english": 12, "german": 10},
    ),
    "quantification": _paper(
        "quantification",
        lambda semantics: captioners.quantification(semantics, _PAPER_COLOURS, kinds=("bare",)),
        lambda semantics: captioners.PublishedQuantification(semantics=semantics),
        (*_ATTRIBUTES[:2], "nouns exchanged", *_STATEMENT),
        captioners.BARE_QUANTIFIERS,
        {"english": 7, "german": 7},
    ),
    "existential": AgreementKind(
        SceneSettings(),
        captioners.existential,
        (*_ATTRIBUTES, "nouns exchanged", *_STATEMENT),
        ("there-is", "exists"),
        {"english": 7, "german": 7},
    ),
    "relational": AgreementKind(
        _RELATIONAL, captioners.relational, _RELATION, (*_RELATIONS, "not"), {"english": 17, "german": 17}
    ),
    "single_attribute": AgreementKind(
        _RELATIONAL,
        captioners.single_attribute,
        ("shape replaced", "colour replaced", *_RELATION[4:]),
        ("there-is", *_RELATIONS),
        {"english": 16, "german": 16},
    ),
    "negation": AgreementKind(_RELATIONAL, _negation, _RELATION, (*_RELATIONS, "not"), {"english": 17, "german": 17}),
    "selection": AgreementKind(
        _SELECTION,
        captioners.selection,
        (*_ATTRIBUTES[:2], "selector turned", "selector replaced", *_STATEMENT),
        ("exists", "selector"),
        {"english": 13, "german": 15},
    ),
    "count": AgreementKind(
        _QUANTIFIED,
        lambda semantics: captioners.quantification(semantics, kinds=("count",)),
        _QUANTITY,
        ("count",),
        {"english": 12, "german": 9},
    ),
    "ratio": AgreementKind(
        _QUANTIFIED,
        lambda semantics: captioners.quantification(semantics, kinds=("ratio",)),
        _QUANTITY,
        ("ratio",),
        {"english": 14, "german": 10},
    ),
    "quantities": AgreementKind(_QUANTIFIED, captioners.quantification, _QUANTITY, _COUNTED, {"english": 14, "german": 10}),
    "number_bound": AgreementKind(
        _QUANTIFIED,
        captioners.number_bound,
        (*_ATTRIBUTES[:2], "number changed", *_STATEMENT),
        (*_COUNTED, "bound"),
        {"english": 15, "german": 11},
    ),
    "comparison": AgreementKind(
        _QUANTIFIED,
        captioners.comparison,
        (*_ATTRIBUTES[:2], "attributes exchanged", "nouns exchanged", "number changed", *_STATEMENT),
        ("difference", "quotient"),
        {"english": 15, "german": 13},
    ),
    "complex": AgreementKind(
        _QUANTIFIED, _complex, _QUANTITY, (*_COUNTED, "bound", "difference", "quotient"), {"english": 15, "german": 13}
    ),
    "logical": AgreementKind(
        _LOGICAL,
        _logical,
        (*_ATTRIBUTES[:2], "clauses exchanged", "connective replaced", "denial"),
        ("there-is", *_RELATIONS, "not", "selector", *_COUNTED, "connective"),
        {"english": 39, "german": 39},
    ),
}
"""Every kind by name."""
