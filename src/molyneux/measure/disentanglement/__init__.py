"""Disentanglement: how codes are laid out, from arrays of codes and factors."""

from molyneux.measure.disentanglement.code_use import CodeUse
from molyneux.measure.disentanglement.comparison import correlation_matrix, top_counts
from molyneux.measure.disentanglement.disentanglement import Disentanglement
from molyneux.measure.disentanglement.files import read_codes, write_codes
from molyneux.measure.disentanglement.information import expected_information, knowledge
from molyneux.measure.disentanglement.outcome import Metric, Outcome
from molyneux.measure.disentanglement.registry import METRICS
from molyneux.measure.disentanglement.scoring import Repeats, outcomes, score_codes
from molyneux.measure.disentanglement.table import Table, tabulate
from molyneux.measure.disentanglement.unsupervised import gaussian_total_correlation, hoyer, unsupervised_ranking

__all__ = [
    "METRICS",
    "CodeUse",
    "Disentanglement",
    "Metric",
    "Outcome",
    "Repeats",
    "Table",
    "correlation_matrix",
    "expected_information",
    "gaussian_total_correlation",
    "hoyer",
    "knowledge",
    "outcomes",
    "read_codes",
    "score_codes",
    "tabulate",
    "top_counts",
    "unsupervised_ranking",
    "write_codes",
]
