"""The shapes of the world: members of the family that stand apart, and their names."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from molyneux.data.worlds.molyneux_shapes.comparison import DIRECTIONS, distances, radii_of, statistics
from molyneux.data.worlds.molyneux_shapes.family import candidates, curves, is_plain

APART = 0.12
"""Least distance (`comparison.distances`) of any two shapes, of their mirror images, and of a shape and a disc."""

COUNT = 320
"""Number of shapes: pairs of shapes that are alike in compactness, elongation and unevenness follow each other."""

ALIKE = 0.12
"""Most that low-level statistics of a pair differ, together, in standard deviations of the family; of those found, 0.055."""

_CANDIDATES = 40_000
"""Of the family, from which pairs are chosen."""

# fmt: off
NUMBERS = (
    9009, 10099, 20928, 30816, 6163, 15410, 1360, 31517, 15922, 20751, 23134, 26490, 13479, 25296, 11510, 37660, 5911,
    37136, 20702, 26779, 10335, 34412, 14592, 26594, 10043, 35788, 6997, 30432, 9115, 18307, 21769, 38126, 30379, 36841,
    31537, 35045, 15863, 20141, 17951, 26965, 22363, 27248, 11876, 19097, 4564, 24125, 31819, 37590, 20205, 34849, 23012,
    30066, 2130, 3257, 1232, 2160, 16446, 31340, 19750, 33487, 7311, 17085, 35906, 37157, 13665, 18265, 2800, 26370,
    30043, 36931, 18123, 38218, 9038, 38848, 23986, 30915, 4771, 7807, 18964, 33750, 1291, 30535, 21175, 33440, 3573,
    30619, 250, 10489, 17286, 32253, 24174, 29009, 5011, 6485, 27291, 34467, 10750, 25415, 28733, 37118, 35093, 39985,
    26518, 28221, 6642, 39368, 4851, 5389, 12309, 30051, 2524, 16277, 26316, 38625, 14554, 26998, 9026, 22228, 23625,
    32599, 5297, 18019, 12199, 33000, 2875, 4461, 16700, 34381, 15215, 37172, 2518, 39242, 15307, 35593, 20432, 38087,
    7527, 28334, 6734, 38004, 2344, 38053, 18060, 37389, 26287, 27539, 12411, 18676, 24816, 33743, 22979, 37216, 29091,
    34681, 498, 17023, 12398, 32592, 31388, 38170, 10346, 37601, 11006, 37268, 10284, 24865, 26452, 27150, 2078, 7491,
    25567, 37021, 1871, 27234, 23955, 33502, 10557, 34896, 15132, 26096, 4957, 28832, 3146, 37863, 17419, 21772, 182,
    1496, 29897, 35086, 15548, 26748, 17570, 20915, 5438, 18167, 3801, 4961, 22400, 39465, 1007, 33302, 13084, 36733,
    20986, 28752, 3842, 36443, 5756, 19420, 4871, 31193, 7725, 16832, 20240, 28717, 2556, 18082, 9144, 14839, 4007, 23392,
    2873, 24334, 26203, 38173, 9711, 33082, 15209, 20119, 5120, 20272, 23595, 38873, 6959, 24250, 12879, 34674, 10516,
    11416, 30791, 39728, 1453, 8136, 26188, 27577, 4533, 38890, 12637, 13079, 616, 11294, 8587, 30184, 10025, 20502,
    18151, 32090, 14900, 30835, 13087, 32928, 11875, 35933, 7020, 17407, 8987, 26740, 9845, 32615, 4083, 15471, 35813,
    36367, 2695, 22468, 15173, 35062, 120, 18750, 9261, 21011, 5294, 19451, 25667, 36430, 26884, 31776, 5412, 26154, 1474,
    10359, 2606, 26489, 14062, 31447, 18587, 36968, 9362, 37441, 5925, 16956, 5748, 27564, 18860, 35323, 14562, 37296,
    20635, 33116, 5306, 10757, 11150, 21412, 8064, 36600, 27717, 39163, 13092, 16667,
)
# fmt: on
"""What `choose` finds, as candidates are numbered: kept here so that a last bit that differs cannot choose another shape."""

_CONSONANTS, _VOWELS = "bdfgklmnprtv", "aeiou"
_LETTERS = (_CONSONANTS, _VOWELS, _CONSONANTS, _VOWELS)
_WORDS, _STRIDE = 3600, 1117
"""Words of five letters, and the step from one name to the next, which has no common divisor with it."""


def choose(count: int, *, first: int = 0, beside: np.ndarray | None = None) -> np.ndarray:
    """Numbers of `count` candidates that are all `APART`, pair by pair, (count,) int64; fewer where there are no more.

    Pairs of candidates come in the order of how alike they are in the last three `STATISTICS`, and are taken if both stand apart
    from each other and from all that were taken before. So a shape cannot be told from the other one of its pair by
    compactness, elongation and unevenness.

    Args:
        count: how many, an even number.
        first: number of the first of the 40,000 candidates that are looked at.
        beside: radii (n, 256) of curves from which all have to stand apart too, such as those of the shapes.
    """
    from scipy.spatial import cKDTree  # nothing else of the world needs it

    numbers = np.arange(first, first + _CANDIDATES)
    found = curves(candidates(numbers))
    numbers, radii = numbers[is_plain(found)], radii_of(found[is_plain(found)])
    told = statistics(radii, np.ones(len(radii)))[:, 2:]
    places = (told - told.mean(0)) / told.std(0)
    pairs = cKDTree(places).query_pairs(ALIKE, output_type="ndarray")
    pairs = pairs[np.argsort(((places[pairs[:, 0]] - places[pairs[:, 1]]) ** 2).sum(1), kind="stable")]
    free, kept, taken = np.ones(len(radii), bool), list[int](), np.ones((1, DIRECTIONS))
    if beside is not None:
        taken = np.concatenate([taken, beside])
    for one, other in pairs:
        if len(kept) >= count:
            break
        for member in (one, other):
            free[member] = free[member] and distances(radii[[member]], taken).min() >= APART
        if free[one] and free[other] and distances(radii[[one]], radii[[other]])[0, 0] >= APART:
            kept += [one, other]
            taken, free[[one, other]] = np.concatenate([taken, radii[[one, other]]]), False
    return np.asarray(numbers[kept])


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
    letters: tuple[str, ...] = _LETTERS
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
