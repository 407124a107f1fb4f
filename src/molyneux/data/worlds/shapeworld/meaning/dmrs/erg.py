"""What each symbol of the trees is in the English Resource Grammar (ERG): the predicates it adds, and how they are linked.

A rule belongs to a category and a symbol and is a row of items. A node is a name, a predicate and links to other items; a slot
is the number of an argument, the category that it is written in and, if any, the item that it is said of. So the rule of `above`
among predicates,

    e _above_p ARG1/NEQ subject ARG2/NEQ 0; 0 entity

is a node `e` whose ARG1 is what the predicate is said of and whose ARG2 is the first argument, a noun phrase. The first item is
the top of its rule; a link to a slot ends at the top of that slot. `:pl` marks a plural, brackets hold a constant, `*` marks the
item that is the index where that is not the top, and nodes named `e` have a tense. The empty symbol stands for all others of a
category, whose tree is written in the category of its slot 0.

Names and arguments of predicates are those of the semantic interface of the ERG (Flickinger, Natural Language Engineering, 2000;
files `abstract.smi` and `surface.smi` of the grammar), and structures those that its pages "ErgSemantics" document. Its lexicon
has no "ellipse" and no "lowermost": the former is named as other nouns are, the latter is "lowest".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from molyneux.data.worlds.shapeworld.meaning.trees.trees import SYMBOLS, Symbol
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES

_SHAPES = {shape: f"_{shape}_n_1" for shape in SHAPES} | {"square": "_square_n_of", "circle": "_circle_n_of"}

_COLOURS = {colour: f"_{colour}_a_1" for colour in COLOURS} | {"green": "_green_a_2"}  # _green_a_1 is no colour

_PLACES = {"above": "_above_p", "below": "_below_p", "behind": "_behind_p", "in-front": "_in+front+of_p"}

_SIDES = {"left": "_left_n_of", "right": "_right_n_of"}

_COMPARED = {"smaller": "_small_a_1", "bigger": "_big_a_1", "darker": "_dark_a_1", "lighter": "_light_a_1"}

_DISTANCES = {"closer": "_close_a_to", "farther": "_far_a_from"}

_ATTRIBUTES = {"shape": "_shape_n_1", "colour": "_color_n_1"}

_SELECTORS = {
    "unique": ("_only_a_1", ""),
    "left-of-two": ("_left_a_1", ""),
    "right-of-two": ("_right_a_1", ""),
    "upper-of-two": ("_upper_a_1", ""),
    "lower-of-two": ("_lower_a_1", ""),
    "smaller-of-two": ("_small_a_1", "more_comp"),
    "bigger-of-two": ("_big_a_1", "more_comp"),
    "darker-of-two": ("_dark_a_1", "more_comp"),
    "lighter-of-two": ("_light_a_1", "more_comp"),
    "closer-of-two": ("_close_a_to", "more_comp"),
    "farther-of-two": ("_far_a_from", "more_comp"),
    "leftmost": ("_leftmost_a_1", ""),
    "rightmost": ("_rightmost_a_1", ""),
    "uppermost": ("_uppermost_a_1", ""),
    "lowermost": ("_low_a_1", "superl"),
    "smallest": ("_small_a_1", "superl"),
    "biggest": ("_big_a_1", "superl"),
    "darkest": ("_dark_a_1", "superl"),
    "lightest": ("_light_a_1", "superl"),
    "closest": ("_close_a_to", "superl"),
    "farthest": ("_far_a_from", "superl"),
}
"""The adjective of a selector, and what compares it."""

_DEGREES = {
    "lt": ("_less+than_x_deg",),
    "leq": ("_at+most_x_deg",),
    "eq": ("_exactly_x_deg",),
    "neq": ("_exactly_x_deg", "_not_x_deg"),
    "geq": ("_at+least_x_deg",),
    "gt": ("_more+than_x_deg",),
}
"""Degree words of comparators; the second one is said of the first."""

_TIMES = {"half": "_half_x_deg", "twice": "_twice_x_deg"}


@dataclass(frozen=True)
class _Amount:
    """A quantifier.

    Args:
        quantifier: its predicate.
        count: a number that is said of what is quantified.
        part: what a part of the noun is called, where one is quantified and not the noun itself.
        plural: number of what is quantified.
        degree: whether the comparator of a symbol is said by a degree word.
    """

    quantifier: str
    count: int | None = None
    part: str = ""
    plural: bool = True
    degree: bool = False


_SHARES = {
    "0": _Amount("_no_q", degree=True),
    "quarter": _Amount("_a_q", part="_quarter_n_of", plural=False, degree=True),
    "third": _Amount("_a_q", part="_third_n_of", plural=False, degree=True),
    "half": _Amount("_half_q", part="part_of", degree=True),
    "two-thirds": _Amount("udef_q", 2, "_third_n_of", degree=True),
    "three-quarters": _Amount("udef_q", 3, "_quarter_n_of", degree=True),
    "1": _Amount("_all_q", degree=True),
}

_WORDS = {
    "bare-two": _Amount("udef_q", 2),
    "bare-most": _Amount("_most_q"),
    "ratio-eq-0": _Amount("_no_q", plural=False),
    "ratio-neq-0": _Amount("_some_q"),
    "ratio-eq-1": _Amount("_all_q"),
    "ratio-neq-1": _Amount("_not+all_q"),
}
"""Quantifiers without a degree word; shares of nothing and of everything are words of their own."""

_CONNECTIVES = {
    "and": "e _and_c ARG1/H 0 ARG2/H 1; 0 statement; 1 statement",
    "or": "e _or_c ARG1/H 0 ARG2/H 1; 0 statement; 1 statement",
    "either": "e _or_c ARG1/H 0 ARG2/H 1; d _either_a_also ARG1/EQ 0; 0 statement; 1 statement",
    "if": "c _if_x_then ARG1/H 0 ARG2/H 1; 0* statement; 1 statement",
    "iff": "c _if+and+only+if_x_1 ARG1/H 0 ARG2/H 1; 0* statement; 1 statement",
}


@dataclass(frozen=True)
class Item:
    """A node or a slot of a rule.

    Args:
        name: of the node, or the number of the argument.
        content: its predicate, or the category of the argument.
        of: of a slot: the item that the argument is said of, if any.
        constant: of a node, such as the number of `card`.
        plural: whether a node is in the plural.
        links: role, label relation and end of the links that begin at a node.
    """

    name: str
    content: str
    of: str = ""
    constant: str | None = None
    plural: bool = False
    links: tuple[tuple[str, str, str], ...] = ()

    @property
    def is_slot(self) -> bool:
        """Whether it is a slot."""
        return self.name.isdigit()


@dataclass(frozen=True)
class Rule:
    """What a symbol adds in a category: its items, the top first, and the name of the item that is its index."""

    items: tuple[Item, ...]
    index: str

    @property
    def top(self) -> str:
        """The name of its first item."""
        return self.items[0].name

    @cached_property
    def predicates(self) -> frozenset[str]:
        """Those of its nodes."""
        return frozenset(item.content for item in self.items if not item.is_slot)


@lru_cache(maxsize=1)
def erg_rules() -> Mapping[str, Mapping[str, Rule]]:
    """The rules by category and symbol."""
    bounds = {symbol.name: int(symbol.quantity) for symbol in SYMBOLS.values() if symbol.kind == "bound"}
    texts: dict[str, dict[str, str]] = {
        "colour": {name: f"a {predicate} ARG1/EQ subject" for name, predicate in _COLOURS.items()},
        "entity": {"": "0 type.sg; q _a_q RSTR/H 0", **dict(_selectors())},
        "statement": {
            "there-is": "e _be_v_there ARG1/NEQ 0; 0 type.sg; q _a_q RSTR/H 0",
            "exists": "1 predicate.sg of 0; 0 entity",
            "bare-the": "1 predicate.sg of 0; 0 type.sg; q _the_q RSTR/H 0",
            "not-true": "n neg ARG1/H e; e* _true_a_of ARG1/H 0; 0 statement",
            **_CONNECTIVES,
            **dict(_quantified()),
            **dict(_compared()),
            **{name: f"0 of.{bound}" for name, bound in bounds.items()},
        },
    }
    for number, plural in (("sg", ""), ("pl", ":pl")):
        shapes = {name: f"n {predicate}{plural}" for name, predicate in _SHAPES.items()}
        coloured = {name: f"n _shape_n_1{plural}; a {predicate} ARG1/EQ n" for name, predicate in _COLOURS.items()}
        both = {"any": f"n _shape_n_1{plural}", "both": f"1 shape.{number}; 0 colour of 1"}
        texts |= {f"shape.{number}": shapes, f"type.{number}": shapes | coloured | both}
        texts[f"predicate.{number}"] = dict(_predicates(number))
    texts |= {f"of.{bound}": dict(_quantified(bound)) for bound in bounds.values()}
    return {category: {name: _rule(text) for name, text in rules.items()} for category, rules in texts.items()}


def _rule(text: str) -> Rule:
    parts = [part.split() for part in text.split(";") if part.strip()]
    index = next((name for name, *_ in parts if name.endswith("*")), parts[0][0])
    return Rule(tuple(map(_item, parts)), index.rstrip("*"))


def _item(words: list[str]) -> Item:
    name, content, rest = words[0].rstrip("*"), words[1], words[2:]
    if name.isdigit():
        return Item(name, content, rest[1] if rest else "")
    content, _, plural = content.partition(":")
    content, _, constant = content.partition("(")
    labels = [label.split("/") for label in rest[::2]]
    links = tuple((role, post, end) for (role, post), end in zip(labels, rest[1::2], strict=True))
    return Item(name, content, "", constant.rstrip(")") or None, bool(plural), links)


def _selectors() -> Iterator[tuple[str, str]]:
    """Noun phrases that pick an entity out."""
    for name, (adjective, comparison) in _SELECTORS.items():
        far = len(SYMBOLS[name].arguments) == 2
        text = f"0 type.sg; q _the_q RSTR/H 0; a {adjective} ARG1/EQ 0{' ARG2/NEQ 1' if far else ''}"
        yield name, text + (f"; c {comparison} ARG1/EQ a" if comparison else "") + ("; 1 entity" if far else "")


def _predicates(number: str) -> Iterator[tuple[str, str]]:
    """What is said of entities."""
    yield "", f"e _be_v_id ARG1/NEQ subject ARG2/NEQ 0; 0 type.{number}; q {'_a_q' if number == 'sg' else 'udef_q'} RSTR/H 0"
    yield from ((name, f"e {predicate} ARG1/NEQ subject") for name, predicate in _COLOURS.items())
    for name, predicate in _PLACES.items():
        yield name, f"e {predicate} ARG1/NEQ subject ARG2/NEQ 0; 0 entity"
    for name, predicate in _SIDES.items():
        yield name, f"e _to_p ARG1/NEQ subject ARG2/NEQ n; n {predicate} ARG1/NEQ 0; q _the_q RSTR/H n; 0 entity"
    for name, predicate in _COMPARED.items():
        yield name, f"e {predicate} ARG1/NEQ subject; c more_comp ARG1/EQ e ARG2/NEQ 0; 0 entity"
    for name, predicate in _DISTANCES.items():
        yield name, f"e {predicate} ARG1/NEQ subject ARG2/NEQ 1; c more_comp ARG1/EQ e ARG2/NEQ 0; 0 entity; 1 entity"
    for name, noun in _ATTRIBUTES.items():
        text = f"e _be_v_id ARG1/NEQ subject ARG2/NEQ n; n {noun}; 0 entity"
        yield f"same-{name}", text + "; q _the_q RSTR/H n; a _same_a_as ARG1/EQ n; c comp_equal ARG1/EQ a ARG2/NEQ 0"
        yield f"different-{name}", text + "; q _a_q RSTR/H n; a _different_a_than-from ARG1/EQ n; c comp ARG1/EQ a ARG2/NEQ 0"
    yield "besides", "e _exist_v_1 ARG1/NEQ subject; p _besides_p ARG1/EQ e ARG2/NEQ 0; 0 entity"
    yield "not", f"n neg ARG1/H 0; 0* predicate.{number} of subject"


def _amount(symbol: Symbol) -> _Amount:
    if symbol.name in _WORDS:
        return _WORDS[symbol.name]
    if symbol.kind == "count":
        return _Amount("udef_q", int(symbol.quantity), plural=symbol.quantity != 1, degree=True)
    return _SHARES[symbol.name.removeprefix(f"ratio-{symbol.comparator}-")]


def _quantified(bound: int = 0) -> Iterator[tuple[str, str]]:
    """Quantifiers of a noun; `bound`: of how many, such as "of the three", if any."""
    for symbol in (symbol for symbol in SYMBOLS.values() if symbol.sort == "quantified"):
        amount = _amount(symbol)
        plural = amount.plural or (bound > 0 and amount.count is None and not amount.part)  # none of the three are
        part = amount.part or ("part_of" if bound else "")
        noun = f"0 type.{'pl' if plural or part else 'sg'}"
        if part:
            noun = f"p {part}{':pl' if plural else ''} ARG1/NEQ 0; {noun}; the _the_q RSTR/H 0"
        if bound:
            noun += f"; all card({bound}) ARG1/EQ 0"
        end = "p" if part else "0"
        nodes = f"q {amount.quantifier} RSTR/H {end}"
        if amount.count is not None:
            nodes += f"; n card({amount.count}) ARG1/EQ {end}"
        if amount.degree:
            nodes += f"; {_degree(symbol.comparator, 'MOD/EQ q' if amount.count is None else 'ARG1/EQ n')}"
        yield symbol.name, f"1 predicate.{'pl' if plural or amount.part else 'sg'} of {end}; {noun}; {nodes}"


def _degree(comparator: str, link: str) -> str:
    first, *second = _DEGREES[comparator]
    return f"d {first} {link}" + "".join(f"; m {word} ARG1/EQ d" for word in second)


def _compared() -> Iterator[tuple[str, str]]:
    """How many more, and how many times as many."""
    for symbol in (symbol for symbol in SYMBOLS.values() if symbol.kind in ("difference", "quotient")):
        number, compared, more = "pl", "comp_equal", ""
        factor = symbol.name.rpartition("-")[2]
        if symbol.kind == "difference":
            number, compared = "sg" if abs(symbol.quantity) == 1 else "pl", "more_comp"
            more = f"k card({abs(int(symbol.quantity))}) ARG1/EQ c; "
        elif factor == "equal":
            compared = "comp_equal" if symbol.comparator == "eq" else "more_comp"
        else:
            more = f"f {_TIMES[factor]} ARG1/EQ c; {_degree(symbol.comparator, 'ARG1/EQ f')}; "
        fewer = "-fewer-" in symbol.name or (factor == "equal" and symbol.comparator == "lt")
        yield (
            symbol.name,
            f"2 predicate.{number} of 0; 0 type.{number}; q udef_q RSTR/H 0; "
            f"m {'little-few_a' if fewer else 'much-many_a'} ARG1/EQ 0; c {compared} ARG1/EQ m ARG2/NEQ 1; {more}"
            "1 type.pl; r udef_q RSTR/H 1",
        )
