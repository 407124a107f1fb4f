"""Rules of how many: totals, parts of a group, exceptions, and comparisons of two counts.

A group is an *amount* with a hole for its noun (`count-eq-3(any _)`), so that what follows can say more of the same noun: "three
circles, one of which is red". A *quantity* has holes for a noun and for what is said of it. Six to eight can be said exactly,
by a number bound: "all of the six shapes are shapes".
"""

from __future__ import annotations

from collections.abc import Iterator

from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES

CATEGORIES = {"amount": ("number",), "many": ("number",)}

REMARKS = {
    "exact": "a bare number from six on is read as 'exactly' so many",
    "none": "what is said without a noun is read of all shapes",
    "including": "'including' is read as 'and'",
}

_TALLIES = """
!tally = the number of :noun[pl]
!tally = the total number of :noun[pl]
!tally = number of :noun[pl]
!tally <#number 0> = number of 0:noun[sg]
!tally <#number 0> = the number of 0:noun[sg]
!clause <times-gt-equal(0 1 any)> = 0:tally :be :higher than 1:tally
!clause <times-gt-equal(0 1 any)> = 0:tally exceeds 1:tally
!clause <times-lt-equal(0 1 any)> = 0:tally :be :fewer than 1:tally
!clause <times-eq-equal(0 1 any)> = 0:tally :be :equal 1:tally
!clause <times-eq-equal(0 1 any)> = 0:tally equals 1:tally
!clause <times-eq-equal(0 1 any)> = 0:tally and 1:tally :be the same
!clause <times-eq-equal(0 1 any)> = 0:tally and 1:tally :be equal
!clause <times-eq-equal(0 1 any)> = 0:tally = 1:tally
!clause <not-true(times-eq-equal(0 1 any))> = 0:tally :be not :equal 1:tally
!clause <not-true(times-gt-equal(0 1 any))> = 0:tally :be not :higher than 1:tally
!clause <not-true(times-lt-equal(0 1 any))> = 0:tally :be not :fewer than 1:tally
!clause <times-eq-twice(0 1 any)> = 0:tally :be twice 1:tally
!clause <times-eq-half(0 1 any)> = 0:tally :be half 1:tally
!clause <times-eq-twice(0 1 any)> = 0:tally :be twice as many 1:noun[pl]
!clause <times-eq-half(0 1 any)> = 0:tally :be half as many 1:noun[pl]
!clause <times-eq-equal(0 1 any)> = 0:group and 1:group :be equal in number
!clause <times-eq-equal(0 1 any)> = 0:group and 1:group :be equally many
!clause <times-eq-equal(0 1 any)> = 0:group and 1:group :be equally :numerous
!clause <{amount}-more-than(0 1 any)> = 0:tally exceeds 1:tally by :numeral[amount number]
!clause <{amount}-more-than(0 1 any)> = 0:tally :be :numeral[amount number] :higher than 1:tally
!clause <{amount}-more-than(0 1 any)> = 0:group outnumber 1:group by :numeral[amount number]
!clause <count-eq-{amount}(any 0)> = 0:tally :be :numeral[amount number]
!clause <count-{comparator}-{amount}(any 0)> = 0:tally :be :counted[comparator amount number]
!clause <count-eq-{amount}(any 0)> = 0:tally :be :equal_to :numeral[amount number]
!equal_to = equal to
!clause <count-eq-{amount}(any 0)> = 0:noun[pl] , :numeral[amount number]
!clause <count-eq-{amount}(any 0)> = 0:noun[pl] = :numeral[amount number]
!clause <times-gt-equal(0 1 any)> = 0:group :be more than 1:group
!clause <times-lt-equal(0 1 any)> = 0:group :be :fewer_than 1:group
!fewer_than = fewer than
!fewer_than = less than
!group = :noun[pl]
!group = the :noun[pl]
!clause <times-gt-equal(0 1 any)> = 0:group outnumber 1:group
!clause <not-true(times-gt-equal(0 1 any))> = 0:group do not outnumber 1:group
!clause <times-lt-equal(0 1 any)> = 0:group :be outnumbered by 1:group
!clause <times-gt-equal(0 1 any)> = 0:group :be more :numerous than 1:group
!clause <times-lt-equal(0 1 any)> = 0:group :be less :numerous than 1:group
!clause <times-eq-equal(0 1 any)> = 0:group :be as :numerous as 1:group
!clause <times-lt-equal(0 1 any)> = 0:group :be not as :numerous as 1:group
!numerous = numerous
!numerous = common
!numerous = many
!numerous = frequent
!question <times-gt-equal(0 1 any)> = do 0:group outnumber 1:group
!counting[pl] <times-eq-equal(0 1 _)> = the same number of 0:colour and 1:colour :figure[pl]
!counting[pl] <times-eq-equal(both(0 2) both(1 2) _)> = the same number of 0:colour and 1:colour 2:shape[pl]
!counting[pl] <not-true(times-lt-equal(0 1 _))> = at least as many 0:noun[pl] as 1:noun[pl]
!counting[pl] <not-true(times-gt-equal(0 1 _))> = at most as many 0:noun[pl] as 1:noun[pl]
!counting[pl] <not-true(times-gt-equal(0 1 _))> = no more 0:noun[pl] than 1:noun[pl]
!counting[pl] <not-true(times-lt-equal(0 1 _))> = no fewer 0:noun[pl] than 1:noun[pl]
!counting[pl] <times-lt-equal(0 1 _)> = not as many 0:noun[pl] as 1:noun[pl]
!counting[pl] <{amount}-more-than(0 1 _)> = exactly :numeral[amount number] more 0:noun than 1:noun[pl]
!counting[pl] <{amount}-fewer-than(0 1 _)> = exactly :numeral[amount number] fewer 0:noun than 1:noun[pl]
!counting[pl] <{amount}-more-than(0 1 _)> = :numeral[amount number] 0:noun more than 1:noun[pl]
!counting[pl] <times-gt-equal(0 1 _)> = more 0:colour than 1:colour
!counting[pl] <times-lt-equal(0 1 _)> = fewer 0:colour than 1:colour
!counting[pl] <times-lt-equal(0 1 _)> = less 0:colour than 1:colour
!counting[pl] <times-eq-equal(0 1 _)> = as many 0:colour as 1:colour
!counting[pl] <times-gt-equal(0 1 _)> = more 0:noun[pl] as 1:noun[pl]
!counting[pl] <times-lt-equal(0 1 _)> = less 0:noun[pl] as 1:noun[pl]
!counting[pl] <times-eq-equal(0 1 _)> = so many 0:noun[pl] as 1:noun[pl]
!absent <times-lt-equal(0 1 any)> = as many 0:noun[pl] as 1:noun[pl]
!absent <not-true(times-gt-equal(0 1 any))> = more 0:noun[pl] than 1:noun[pl]
!absent <not-true(times-lt-equal(0 1 any))> = fewer 0:noun[pl] than 1:noun[pl]
"""

_TOTALS = """
!thing <count-eq-{amount}(any 0)> = :numeral[amount number] 0:noun total
!thing <0(any)> = 0:counting total
!thing <and(0(2) 1(2))> = 0:amount :though 1:amount 2:noun[pl]
!though = but
!though = and
!clause <and(0(1) ratio-eq-1(any 1))> = 0:amount 1:noun :joint :no_more
!clause <and(0(1) ratio-eq-1(any 1))> = :there 0:amount 1:noun :joint :no_more
!no_more = nothing else
!no_more = nothing more
!no_more = no other shapes
!amount <count-{comparator}-{amount}(any _)> = :counted[comparator amount number]
!amount <ratio-neq-0(any _)> = some
!amount[pl] <bare-two(any _)> = a pair of
!amount[pl] <bare-two(any _)> = a couple of
!amount[pl] <of-6(ratio-eq-1(_ any))> = exactly six
!amount[pl] <of-7(ratio-eq-1(_ any))> = exactly seven
!amount[pl] <of-8(ratio-eq-1(_ any))> = exactly eight
!many[pl] <#exact of-6(ratio-eq-1(_ any))> = six
!many[pl] <#exact of-7(ratio-eq-1(_ any))> = seven
!many[pl] <#exact of-8(ratio-eq-1(_ any))> = eight
!amount = :many
!thing <of-{total}(ratio-eq-1(0 any))> = exactly :total[total] 0:noun[pl]
!thing <of-{total}(ratio-eq-1(0 any))> = only :total[total] 0:noun[pl]
!thing <of-{total}(ratio-eq-1(0 any))> = just :total[total] 0:noun[pl]
!thing <of-{total}(ratio-eq-1(0 any))> = :total[total] 0:noun[pl] total
!thing <0(1)> = 0:many 1:noun[pl]
!thing <count-gt-5(any 0)> = at least six 0:noun[pl]
!thing <count-gt-5(any 0)> = six or more 0:noun[pl]
!thing <count-leq-5(any 0)> = fewer than six 0:noun[pl]
!thing <count-leq-5(any 0)> = less than six 0:noun[pl]
!number_of = how many
!question <count-{comparator}-{amount}(any 0)> = :number_of 0:noun[pl] :be there , :counted[comparator amount]
!question <count-{comparator}-{amount}(any 0)> = :number_of 0:noun[pl] , :counted[comparator amount]
"""

_PARTS = """
!quantity <count-{comparator}-{amount}(_ _)> = :counted[comparator amount]
!quantity <ratio-eq-0(_ _)> = none
!quantity <ratio-eq-0(_ _)> = not one
!quantity <ratio-eq-0(_ _)> = no one
!quantity <ratio-eq-1(_ _)> = all
!quantity <ratio-neq-1(_ _)> = not all
!quantity <ratio-neq-0(_ _)> = some
!quantity <bare-most(_ _)> = most
!quantity <ratio-{comparator}-{share}(_ _)> = :portion[comparator share]
!quantity <ratio-eq-{share}(_ _)> = :fraction[share]
!clause <#none 0(any 1)> = 0:share_of_all 1:verb
!share_of_all <count-{comparator}-{amount}(_ _)> = :comparator[comparator] :numeral[amount]
!share_of_all <count-eq-{amount}(_ _)> = only :numeral[amount]
!share_of_all <ratio-eq-0(_ _)> = none
!share_of_all <ratio-eq-1(_ _)> = all
!share_of_all <ratio-neq-1(_ _)> = not all
!share_of_all <ratio-neq-0(_ _)> = some
!share_of_all <bare-most(_ _)> = most
!share_of_all <ratio-{comparator}-{share}(_ _)> = :portion[comparator share]
!clause <#none ratio-eq-1(any 0)> = all 0:colour
!clause <#none ratio-eq-0(any 0)> = none 0:colour
!clause <#none ratio-eq-0(any 0)> = no 0:colour
!clause <ratio-eq-0(any 0)> = nothing 0:colour
!clause <#none bare-most(any 0)> = most 0:colour
!clause <0(1 2)> = of the 1:noun[pl] , 0:quantity 2:verb
!clause <0(1 2)> = of all 1:noun[pl] , 0:quantity 2:verb
!clause <of-{total}(0(1 2))> = of the :total[total] 1:noun[pl] , 0:quantity 2:verb
!clause <of-{total}(0(1 2))> = of the :total[total] 1:noun[pl] 0:quantity 2:verb
!clause <of-{total}(0(1 2))> = 0:quantity of :total[total] 1:noun[pl] 2:verb
!joint = ,
!joint = , and
!joint = and
!joint = but
!joint = , but
!joint = .
!of_them = of them
!of_them = of that
!of_them = of it
!of_them = of these
!of_them = of those
!they = they
!they = they all
!they = all of them
!they = all of that
!they = all
!they = that
!they = both
!they = both of them
!they = they both
!clause <0(1)> = there :be 0:amount 1:noun
!group_of <0(1)> = 0:amount 1:noun
!clause <and(0(1) 2(1 3))> = :there 0:amount 1:noun :joint 2:quantity :of_them 3:verb
!clause <and(0(1) 2(1 3))> = 0:amount 1:noun :joint 2:quantity :of_them 3:verb
!clause <and(ratio-neq-0(any 0) 1(0 2))> = :there 0:noun[pl] :joint 1:quantity :of_them 2:verb
!clause <and(ratio-neq-0(any 0) 1(0 2))> = :there 0:noun[pl] :joint 1:quantity 2:verb
!clause <and(ratio-neq-0(any 0) ratio-eq-1(0 1))> = :there 0:noun[pl] :joint :they 1:verb
!clause <and(0(1) 2(1 3))> = 0:amount 1:noun :joint 2:quantity :of_them 3:predicate
!clause <and(0(1) 2(1 3))> = :there 0:amount 1:noun :joint 2:quantity :of_them 3:predicate
!clause <and(0(both(1 2)) 3(both(4 2)))> = 0:amount 1:colour 2:shape :plus 3:amount 4:colour
!clause <and(0(both(1 2)) 3(both(4 2)))> = :there 0:amount 1:colour 2:shape :plus 3:amount 4:colour
!plus = and
!plus = ,
!plus = , and
!clause <and(exists(0 2) exists(1 2))> = :there 0:indefinite and 1:indefinite :joint :they 2:verb
!clause <and(exists(0 2) exists(1 2))> = 0:indefinite and 1:indefinite :joint :they 2:verb
!clause <and(0(1) 2(1 3))> = :there 0:amount 1:noun :joint 2:quantity 3:verb
!clause <and(0(1) 2(1 3))> = 0:amount 1:noun :joint 2:quantity 3:verb
!clause <and(0(1) and(2(1 3) 4(1 5)))> = :there 0:amount 1:noun :joint 2:quantity 3:verb and 4:quantity 5:verb
!clause <and(0(1) and(2(1 3) 4(1 5)))> = 0:amount 1:noun :joint 2:quantity 3:verb and 4:quantity 5:verb
!clause <and(0(1) ratio-eq-1(1 2))> = :there 0:amount 1:noun :joint :they 2:verb
!clause <and(0(1) ratio-eq-1(1 2))> = 0:amount 1:noun :joint :they 2:verb
!clause <and(0(1) ratio-eq-1(1 2))> = :there 0:amount 1:noun :joint all 2:predicate[pl]
!clause <and(0(1) ratio-eq-1(1 2))> = 0:amount 1:noun :joint all 2:predicate[pl]
!clause <and(0(1) ratio-eq-1(1 2))> = 0:amount 1:noun :joint all of them 2:predicate[pl]
!clause <and(0(1) ratio-eq-0(1 2))> = :there 0:amount 1:noun :joint none 2:predicate[pl]
!clause <and(0(1) ratio-eq-0(1 2))> = 0:amount 1:noun :joint none 2:predicate[pl]
!clause <and(0(1) ratio-eq-0(1 2))> = :there 0:amount 1:noun :joint none :of_them 2:predicate[pl]
!clause <and(0(1) ratio-eq-0(1 both(2 1)))> = 0:amount 1:shape :joint no 2:colour :ones
!clause <and(0(1) ratio-eq-0(1 both(2 1)))> = :there 0:amount 1:shape :joint no 2:colour :ones
!there = there :be
!clause <#including and(0(1) 2)> = 0:amount 1:noun including 2:things
!clause <#including and(0(1) 2)> = :there 0:amount 1:noun including 2:things
!clause <and(0(1) 2(1))> = :there 0:amount 1:shape :joint 2:two_colours
!two_colours <and(there-is(both(0 _)) there-is(both(1 _)))> = :one_of 0:colour :last_of 1:colour
!two_colours <and(there-is(both(0 _)) there-is(both(1 _)))> = :one_of 0:colour :last_of 1:colour one
!two_colours <and(there-is(both(0 _)) there-is(both(1 _)))> = :one_of 0:colour one :last_of 1:colour one
!clause <and(0(1) 2(1))> = 0:amount 1:shape :joint 2:two_colours
!one_of = a
!one_of = one
!last_of = and a
!last_of = and one
!last_of = , a
!last_of = , one
!clause <and(count-{comparator}-{amount}(any 0) exists(0 1))> = :counted[comparator amount sg] 0:noun[sg] , 1:indefinite
!clause <and(0(1) exists(1 2))> = 0:sole 1:noun[sg] :joint it 2:verb[sg]
!clause <and(0(1) exists(1 2))> = :there 0:sole 1:noun[sg] :joint it 2:verb[sg]
!sole <count-{comparator}-{amount}(any _)> = :counted[comparator amount sg]
"""

_EXCEPTIONS = """
!clause <ratio-eq-1(any 0)> = there :be only 0:noun[pl]
!clause <ratio-eq-1(any 0)> = there :be just 0:noun[pl]
!clause <ratio-eq-1(any 0)> = only 0:noun[pl]
!clause <ratio-eq-1(any 0)> = it :be all 0:noun[pl]
!clause <ratio-eq-1(any 0)> = it :be only 0:noun[pl]
!clause <ratio-eq-1(any 0)> = it :be just 0:noun[pl]
!clause <ratio-eq-1(any 0)> = 0:noun[pl] only
!clause <ratio-eq-1(any 0)> = only 0:colour
!thing <count-eq-{amount}(any 0)> = :numeral[amount number] 0:noun[number] only
!question <ratio-eq-1(any 0)> = :be there only 0:noun[pl]
!clause <ratio-eq-1(any 0)> = there :be no 0:type_but
!type_but = shapes other than :noun[pl]
!type_but = shapes except :noun[pl]
!type_but = shapes but :noun[pl]
!type_but = shape but :noun[pl]
!clause <and(ratio-eq-0(any 0) ratio-eq-1(any 1))> = there :be no 0:noun[pl] , only 1:noun[pl]
!clause <and(ratio-eq-0(any 0) ratio-eq-1(any 1))> = no 0:noun[pl] , only 1:noun[pl]
!whole <#none count-eq-{amount}(any not(_))> = all :except :numeral[amount number]
!whole <count-eq-{amount}(0 not(_))> = all 0:noun[pl] :except :numeral[amount number]
!whole <count-eq-{amount}(0 not(_))> = all the 0:noun[pl] :except :numeral[amount number]
!whole <count-eq-{amount}(0 not(_))> = all of the 0:noun[pl] :except :numeral[amount number]
!whole <count-eq-{amount}(0 not(_))> = all :except :numeral[amount number] 0:noun
!whole <count-eq-{amount}(0 not(_))> = all :except :numeral[amount number] of the 0:noun[pl]
!whole <count-eq-1(0 not(_))> = every 0:noun[sg] :except one
!except = but
!except = except
!except = except for
!except = other than
!except = besides
!clause <and(count-eq-1(any not(1)) bare-the(0 not(1)))> = :everything :except the 0:noun[sg] :be 1:predicate
!clause <and(bare-the(0 1) count-eq-1(any 1))> = only the 0:noun[sg] :be 1:predicate
!clause <and(bare-the(0 1) count-eq-1(any 1))> = no shape :except the 0:noun[sg] :be 1:predicate
!clause <and(bare-the(1 0) count-eq-1(any 0))> = there :be not any 0:noun :except the 1:noun[sg]
!clause <and(bare-the(1 0) count-eq-1(any 0))> = there :be no 0:noun :except the 1:noun[sg]
!clause <and(count-eq-1(any not(0)) bare-the(1 not(0)))> = :everything :be 0:predicate :except the 1:noun[sg]
!clause <and(count-eq-1(any not(0)) bare-the(1 not(0)))> = :everything :be 0:predicate , :except the 1:noun[sg]
!clause <count-eq-{amount}(0 not(1))> = all 0:noun[pl] :be 1:predicate :except :numeral[amount number]
!clause <count-eq-{amount}(0 not(1))> = all of the 0:noun[pl] :be 1:predicate :except :numeral[amount number]
!clause <count-eq-{amount}(0 not(1))> = all the 0:noun[pl] :be 1:predicate :except :numeral[amount number]
!clause <count-eq-{amount}(any not(0))> = everything :be 0:predicate :except :numeral[amount number]
!clause <count-eq-{amount}(any not(0))> = everything 0:colour :except :numeral[amount number]
!everything = everything
!everything = all shapes
!everything = every shape
"""


def rules() -> Iterator[str]:
    """The rules, one a line; among them which colour or shape is the most common."""
    for text in (_TALLIES, _TOTALS, _PARTS, _EXCEPTIONS):
        for line in text.strip().splitlines():
            yield line
            if " = 0:tally :be " in line or " = 0:group :be " in line:
                yield (
                    line.replace("!clause", "!question", 1)
                    .replace("= 0:tally :be ", "= :be 0:tally ")
                    .replace("= 0:group :be ", "= :be 0:group ")
                )
    for values in (COLOURS, SHAPES):
        for value in values:
            more = [f"times-gt-equal({value} {other} any)" for other in values if other != value]
            joined = more[-1]
            for one in reversed(more[:-1]):
                joined = f"and({one} {joined})"
            yield from _commonest(value, joined, shape=values is SHAPES)


def _commonest(value: str, meaning: str, *, shape: bool) -> Iterator[str]:
    kind = "shape" if shape else ":color"
    names = [value] if not shape else [f"{'an' if value[0] in 'aeiou' else 'a'} {value}", f"the {value}", value]
    names += [f"{value}es" if value.endswith("s") else f"{value}s"] * shape
    for name in names:
        yield f"!clause <{meaning}> = {name} :be the most common {kind}"
        yield f"!clause <{meaning}> = the most common {kind} :be {name}"
