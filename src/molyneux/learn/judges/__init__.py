"""Judges: small learned readers for pictures and contours, shipped with their held-out accuracy."""

from molyneux.learn.judges.examination import confusion, doubt, examine
from molyneux.learn.judges.judge import Judge, JudgeReader, Record, file_digest
from molyneux.learn.judges.legibility import Blur
from molyneux.learn.judges.shipped import judge_file, load_judge, shipped_file, shipped_judges
from molyneux.learn.judges.train import train_judge
from molyneux.learn.judges.wreckage import Material

__all__ = [
    "Blur",
    "Judge",
    "JudgeReader",
    "Material",
    "Record",
    "confusion",
    "doubt",
    "examine",
    "file_digest",
    "judge_file",
    "load_judge",
    "shipped_file",
    "shipped_judges",
    "train_judge",
]
