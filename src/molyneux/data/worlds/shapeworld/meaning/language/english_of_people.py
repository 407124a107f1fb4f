"""Rules by which English of people is read, beside those of captions: questions, lists, what is left out, other words.

Most rules are made of the rules of captions, so that a word stands once: what a clause says of its subject is cut off, which
leaves *subjects* (`all 0:noun[pl]` is `ratio-eq-1(0 _)`), to be joined by "and", put behind "there are", or asked about. Rules
of relations become what may stand behind a noun without a verb ("a square above a circle").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from molyneux.data.worlds.shapeworld.meaning.language import fillers
from molyneux.data.worlds.shapeworld.meaning.language.of_people import amounts, logic, places

CATEGORIES = {
    **amounts.CATEGORIES,
    **places.CATEGORIES,
    "subject": ("number",),
    "counting": ("number",),
    "whole": ("number",),
    "ones": ("number",),
}

REMARKS = {
    **amounts.REMARKS,
    **places.REMARKS,
    **logic.REMARKS,
    **fillers.REMARKS,
    "article": "a noun without 'a' or 'the' is read with 'a'",
    "at-least": "a bare number is read as 'at least' so many; write 'exactly' for no more",
    "the": "'the' is read as exactly one of which it is true; write 'the only' where there must be one alone",
    "generic": "a plural without 'all' or 'some' is read as all of them",
    "some": "a plural without a number is read as at least one",
    "it": "'it' and 'this' are read as the only shape that it is true of, 'they' as all shapes",
    "each": "'it' or 'they' after 'if' is read as all of those that were named before",
    "either": "'or' is read as one or both",
    "negative": "a question with 'not' at its beginning is read as without it",
    "not": "'there are not' so many is read as: fewer",
}
"""What is told of a reading, by the remark that a rule makes."""

_SENTENCES = """
!sentence = :asked .
!sentence <and(0 1)> = 0:top . 1:sentence
!sentence <and(0 1)> = 0:asked . 1:sentence
!asked = :question
!asked <and(0 1)> = 0:question and 1:asked
!asked <#either or(0 1)> = 0:question or 1:asked
!question <0(1)> = :be 0:subject 1:predicate
!question <0(not(1))> = :be 0:subject not 1:predicate
!question <0(not(1))> = :be not 0:subject 1:predicate
!question <#negative 0(1)> = :be n't 0:subject 1:predicate
!question <#negative 0(1)> = :do n't 0:subject have 1:likeness
!question <exists(0 1)> = :be any 0:noun 1:predicate
!question <0(1)> = :be 0:several 1:predicate
!question <0(1)> = :be 0:several both 1:predicate
!question <0(1)> = :do 0:subject have 1:likeness
!question <0(not(1))> = :do 0:subject not have 1:likeness
!question <0(1)> = :do 0:subject have the color 1:colour
!question = :be there :things
!question <#negative 0> = :be n't there 0:things
!question = is it true that :top
!question = is it the case that :top
!top = it is true that :top
!top = it is the case that :top
!top and = 0:clause , and 1:conjuncts
!top and = 0:clause but 1:conjuncts
!top and = 0:clause , but 1:conjuncts
!top and = 0:clause while 1:conjuncts
!top and = 0:clause , while 1:conjuncts
!top and = 0:clause , 1:conjuncts
!conjuncts and = 0:clause , 1:conjuncts
!conjuncts and = 0:clause , and 1:conjuncts
!top or = 0:clause , or 1:disjuncts
!top <#either or(0 1)> = either 0:clause , or 1:clause
!compound if = if 1:top then 0:inner
!clause <or(0 1)> = either 0:thing or 1:thing
!clause = there :be :things
!clause <#fragment 0> = 0:things
!clause <0(1)> = 0:subject 1:verb
!clause <0(1)> = 0:several 1:verb
!clause <0(any)> = 0:counting :exist
!clause <0(any)> = 0:counting :be there
!clause <there-is(0)> = 0:indefinite :be there
!clause = there :be not :absent
!clause = there :be no :single
!clause <exists(0 1)> = there :be 0:indefinite and it 1:verb[sg]
!clause <exists(0 1)> = there :be 0:indefinite , and it 1:verb[sg]
!clause <exists(0 1)> = there :be 0:indefinite . it 1:verb[sg]
!top <#each if(ratio-eq-1(0 1) there-is(0))> = if there :be 0:indefinite , it 1:verb[sg]
!top <#each if(ratio-eq-1(0 1) there-is(0))> = if there :be 0:indefinite , then it 1:verb[sg]
!top <#each if(ratio-eq-1(0 1) there-is(0))> = if there :be 0:indefinite then it 1:verb[sg]
!top <#each if(ratio-eq-1(0 1) ratio-neq-0(any 0))> = if there :be 0:noun[pl] , they 1:verb[pl]
!top <#each if(ratio-eq-1(0 1) ratio-neq-0(any 0))> = if there :be 0:noun[pl] , then they 1:verb[pl]
"""

_THINGS = """
!things = :thing
!things <and(0 1)> = 0:thing and 1:more_things
!things <and(0 1)> = 0:thing , 1:more_things
!things <and(0 1)> = 0:thing but 1:more_things
!things <and(0 1)> = both 0:thing and 1:thing
!things <or(0 1)> = 0:thing or 1:other_things
!things <#either or(0 1)> = either 0:thing or 1:thing
!things <and(ratio-eq-0(any 0) ratio-eq-0(any 1))> = neither 0:indefinite nor 1:indefinite
!things <and(ratio-eq-0(any 0) ratio-eq-0(any 1))> = no 0:noun or 1:noun
!more_things = :thing
!more_things = and :thing
!more_things <and(0 1)> = 0:thing and 1:more_things
!more_things <and(0 1)> = 0:thing , 1:more_things
!other_things = :thing
!other_things <or(0 1)> = 0:thing or 1:other_things
!thing <there-is(0)> = 0:indefinite
!thing <exists(0 1)> = 0:entity 1:placed
!thing <exists(0 1)> = 0:indefinite that 1:verb[sg]
!thing <or(there-is(both(0 2)) there-is(both(1 2)))> = :article 0:colour or 1:colour 2:shape[sg]
!thing <there-is(0)> = any 0:noun[sg]
!thing <exists(0 1)> = any 0:noun[sg] 1:placed
!thing <ratio-neq-0(any 0)> = any 0:noun[pl]
!thing <ratio-neq-0(0 1)> = any 0:noun[pl] 1:placed
!thing <0(any)> = 0:counting
!thing <0(1)> = 0:counting 1:placed
!thing <0(1)> = 0:counting that 1:verb
!thing <#some ratio-neq-0(any 0)> = 0:noun[pl]
!thing <#some ratio-neq-0(0 1)> = 0:noun[pl] 1:placed
!thing <#some ratio-neq-0(0 1)> = 0:noun[pl] that 1:verb[pl]
!thing <bare-the(any 0)> = the 0:noun[sg]
!thing <bare-the(0 1)> = the 0:noun[sg] 1:placed
!thing <bare-the(0 1)> = the 0:noun[sg] that 1:verb[sg]
!absent <ratio-eq-0(any 0)> = 0:indefinite
!absent <ratio-eq-0(0 1)> = 0:indefinite 1:placed
!absent <ratio-eq-0(0 1)> = 0:indefinite that 1:verb[sg]
!absent <ratio-eq-0(any 0)> = any 0:noun
!absent <ratio-eq-0(0 1)> = any 0:noun 1:placed
!absent <ratio-eq-0(0 1)> = any 0:noun that 1:verb
!absent <ratio-eq-0(any 0)> = a single 0:noun[sg]
!absent <and(ratio-eq-0(any 0) ratio-eq-0(any 1))> = 0:indefinite or 1:indefinite
!absent <and(ratio-eq-0(any 0) ratio-eq-0(any 1))> = any 0:noun or 1:noun
!absent <#not not-true(0(any))> = 0:counting
!single <ratio-eq-0(any 0)> = single 0:noun[sg]
"""

_SUBJECTS = """
!subject[number] = :whole[number]
!subject[number] = :counting[number]
!subject[sg] <exists(0 _)> = 0:entity
!subject[pl] <#generic ratio-eq-1(0 _)> = 0:noun[pl]
!whole[sg] <bare-the(0 _)> = the 0:noun[sg]
!whole[pl] <ratio-eq-1(0 _)> = the 0:noun[pl]
!whole[pl] <ratio-eq-1(0 _)> = all 0:noun[pl]
!whole[pl] <ratio-eq-1(0 _)> = all the 0:noun[pl]
!whole[pl] <ratio-eq-1(0 _)> = all of 0:noun[pl]
!whole[pl] <ratio-eq-1(0 _)> = all of the 0:noun[pl]
!whole[sg] <ratio-eq-1(0 _)> = every 0:noun[sg]
!whole[sg] <ratio-eq-1(0 _)> = each 0:noun[sg]
!whole[sg] <ratio-eq-1(0 _)> = each of the 0:noun[pl]
!whole[sg] <ratio-eq-1(0 _)> = every one of the 0:noun[pl]
!whole[sg] <ratio-eq-1(any _)> = everything
!whole[pl] <of-2(ratio-eq-1(0 _))> = both 0:noun[pl]
!whole[pl] <of-2(ratio-eq-1(0 _))> = both the 0:noun[pl]
!whole[pl] <of-2(ratio-eq-1(0 _))> = both of the 0:noun[pl]
!whole[pl] <of-{total}(ratio-eq-1(0 _))> = the :total[total] 0:noun[pl]
!whole[sg] <#it #unnamed bare-the(any _)> = it
!whole[sg] <#it #unnamed bare-the(any _)> = this
!whole[pl] <#it #unnamed ratio-eq-1(any _)> = they
!whole[pl] <#it #unnamed ratio-eq-1(any _)> = all of them
!subject[sg] <of-2(ratio-eq-0(0 _))> = neither 0:noun[sg]
!subject[pl] <of-2(ratio-eq-0(0 _))> = neither of the 0:noun[pl]
!subject[pl] <of-{total}(ratio-eq-1(0 _))> = all of the :total[total] 0:noun[pl]
!subject[sg] <of-{total}(ratio-eq-0(0 _))> = not one of the :total[total] 0:noun[pl]
!subject[sg] <ratio-eq-0(any _)> = nothing
!subject[sg] <exists(any _)> = something
!subject[sg] <ratio-neq-1(any _)> = not everything
!subject[sg] <ratio-eq-0(0 _)> = not one 0:noun[sg]
!subject[sg] <ratio-eq-0(0 _)> = not a single 0:noun[sg]
!subject[sg] <ratio-eq-0(0 _)> = not a single of the 0:noun[pl]
!subject[sg] <ratio-eq-0(0 _)> = not one of the 0:noun[pl]
!subject[sg] <ratio-eq-0(0 _)> = none of the 0:noun[pl]
!subject[pl] <bare-most(0 _)> = most of the 0:noun[pl]
!subject[pl] <bare-most(0 _)> = most of 0:noun[pl]
!subject[pl] <bare-most(0 _)> = the majority of the 0:noun[pl]
!subject[pl] <bare-most(0 _)> = the majority of 0:noun[pl]
!subject[pl] <ratio-eq-{share}(0 _)> = :fraction[share] of all 0:noun[pl]
!subject[number] <count-{comparator}-{amount}(0 _)> = :counted[comparator amount number] of the 0:noun[pl]
!subject[pl] <of-{total}(count-{comparator}-{amount}(0 _))> = :counted[comparator amount number] of the :total[total] 0:noun[pl]
!subject[pl] <bare-two(0 _)> = two of the 0:noun[pl]
!several <and(0 1)> = 0:subject and 1:rest
!several <and(0 1)> = 0:subject , 1:rest
!several <and(0 1)> = both 0:subject and 1:subject
!several <or(0 1)> = 0:subject or 1:alternative
!several <#either or(0 1)> = either 0:subject or 1:subject
!several <and(ratio-eq-0(0 _) ratio-eq-0(1 _))> = neither 0:indefinite nor 1:indefinite
!several <and(ratio-eq-0(0 _) ratio-eq-0(1 _))> = no 0:noun or 1:noun
!several <and(ratio-eq-1(0 _) ratio-eq-1(1 _))> = all 0:noun[pl] and 1:noun[pl]
!several <and(ratio-eq-1(0 _) ratio-eq-1(1 _))> = all the 0:noun[pl] and 1:noun[pl]
!several <and(ratio-eq-1(0 _) ratio-eq-1(1 _))> = every 0:noun[sg] and 1:noun[sg]
!rest = :subject
!rest = and :subject
!rest <and(0 1)> = 0:subject and 1:rest
!rest <and(0 1)> = 0:subject , 1:rest
!alternative = :subject
!alternative <or(0 1)> = 0:subject or 1:alternative
!counting <#number count-{comparator}-{amount}(0 _)> = :counted[comparator amount] 0:noun
!counting[pl] <bare-two(0 _)> = a pair of 0:noun[pl]
!counting[pl] <bare-two(0 _)> = a couple of 0:noun[pl]
!counting[pl] <times-eq-equal(0 1 _)> = equally many 0:noun[pl] and 1:noun[pl]
!counting[pl] <times-eq-equal(0 1 _)> = equally many 0:noun[pl] as 1:noun[pl]
!counting[pl] <times-eq-equal(0 1 _)> = the same number of 0:noun[pl] and 1:noun[pl]
!counting[pl] <times-eq-equal(0 1 _)> = the same number of 0:noun[pl] as 1:noun[pl]
"""

_CLAUSES = """
!clause <ratio-eq-1(1 0)> = only 0:noun[pl] :be 1:kind
!clause <ratio-eq-1(1 0)> = only the 0:noun[pl] :be 1:kind
!kind = :colour
!kind = :noun[pl]
!clause <exists(both(1 0) 2)> = :article 0:shape[sg] :be 1:colour and 2:placed
!clause <exists(both(1 0) 2)> = :article 0:shape[sg] that :be 1:colour and 2:placed
!clause <exists(both(1 0) 2)> = :article 0:shape[sg] 2:placed :be 1:colour
!clause <exists(both(1 0) 2)> = :article 0:shape[sg] that :be 2:placed :be 1:colour
!clause <or(exists(0 1) exists(0 2))> = 0:indefinite :be 1:predicate or 2:predicate
!clause <or(exists(0 1) exists(0 2))> = 0:indefinite :be either 1:predicate or 2:predicate
!clause <and(0(1) 0(2))> = 0:whole :be 1:predicate and 2:predicate
!clause <and(0(1) 0(2))> = 0:whole :be both 1:predicate and 2:predicate
!clause <and(0(1) 0(not(2)))> = 0:whole :be 1:predicate and not 2:predicate
!clause <and(0(not(1)) 0(not(2)))> = 0:whole :be neither 1:predicate nor 2:predicate
!clause <or(bare-the(0 1) bare-the(0 2))> = the 0:noun[sg] :be 1:predicate or 2:predicate
!clause <or(bare-the(0 1) bare-the(0 2))> = the 0:noun[sg] :be either 1:predicate or 2:predicate
!clause <and(ratio-eq-0(0 1) ratio-eq-0(0 2))> = no 0:noun :be 1:predicate or 2:predicate
!clause <and(bare-the(0 not(2)) bare-the(1 not(2)))> = neither the 0:noun[sg] nor the 1:noun[sg] :be 2:predicate
!clause <exists(0 same-colour(1))> = 0:entity and 1:reference have the same :color
!clause <exists(0 same-shape(1))> = 0:entity and 1:reference have the same shape
!clause <exists(0 different-colour(1))> = 0:entity and 1:reference have different :colors
!clause <exists(0 different-shape(1))> = 0:entity and 1:reference have different shapes
!clause <bare-the(0 same-colour(unique(1)))> = the 0:noun[sg] and the 1:noun[sg] have the same :color
!clause <bare-the(0 same-shape(unique(1)))> = the 0:noun[sg] and the 1:noun[sg] have the same shape
!clause <bare-the(0 different-colour(unique(1)))> = the 0:noun[sg] and the 1:noun[sg] have different :colors
!clause <exists(0 same-colour(0))> = two 0:noun[pl] have the same :color
!clause <exists(0 same-shape(0))> = two 0:noun[pl] have the same shape
!clause <times-gt-equal(0 1 any)> = 0:noun[pl] outnumber 1:noun[pl]
!clause <times-gt-equal(0 1 any)> = the number of 0:noun[pl] is :higher than the number of 1:noun[pl]
!clause <times-lt-equal(0 1 any)> = the number of 0:noun[pl] is :fewer than the number of 1:noun[pl]
!clause <times-eq-equal(0 1 any)> = the number of 0:noun[pl] is :equal the number of 1:noun[pl]
!higher = bigger
!higher = larger
!higher = higher
!higher = more
!higher = greater
!fewer = smaller
!fewer = less
!fewer = lower
!equal = equal to
!equal = the same as
!clause <0(1)> = the :color of 0:subject :be 1:colour
!clause <0(1)> = 0:subject 's :color :be 1:colour
!colors = colors
!colors = colours
"""

_PARTS = """
!verb[pl] = :be both :predicate[pl]
!verb = :be all :predicate[pl]
!verb = :have the :color :colour
!verb = :have :article :colour :color
!verb not = :do not have the :color 0:colour
!be[sg] = 's
!be[sg] <#number> = are
!be[pl] <#number> = is
!do[sg] <#number> = do
!have[sg] <#number> = have
!be = =
!predicate = :placed
!predicate[pl] = :indefinite
!placed = with :likeness
!placed = of :likeness
!placed left = on the left of 0:reference
!placed left = on the left side of 0:reference
!placed left = to the left side of 0:reference
!placed left = further left than 0:reference
!placed left = farther left than 0:reference
!placed left = further to the left than 0:reference
!placed left = more to the left than 0:reference
!placed left = on left of 0:reference
!placed left = to left of 0:reference
!placed right = on right of 0:reference
!placed right = to right of 0:reference
!placed right = on the right of 0:reference
!placed right = on the right side of 0:reference
!placed right = to the right side of 0:reference
!placed right = further right than 0:reference
!placed right = farther right than 0:reference
!placed right = further to the right than 0:reference
!placed right = more to the right than 0:reference
!placed above = over 0:reference
!placed above = higher than 0:reference
!placed below = under 0:reference
!placed below = underneath 0:reference
!placed below = lower than 0:reference
!likeness different-shape = a different shape than 0:reference
!likeness different-shape = another shape than 0:reference
!likeness different-colour = a different :color than 0:reference
!likeness different-colour = a different :color to 0:reference
!likeness different-colour = another :color than 0:reference
!entity leftmost = the 0:single_noun on the left
!entity leftmost = the 0:single_noun on the far left
!entity leftmost = the 0:single_noun furthest to the left
!entity rightmost = the 0:single_noun on the right
!entity rightmost = the 0:single_noun on the far right
!entity rightmost = the 0:single_noun furthest to the right
!entity uppermost = the 0:single_noun at the top
!entity lowermost = the 0:single_noun at the bottom
!single_noun = :noun[sg]
!single_noun any = one
!reference <#at-least 0> = one 0:noun[sg]
!article[consonant] = an
!article[vowel] = a
!indefinite <#article 0> = 0:noun[sg]
!indefinite = something :colour
!noun[number consonant] <#ones 0> = 0:colour :ones[number]
!ones[sg] = one
!ones[pl] = ones
!noun[number initial] both = 1:shape[number initial] that :be 0:colour
!noun[number initial] both = 1:shape[number initial] , that :be 0:colour ,
!noun[number consonant] = :figure[number] that :be :colour
!counted[eq amount number] = only :numeral[amount number]
!counted[eq amount number] = just :numeral[amount number]
!counted[eq amount number] = precisely :numeral[amount number]
!counted[leq amount number] = up to :numeral[amount number]
!counted[leq amount number] = not more than :numeral[amount number]
!counted[leq amount number] = at the most :numeral[amount number]
!counted[leq amount number] = a maximum of :numeral[amount number]
!counted[geq amount number] = not less than :numeral[amount number]
!counted[geq amount number] = not fewer than :numeral[amount number]
!counted[geq amount number] = at the least :numeral[amount number]
!counted[geq amount number] = a minimum of :numeral[amount number]
!counted[eq 1 sg] = a single
!counted[eq 0 pl] = zero
"""


def rules_of_people(captions: Sequence[str]) -> Iterator[str]:
    """The rules for sentences of people.

    Args:
        captions: the rules of captions, of which some are made.
    """
    for text in (_SENTENCES, _THINGS, _SUBJECTS, _CLAUSES, _PARTS):
        yield from text.strip().splitlines()
    yield from amounts.rules()
    yield from logic.rules()
    yield from places.rules(captions)
    for line in captions:
        yield from _derived(line)
    for amount in range(1, 6):
        yield f"!counted[geq {amount} {'sg' if amount == 1 else 'pl'}] <#at-least> = :numeral[{amount}]"
        yield f"!counted[geq {amount} pl] = :numeral[{amount}] or more"
        yield f"!counted[leq {amount} pl] = :numeral[{amount}] or fewer"
        yield f"!counted[leq {amount} pl] = :numeral[{amount}] or less"
        for upper in range(amount + 1, 6):
            both = f"and(count-geq-{amount}(0 _) count-leq-{upper}(0 _))"
            if upper == amount + 1:
                yield f"!counting[pl] <{both}> = :numeral[{amount}] or :numeral[{upper}] 0:noun[pl]"
                yield f"!counting[pl] <{both}> = either :numeral[{amount}] or :numeral[{upper}] 0:noun[pl]"
            yield f"!counting[pl] <{both}> = between :numeral[{amount}] and :numeral[{upper}] 0:noun[pl]"


def _derived(line: str) -> Iterator[str]:
    """Rules for people of a rule of captions: its subject, a comparison of colours, a relation without a verb."""
    if subject := re.fullmatch(r"[~?]?(clause|part\[total\]) (\S+) = (?!it is|there)(.*) \d:verb(\[\w+\])", line):
        category, symbol, before, number = subject.groups()
        slots = " ".join(sorted(re.findall(r"(\d):", before)))
        whole, prefix = f"{symbol}({slots} _)", ""
        if category != "clause":
            whole = f"of-{{total}}({whole})"
        elif symbol != "exists":
            counts = re.match(r"count|bare-two|times|.*-than", symbol) or re.match(r"(no|some|any) 0:", before)
            prefix = "counting" if counts else ""
        if symbol != "exists":
            yield f"!{prefix or 'subject'}{number} <{whole}> = {before}"
    compared = re.fullmatch(r"~?clause (\S+) = (.*) 0:noun\[(\w+)\] (than|as) 1:noun\[pl\] 2:verb\S*", line)
    if compared:
        symbol, before, number, word = compared.groups()
        for many in {before, "less" if before == "fewer" else before}:
            yield f"!clause <{symbol}(1 2 0)> = {many} 0:noun[{number}] :be 1:colour {word} 2:colour"
            yield f"!clause <{symbol}(0 2 1)> = {many} 0:noun[{number}] :be 1:predicate {word} 2:noun[pl]"
            yield f"!question <{symbol}(1 2 0)> = :be {many} 0:noun[{number}] 1:colour {word} 2:colour"
            yield f"!thing <{symbol}(0 1 2)> = {many} 0:colour {word} 1:colour 2:noun[pl]"
            yield f"!thing <{symbol}(both(0 1) both(2 1) any)> = {many} 0:colour 1:shape[{number}] {word} 2:colour :ones[pl]"
            if many != before:
                yield f"!counting[pl] <{symbol}(0 1 _)> = {many} 0:noun[pl] {word} 1:noun[pl]"
    if relation := re.fullmatch(r"[~?]?predicate (\S+) = (.*reference.*)", line):
        yield f"!placed {relation[1]} = {relation[2]}"
    if selector := re.fullmatch(r"~?entity (\S+(?:most|est)) = the (\S+) 0:noun\[sg\]", line):
        yield f"!entity <#ones {selector[1]}(any)> = the {selector[2]} one"
        yield f"!entity {selector[1]} = {selector[2]} 0:noun[sg]"
    if selector := re.fullmatch(r"~?entity (\S+(?:most|est|-of-two)) = the (\S+) 0:noun\[sg\]", line):
        yield f"!entity {selector[1]} = the {selector[2]} of the 0:noun[pl]"
        yield f"!entity {selector[1]} = the {selector[2]} of the two 0:noun[pl]"
