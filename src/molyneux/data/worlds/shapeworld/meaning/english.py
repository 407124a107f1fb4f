"""English for captions: rules with number agreement, and articles.

Sentences follow those of ShapeWorld, mended where they clash ("fewer than two", "a third of the squares are", "not exactly two").
Where a statement is part of another one that is part of a third, words close it ("either ..., but not both"), so that
every sentence has one meaning.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from molyneux.data.worlds.shapeworld.meaning.grammar import Grammar, Rule, rule
from molyneux.data.worlds.shapeworld.meaning.trees import FACTORS, SYMBOLS, Symbol
from molyneux.data.worlds.shapeworld.scenes import COLOURS, SHAPES

_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight")

_COUNTS = {"lt": "fewer than", "leq": "at most", "eq": "exactly", "neq": "not exactly", "geq": "at least", "gt": "more than"}

_FRACTIONS = {
    "quarter": "a quarter",
    "third": "a third",
    "half": "half",
    "two-thirds": "two thirds",
    "three-quarters": "three quarters",
}

_RELATIONS = {
    "left": "to the left of",
    "right": "to the right of",
    "above": "above",
    "below": "below",
    "behind": "behind",
    "in-front": "in front of",
    "smaller": "smaller than",
    "bigger": "bigger than",
    "darker": "darker than",
    "lighter": "lighter than",
    "same-shape": "the same shape as",
    "different-shape": "a different shape from",
    "same-colour": "the same color as",
    "different-colour": "a different color from",
}


@lru_cache(maxsize=1)
def english() -> Grammar:
    """The grammar of English captions."""
    clauses = [
        rule("there-is", "there is a 0:noun.sg"),
        rule("exists", "0:entity 1:verb.sg"),
        rule("bare-the", "the 0:noun.sg 1:verb.sg"),
        *_quantifiers(),
        *_comparisons(),
        *(rule(f"of-{number}", f"0:of.{number}") for number in range(2, 9)),
    ]
    rules = {
        "sentence": [
            rule("", "0:clause"),
            rule("and", "0:clause and 1:clause", simple=True),
            rule("or", "0:clause or 1:clause", simple=True),
            rule("if", "0:clause if 1:clause", simple=True),
            rule("iff", "0:clause if and only if 1:clause", simple=True),
            rule("", "0:compound"),
        ],
        "inner": [rule("", "0:clause"), rule("", "0:compound")],
        "compound": [
            rule("not-true", "it is not true that 0:inner"),
            rule("and", "both 0:inner and 1:inner"),
            rule("either", "either 0:inner or 1:inner , but not both"),
            rule("or", "either 0:inner or 1:inner , or both"),
            rule("if", "if 1:inner , then 0:inner"),
            rule("iff", "exactly if 1:inner , then 0:inner"),
        ],
        "clause": clauses,
        "entity": [rule("", "a 0:noun.sg"), *_selectors()],
        "colour": [rule(colour, colour) for colour in COLOURS],
        **{f"shape.{number}": [rule(shape, _plural(shape, number)) for shape in SHAPES] for number in ("sg", "pl")},
        **{f"noun.{number}": list(_nouns(number)) for number in ("sg", "pl")},
        **{f"verb.{number}": list(_verbs(number)) for number in ("sg", "pl")},
        **{f"predicate.{number}": list(_predicates("", number)) for number in ("sg", "pl")},
        "besides": [rule("besides", "0:entity")],
        **{f"of.{number}": list(_quantifiers(f"of the {_NUMBERS[number]}")) for number in range(2, 9)},
    }
    return Grammar("English", rules, joined=_with_articles, split=_without_articles, forms=("an",))


def _nouns(number: str) -> Iterator[Rule]:
    """What kind of entity is meant."""
    yield rule("any", _plural("shape", number))
    yield from (rule(colour, f"{colour} {_plural('shape', number)}") for colour in COLOURS)
    yield from (rule(shape, _plural(shape, number)) for shape in SHAPES)
    yield rule("both", f"0:colour 1:shape.{number}")


def _plural(word: str, number: str) -> str:
    if number == "sg":
        return word
    return f"{word}es" if word.endswith("s") else f"{word}s"


def _verbs(number: str) -> Iterator[Rule]:
    """What is said of entities, and that it is not so."""
    to_be = "is" if number == "sg" else "are"
    yield from _predicates(to_be, number)
    exist = ("exists", "does not exist") if number == "sg" else ("exist", "do not exist")
    yield rule("besides", f"{exist[0]} besides 0:entity")
    yield rule("not", f"{to_be} not 0:predicate.{number}")
    yield rule("not", f"{exist[1]} besides 0:besides")


def _predicates(to_be: str, number: str) -> Iterator[Rule]:
    """Predicates after a form of "to be" (or after nothing)."""
    article = "a" if number == "sg" else ""
    yield rule("any", f"{to_be} {article} {_plural('shape', number)}")
    yield from (rule(colour, f"{to_be} {colour}") for colour in COLOURS)
    yield from (rule(shape, f"{to_be} {article} {_plural(shape, number)}") for shape in SHAPES)
    yield rule("both", f"{to_be} {article} 0:colour 1:shape.{number}")
    yield from (rule(name, f"{to_be} {words} 0:entity") for name, words in _RELATIONS.items())
    yield from (
        rule(name, f"{to_be} {name} {'to' if name == 'closer' else 'from'} 1:entity than 0:entity")
        for name in ("closer", "farther")
    )


def _selectors() -> Iterator[Rule]:
    """One entity, picked out of those of a noun."""
    for symbol in (symbol for symbol in SYMBOLS.values() if symbol.kind == "selector"):
        word = "only" if symbol.name == "unique" else symbol.name.removesuffix("-of-two")
        if len(symbol.arguments) == 2:
            yield rule(symbol.name, f"the 0:noun.sg {word} {'to' if word.startswith('close') else 'from'} 1:entity")
        else:
            yield rule(symbol.name, f"the {word} 0:noun.sg")


def _quantifiers(of: str = "") -> Iterator[Rule]:
    """Quantifiers of a noun; `of`: of how many, such as "of the three"."""
    plural = f"{of} 0:noun.pl 1:verb.pl"
    yield rule("bare-two", f"two {plural}")
    yield rule("bare-most", f"most {plural}")
    for symbol in SYMBOLS.values():
        if symbol.kind == "count":
            one = symbol.quantity == 1
            noun = "0:noun.sg" if one and not of else f"{of} 0:noun.pl"
            yield rule(symbol.name, f"{_counted(symbol)} {noun} {'1:verb.sg' if one else '1:verb.pl'}")
        elif symbol.kind == "ratio":
            yield rule(symbol.name, _share(symbol, of))


def _counted(symbol: Symbol) -> str:
    return f"{_COUNTS[symbol.comparator]} {_NUMBERS[int(symbol.quantity)]}"


def _share(symbol: Symbol, of: str) -> str:
    """The words of a ratio quantifier."""
    comparator, name = symbol.comparator, symbol.name.split("-", 2)[2]
    words = "less than" if comparator == "lt" else _COUNTS[comparator]
    if name in _FRACTIONS:
        return f"{words} {_FRACTIONS[name]} {of or 'of the'} 0:noun.pl 1:verb.pl"
    if name == "1":
        words = {"eq": "", "neq": "not"}.get(comparator, words)
        return f"{words} all {of} 0:noun.pl 1:verb.pl"
    if comparator == "eq" and not of:
        return "no 0:noun.sg 1:verb.sg"
    words = {"eq": "none", "neq": "some"}.get(comparator, f"{words} none")
    return f"{words} {of or ('' if comparator == 'neq' else 'of the')} 0:noun.pl 1:verb.pl"


def _comparisons() -> Iterator[Rule]:
    """How many more, and how many times as many."""
    for symbol in (symbol for symbol in SYMBOLS.values() if symbol.kind == "difference"):
        count, more = abs(int(symbol.quantity)), "more" if symbol.quantity > 0 else "fewer"
        number = "sg" if count == 1 else "pl"
        yield rule(symbol.name, f"{_NUMBERS[count]} {more} 0:noun.{number} than 1:noun.pl 2:verb.{number}")
    for name in FACTORS:
        for comparator in ("lt", "eq", "gt"):
            words = {"lt": "less than", "eq": "exactly", "gt": "more than"}[comparator]
            text = f"{words} {name} as many 0:noun.pl as 1:noun.pl 2:verb.pl"
            if name == "equal":
                many = {"lt": ("fewer", "than"), "eq": ("as many", "as"), "gt": ("more", "than")}[comparator]
                text = f"{many[0]} 0:noun.pl {many[1]} 1:noun.pl 2:verb.pl"
            yield rule(f"times-{comparator}-{name}", text)


def _with_articles(words: list[str]) -> list[str]:
    """The words with "an" for "a" before a vowel."""
    following = [*words[1:], ""]
    return [
        "an" if word == "a" and after[:1] in "aeiou" and after else word for word, after in zip(words, following, strict=True)
    ]


def _without_articles(words: list[str]) -> list[str]:
    return ["a" if word == "an" else word for word in words]
