"""Tables derived from scores and from nothing else, and the formats they are written in."""

from molyneux.report.tables.coherence import coherence_scores, coherence_summary, coherence_table, factor_scores, factor_table
from molyneux.report.tables.delimited import to_csv
from molyneux.report.tables.families import family_tables
from molyneux.report.tables.latex import to_latex
from molyneux.report.tables.markdown import to_markdown
from molyneux.report.tables.scores import score_table
from molyneux.report.tables.table import Column, Entry, Strip, Table
from molyneux.report.tables.terminal import to_terminal

__all__ = [
    "Column",
    "Entry",
    "Strip",
    "Table",
    "coherence_scores",
    "coherence_summary",
    "coherence_table",
    "factor_scores",
    "factor_table",
    "family_tables",
    "score_table",
    "to_csv",
    "to_latex",
    "to_markdown",
    "to_terminal",
]
