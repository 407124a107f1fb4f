"""Words and phrases of people, each with that of captions that means the same.

`PHRASES` mean the same; those of `DECISIONS` are near enough to be read so, and it is told.
"""

from __future__ import annotations

from collections.abc import Mapping

_PHRASES = """
isn't, isnt, ain't, aint, wasn't = is not
aren't, arent, weren't = are not
doesn't, doesnt = does not
don't, dont = do not
hasn't, hasnt = does not have
haven't, havent = do not have
there's, theres, ther's = there is
there're, therere = there are
it's = it is
its = it is
its color = it 's color
its colour = it 's colour
they're, theyre = they are
that's, thats = that is
nothing's = nothing is
everything's = everything is
what's, whats = what is
was = is
were = are
was there = is there
lies, sits, stands, appears, rests, is located, is placed, is positioned, is situated, is found, is seen, is drawn = is
lie, sit, stand, appear, are located, are placed, are positioned, are situated, are found, are seen, are drawn = are
is arranged, is lying, is sitting, is standing, is resting = is
are arranged, are lying, are sitting, are standing, are resting = are
seems to be, appears to be, looks to be = is
seem to be, appear to be = are
located above, placed above, positioned above, situated above = above
located below, placed below, positioned below, situated below, placed beneath = below
located to, placed to, positioned to, situated to, lying to, sitting to = to
located behind, placed behind, positioned behind, sitting behind = behind
located in front of, placed in front of, positioned in front of, sitting in front of = in front of
there can be found, there can be seen, there exist, there exists, there appears to be, there seems to be = there is
there appear to be = there is
there seem to be, there must be, there might be, there may be, there could be = there is
there appear to be, there exist = there are
cannot, can't, cant, couldn't, could not = can not
which color is, which colour is, that color is, that colour is, whose color is, whose colour is = that is
with color, with colour, with the color, with the colour = that is
of color, of colour, of the color, of the colour, in color, in colour = that is
which, who = that
objects, figures, things, items, elements, forms = shapes
obj = shape
objs = shapes
object, figure, thing, item, element, form, stuff = shape
anything = any shape
something else = another shape
bigger from, bigger as = bigger than
larger from, larger as = larger than
smaller from, smaller as = smaller than
darker from, darker as = darker than
lighter from, lighter as = lighter than
all same = all the same
an absence of, a lack of, absence of, lack of = no
every single, each and every, each single, everyone of = every
every of the = each of the
the all = all the
there no is, there no are = there is no
thier, their = there
no more than half, not more than half = at most half
no less than half, not less than half = at least half
fewer than half = less than half
fewer than a = less than a
not only a = a
but also = and
it is exist = there is
are there exists, are there exist = are there
one in four = a quarter of the
one in three = a third of the
one in two, every second = half of the
whenever, when = if
of the same kind, of the same type = of the same shape
it is there = is there
is exist, is there exist, is there exists = is there
don't appear to be, doesn't appear to be, don't seem to be, doesn't seem to be, do not appear to be = is not
does not appear to be, do not seem to be, does not seem to be = is not
nothing but, nothing except, nothing other than, nothing else than = only
form of, colour of = color of
oval = ellipse
ovals = ellipses
disc, disk = circle
discs, disks = circles
circ = circle
circs = circles
sq, sqr = square
sqs, sqrs = squares
rect = rectangle
rects = rectangles
tri = triangle
tris = triangles
pent = pentagon
pents = pentagons
half circle, half-circle, semi circle, semi-circle, half moon, half-moon, halfmoon, half disc, half disk = semicircle
half circles, half-circles, semi circles, semi-circles, half moons, half-moons, half discs, half disks = semicircles
plus sign, plus, plus symbol, plus shape, cross shape = cross
plus signs, pluses, plusses, plus symbols = crosses
left most, left-most, furthest left, farthest left, most left, furthest to the left, farthest to the left = leftmost
right most, right-most, furthest right, farthest right, most right, furthest to the right, farthest to the right = rightmost
top most, top-most, highest, upper most, upper-most, highest up = uppermost
bottom most, bottom-most, bottommost, lowest, lower most, lower-most, lowest down = lowermost
the top = the uppermost
the bottom = the lowermost
tiniest, littlest, most small, most little = smallest
most big, hugest, greatest, most large = biggest
brightest, palest, most light, most bright = lightest
most dark = darkest
nearest = closest
brighter, paler, more light, more bright = lighter
more dark = darker
greater, huger, more big, more large = bigger
tinier, littler, more small, more little = smaller
nearer = closer
upper than, further up than, higher up than, more up than = above
further down than, lower down than, more down than = below
nearer to, more close to, more near to = closer to
farther away from, further away from, further from, more far from, farther than from = farther from
left-hand, lefthand, left hand = left
right-hand, righthand, right hand = right
from the left of, from left of, left from, to left from, leftof, on the left from, at the left of, at left of = left of
in the left of, at the left side of = left of
to the left from, on the left-hand side of, to the left side of, to the left-hand side of, on the left hand side of = left of
on the left side of, in the left side of = left of
from the right of, from right of, right from, to right from, rightof, on the right from, at the right of = right of
at right of, in the right of, at the right side of = right of
to the right from, on the right-hand side of, to the right side of, to the right-hand side of = right of
on the right side of, in the right side of, on the right hand side of = right of
under of, below of, beneath of, underneath of = below
above of, over of = above
behind of, in back of, at the back of, in the back of = behind
in front of, in-front-of, infront of, in front from, in the front of, in frontof = in front of
covers, hides, occludes, obscures, is covering, is hiding, is occluding, partially covers, partly covers = is in front of
is blocking = is in front of
cover, occlude = are in front of
covering, occluding, obscuring, partially covering, partly covering, blocking = in front of
covered by, hidden by, occluded by, obscured by, overlaid by, partially hidden by, partially hidden behind = behind
partially covered by, partly covered by, partially occluded by, partly hidden by, partly hidden behind = behind
half hidden behind = behind
hidden behind, hiding behind, peeking out from behind, sticking out from behind = behind
hides behind, is hiding behind = is behind
touches, intersects, touches on = overlaps
touch, intersect = overlap
touching, intersecting = overlapping
in contact with = overlapping
colored, color coloured, colour coloured, coloured in, colored in, painted, painted in = coloured
50 %, 50 percent, 50 per cent = half
25 %, 25 percent, 25 per cent, one quarter, one fourth, a fourth = a quarter
75 %, 75 percent, 75 per cent, three fourths = three quarters
1/2, one half = half
a half of = half of
1/3, one third = a third
2/3, two-thirds = two thirds
1/4 = a quarter
3/4, three-quarters = three quarters
100 %, 100 percent = all
same-colour, same-color = same color
same colour like, same color like, same colour than, same color than, same colour with, same color with = same color as
same shape like, same shape than, same shape with = same shape as
the same in shape = the same shape
share the same, share a = have the same
shares the same, shares a = has the same
an equal number of, the same amount of, the same count of, equal numbers of, equal amounts of = the same number of
the same number of = the same number of
an equal amount of, the same quantity of, identical numbers of, the same numbers of = the same number of
of the same number = the same number of
just as many, exactly as many, equally as many, exactly the same number of = as many
two times as many, double as many, double the number of, twice the number of, two times more = twice as many
exactly twice as many = twice as many
half the number of = half as many
as many like = as many
than there are, than there is, than we have = than
as there are, as there is = as
outnumbers, are outnumbering, exceed, exceeds in number = outnumber
don't outnumber, dont outnumber, do not outnumber = do not outnumber
out of the = of the
out of = of
in total, altogether, all together, all in all, total, in all, in sum = total
a total of, total of, i count, we count, you can count, one can count, we can count, i counted = exactly
cnt of, count of the, no. of, no of, nr of, num of, # of, number of the, count of, amount of, quantity of = number of
is the same number as, is same as, is equal as = is equal to
is equal with, equals to, is equivalent to = is equal to
>, is > = is bigger than
<, is < = is smaller than
== = =
>= = is at least
<= = is at most
at minimum, at a minimum, minimum, min, a min of = at least
at maximum, at max, maximum, max, at a maximum, a max of = at most
atleast, at-least = at least
atmost, at-most = at most
majority of, the most of, most of all = most of
mostly all = most
not a one, not any one, no one, no a single, no even one, not even one, not even a single = not a single
of them all, out of all, from all of them, than all = of all
no any, not no, no single = no
not have any, have not any, have not, does not have any = not have any
it have not any, it has not any, it does not have any, it has no, it have no, there have no, there has no = there is not any
there has not any = there is not any
it does not have, it doesn't have, there have not, there has not = there is not
there have, there has, exist some, exists some, it exists, it exist, there are existing, there are exist = there is
there is exist = there is
does exist some, do exist some, does there exist, do there exist, does exist a, exist any = is there
does exist any, do exist any, is there existing = is there any
neither one of the, neither of these = neither of the
those of = ones of
lil = little
stands out as, is considered, is regarded as, turns out to be = is
not as big as, not as large as, less big than, less large than = smaller than
not as small as, less small than = bigger than
not as dark as, less dark than = lighter than
not as light as, not as bright as, less light than, less bright than = darker than
not as high as, not as high up as = lower than
w/ = with
w/o = without
& = and
r = are
also a, also an = a
plus a, plus an = and a
as well as, along with, together with = and
"""

_DECISIONS = """
ball, sphere, dot, round shape = circle
balls, spheres, dots, round shapes = circles
box, cube = square
boxes, cubes = squares
egg = ellipse
eggs = ellipses
oblong = rectangle
oblongs = rectangles
"""


def _table(text: str) -> dict[tuple[str, ...], tuple[str, ...]]:
    pairs = (line.partition(" = ") for line in text.strip().splitlines())
    return {tuple(one.split()): tuple(meant.split()) for many, _, meant in pairs for one in many.split(", ")}


PHRASES: Mapping[tuple[str, ...], tuple[str, ...]] = _table(_PHRASES)
"""Words in small letters, and those that captions have for them."""

DECISIONS: Mapping[tuple[str, ...], tuple[str, ...]] = _table(_DECISIONS)
"""Words that are read as others, which is told."""
