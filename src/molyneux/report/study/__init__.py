"""Pages of studies: many runs, gathered by what was varied and averaged over seeds."""

from molyneux.report.study.pages import chosen_tables, study_findings, study_page, study_tables, write_study
from molyneux.report.study.records import StudyRun, load_study, save_study, study_run

__all__ = [
    "StudyRun",
    "chosen_tables",
    "load_study",
    "save_study",
    "study_findings",
    "study_page",
    "study_run",
    "study_tables",
    "write_study",
]
