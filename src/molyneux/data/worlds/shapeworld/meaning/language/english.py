"""English for captions.

Sentences are those of ShapeWorld (Kuhnle & Copestake, 2017), mended where they are wrong: "fewer than two", "a third of the
squares are", "not exactly two". Where a statement joined of others is a part of another one, words close it ("either ... or ...,
but not both"), so that every sentence has one meaning.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from molyneux.data.worlds.shapeworld.meaning.grammar.grammar import Grammar
from molyneux.data.worlds.shapeworld.meaning.language.english_of_people import CATEGORIES, rules_of_people
from molyneux.data.worlds.shapeworld.meaning.language.language import Language
from molyneux.data.worlds.shapeworld.meaning.trees.trees import COMPARATORS, RATIOS
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES

_NUMERALS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight")

_FEATURES = {
    "number": ("sg", "pl"),
    "initial": ("consonant", "vowel"),
    "comparator": COMPARATORS,
    "amount": tuple(map(str, range(6))),
    "share": tuple(RATIOS),
    "total": tuple(map(str, range(2, 9))),
}

_CATEGORIES = {
    "article": ("initial",),
    "noun": ("number", "initial"),
    "shape": ("number", "initial"),
    "figure": ("number",),
    "be": ("number",),
    "do": ("number",),
    "exist": ("number",),
    "have": ("number",),
    "verb": ("number",),
    "predicate": ("number",),
    "comparator": ("comparator",),
    "numeral": ("amount", "number"),
    "counted": ("comparator", "amount", "number"),
    "measure": ("comparator",),
    "fraction": ("share",),
    "portion": ("comparator", "share"),
    "total": ("total",),
    "part": ("total",),
}

_CONNECTIVES = """
sentence = :top .
top = :clause
top and = 0:clause and 1:conjuncts
top or = 0:clause or 1:disjuncts
top if = if 1:top , then 0:top
top iff = 0:clause if and only if 1:inner
top = :compound
~top either = 0:clause or 1:clause , but not both
~top or = 0:clause or 1:clause , or both
~top if = 0:clause if 1:inner
~top if = if 1:top , 0:top
conjuncts = :clause
conjuncts and = 0:clause and 1:conjuncts
conjuncts = :compound
disjuncts = :clause
disjuncts or = 0:clause or 1:disjuncts
disjuncts = :compound
inner = :clause
inner = :compound
compound not-true = it is not true that 0:inner
compound and = both 0:inner and 1:inner
compound either = either 0:inner or 1:inner , but not both
compound or = either 0:inner or 1:inner , or both
compound if = if 1:top , then 0:inner
compound iff = if and only if 0:top , then 1:inner
~compound not-true = it is not the case that 0:inner
~compound not-true = it is false that 0:inner
"""

_EXISTENCE = """
clause there-is = there is 0:indefinite
~clause there-is = there exists 0:indefinite
~clause there-is = 0:indefinite exists
~clause there-is = 0:existing
existing both = :article[initial] 1:shape[sg initial] exists that is 0:colour
clause exists = 0:entity 1:verb[sg]
~clause exists = there is 0:indefinite that 1:verb[sg]
entity = :indefinite
indefinite = :article[initial] :noun[sg initial]
article[consonant] = a
article[vowel] = an
noun[number consonant] any = :figure[number]
noun[number consonant] = :colour :figure[number]
noun[number initial] = :shape[number initial]
noun[number consonant] both = 0:colour 1:shape[number]
figure[sg] = shape
figure[pl] = shapes
"""

_VERBS = """
verb[number] = :be[number] :predicate[number]
verb[number] not = :be[number] not 0:predicate[number]
~verb[number] besides = :exist[number] besides 0:reference
~verb[number] not = :do[number] not 0:besides
besides besides = exist besides 0:reference
~verb[number] = :have[number] :likeness
~verb[number] not = :do[number] not have 0:likeness
predicate[number] = :colour
predicate[sg] = :indefinite
predicate[pl] = :noun[pl]
be[sg] = is
be[pl] = are
do[sg] = does
do[pl] = do
exist[sg] = exists
exist[pl] = exist
have[sg] = has
have[pl] = have
"""

_RELATIONS = """
predicate left = to the left of 0:reference
predicate right = to the right of 0:reference
predicate above = above 0:reference
predicate below = below 0:reference
predicate behind = behind 0:reference
predicate in-front = in front of 0:reference
predicate smaller = smaller than 0:reference
predicate bigger = bigger than 0:reference
predicate darker = darker than 0:reference
predicate lighter = lighter than 0:reference
predicate besides = accompanied by 0:reference
predicate = :likeness
predicate closer = closer to 1:reference than 0:reference is
predicate farther = farther from 1:reference than 0:reference is
likeness same-shape = the same shape as 0:reference
likeness different-shape = a different shape from 0:reference
likeness same-colour = the same :color as 0:reference
likeness different-colour = a different :color from 0:reference
color = color
~color = colour
~predicate left = left of 0:reference
~predicate right = right of 0:reference
~predicate below = beneath 0:reference
~predicate bigger = larger than 0:reference
~predicate farther = further from 1:reference than 0:reference is
"""

_SELECTORS = """
reference = :entity
entity unique = the only 0:noun[sg]
entity left-of-two = the left 0:noun[sg]
entity right-of-two = the right 0:noun[sg]
entity upper-of-two = the upper 0:noun[sg]
entity lower-of-two = the lower 0:noun[sg]
entity smaller-of-two = the smaller 0:noun[sg]
entity bigger-of-two = the bigger 0:noun[sg]
entity darker-of-two = the darker 0:noun[sg]
entity lighter-of-two = the lighter 0:noun[sg]
entity leftmost = the leftmost 0:noun[sg]
entity rightmost = the rightmost 0:noun[sg]
entity uppermost = the uppermost 0:noun[sg]
entity lowermost = the lowermost 0:noun[sg]
entity smallest = the smallest 0:noun[sg]
entity biggest = the biggest 0:noun[sg]
entity darkest = the darkest 0:noun[sg]
entity lightest = the lightest 0:noun[sg]
entity closer-of-two = the 0:noun[sg] closer to 1:reference
entity farther-of-two = the 0:noun[sg] farther from 1:reference
entity closest = the 0:noun[sg] closest to 1:reference
entity farthest = the 0:noun[sg] farthest from 1:reference
~entity unique = the one 0:noun[sg]
~entity bigger-of-two = the larger 0:noun[sg]
~entity uppermost = the topmost 0:noun[sg]
~entity biggest = the largest 0:noun[sg]
~entity farther-of-two = the 0:noun[sg] further from 1:reference
~entity farthest = the 0:noun[sg] furthest from 1:reference
"""

_QUANTIFIERS = """
clause bare-the = the 0:noun[sg] 1:verb[sg]
clause bare-two = two 0:noun[pl] 1:verb[pl]
clause bare-most = most 0:noun[pl] 1:verb[pl]
clause count-neq-{amount} = it is :counted[neq amount number] 0:noun[number] that 1:verb[number]
clause ratio-neq-{share} = it is :portion[neq share] of the 0:noun[pl] that 1:verb[pl]
clause count-{comparator}-{amount} = :counted[comparator amount number] 0:noun[number] 1:verb[number]
clause ratio-eq-0 = no 0:noun[sg] 1:verb[sg]
clause ratio-eq-1 = all 0:noun[pl] 1:verb[pl]
clause ratio-neq-0 = some 0:noun[pl] 1:verb[pl]
clause ratio-neq-1 = not all 0:noun[pl] 1:verb[pl]
clause ratio-{comparator}-{share} = :portion[comparator share] of the 0:noun[pl] 1:verb[pl]
clause of-{total} = 0:part[total]
part[total] bare-two = two of the :total[total] 0:noun[pl] 1:verb[pl]
part[total] bare-most = most of the :total[total] 0:noun[pl] 1:verb[pl]
part[total] count-neq-{amount} = it is :counted[neq amount number] of the :total[total] 0:noun[pl] that 1:verb[number]
part[total] ratio-neq-{share} = it is :portion[neq share] of the :total[total] 0:noun[pl] that 1:verb[pl]
part[total] count-{comparator}-{amount} = :counted[comparator amount number] of the :total[total] 0:noun[pl] 1:verb[number]
part[total] ratio-eq-0 = none of the :total[total] 0:noun[pl] 1:verb[pl]
part[total] ratio-eq-1 = all of the :total[total] 0:noun[pl] 1:verb[pl]
part[total] ratio-neq-0 = some of the :total[total] 0:noun[pl] 1:verb[pl]
part[total] ratio-neq-1 = not all of the :total[total] 0:noun[pl] 1:verb[pl]
part[total] ratio-{comparator}-{share} = :portion[comparator share] of the :total[total] 0:noun[pl] 1:verb[pl]
counted[comparator amount number] = :comparator[comparator] :numeral[amount number]
portion[comparator share] = :measure[comparator] :fraction[share]
portion[lt 1] = less than all
portion[leq 1] = at most all
portion[geq 0] = at least none
portion[gt 0] = more than none
measure[lt] = less than
measure[leq] = at most
measure[eq] = exactly
measure[neq] = not exactly
measure[geq] = at least
measure[gt] = more than
fraction[quarter] = a quarter
fraction[third] = a third
fraction[half] = half
fraction[two-thirds] = two thirds
fraction[three-quarters] = three quarters
comparator[lt] = fewer than
comparator[leq] = at most
comparator[eq] = exactly
comparator[neq] = not exactly
comparator[geq] = at least
comparator[gt] = more than
~comparator[lt] = less than
~comparator[leq] = no more than
~comparator[geq] = no fewer than
~clause ratio-eq-0 = no 0:noun[pl] 1:verb[pl]
~clause ratio-eq-0 = none of the 0:noun[pl] 1:verb[pl]
~clause ratio-eq-1 = every 0:noun[sg] 1:verb[sg]
~clause ratio-eq-1 = each 0:noun[sg] 1:verb[sg]
~clause ratio-eq-1 = all of the 0:noun[pl] 1:verb[pl]
~clause ratio-neq-0 = some of the 0:noun[pl] 1:verb[pl]
~clause ratio-neq-1 = not every 0:noun[sg] 1:verb[sg]
~clause ratio-neq-1 = not all of the 0:noun[pl] 1:verb[pl]
~clause ratio-{comparator}-half = :measure[comparator] half the 0:noun[pl] 1:verb[pl]
~part[total] ratio-eq-1 = all :total[total] 0:noun[pl] 1:verb[pl]
~part[total] ratio-neq-1 = not all :total[total] 0:noun[pl] 1:verb[pl]
~part[total] ratio-{comparator}-half = :measure[comparator] half the :total[total] 0:noun[pl] 1:verb[pl]
"""

_COMPARISONS = """
clause 1-more-than = one more of the 0:noun[pl] than of the 1:noun[pl] 2:verb[sg]
clause 1-fewer-than = one fewer of the 0:noun[pl] than of the 1:noun[pl] 2:verb[sg]
clause {amount}-more-than = :numeral[amount number] more 0:noun[number] than 1:noun[pl] 2:verb[number]
clause {amount}-fewer-than = :numeral[amount number] fewer 0:noun[number] than 1:noun[pl] 2:verb[number]
clause times-lt-half = less than half as many 0:noun[pl] as 1:noun[pl] 2:verb[pl]
clause times-eq-half = half as many 0:noun[pl] as 1:noun[pl] 2:verb[pl]
clause times-gt-half = more than half as many 0:noun[pl] as 1:noun[pl] 2:verb[pl]
clause times-lt-equal = fewer 0:noun[pl] than 1:noun[pl] 2:verb[pl]
clause times-eq-equal = as many 0:noun[pl] as 1:noun[pl] 2:verb[pl]
clause times-gt-equal = more 0:noun[pl] than 1:noun[pl] 2:verb[pl]
clause times-lt-twice = less than twice as many 0:noun[pl] as 1:noun[pl] 2:verb[pl]
clause times-eq-twice = twice as many 0:noun[pl] as 1:noun[pl] 2:verb[pl]
clause times-gt-twice = more than twice as many 0:noun[pl] as 1:noun[pl] 2:verb[pl]
~clause times-eq-half = exactly half as many 0:noun[pl] as 1:noun[pl] 2:verb[pl]
~clause times-eq-equal = exactly as many 0:noun[pl] as 1:noun[pl] 2:verb[pl]
~clause times-eq-twice = exactly twice as many 0:noun[pl] as 1:noun[pl] 2:verb[pl]
~clause {amount}-fewer-than = :numeral[amount number] less 0:noun[number] than 1:noun[pl] 2:verb[number]
"""

_PUBLISHED = """
?reference unique = the 0:noun[sg]
?predicate closer = closer to 1:reference than 0:reference
?predicate farther = farther from 1:reference than 0:reference
?entity closest = the closest 0:noun[sg] to 1:reference
?entity farthest = the farthest 0:noun[sg] from 1:reference
?entity closer-of-two = the closer 0:noun[sg] to 1:reference
?entity farther-of-two = the farther 0:noun[sg] from 1:reference
?counted[neq amount number] = not :numeral[amount number]
?portion[neq share] = not :fraction[share]
?clause ratio-eq-0 = exactly no 0:noun[sg] 1:verb[sg]
?clause ratio-neq-0 = not no 0:noun[sg] 1:verb[sg]
?clause ratio-geq-0 = at least no 0:noun[sg] 1:verb[sg]
?clause ratio-gt-0 = more than no 0:noun[sg] 1:verb[sg]
?clause ratio-eq-1 = exactly all 0:noun[pl] 1:verb[pl]
?clause ratio-eq-1 = exactly all of the 0:noun[pl] 1:verb[pl]
?clause ratio-lt-1 = less than all 0:noun[pl] 1:verb[pl]
?clause ratio-leq-1 = at most all 0:noun[pl] 1:verb[pl]
?clause ratio-neq-half = not half the 0:noun[pl] 1:verb[pl]
?clause ratio-eq-half = half the 0:noun[pl] 1:verb[pl]
?clause ratio-{comparator}-{share} = :portion[comparator share] of the 0:noun[pl] 1:verb[sg]
?clause ratio-{comparator}-{share} = :portion[comparator share] of the 0:noun[pl] is 1:noun[pl]
?clause ratio-eq-{share} = :fraction[share] of the 0:noun[pl] 1:verb[number]
?part[total] ratio-eq-0 = exactly none of the :total[total] 0:noun[pl] 1:verb[number]
?part[total] ratio-neq-0 = not none of the :total[total] 0:noun[pl] 1:verb[number]
?part[total] ratio-eq-1 = exactly all of the :total[total] 0:noun[pl] 1:verb[pl]
?part[total] ratio-eq-1 = exactly all the :total[total] 0:noun[pl] 1:verb[pl]
?part[total] ratio-neq-half = not half the :total[total] 0:noun[pl] 1:verb[pl]
?part[total] ratio-eq-half = half the :total[total] 0:noun[pl] 1:verb[pl]
?part[total] ratio-lt-1 = less than all the :total[total] 0:noun[pl] 1:verb[pl]
?part[total] ratio-leq-1 = at most all the :total[total] 0:noun[pl] 1:verb[pl]
?part[total] ratio-{comparator}-{share} = :portion[comparator share] of the :total[total] 0:noun[pl] 1:verb[sg]
?part[total] ratio-{comparator}-{share} = :portion[comparator share] of the :total[total] 0:noun[pl] is 1:noun[pl]
?part[total] ratio-eq-{share} = :fraction[share] of the :total[total] 0:noun[pl] 1:verb[number]
?part[total] ratio-eq-0 = none of the :total[total] 0:noun[pl] 1:verb[sg]
?part[total] count-{comparator}-{amount} = :counted[comparator amount number] of the :total[total] 0:noun[pl] is 1:noun[pl]
?predicate[pl] = :indefinite
?top if = if 1:clause 0:clause
?top or = either 0:clause or 1:clause
"""
"""What the published code says in other words, as captions of 2018 have it: "the square closest to the red circle" of the only
red circle, "not three", "exactly no shape", a conditional without a comma, "a third of the shapes is green"."""

_ADJECTIVES = {
    **{name: name for name in ("leftmost", "rightmost", "uppermost", "lowermost", "smallest", "biggest", "darkest", "lightest")},
    **{f"{name}-of-two": name for name in ("left", "right", "upper", "lower", "smaller", "bigger", "darker", "lighter")},
}
"""Selectors that are one word, which published captions may also have behind a colour: "the blue left shape"."""


@lru_cache(maxsize=1)
def english() -> Language:
    """English captions."""
    texts = (_CONNECTIVES, _EXISTENCE, _VERBS, _RELATIONS, _SELECTORS, _QUANTIFIERS, _COMPARISONS, _PUBLISHED)
    rules = [line for text in texts for line in text.strip().splitlines()]
    rules += _lexicon()
    categories = {**_CATEGORIES, **CATEGORIES}
    return Language(Grammar("English", features=_FEATURES, categories=categories, rules=[*rules, *rules_of_people(rules)]))


def _lexicon() -> Iterator[str]:
    """Rules of colours, shapes and numerals."""
    yield from (f"colour {colour} = {colour}" for colour in COLOURS)
    yield "~colour gray = grey"
    for name, word in _ADJECTIVES.items():
        yield f"?entity {name} = the 0:{word}"
        yield f"?{word} = :colour {word} shape"
        yield f"?{word} both = 0:colour {word} 1:shape[sg]"
    for shape in SHAPES:
        initial = "vowel" if shape[0] in "aeiou" else "consonant"
        plural = f"{shape}es" if shape.endswith("s") else f"{shape}s"
        yield f"shape[sg {initial}] {shape} = {shape}"
        yield f"shape[pl {initial}] {shape} = {plural}"
    yield from (f"numeral[{amount} {'sg' if amount == 1 else 'pl'}] = {_NUMERALS[amount]}" for amount in range(6))
    yield from (f"total[{total}] = {_NUMERALS[total]}" for total in range(2, 9))
