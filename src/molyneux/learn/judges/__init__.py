"""Judges: small learned readers for pictures and contours, shipped with their held-out accuracy."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.learn.judges.judge import (
        Judge,
        JudgeReader,
        Record,
        file_digest,
        judge_file,
        load_judge,
        shipped_file,
        shipped_judges,
    )
    from molyneux.learn.judges.train import train_judge
    from molyneux.learn.judges.validation import confusion, validate_abstention, validate_accuracy

__all__ = [
    "Judge",
    "JudgeReader",
    "Record",
    "confusion",
    "file_digest",
    "judge_file",
    "load_judge",
    "shipped_file",
    "shipped_judges",
    "train_judge",
    "validate_abstention",
    "validate_accuracy",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
