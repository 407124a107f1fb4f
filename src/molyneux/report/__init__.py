"""Records in, pages out: Markdown, HTML, LaTeX and CSV from what a run or a study left behind. Nothing is measured here."""

from molyneux.report.run_page import write_run
from molyneux.report.run_records import RunRecords, read_run
from molyneux.report.summary import summary_table

__all__ = ["RunRecords", "read_run", "summary_table", "write_run"]
