"""The shapes of the world: members of the family that stand apart, and their names."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from molyneux.data.worlds.molyneux_shapes.comparison import DIRECTIONS, distances, radii_of
from molyneux.data.worlds.molyneux_shapes.family import candidates, curves, is_plain

APART = 0.13
"""Least distance (`comparison.distances`) of any two shapes, of their mirror images, and of a shape and a disc."""

COUNT = 320
"""Number of shapes."""

# fmt: off
NUMBERS = (
    0, 1, 10, 12, 14, 16, 18, 21, 27, 30, 33, 35, 36, 37, 46, 48, 49, 51, 53, 54, 58, 60, 62, 65, 78, 83, 84, 87, 90, 92,
    93, 95, 105, 110, 116, 120, 122, 126, 134, 139, 149, 150, 164, 165, 166, 170, 174, 175, 179, 182, 183, 190, 197, 201,
    205, 207, 208, 223, 228, 238, 239, 240, 260, 268, 279, 282, 295, 310, 318, 334, 360, 363, 367, 368, 372, 383, 384,
    417, 426, 451, 453, 457, 464, 497, 498, 518, 538, 591, 594, 612, 616, 647, 668, 669, 692, 716, 746, 754, 802, 824,
    828, 844, 880, 886, 894, 915, 921, 922, 932, 945, 955, 972, 1002, 1007, 1031, 1058, 1068, 1075, 1077, 1084, 1117,
    1121, 1127, 1161, 1181, 1190, 1203, 1214, 1216, 1220, 1236, 1274, 1292, 1294, 1300, 1310, 1333, 1334, 1335, 1340,
    1344, 1405, 1434, 1454, 1457, 1465, 1489, 1492, 1496, 1499, 1552, 1568, 1572, 1588, 1593, 1621, 1652, 1657, 1665,
    1680, 1684, 1700, 1716, 1723, 1744, 1749, 1778, 1787, 1790, 1792, 1820, 1839, 1840, 1842, 1861, 1863, 1905, 1937,
    1967, 1991, 2039, 2058, 2096, 2117, 2166, 2184, 2208, 2218, 2245, 2263, 2278, 2280, 2283, 2325, 2332, 2344, 2350,
    2364, 2425, 2544, 2549, 2596, 2602, 2606, 2635, 2700, 2719, 2768, 2784, 2800, 2820, 2842, 2852, 2860, 2875, 2879,
    2906, 2951, 2965, 2991, 3003, 3014, 3021, 3064, 3084, 3103, 3110, 3112, 3137, 3169, 3185, 3280, 3282, 3312, 3330,
    3335, 3341, 3363, 3380, 3383, 3433, 3489, 3498, 3527, 3592, 3595, 3614, 3633, 3665, 3698, 3721, 3747, 3790, 3840,
    3911, 3954, 3971, 4004, 4019, 4022, 4028, 4083, 4097, 4201, 4232, 4328, 4337, 4345, 4351, 4424, 4426, 4430, 4477,
    4490, 4495, 4526, 4542, 4579, 4621, 4666, 4749, 4752, 4786, 4787, 4820, 4830, 4856, 4880, 4890, 4913, 4930, 4954,
    4961, 5012, 5017, 5018, 5046, 5056, 5071, 5090, 5120, 5144, 5181, 5201, 5210, 5250, 5286, 5291, 5294, 5310, 5394,
    5507, 5508, 5533, 5748, 5759, 5783, 5827, 5849, 5867,
)
# fmt: on
"""What `choose` finds, as candidates are numbered: kept here so that a last bit that differs cannot choose another shape."""


_CONSONANTS, _VOWELS = "bdfgklmnprtv", "aeiou"
_LETTERS = (_CONSONANTS, _VOWELS, _CONSONANTS, _VOWELS)
_WORDS, _STRIDE = 3600, 1117
"""Words of five letters, and the step from one name to the next, which has no common divisor with it."""


def choose(count: int, *, apart: float = APART, most: int = 20_000) -> np.ndarray:
    """Numbers of the first `count` candidates that are `apart` from each other and from a disc, in rising order, (count,) int64.

    A candidate is taken if it stands apart from all that were taken before it.
    """
    kept, radii = list[int](), np.ones((1, DIRECTIONS))
    for start in range(0, most, 200):
        numbers = np.arange(start, start + 200)
        found = curves(candidates(numbers))
        for number, own in zip(numbers[is_plain(found)], radii_of(found[is_plain(found)]), strict=True):
            if len(kept) < count and distances(own[None], radii).min() >= apart:
                kept.append(int(number))
                radii = np.concatenate([radii, own[None]])
    return np.array(kept)


@lru_cache(maxsize=1)
def shape_curves() -> np.ndarray:
    """The points (`COUNT`, `POINTS`, 2) of all shapes, in the order of `NAMES`."""
    found = curves(candidates(np.array(NUMBERS)))
    found.setflags(write=False)
    return found


def name(number: int) -> str:
    """The name of a shape: a word that can be said; any two of them are two edits or more apart (Levenshtein distance).

    A word is consonant, vowel, consonant, vowel and consonant, the last of which follows from the others: where one of these
    differs, so does the last. From the 3,600th shape on a word begins with two letters more.

    >>> name(0), name(1), name(3600)
    ('babab', 'gonig', 'bababab')
    """
    more, rest = divmod(number, _WORDS)
    rest, places = rest * _STRIDE % _WORDS, list[int]()
    letters = _LETTERS
    for known in reversed(_LETTERS):
        rest, place = divmod(rest, len(known))
        places.insert(0, place)
    while more:
        more, place = divmod(more - 1, len(_CONSONANTS) * len(_VOWELS))
        places, letters = [*divmod(place, len(_VOWELS)), *places], (_CONSONANTS, _VOWELS, *letters)
    word = "".join(known[place] for known, place in zip(letters, places, strict=True))
    return word + _CONSONANTS[sum(places) % len(_CONSONANTS)]


NAMES = tuple(name(number) for number in range(COUNT))
"""The names of all shapes."""
