"""What answers the two-way choice of `molyneux-v1` and of `hanzi-strokes-v1` without a model, as tables: used by `tables.py`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from molyneux.report.tables import pipe_table

LEVEL, SOURCE = 2, "touch"


def chooser_table(record: Path) -> str:
    """Accuracy over all pairs of shapes, and over those that are alike, when one thing is felt and two are seen."""
    rows = json.loads(record.read_text(encoding="utf-8"))["rows"]
    shown = [row for row in rows if (row["level"], row["source"], row["role"]) == (LEVEL, SOURCE, "new")]
    cells = [[row["chooser"], _said(row["accuracy"]), _said(row["alike_accuracy"])] for row in shown]
    table = pipe_table(["who chooses", "all pairs of shapes, %", "pairs that are alike, %"], [*cells, ["chance", "50.0", "50.0"]])
    about = shown[0]
    what = f"{about['samples']:,} samples of {about['shapes']} new shapes of the test split, level {LEVEL}, seed {about['seed']}"
    return f"{table}\nTouch to sight; {what}. Intervals hold for new samples and new shapes.\n"


def character_table(record: Path) -> str:
    """Accuracy in both directions, over all pairs of new characters and over those that are alike."""
    rows = json.loads(record.read_text(encoding="utf-8"))["rows"]
    places = {(row["chooser"], row["source"]): row for row in rows}
    columns = [(source, score) for source in ("strokes", "image") for score in ("accuracy", "alike_accuracy")]
    cells = [
        [name, *(_said(places[name, source][score]) for source, score in columns)]
        for name in dict.fromkeys(row["chooser"] for row in rows)
    ]
    heads = [
        f"{ways}, {which}, %"
        for ways in ("strokes to picture", "picture to strokes")
        for which in ("all pairs", "pairs that are alike")
    ]
    table, about = pipe_table(["who chooses", *heads], [*cells, ["chance", *["50.0"] * 4]]), rows[0]
    what = f"{about['samples']:,} samples of {about['shapes']} new characters of the test split, seed {about['seed']}"
    return f"{table}\n{what}. Intervals hold for new samples and new characters.\n"


def _said(found: Mapping[str, Any]) -> str:
    interval = found["interval"]
    return f"{found['value']:.1f}" + (f" ({interval[0]:.1f}\u2013{interval[1]:.1f})" if interval else "")
