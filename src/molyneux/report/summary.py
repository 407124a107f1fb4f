"""The table that a run ends with on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table as RichTable

from molyneux.core import Score
from molyneux.report.published import published_beside
from molyneux.report.settings import flatten
from molyneux.report.tables import coherence_summary, score_table, to_terminal


def summary_table(scores: Sequence[Score], config: Mapping[str, Any] | None = None) -> RichTable:
    """The coherence table beside the published one; every score where coherence was not measured.

    Args:
        scores: of one run.
        config: its resolved configuration, which says what world and level it is.
    """
    table = coherence_summary(scores, published_beside(flatten(config or {}), scores)) or score_table("scores", "Scores", scores)
    return to_terminal(table)
