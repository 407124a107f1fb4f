"""German for captions: gender, case and declension, and three places of the finite verb.

The verb stands second in a main clause ("ein Kreis ist rot"), first after "dann" ("dann ist ein Kreis rot"), and last after
"wenn" and "dass" ("wenn ein Kreis rot ist"). Where a statement joined of others is a part of another one, words or a clause with
"dass" close it, so that every sentence has one meaning.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from molyneux.data.worlds.shapeworld.meaning.grammar.grammar import Grammar
from molyneux.data.worlds.shapeworld.meaning.language.language import Language
from molyneux.data.worlds.shapeworld.meaning.trees.trees import COMPARATORS, RATIOS

_FEATURES = {
    "number": ("sg", "pl"),
    "gender": ("m", "f", "n"),
    "case": ("nom", "acc", "dat", "gen"),
    "declension": ("strong", "mixed", "weak"),
    "order": ("second", "inverted", "final"),
    "verb": ("sein", "haben", "existieren"),
    "ending": ("closed", "open"),
    "comparator": COMPARATORS,
    "amount": tuple(map(str, range(6))),
    "share": tuple(RATIOS),
    "total": tuple(map(str, range(2, 9))),
}

_CATEGORIES = {
    "top": ("order",),
    "conjuncts": ("order",),
    "disjuncts": ("order",),
    "inner": ("order",),
    "left": ("order",),
    "compound": ("order", "ending"),
    "clause": ("order",),
    "part": ("order", "total"),
    "finite": ("verb", "number"),
    "rest": ("verb", "number"),
    "denied": ("verb", "number"),
    "entity": ("case",),
    "indefinite": ("case", "gender"),
    "definite": ("case", "gender"),
    "selected": ("case", "gender"),
    "noun": ("declension", "case", "number", "gender"),
    "nouns": ("declension", "case"),
    "colour": ("declension", "case", "number", "gender"),
    "shape": ("case", "number", "gender"),
    "figure": ("number",),
    "a": ("case", "gender"),
    "the": ("case", "gender"),
    "which": ("gender",),
    "no": ("number", "gender"),
    "one": ("gender",),
    "none": ("gender",),
    "every": ("gender",),
    "comparator": ("comparator",),
    "numeral": ("amount",),
    "fraction": ("share",),
    "total": ("total",),
}

_CONNECTIVES = """
sentence = :top[second] .
top[order] = :clause[order]
top[second] and = 0:clause[second] und 1:conjuncts[second]
top[final] and = 0:clause[final] und 1:conjuncts[final]
top[second] or = 0:clause[second] oder 1:disjuncts[second]
top[final] or = 0:clause[final] oder 1:disjuncts[final]
top[order] = :compound[order]
~top[second] if = 0:clause[second] , wenn 1:inner[final]
~top[second] iff = 0:clause[second] genau dann , wenn 1:inner[final]
~top[second] exists = es gibt 0:indefinite[acc gender] , :which[gender] 1:rest[verb sg] :finite[verb sg]
conjuncts[order] = :clause[order]
conjuncts[order] and = 0:clause[order] und 1:conjuncts[order]
conjuncts[order] = :compound[order]
disjuncts[order] = :clause[order]
disjuncts[order] or = 0:clause[order] oder 1:disjuncts[order]
disjuncts[order] = :compound[order]
inner[order] = :clause[order]
inner[order] = :compound[order]
left[order] = :clause[order]
left[order] = :compound[order closed]
left[order] = :compound[order open] ,
compound[second open] not-true = es ist nicht wahr , dass 0:inner[final]
compound[inverted open] not-true = ist es nicht wahr , dass 0:inner[final]
compound[final open] not-true = es nicht wahr ist , dass 0:inner[final]
compound[second open] and = es gilt , dass sowohl 0:left[final] als auch 1:inner[final]
compound[second closed] or = entweder 0:left[second] oder 1:left[second] oder beides
compound[second closed] either = entweder 0:left[second] oder 1:inner[second] , aber nicht beides
compound[second closed] if = wenn 1:top[final] , dann 0:inner[inverted]
compound[second closed] iff = genau dann , wenn 0:top[final] , 1:inner[inverted]
compound[inverted open] = gilt , dass :joined
compound[final closed] = :joined
~compound[second open] = es gilt , dass :joined
~compound[second closed] if = wenn 1:top[final] , 0:inner[inverted]
joined and = sowohl 0:left[final] als auch 1:inner[final]
joined or = entweder 0:left[final] oder 1:left[final] oder beides
joined either = entweder 0:left[final] oder 1:inner[final] , aber nicht beides
joined if = wenn 1:top[final] , 0:inner[final]
joined iff = genau dann , wenn 0:top[final] , 1:inner[final]
"""

_PEOPLE = """
!sentence = :clause[inverted] .
!sentence there-is = 0:indefinite[nom] .
"""
"""What people say beside captions: a question, and what is there without a verb."""

_NOUNS = """
entity[case] = :indefinite[case]
entity[case] = :definite[case]
indefinite[case gender] = :a[case gender] :noun[mixed case sg gender]
definite[case gender] = :the[case gender] :selected[case gender]
noun[declension case number f] any = :figure[number]
noun[declension case number f] = :colour[declension case number f] :figure[number]
noun[declension case number gender] = :shape[case number gender]
noun[declension case number gender] both = 0:colour[declension case number gender] 1:shape[case number gender]
nouns[declension case] = :noun[declension case pl]
figure[sg] = Figur
figure[pl] = Figuren
from = von :indefinite[dat]
from = vom :selected[dat m]
from = vom :selected[dat n]
from = von der :selected[dat f]
at = an :indefinite[dat]
at = am :selected[dat m]
at = am :selected[dat n]
at = an der :selected[dat f]
to = zu :indefinite[dat]
to = zum :selected[dat m]
to = zum :selected[dat n]
to = zur :selected[dat f]
~from = von :definite[dat]
~at = an :definite[dat]
~to = zu :definite[dat]
which[m] = der
which[f] = die
which[n] = das
no[sg m] = kein
no[sg f] = keine
no[sg n] = kein
no[pl] = keine
one[m] = einer
one[f] = eine
one[n] = eines
none[m] = keiner
none[f] = keine
none[n] = keines
every[m] = jeder
every[f] = jede
every[n] = jedes
"""

_VERBS = """
clause[second] there-is = es gibt 0:indefinite[acc]
clause[inverted] there-is = gibt es 0:indefinite[acc]
clause[final] there-is = es 0:indefinite[acc] gibt
~clause[second] there-is = es existiert 0:indefinite[nom]
~clause[second] there-is = 0:indefinite[nom] existiert
rest[sein number] = :plain
rest[sein sg] = :indefinite[nom]
rest[sein pl] = :noun[strong nom pl]
rest[sein number] = :relation
rest[haben number] = :likeness
rest[existieren number] besides = zusätzlich 0:to
rest[verb number] not = 0:denied[verb number]
denied[sein number] = nicht :plain
denied[sein number] = :no[number gender] :noun[mixed nom number gender]
denied[sein number] = nicht :relation
denied[haben number] same-shape = nicht dieselbe Form wie 0:entity[nom]
denied[haben number] different-shape = keine andere Form als 0:entity[nom]
denied[haben number] same-colour = nicht dieselbe Farbe wie 0:entity[nom]
denied[haben number] different-colour = keine andere Farbe als 0:entity[nom]
denied[existieren number] besides = nicht zusätzlich 0:to
finite[sein sg] = ist
finite[sein pl] = sind
finite[haben sg] = hat
finite[haben pl] = haben
finite[existieren sg] = existiert
finite[existieren pl] = existieren
relation left = links 0:from
relation right = rechts 0:from
relation above = über 0:entity[dat]
relation below = unter 0:entity[dat]
relation behind = hinter 0:entity[dat]
relation in-front = vor 0:entity[dat]
relation smaller = kleiner als 0:entity[nom]
relation bigger = größer als 0:entity[nom]
relation darker = dunkler als 0:entity[nom]
relation lighter = heller als 0:entity[nom]
relation closer = näher 1:at als 0:entity[nom]
relation farther = weiter 1:from entfernt als 0:entity[nom]
likeness same-shape = dieselbe Form wie 0:entity[nom]
likeness different-shape = eine andere Form als 0:entity[nom]
likeness same-colour = dieselbe Farbe wie 0:entity[nom]
likeness different-colour = eine andere Farbe als 0:entity[nom]
~likeness same-shape = die gleiche Form wie 0:entity[nom]
~likeness same-colour = die gleiche Farbe wie 0:entity[nom]
"""

_SUBJECTS = """
exists sg = 0:entity[nom]
bare-the sg = :the[nom gender] 0:noun[weak nom sg gender]
bare-two pl = zwei 0:nouns[strong nom]
bare-most pl = die meisten 0:nouns[weak nom]
count-{comparator}-1 sg = :comparator[comparator] :a[nom gender] 0:noun[mixed nom sg gender]
count-{comparator}-{amount} pl = :comparator[comparator] :numeral[amount] 0:nouns[strong nom]
ratio-eq-0 sg = :no[sg gender] 0:noun[mixed nom sg gender]
ratio-eq-1 pl = alle 0:nouns[weak nom]
ratio-neq-0 pl = einige 0:nouns[strong nom]
ratio-neq-1 pl = nicht alle 0:nouns[weak nom]
ratio-lt-1 pl = weniger als alle 0:nouns[weak nom]
ratio-leq-1 pl = höchstens alle 0:nouns[weak nom]
ratio-{comparator}-{share} pl = :comparator[comparator] :fraction[share] der 0:nouns[weak gen]
~1-more-than sg = :a[nom gender] 0:noun[mixed nom sg gender] mehr als 1:nouns[strong nom]
~1-fewer-than sg = :a[nom gender] 0:noun[mixed nom sg gender] weniger als 1:nouns[strong nom]
~{amount}-more-than pl = :numeral[amount] 0:nouns[strong nom] mehr als 1:nouns[strong nom]
~{amount}-fewer-than pl = :numeral[amount] 0:nouns[strong nom] weniger als 1:nouns[strong nom]
times-lt-half pl = weniger als halb so viele 0:nouns[strong nom] wie 1:nouns[strong nom]
times-eq-half pl = halb so viele 0:nouns[strong nom] wie 1:nouns[strong nom]
times-gt-half pl = mehr als halb so viele 0:nouns[strong nom] wie 1:nouns[strong nom]
times-lt-equal pl = weniger 0:nouns[strong nom] als 1:nouns[strong nom]
times-eq-equal pl = genauso viele 0:nouns[strong nom] wie 1:nouns[strong nom]
times-gt-equal pl = mehr 0:nouns[strong nom] als 1:nouns[strong nom]
times-lt-twice pl = weniger als doppelt so viele 0:nouns[strong nom] wie 1:nouns[strong nom]
times-eq-twice pl = doppelt so viele 0:nouns[strong nom] wie 1:nouns[strong nom]
times-gt-twice pl = mehr als doppelt so viele 0:nouns[strong nom] wie 1:nouns[strong nom]
~ratio-eq-1 sg = :every[gender] 0:noun[weak nom sg gender]
"""
"""Subjects of clauses, with the number of the verb: how a symbol and all its arguments but the last are said."""

_COMPARED = """
1-more-than sg = :a[nom gender] 0:noun[mixed nom sg gender] mehr
1-fewer-than sg = :a[nom gender] 0:noun[mixed nom sg gender] weniger
{amount}-more-than pl = :numeral[amount] 0:nouns[strong nom] mehr
{amount}-fewer-than pl = :numeral[amount] 0:nouns[strong nom] weniger
"""
"""Subjects that are compared in number with other entities, which are named first."""

_PARTS = """
bare-two pl = zwei der :total[total] 0:nouns[weak gen]
bare-most pl = die meisten der :total[total] 0:nouns[weak gen]
count-{comparator}-1 sg = :comparator[comparator] :one[gender] der :total[total] 0:noun[weak gen pl gender]
count-{comparator}-{amount} pl = :comparator[comparator] :numeral[amount] der :total[total] 0:nouns[weak gen]
ratio-eq-0 sg = :none[gender] der :total[total] 0:noun[weak gen pl gender]
ratio-eq-1 pl = alle :total[total] 0:nouns[weak nom]
ratio-neq-0 pl = einige der :total[total] 0:nouns[weak gen]
ratio-neq-1 pl = nicht alle :total[total] 0:nouns[weak nom]
ratio-lt-1 pl = weniger als alle :total[total] 0:nouns[weak nom]
ratio-leq-1 pl = höchstens alle :total[total] 0:nouns[weak nom]
ratio-{comparator}-{share} pl = :comparator[comparator] :fraction[share] der :total[total] 0:nouns[weak gen]
"""
"""Subjects that are a part of so many."""

_WORDS = """
comparator[lt] = weniger als
comparator[leq] = höchstens
comparator[eq] = genau
comparator[neq] = nicht genau
comparator[geq] = mindestens
comparator[gt] = mehr als
fraction[0] = null Prozent
fraction[quarter] = ein Viertel
fraction[third] = ein Drittel
fraction[half] = die Hälfte
fraction[two-thirds] = zwei Drittel
fraction[three-quarters] = drei Viertel
"""

_NUMERALS = ("null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht")

_COLOURS = {
    "red": "rot",
    "green": "grün",
    "blue": "blau",
    "yellow": "gelb",
    "magenta": "magentafarben",
    "cyan": "cyanfarben",
    "gray": "grau",
    "white": "weiß",
}

_SHAPES = {
    "square": ("n", "Quadrat", "Quadrate"),
    "rectangle": ("n", "Rechteck", "Rechtecke"),
    "triangle": ("n", "Dreieck", "Dreiecke"),
    "pentagon": ("n", "Fünfeck", "Fünfecke"),
    "cross": ("n", "Kreuz", "Kreuze"),
    "circle": ("m", "Kreis", "Kreise"),
    "semicircle": ("m", "Halbkreis", "Halbkreise"),
    "ellipse": ("f", "Ellipse", "Ellipsen"),
}
"""Gender, singular and plural."""

_SELECTORS = {
    "unique": "einzig",
    "left-of-two": "link",
    "right-of-two": "recht",
    "upper-of-two": "ober",
    "lower-of-two": "unter",
    "smaller-of-two": "kleiner",
    "bigger-of-two": "größer",
    "darker-of-two": "dunkler",
    "lighter-of-two": "heller",
    "leftmost": "am weitesten links liegend",
    "rightmost": "am weitesten rechts liegend",
    "uppermost": "oberst",
    "lowermost": "unterst",
    "smallest": "kleinst",
    "biggest": "größt",
    "darkest": "dunkelst",
    "lightest": "hellst",
    "closer-of-two": "1:entity[dat] näher liegend",
    "farther-of-two": "weiter 1:from entfernt",
    "closest": "1:entity[dat] am nächsten liegend",
    "farthest": "am weitesten 1:from entfernt",
}
"""Adjectives without their ending."""

_ARTICLES = {
    "a": {"nom": ("ein", "eine", "ein"), "acc": ("einen", "eine", "ein"), "dat": ("einem", "einer", "einem")},
    "the": {"nom": ("der", "die", "das"), "dat": ("dem", "der", "dem")},
}
"""Forms for masculine, feminine and neuter nouns."""

_ENDINGS = {
    ("strong", "pl"): {"nom": ("e", "e", "e")},
    ("mixed", "sg"): {"nom": ("er", "e", "es"), "acc": ("en", "e", "es"), "dat": ("en", "en", "en")},
    ("mixed", "pl"): {"nom": ("en", "en", "en")},
    ("weak", "sg"): {"nom": ("e", "e", "e"), "dat": ("en", "en", "en")},
    ("weak", "pl"): {"nom": ("en", "en", "en"), "gen": ("en", "en", "en"), "dat": ("en", "en", "en")},
}
"""Endings of adjectives where captions need them: without an article, after "ein" and "kein", after "der" and "alle"."""


@lru_cache(maxsize=1)
def german() -> Language:
    """German captions."""
    fixed = [line for text in (_CONNECTIVES, _PEOPLE, _NOUNS, _VERBS, _WORDS) for line in text.strip().splitlines()]
    rules = [*fixed, *_clauses(), *_lexicon()]
    return Language(Grammar("German", features=_FEATURES, categories=_CATEGORIES, rules=rules))


def _clauses() -> Iterator[str]:
    """Rules of clauses with the verb at each of its places."""
    for head, text in (("clause[{order}]", _SUBJECTS), ("part[{order} total]", _PARTS)):
        for line in text.strip().splitlines():
            left, subject = line.split(" = ", 1)
            symbol, number = left.lstrip("~").split(" ")
            finite, rest = f":finite[verb {number}]", f"{2 if '1:nouns' in subject else 1}:rest[verb {number}]"
            orders = {
                "second": f"{subject} {finite} {rest}",
                "inverted": f"{finite} {subject} {rest}",
                "final": f"{subject} {rest} {finite}",
            }
            for order, parts in orders.items():
                yield f"{'~' if left.startswith('~') else ''}{head.format(order=order)} {symbol} = {parts}"
    for line in _COMPARED.strip().splitlines():
        left, subject = line.split(" = ", 1)
        symbol, number = left.split(" ")
        before, finite, rest = "verglichen mit den 1:nouns[weak dat]", f":finite[verb {number}]", f"2:rest[verb {number}]"
        yield f"clause[second] {symbol} = {before} {finite} {subject} {rest}"
        yield f"clause[inverted] {symbol} = {finite} {before} {subject} {rest}"
        yield f"clause[final] {symbol} = {before} {subject} {rest} {finite}"
    yield "clause[order] of-{total} = 0:part[order total]"


def _lexicon() -> Iterator[str]:
    """Rules of articles, adjectives, shapes and numerals."""
    for name, cases in _ARTICLES.items():
        for case, forms in cases.items():
            yield from (f"{name}[{case} {gender}] = {form}" for gender, form in zip("mfn", forms, strict=True))
    for colour, stem in _COLOURS.items():
        yield f"plain {colour} = {stem}"
    for (declension, number), cases in _ENDINGS.items():
        for case, endings in cases.items():
            for gender, ending in zip("mfn", endings, strict=True):
                features = f"{declension} {case} {number} {gender}"
                yield from (f"colour[{features}] {colour} = {stem}{ending}" for colour, stem in _COLOURS.items())
    for symbol, stem in _SELECTORS.items():
        for case in ("nom", "dat"):
            for gender, ending in zip("mfn", _ENDINGS["weak", "sg"][case], strict=True):
                yield f"selected[{case} {gender}] {symbol} = {stem}{ending} 0:noun[weak {case} sg {gender}]"
    for shape, (gender, singular, plural) in _SHAPES.items():
        yield f"shape[sg {gender}] {shape} = {singular}"
        yield from (f"shape[{case} pl {gender}] {shape} = {plural}" for case in ("nom", "acc", "gen"))
        yield f"shape[dat pl {gender}] {shape} = {plural if plural.endswith('n') else f'{plural}n'}"
    yield from (f"numeral[{amount}] = {_NUMERALS[amount]}" for amount in (0, 2, 3, 4, 5))
    yield from (f"total[{total}] = {_NUMERALS[total]}" for total in range(2, 9))
