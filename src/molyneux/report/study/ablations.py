"""Ablations: what one setting changes while all others stay as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from molyneux.report.study.grid import Grid
from molyneux.report.study.groups import Axis, Group
from molyneux.report.study.parts import Part
from molyneux.report.study.tables import results_table
from molyneux.report.tables import Table
from molyneux.report.wording import slug


def ablation_tables(part: Part) -> list[Table]:
    """One table for each setting besides the model, where more than one setting is varied.

    Its groups share the values that all other settings have most often: the base that was varied around.
    """
    varied = [axis for axis in part.axes if len({group.values[axis.path] for group in part.groups}) > 1]
    if len(varied) < 2:
        return []
    tables = []
    for axis in varied:
        groups = _around(part.groups, [other for other in varied if other is not axis], axis)
        if not axis.is_model and len(groups) > 1:
            name = slug(f"ablation {part.title} {axis.title}")
            tables.append(results_table(name, part.titled(f"what {axis.title} changes"), Grid(groups, [axis], part.main)))
    return tables


def _around(groups: Sequence[Group], fixed: Sequence[Axis], axis: Axis) -> list[Group]:
    """The groups in which the fixed settings have the values that go with most values of the axis."""

    def held(group: Group) -> tuple[str, ...]:
        return tuple(group.values[other.path] for other in fixed)

    counts = Counter(held(group) for group in groups)
    base = max(counts, key=lambda values: counts[values])
    return sorted(
        (group for group in groups if held(group) == base), key=lambda group: axis.values.index(group.values[axis.path])
    )
