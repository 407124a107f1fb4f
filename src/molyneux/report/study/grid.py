"""Groups against scores: what a table of a study shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from molyneux.report.study.groups import Axis, Group, Key, label
from molyneux.report.study.seeds import OverSeeds, over_seeds


@dataclass(frozen=True)
class Grid:
    """Groups and the scores that are shown of them.

    Args:
        groups: runs that differ by their seeds alone.
        axes: what tells the groups apart.
        keys: the scores.
    """

    groups: Sequence[Group]
    axes: Sequence[Axis]
    keys: Sequence[Key]

    def label(self, group: Group) -> str:
        """A group in words."""
        return label(group, self.axes)

    def over(self, group: Group, key: Key) -> OverSeeds | None:
        """A score over the seeds of a group; None where no run has it."""
        scores = group.scores(key)
        return over_seeds(scores) if scores else None

    def row(self, group: Group) -> list[OverSeeds | None]:
        """Every score of a group."""
        return [self.over(group, key) for key in self.keys]

    def column(self, key: Key) -> list[OverSeeds | None]:
        """A score of every group."""
        return [self.over(group, key) for group in self.groups]
