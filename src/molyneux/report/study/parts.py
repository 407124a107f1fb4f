"""A study in parts: one for each level, with the groups and the published table that belong to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from molyneux.core import Score
from molyneux.report.published import Leaderboard, published_beside
from molyneux.report.study.grid import Grid
from molyneux.report.study.groups import Axis, Group, Key, find_axes, group_runs, key_of, keys
from molyneux.report.study.records import StudyRun
from molyneux.report.tables import coherence_scores, factor_scores


@dataclass(frozen=True)
class Part:
    """What a study says about one level, or about everything where no level is varied.

    Args:
        title: `Level 2`, or empty for the whole.
        axes: what tells the groups apart, without the level.
        groups: runs that differ by their seeds alone.
        leaderboard: published numbers for this level.
    """

    title: str
    axes: tuple[Axis, ...]
    groups: tuple[Group, ...]
    leaderboard: Leaderboard | None

    @property
    def main(self) -> list[Key]:
        """The coherence of whole views, direction by direction; every score without a factor where there is none."""
        chosen = dict.fromkeys(key_of(score) for score in coherence_scores(self.scores))
        return list(chosen) or keys(self.groups, lambda score: "factor" not in score.about)[:8]

    @property
    def factors(self) -> list[Key]:
        """The accuracies of single factors, direction by direction."""
        return list(dict.fromkeys(key_of(score) for score in factor_scores(self.scores)))

    @property
    def rest(self) -> list[Key]:
        """Every other score."""
        shown = {*self.main, *self.factors}
        return [key for key in keys(self.groups, lambda _: True) if key not in shown]

    @property
    def scores(self) -> list[Score]:
        """The scores of all runs."""
        return [score for group in self.groups for run in group.runs for score in run.scores]

    def has(self, key: Key) -> bool:
        """Whether some run has that score."""
        return any(group.scores(key) for group in self.groups)

    def grid(self, shown: Sequence[Key]) -> Grid:
        """The groups with the scores that are shown of them."""
        return Grid(self.groups, self.axes, shown)

    def titled(self, words: str) -> str:
        """A title that says which level it is about."""
        return f"{self.title}: {words}" if self.title else words[:1].upper() + words[1:]


def divide(runs: Sequence[StudyRun]) -> list[Part]:
    """The parts of a study, in the order of the levels."""
    axes = find_axes(runs)
    level = next((axis for axis in axes if axis.is_level), None)
    others = tuple(axis for axis in axes if not axis.is_level)
    parts = []
    for value in level.values if level else ("",):
        members = [run for run in runs if level is None or level.value(run.settings) == value]
        title = f"Level {value}" if level else ""
        leaderboard = published_beside(members[0].settings, [score for run in members for score in run.scores])
        parts.append(Part(title, others, tuple(_ordered(group_runs(members, others), leaderboard)), leaderboard))
    return parts


def _ordered(groups: Sequence[Group], leaderboard: Leaderboard | None) -> list[Group]:
    """Models and variants that have published numbers first, in the published order."""
    models = leaderboard.models if leaderboard else ()

    def place(group: Group) -> int:
        model = group.published_as(leaderboard)
        return models.index(model) if model in models else len(models)

    return sorted(groups, key=place)
