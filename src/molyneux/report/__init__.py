"""Records in, pages out: Markdown, HTML, LaTeX and CSV from what a run or a study left behind. Nothing is measured here."""

from molyneux.report.run_page import write_run
from molyneux.report.run_records import RunRecords, read_run
from molyneux.report.settings import flatten, portable
from molyneux.report.study import (
    StudyRun,
    chosen_tables,
    load_study,
    save_study,
    study_findings,
    study_run,
    study_tables,
    write_study,
)
from molyneux.report.summary import summary_table
from molyneux.report.tables import Table, to_csv, to_latex, to_markdown, to_terminal

__all__ = [
    "RunRecords",
    "StudyRun",
    "Table",
    "chosen_tables",
    "flatten",
    "load_study",
    "portable",
    "read_run",
    "save_study",
    "study_findings",
    "study_run",
    "study_tables",
    "summary_table",
    "to_csv",
    "to_latex",
    "to_markdown",
    "to_terminal",
    "write_run",
    "write_study",
]
