"""Pages and tables of studies: many runs, grouped by the settings that differ and averaged over seeds."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.report.study.pages import (
        chosen_tables,
        study_breakdowns,
        study_findings,
        study_page,
        study_tables,
        write_study,
    )
    from molyneux.report.study.significance import VariantDifference, variant_difference

__all__ = [
    "VariantDifference",
    "chosen_tables",
    "study_breakdowns",
    "study_findings",
    "study_page",
    "study_tables",
    "variant_difference",
    "write_study",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
