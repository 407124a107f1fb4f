"""Tables made from scores alone, and the formats they are written in."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.report.tables.conditions import base_scores, condition_tables
    from molyneux.report.tables.formats import (
        pipe_table,
        records_to_markdown,
        scores_to_csv,
        to_csv,
        to_latex,
        to_markdown,
        to_terminal,
    )
    from molyneux.report.tables.heatmap import breakdown_scores, breakdown_tables
    from molyneux.report.tables.scores import (
        coherence_scores,
        coherence_summary,
        coherence_table,
        factor_scores,
        factor_table,
        family_tables,
        prediction_scores,
        prediction_tables,
        readers_note,
        score_table,
        told_once,
        whole_predictions,
    )
    from molyneux.report.tables.table import Column, Entry, Strip, Table

__all__ = [
    "Column",
    "Entry",
    "Strip",
    "Table",
    "base_scores",
    "breakdown_scores",
    "breakdown_tables",
    "coherence_scores",
    "coherence_summary",
    "coherence_table",
    "condition_tables",
    "factor_scores",
    "factor_table",
    "family_tables",
    "pipe_table",
    "prediction_scores",
    "prediction_tables",
    "readers_note",
    "records_to_markdown",
    "score_table",
    "scores_to_csv",
    "to_csv",
    "to_latex",
    "to_markdown",
    "to_terminal",
    "told_once",
    "whole_predictions",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
