"""Which settings of a large study its page shows: those that are best in one of the main scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from molyneux.report.study.groups import Key, StudyPart

MOST = 60
"""Settings of a part that the page of a study shows; of more, the best."""
BEST_ROWS, BEST_COLUMNS = 30, 20
"""How many of these are shown in rows, and in columns and drawings."""


def best_places(part: StudyPart, most: int = BEST_ROWS) -> tuple[int, ...]:
    """The places of the groups of a part that are shown: all, or of more than `MOST` the `most` best ones.

    The best by each of the main scores are taken in turn, so that the best one of every column is among them.
    """
    everything = range(len(part.groups))
    if len(everything) <= MOST:
        return tuple(everything)
    chosen = dict[int, None]()
    for places in zip_longest(*(_ranked(part, key) for key in part.strict or part.main)):
        chosen.update(dict.fromkeys(place for place in places if place is not None))
        if len(chosen) >= most:
            break
    chosen.update(dict.fromkeys(everything))
    return tuple(sorted([*chosen][:most]))


def only(part: StudyPart, places: Sequence[int]) -> StudyPart:
    """A part with some of its groups alone; itself where these are all."""
    if len(places) == len(part.groups):
        return part
    return replace(part, groups=tuple(part.groups[place] for place in places))


def spread_places(count: int) -> tuple[int, ...] | None:
    """Places at equal distances among so many, both ends among them; None for all of no more than `MOST`."""
    steps = BEST_ROWS - 1
    return None if count <= MOST else tuple(sorted({round(step * (count - 1) / steps) for step in range(steps + 1)}))


def shown_sentence(parts: Sequence[StudyPart]) -> tuple[str, ...]:
    """What the page of a study with too many settings leaves out; nothing for others."""
    many = [part for part in parts if len(part.groups) > MOST]
    if not many:
        return ()
    settings, each = f"{sum(len(part.groups) for part in many):,} settings", " of each part" if len(many) > 1 else ""
    return (
        f"Of {settings}, this page shows the {BEST_ROWS}{each} that are best in the main scores, and drawings and further "
        f"measures of {BEST_COLUMNS}. What is best, and the tests, are of all; the main tables have all of them as CSV.",
    )


def _ranked(part: StudyPart, key: Key) -> list[int]:
    """The places of groups by a score, the best first; none where no direction is better."""
    column = part.column(key)
    higher = next((over.first.higher_is_better for over in column if over is not None), None)
    known = [(over.mean, place) for place, over in enumerate(column) if over is not None and over.mean is not None]
    ordered = sorted(known, key=lambda item: (-item[0] if higher else item[0], item[1]))
    return [] if higher is None else [place for _, place in ordered]
