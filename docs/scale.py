"""What very many samples cost, by arithmetic from the records of benchmarks: used by `tables.py`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from molyneux.report.tables import pipe_table

SAMPLE = 3 * 64 * 64 + 20 + 6 * 8
"""Bytes of a sample of level 5: a picture, a caption and the codes of six factors."""
SHARD, LINE = 100e6, 110
"""Bytes of a shard, and of its line in the manifest."""
NETWORK = 125e6
"""Bytes a second of a network of 1 Gbit/s."""


def scale_table(benchmarks: Path) -> str:
    """Time, disk and memory at 10^6 to 10^10 samples of level 5, on one machine of two cores and on a thousand."""
    rows: Sequence[Mapping[str, Any]] = json.loads((benchmarks / "generation.json").read_text(encoding="utf-8"))["rows"]
    rate = next(row["images/s"] for row in rows if (row["way"], row["level"], row["workers"]) == ("in memory", 5, "2 threads"))
    cells = []
    for power in range(6, 11):
        size = 10**power
        space, shards = size * SAMPLE, -(-size * SAMPLE // SHARD)
        cells.append(
            [
                f"10^{power}",
                _bytes(space),
                f"{shards:,.0f}",
                _time(size / rate),
                _time(size / rate / 1_000),
                _bytes(shards * LINE),
                _bytes(size * 8),
                _time(space / NETWORK),
            ]
        )
    heads = [
        "samples",
        "disk",
        "shards of 100 MB",
        "made by 1 machine",
        "by 1,000",
        "manifest",
        "an array of positions, not needed",
        "an epoch through 1 Gbit/s",
    ]
    return pipe_table(heads, cells, words=range(len(heads)))


def _bytes(number: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1_000:
            return f"{number:.3g} {unit}"
        number /= 1_000
    return f"{number:.3g} TB"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.2g} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    if seconds < 48 * 3_600:
        return f"{seconds / 3_600:.1f} h"
    return f"{seconds / 86_400:.1f} days"
