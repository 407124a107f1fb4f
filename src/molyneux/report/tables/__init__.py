"""Tables made from scores alone, and the formats they are written in."""

from molyneux.report.tables.conditions import base_scores, condition_tables
from molyneux.report.tables.formats import scores_to_csv, to_csv, to_latex, to_markdown, to_terminal
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
    "prediction_scores",
    "prediction_tables",
    "readers_note",
    "score_table",
    "scores_to_csv",
    "to_csv",
    "to_latex",
    "to_markdown",
    "to_terminal",
    "whole_predictions",
]
