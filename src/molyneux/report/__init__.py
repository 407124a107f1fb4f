"""Reports: tables, drawings and pages in Markdown, HTML, LaTeX and CSV from the stored scores of a run or a study."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.report.aggregation import Aggregate, Task, aggregate, aggregate_table, comparisons, tasks_of, tradeoff_panels
    from molyneux.report.choice_records import ChoiceCurve, ChoicePoint, choice_curves
    from molyneux.report.leaderboard import (
        ForeignRecord,
        Leaderboard,
        leaderboard_overview,
        leaderboard_tables,
        make_boards,
        read_foreign,
        write_leaderboard,
    )
    from molyneux.report.page import to_html
    from molyneux.report.record_lines import StudyRun
    from molyneux.report.records import append_records, load_records, save_records, study_run
    from molyneux.report.run_page import summary_table, write_run
    from molyneux.report.run_records import RunRecords, read_run
    from molyneux.report.settings import flatten, portable
    from molyneux.report.study import (
        VariantDifference,
        chosen_tables,
        study_breakdowns,
        study_findings,
        study_tables,
        variant_difference,
        write_study,
    )
    from molyneux.report.study.figures import CurveFigure, CurvePanel, DotFigure, DotScore
    from molyneux.report.tables import Table, pipe_table, records_to_markdown, to_csv, to_latex, to_markdown, to_terminal
    from molyneux.report.terminal import MOST_LINES, fitted, terminal_summary
    from molyneux.report.transfers import KeptApart, TransferVariant, kept_apart, transfer_variants

__all__ = [
    "MOST_LINES",
    "Aggregate",
    "ChoiceCurve",
    "ChoicePoint",
    "CurveFigure",
    "CurvePanel",
    "DotFigure",
    "DotScore",
    "ForeignRecord",
    "KeptApart",
    "Leaderboard",
    "RunRecords",
    "StudyRun",
    "Table",
    "Task",
    "TransferVariant",
    "VariantDifference",
    "aggregate",
    "aggregate_table",
    "append_records",
    "choice_curves",
    "chosen_tables",
    "comparisons",
    "fitted",
    "flatten",
    "kept_apart",
    "leaderboard_overview",
    "leaderboard_tables",
    "load_records",
    "make_boards",
    "pipe_table",
    "portable",
    "read_foreign",
    "read_run",
    "records_to_markdown",
    "save_records",
    "study_breakdowns",
    "study_findings",
    "study_run",
    "study_tables",
    "summary_table",
    "tasks_of",
    "terminal_summary",
    "to_csv",
    "to_html",
    "to_latex",
    "to_markdown",
    "to_terminal",
    "tradeoff_panels",
    "transfer_variants",
    "variant_difference",
    "write_leaderboard",
    "write_run",
    "write_study",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
