"""Judges: small learned readers for pictures and contours, shipped with their held-out accuracy."""

from molyneux.learn.judges.examination import confusion, doubt, examine
from molyneux.learn.judges.judge import Judge, JudgeReader, Record
from molyneux.learn.judges.shipped import judge_file, load_judge, shipped_judges
from molyneux.learn.judges.train import train_judge

__all__ = [
    "Judge",
    "JudgeReader",
    "Record",
    "confusion",
    "doubt",
    "examine",
    "judge_file",
    "load_judge",
    "shipped_judges",
    "train_judge",
]
