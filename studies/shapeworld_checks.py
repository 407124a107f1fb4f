"""Checks of ShapeWorld: whether the world holds what it promises, on large samples.

    python studies/shapeworld_checks.py [--quick] [--part NAME ...] [--seed 1] [--size COUNT] [--sheets FOLDER] [--out FOLDER]

Each part writes a record, `studies/results/shapeworld-checks/NAME.json`, with the machine, the seed, the sizes and the seconds of
processor time that it took; `docs/tables.py` makes the tables of `docs/results/shapeworld-checks.md` of them. With `--quick`, all
sizes are small: only to see that it runs. `--sheets` writes contact sheets of pictures with their captions instead.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import shapeworld_foils
import shapeworld_leaks
import shapeworld_meaning
import shapeworld_same_bytes
import shapeworld_sheets
import shapeworld_speed
import torch
from shapeworld_parts import Part, Row, rounded

from molyneux.core import store
from molyneux.data import ShapeWorld
from molyneux.run.run.stored import machine

RESULTS = Path(__file__).parent / "results" / "shapeworld-checks"

PARTS: dict[str, Part] = {
    part.name: part
    for module in (shapeworld_meaning, shapeworld_leaks, shapeworld_foils, shapeworld_same_bytes, shapeworld_speed)
    for part in module.PARTS
}


def run(part: Part, *, size: int, seed: int, quick: bool, out: Path) -> None:
    """Check one part and write its record."""
    wall, busy, load = time.perf_counter(), time.process_time(), os.getloadavg()[0]
    rows: list[Row] = []
    for row in part.check(size=size, seed=seed, quick=quick):
        rows.append({column: rounded(value) for column, value in row.items()})
        print(f"{part.name}: " + ", ".join(f"{column}: {value}" for column, value in rows[-1].items()), flush=True)
    facts = machine()
    record = {
        "what": part.what,
        "world": ShapeWorld.name,
        "machine": f"{facts['processor']}, {facts['cores']} cores, load before {load:.1f}",
        "versions": facts["versions"],
        "seed": seed,
        "size": size,
        "quick": quick,
        "processor seconds": rounded(time.process_time() - busy),
        "seconds": rounded(time.perf_counter() - wall),
        "rows": rows,
    }
    store.write_text(out / f"{part.name}.json", json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def main() -> None:
    """Run the parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", nargs="*", choices=sorted(PARTS), default=list(PARTS), help="parts to check (default: all)")
    parser.add_argument("--quick", action="store_true", help="small sizes, only to see that it runs")
    parser.add_argument("--size", type=int, help="samples of a part (default: those of the part)")
    parser.add_argument("--seed", type=int, default=1, help="of all samples (default: 1)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the records (default: %(default)s)")
    parser.add_argument("--sheets", type=Path, help="folder for contact sheets; nothing is checked then")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.sheets:
        shapeworld_sheets.write(options.sheets, seed=options.seed, count=6 if options.quick else 60)
        return
    for name in options.part:
        part = PARTS[name]
        size = options.size or (part.quick if options.quick else part.size)
        run(part, size=size, seed=options.seed, quick=options.quick, out=options.out)


if __name__ == "__main__":
    main()
