"""What trainings cost and on what they were made, as tables: used by `tables.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from molyneux.report import StudyRun
from molyneux.report.tables import pipe_table

Rows = Sequence[Mapping[str, Any]]


def cost_table(rows: Rows) -> str:
    """Trainings, steps and minutes by variant, from the lines of a study's `costs.jsonl`."""
    if not rows:
        return ""
    parts = {name: [row for row in rows if row["name"] == name] for name in dict.fromkeys(row["name"] for row in rows)}
    if len(parts) > 1:
        parts["all"] = list(rows)
    cells = []
    for name, part in parts.items():
        minutes = [row["seconds"] / 60 for row in part]
        steps = _range([row["steps"] for row in part], ",d")
        cells.append([name, len(part), steps, _range(minutes, ".1f"), f"{sum(minutes):.1f}"])
    devices = sorted({row["gpu"] or f"{row['processor']}, {row['cores']} core{'s' * (row['cores'] > 1)}" for row in rows})
    threads = sorted({str(row["threads"]) for row in rows})
    table = pipe_table(["variant", "trainings", "steps of each", "minutes of each", "minutes of all"], cells)
    return f"{table}\nMeasured on {' or '.join(devices)}; threads of a training: {' or '.join(threads)}.\n"


def _range(values: Sequence[float], form: str) -> str:
    ends = dict.fromkeys(format(value, form) for value in (min(values), max(values)))
    return " to ".join(ends)


LEVEL = "data.world.init_args.level"


def device_table(runs: Sequence[StudyRun]) -> str:
    """On what each training of a study was made, by variant and level."""
    levels = sorted({run.settings[LEVEL] for run in runs})
    rows = []
    for name in dict.fromkeys(run.cost["name"] for run in runs):
        each = [[run.cost for run in runs if (run.cost["name"], run.settings[LEVEL]) == (name, level)] for level in levels]
        rows.append([name, *(" and ".join(dict.fromkeys(cost["gpu"] or cost["processor"] for cost in costs)) for costs in each)])
    heads = ["variant", *(f"level {level}" for level in levels)]
    return pipe_table(heads, rows, words=range(len(heads)))
