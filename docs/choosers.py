"""What answers the two-way choice of `molyneux-v1` without a model, as a table: used by `tables.py`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from molyneux.report.tables import pipe_table

LEVEL, SOURCE = 5, "touch"


def chooser_table(record: Path) -> str:
    """Accuracy over all pairs of shapes, and over those that are alike, when one thing is felt and two are seen."""
    rows = json.loads(record.read_text(encoding="utf-8"))["rows"]
    shown = [row for row in rows if (row["level"], row["source"]) == (LEVEL, SOURCE)]
    cells = [[row["chooser"], _said(row["accuracy"]), _said(row["alike_accuracy"])] for row in shown]
    table = pipe_table(["who chooses", "all pairs of shapes, %", "pairs that are alike, %"], [*cells, ["chance", "50.0", "50.0"]])
    about = shown[0]
    what = f"{about['samples']:,} samples of {about['shapes']} new shapes of the test split, level {LEVEL}, seed {about['seed']}"
    return f"{table}\nTouch to sight; {what}. Intervals hold for new samples and new shapes.\n"


def _said(found: Mapping[str, Any]) -> str:
    interval = found["interval"]
    return f"{found['value']:.1f}" + (f" ({interval[0]:.1f}\u2013{interval[1]:.1f})" if interval else "")
