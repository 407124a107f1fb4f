"""Rules of where things are: relations in other words, what overlaps, inversions, superlatives, and "one" for a noun."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

CATEGORIES = {"overlap": ("number",)}

REMARKS = {
    "overlap": "'overlaps' and 'touches' are read as: behind or in front of",
    "extreme": "'of everything', as in 'above everything', is read as the one that is farthest there",
}

_TOWARD = {
    "left": "to the left of it, to the left, on the left of it, left of it, to it 's left, on it 's left, on the left",
    "right": "to the right of it, to the right, on the right of it, right of it, to it 's right, on it 's right, on the right",
    "above": "above it, above, over it",
    "below": "below it, below, beneath it, beneath, under it, underneath it, underneath",
    "behind": "behind it, behind",
    "in-front": "in front of it, in front",
}
"""Words behind a thing that is said to be somewhere from another one, which came before."""

_OPPOSITE = (("left", "right"), ("above", "below"), ("behind", "in-front"), ("smaller", "bigger"), ("darker", "lighter"))
_INVERSES = {one: other for pair in _OPPOSITE for one, other in (pair, pair[::-1])}
"""What the others are of it, if something is in a relation to them: "above all circles" is said of the circles."""

_EXTREMES = {
    "leftmost": ("left of", "to the left of", "on the left of"),
    "rightmost": ("right of", "to the right of", "on the right of"),
    "uppermost": ("above", "over", "higher than"),
    "lowermost": ("below", "beneath", "under", "underneath", "lower than"),
    "biggest": ("bigger than", "larger than"),
    "smallest": ("smaller than",),
    "darkest": ("darker than",),
    "lightest": ("lighter than",),
}

_OVERLAPS = """
!overlap[sg] = overlaps
!overlap[pl] = overlap
!overlap[number] = :be[number] overlapping
!overlap[number] = :be[number] overlapping with
!overlap[sg] = overlaps with
!overlap[pl] = overlap with
!clause <#overlap or(exists(0 behind(1)) exists(0 in-front(1)))> = 0:entity :overlap 1:reference
!clause <#overlap or(bare-the(0 behind(1)) bare-the(0 in-front(1)))> = the 0:noun[sg] :overlap 1:reference
!clause <#overlap and(ratio-eq-0(0 behind(1)) ratio-eq-0(0 in-front(1)))> = :none_of 0:noun :overlap 1:partner
!clause <#overlap and(ratio-eq-0(0 behind(1)) ratio-eq-0(0 in-front(1)))> = :no_question 0:noun overlap 1:partner
!clause <#overlap and(bare-the(0 not(behind(1))) bare-the(0 not(in-front(1))))> = the 0:noun[sg] does not overlap 1:reference
!clause <#overlap and(bare-the(0 not(behind(1))) bare-the(0 not(in-front(1))))> = the 0:noun[sg] does not overlap with 1:reference
!clause <#overlap and(bare-the(0 not(behind(1))) bare-the(0 not(in-front(1))))> = the 0:noun[sg] :be not overlapping 1:reference
!none_of = no
!none_of = none of the
!none_of = not a single
!none_of = not one
!no_question = there is not
!partner = :reference
!partner = any :noun[sg]
!partner = any :noun[pl]
!partner = :noun[pl]
!touching = overlapping
!touching = overlapping with
!touching = that :overlap
!thing <#overlap or(exists(0 behind(1)) exists(0 in-front(1)))> = 0:entity :touching 1:reference
!absent <#overlap and(ratio-eq-0(0 behind(1)) ratio-eq-0(0 in-front(1)))> = any 0:noun :touching 1:partner
!absent <#overlap and(ratio-eq-0(0 behind(1)) ratio-eq-0(0 in-front(1)))> = a 0:noun[sg] :touching 1:partner
!question <#overlap or(exists(0 behind(1)) exists(0 in-front(1)))> = does 0:entity :meet 1:reference
!question <#overlap or(exists(0 behind(1)) exists(0 in-front(1)))> = :do any 0:noun :meet 1:reference
!question <#overlap or(bare-the(0 behind(1)) bare-the(0 in-front(1)))> = does the 0:noun[sg] :meet 1:reference
!question <#overlap or(exists(0 behind(1)) exists(0 in-front(1)))> = is 0:entity :touching 1:reference
!question <#overlap or(bare-the(0 behind(1)) bare-the(0 in-front(1)))> = is the 0:noun[sg] overlapping 1:reference
!meet = overlap
!meet = overlap with
!each_other = overlap
!each_other = overlap each other
!each_other = :be overlapping
!each_other = :be overlapping each other
!clause <#overlap or(bare-the(0 behind(1)) bare-the(0 in-front(1)))> = the 0:noun[sg] and 1:the_other :each_other
!the_other unique = the 0:noun[sg]
!clause <#overlap or(exists(0 behind(1)) exists(0 in-front(1)))> = 0:indefinite and 1:indefinite :each_other
!clause <#overlap exists(0 behind(0))> = two 0:noun[pl] :each_other
!clause <#overlap exists(0 behind(0))> = some 0:noun[pl] :each_other
!clause <#overlap exists(0 behind(0))> = two of the 0:noun[pl] :each_other
!clause <#overlap exists(0 behind(0))> = some of the 0:noun[pl] :each_other
!clause <#overlap ratio-eq-0(0 behind(0))> = none of the 0:noun[pl] :each_other
!entity closest = the 0:noun[sg] that :be closest to 1:reference
!entity farthest = the 0:noun[sg] that :be farthest from 1:reference
!thing <#overlap exists(0 behind(0))> = 0:noun[pl] :together
!thing <#overlap exists(0 behind(0))> = two 0:noun[pl] :together
!thing <#overlap exists(0 behind(0))> = any 0:noun[pl] :together
!thing <#overlap exists(0 behind(0))> = any overlapping 0:noun[pl]
!thing <#overlap exists(0 behind(0))> = overlapping 0:noun[pl]
!absent <#overlap ratio-eq-0(0 behind(0))> = any overlapping 0:noun[pl]
!thing <#overlap ratio-eq-0(0 behind(0))> = no overlapping 0:noun[pl]
!together = overlapping
!together = overlapping each other
!together = that overlap
!together = that overlap each other
!clause <#overlap exists(0 behind(0))> = at least two 0:noun[pl] :each_other
!clause <#overlap exists(0 behind(0))> = there :be two overlapping 0:noun[pl]
!clause <#overlap ratio-eq-0(0 behind(0))> = the 0:noun[pl] :disjoint
!clause <#overlap ratio-eq-0(0 behind(0))> = 0:noun[pl] :disjoint
!disjoint = do not overlap
!disjoint = do not overlap each other
!disjoint = are not overlapping
!clause <#overlap and(ratio-eq-0(0 behind(1)) ratio-eq-0(0 in-front(1)))> = the 0:noun[sg] and the 1:noun[sg] :disjoint
!clause <#overlap ratio-eq-0(0 behind(0))> = no 0:noun[pl] :each_other
!clause <#overlap ratio-eq-0(0 behind(0))> = no two 0:noun[pl] :each_other
!clause <#overlap ratio-eq-0(0 behind(0))> = none of the 0:noun[pl] :each_other
!question <#overlap or(bare-the(0 behind(1)) bare-the(0 in-front(1)))> = do the 0:noun[sg] and 1:the_other :each_other
!question <#overlap or(bare-the(0 behind(1)) bare-the(0 in-front(1)))> = are the 0:noun[sg] and 1:the_other overlapping
!question <#overlap exists(0 behind(0))> = do any 0:noun[pl] :each_other
!question <#overlap exists(0 behind(0))> = are any 0:noun[pl] overlapping
"""

_ORDER = """
!somewhere = :placed
!somewhere = :placed ,
!clause <exists(1 0)> = 0:somewhere there :be 1:indefinite
!clause <exists(1 0)> = 0:somewhere it :be 1:indefinite
!clause <exists(1 0)> = 0:somewhere :be 1:indefinite
!clause <exists(1 0)> = 0:somewhere 1:indefinite :exist
!clause <1(0)> = 0:somewhere there :be 1:counting
!clause <1(0)> = 0:somewhere :be 1:counting
!clause <ratio-eq-0(1 0)> = 0:somewhere there :be no 1:noun
!question <exists(1 0)> = what :be 0:placed , :be it 1:indefinite
!question <exists(1 0)> = what :be 0:placed , 1:indefinite
!question <exists(1 0)> = is it 1:indefinite 0:placed
!clause <exists(1 2(0))> = 0:reference :have 1:indefinite 2:toward
!clause <exists(1 2(0))> = 0:reference with 1:indefinite 2:toward
!clause <exists(1 2(0))> = there :be 0:reference with 1:indefinite 2:toward
!clause <exists(1 2(0))> = 0:reference and 1:indefinite 2:toward
!clause <ratio-eq-0(1 2(0))> = 0:reference :have no 1:noun 2:toward
!clause <ratio-eq-0(1 2(0))> = 0:reference with no 1:noun 2:toward
!clause <1(2(0))> = 0:reference :have 1:counting 2:toward
!question <exists(1 2(0))> = :do 0:reference have 1:indefinite 2:toward
!question <exists(1 2(0))> = :do 0:reference have any 1:noun 2:toward
!placed not = other than 0:nouns
!placed not = except 0:nouns
!placed not = not 0:placed
!placed = that :verb
!crowd = :counting
!crowd <ratio-eq-1(0 _)> = every 0:noun[sg]
!crowd <ratio-eq-1(0 _)> = each 0:noun[sg]
!crowd <ratio-eq-1(0 _)> = all 0:noun[pl]
!crowd <ratio-eq-1(0 _)> = all the 0:noun[pl]
!crowd <ratio-eq-1(0 _)> = all of the 0:noun[pl]
!crowd <ratio-eq-1(0 _)> = the 0:noun[pl]
!crowd <of-2(ratio-eq-1(0 _))> = both 0:noun[pl]
!crowd <of-2(ratio-eq-1(0 _))> = both of the 0:noun[pl]
!crowd <of-{total}(ratio-eq-1(0 _))> = the :total[total] 0:noun[pl]
!crowd <bare-most(0 _)> = most 0:noun[pl]
!crowd <bare-most(0 _)> = most of the 0:noun[pl]
!entity rightmost = the 0:single_noun rightmost
!entity leftmost = the 0:single_noun leftmost
!nouns = :indefinite
!nouns = :noun[pl]
!predicate[pl] not = other than 0:noun[pl]
!verb[number] = :be[number] also :predicate[number]
!clause <and(bare-the(0 not(1)) bare-the(0 2))> = the 0:noun[sg] :be not 1:predicate :instead 2:predicate
!clause <and(bare-the(0 1) bare-the(0 not(2)))> = the 0:noun[sg] :be 1:predicate , not 2:predicate
!clause <and(bare-the(0 not(1(3))) bare-the(0 2(3)))> = the 0:noun[sg] :be not 1:aim :instead 2:aim 3:reference
!clause <and(bare-the(0 1(3)) bare-the(0 not(2(3))))> = the 0:noun[sg] :be 1:aim :but_not 2:aim 3:reference
!clause <and(bare-the(0 1(3)) bare-the(0 2(3)))> = the 0:noun[sg] :be 1:aim and 2:aim 3:reference
!clause <or(bare-the(0 1(3)) bare-the(0 2(3)))> = the 0:noun[sg] :be either 1:aim or 2:aim 3:reference
!clause <and(bare-the(0 not(1(3))) bare-the(0 not(2(3))))> = the 0:noun[sg] :be neither 1:aim nor 2:aim 3:reference
!clause <and(bare-the(0 not(1(3))) bare-the(0 2(3)))> = the 0:noun[sg] :be not 1:aim 3:reference :joint it :be 2:aim it
!but_not = not
!but_not = , not
!but_not = and not
!but_not = but not
!but_not = , but not
!instead = but
!instead = , but
!clause <bare-the(1 closer(unique(2) unique(0)))> = the 0:noun[sg] :be closer to the 1:noun[sg] than to the 2:noun[sg]
!clause <bare-the(1 farther(unique(2) unique(0)))> = the 0:noun[sg] :be farther from the 1:noun[sg] than from the 2:noun[sg]
!question <bare-the(1 closer(unique(2) unique(0)))> = is the 0:noun[sg] closer to the 1:noun[sg] than to the 2:noun[sg]
!question <bare-the(1 farther(unique(2) unique(0)))> = is the 0:noun[sg] farther from the 1:noun[sg] than from the 2:noun[sg]
!clause <bare-the(1 closer(unique(2) 0))> = 0:indefinite :be closer to the 1:noun[sg] than to the 2:noun[sg]
!clause <and(count-eq-1(any 0) exists(1 0))> = the :figure[sg] 0:placed :be 1:indefinite
!clause <and(count-eq-1(any 0) exists(1 0))> = the :figure[sg] 0:placed :be 1:colour
!clause <and(count-eq-1(0 1) exists(both(2 0) 1))> = the 0:shape[sg] 1:placed :be 2:colour
!question <and(count-eq-1(any 0) exists(1 0))> = is the :figure[sg] 0:placed 1:indefinite
"""


_SUPERLATIVE = re.compile(r"~?entity (\S+(?:most|est)) = the (\S+) 0:noun\[sg\]")
_OF_TWO = re.compile(r"~?entity (\S+-of-two) = the (\S+) 0:noun\[sg\]")
_RELATION = re.compile(r"[~?!]?(?:predicate|placed|likeness) (\S+) = (.*) 0:reference")


def rules(captions: Sequence[str]) -> Iterator[str]:
    """The rules, one a line; those of relations and selectors are made of the rules of captions."""
    for text in (_OVERLAPS, _ORDER, _PEAKS):
        yield from text.strip().splitlines()
    for symbol, many in _TOWARD.items():
        yield from (f"!toward <{symbol}(_)> = {words}" for words in many.split(", "))
    for selector, ways in _EXTREMES.items():
        for words in ways:
            for everything in ("everything", "everything else", "every other shape", "all other shapes", "all the other shapes"):
                yield f"!extreme <#extreme {selector}(any)> = {words} {everything}"
    yield "!clause <exists(1 0)> = 0:indefinite :be 1:extreme"
    yield "!clause <exists(1 0)> = the 0:noun[sg] :be 1:extreme"
    yield "!clause <exists(1 0)> = 0:indefinite 1:extreme"
    yield "!question <exists(1 0)> = is the 0:noun[sg] 1:extreme"
    yield "!question <exists(1 0)> = is 0:indefinite 1:extreme"
    for line in captions:
        yield from _derived(line)


def _derived(line: str) -> Iterator[str]:
    """Of a rule of captions, what people make of it with "the biggest" and with "one"."""
    if found := _SUPERLATIVE.fullmatch(line):
        symbol, word = found.groups()
        for phrase in (f"the {word}", f"the {word} one", f"the {word} shape", f"the {word} of all"):
            yield f"!peak <{symbol}(any)> = {phrase}"
            yield f"!peak <{symbol}(any)> = {phrase} of the shapes"
        yield f"!apex <{symbol}(any)> = {word}"
        yield f"!peak <{symbol}(0)> = the {word} 0:noun[sg]"
        yield f"!peak <{symbol}(0)> = the {word} of the 0:noun[pl]"
        yield f"!peak <{symbol}(0)> = the {word} of all 0:noun[pl]"
        yield f"!entity {symbol} = the {word} of all 0:noun[pl]"
        yield f"!entity {symbol} = the {word} of all the 0:noun[pl]"
        yield f"!entity {symbol} = the 0:noun[sg] that :be {word}"
        yield f"!entity {symbol} = the 0:noun[sg] that :be the {word}"
    if found := _SUPERLATIVE.fullmatch(line) or _OF_TWO.fullmatch(line):
        symbol, word = found.groups()
        yield f"!alone <{symbol}(_)> = the {word} one"
        yield f"!apart <{symbol}(_)> = the {word}"
    if found := _RELATION.fullmatch(line):
        symbol, words = found.groups()
        yield f"!aim <{symbol}(_)> = {words}"
        if symbol in _INVERSES:
            yield f"!clause <1({_INVERSES[symbol]}(unique(0)))> = the 0:noun[sg] :be {words} 1:crowd"
            yield f"!question <1({_INVERSES[symbol]}(unique(0)))> = is the 0:noun[sg] {words} 1:crowd"
        meaning = f"{symbol}(unique(both(2 1)))"
        for be, said in ((":be", meaning), (":be not", f"not({meaning})")):
            yield f"!clause <bare-the(both(0 1) {said})> = the 0:colour 1:shape[sg] {be} {words} the 2:colour one"
        yield f"!question <bare-the(both(0 1) {meaning})> = is the 0:colour 1:shape[sg] {words} the 2:colour one"
        yield f"!clause <exists(both(0 1) {symbol}(both(2 1)))> = :article 0:colour 1:shape[sg] :be {words} :article 2:colour one"
        yield f"!clause <exists(both(0 1) {symbol}(both(2 1)))> = :article 0:colour 1:shape[sg] {words} :article 2:colour one"
        yield f"!thing <exists(both(0 1) {symbol}(both(2 1)))> = :article 0:colour 1:shape[sg] {words} :article 2:colour one"
        yield f"!clause <#article exists(both(0 1) {symbol}(both(2 1)))> = 0:colour 1:shape[sg] :be {words} 2:colour one"
        yield f"!clause <exists(0(1) {symbol}(2(1)))> = 0:apart 1:noun[sg] :be {words} 2:alone"
        yield f"!question <exists(0(1) {symbol}(2(1)))> = is 0:apart 1:noun[sg] {words} 2:alone"


_PEAKS = """
!clause <and(bare-the(0 1) count-eq-1(any 1))> = the 0:noun[sg] :be the only 1:noun[sg]
!clause <exists(1 0)> = the 0:noun[sg] :be 1:peak
!clause <exists(1 0)> = the 0:noun[sg] :be 1:apex
!clause <exists(1 not(0))> = the 0:noun[sg] :be not 1:peak
!clause <exists(1 0)> = 1:peak :be the 0:noun[sg]
!clause <exists(0 1)> = 0:peak 1:verb[sg]
!clause <exists(0 1)> = 0:apex :be 1:predicate[sg]
!clause <exists(0 1)> = 0:apex :be 1:noun[sg]
!question <exists(1 0)> = is the 0:noun[sg] 1:peak
!question <exists(1 0)> = is the 0:noun[sg] 1:apex
!question <exists(0 1)> = is 0:peak 1:predicate[sg]
!question <exists(1 0)> = is 1:peak the 0:noun[sg]
!question <exists(1 0)> = which :choice :be 1:apex , the 0:noun[sg]
!question <exists(1 0)> = which :choice :be 1:peak , the 0:noun[sg]
!choice = shape
!choice = one
!choice = of them
!choice = of the shapes
"""
"""Superlatives without a noun, and as what is said of something: "the yellow one is the biggest", "leftmost: a circle"."""
