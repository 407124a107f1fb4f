"""When published numbers may stand beside one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from molyneux.core import Score
from molyneux.report.published.leaderboard import Leaderboard, published
from molyneux.report.settings import world_of


def published_beside(settings: Mapping[str, Any], scores: Sequence[Score]) -> Leaderboard | None:
    """The published table of the world and level of these runs, if they are about the same task.

    Published numbers are about the world as it comes, on the test split: where the origin of a score does not say that no setting
    of the world was changed, or where it is of another split, there is none.

    Args:
        settings: of a run, under dotted names.
        scores: of the runs that would stand beside the table.
    """
    origins = [score.origin for score in scores if score.origin]
    usual = all(origin.get("split") == "test" and origin.get("changed") == [] for origin in origins)
    return published(*world_of(settings, scores)) if origins and usual else None
