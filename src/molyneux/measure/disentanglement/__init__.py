"""Disentanglement: how codes are laid out, from arrays of codes and factors."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.measure.disentanglement.code_use import CodeUse
    from molyneux.measure.disentanglement.disentanglement import Disentanglement
    from molyneux.measure.disentanglement.information import adjusted_information, expected_information
    from molyneux.measure.disentanglement.metric import Metric, MetricResult
    from molyneux.measure.disentanglement.scoring import METRICS, Repeats, outcomes, score_codes
    from molyneux.measure.disentanglement.table import CheckedCodes, read_codes, tabulate, write_codes
    from molyneux.measure.disentanglement.unsupervised import (
        correlation_matrix,
        gaussian_total_correlation,
        hoyer,
        top_counts,
        unsupervised_ranking,
    )

__all__ = [
    "METRICS",
    "CheckedCodes",
    "CodeUse",
    "Disentanglement",
    "Metric",
    "MetricResult",
    "Repeats",
    "adjusted_information",
    "correlation_matrix",
    "expected_information",
    "gaussian_total_correlation",
    "hoyer",
    "outcomes",
    "read_codes",
    "score_codes",
    "tabulate",
    "top_counts",
    "unsupervised_ranking",
    "write_codes",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
