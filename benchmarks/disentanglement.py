"""Seconds of each metric of disentanglement, beside the published way of drawing and counting.

    python benchmarks/disentanglement.py [--quick] [--out FOLDER]

Eight dimensions that know one factor each, and eight factors with as many values and as often absent as those of sentences with
parts of speech. Beside it stands what the text study's code does in Python: it searches the value of every drawn sample in lists,
and counts every bin of every value with a mask of its own. The searches are measured on a part of the draws and extrapolated.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from record import Record, Value, options

from molyneux.core import NotApplicableError
from molyneux.measure.disentanglement import METRICS, CheckedCodes, tabulate

WHAT = (
    "Seconds of each metric of {sizes} codes of 8 dimensions with 8 factors of 2 to {values} values, five of them at times "
    "absent, one thread; sorting and finding live dimensions count with the first; `naive` is the drawing and counting of the "
    "published code in Python lists and masks, searches extrapolated from {part} draws of each factor"
)
VALUES = (140, 25, 25, 85, 25, 5, 2, 2)
PRESENT = (1, 1, 0.552, 0.841, 0.552, 0.647, 0.324, 1)
SIZES = (10_000, 574_560)
SIX = ("higgins", "kim_mnih", "sap", "mig", "modularity", "dci")
DRAWS = 1000


def main() -> None:
    arguments = options(__doc__).parse_args()
    values = (12, 5, 5, 8, 5, 5, 2, 2) if arguments.quick else VALUES
    sizes, part = ((2000,), 2) if arguments.quick else (SIZES, 5)
    text = WHAT.format(sizes=" and ".join(f"{size:,}" for size in sizes), values=max(values), part=part)
    record = Record("disentanglement", text, arguments.out)
    warm = table(1000, (4, 2))
    for metric in METRICS.values():
        metric.variants["recommended"](warm, np.random.default_rng(0))
    for size in sizes:
        naive = plain(table(size, values), part)
        for variant in ("recommended", "published"):
            for row in rows(table(size, values), variant, naive):
                record.add({"codes": size, "variant": variant, **row})
    record.write()


def table(size: int, values: tuple[int, ...]) -> CheckedCodes:
    """Codes that know their factor, with noise, and noise where it is absent."""
    rng = np.random.default_rng(1)
    factors = rng.integers(0, values, (size, len(values)))
    factors[rng.random(factors.shape) >= PRESENT[: len(values)]] = -1
    spread = np.array(values) / 4
    noise = rng.normal(size=factors.shape)
    codes = np.where(factors >= 0, factors / spread + 0.1 * noise, noise)
    return tabulate(codes, factors, dead=0.0)


def rows(given: CheckedCodes, variant: str, naive: dict[str, float]) -> list[dict[str, Value]]:
    """A row for each metric that applies, and one for the six of the text study together."""
    found: list[dict[str, Value]] = []
    for name in (*SIX, *sorted(set(METRICS) - set(SIX))):
        metric = METRICS[name]
        if variant not in metric.variants:
            continue
        try:
            seconds = timed(lambda function=metric.variants[variant]: function(given, np.random.default_rng(0)))
        except NotApplicableError:
            continue
        row: dict[str, Value] = {"metric": name, "seconds": seconds}
        if name in naive:
            row |= {"naive, s": naive[name], "times as fast": naive[name] / seconds}
        found.append(row)
    taken = {str(row["metric"]): float(row["seconds"]) for row in found}
    if set(SIX) <= set(taken):
        found.append({"metric": "these six", "seconds": sum(taken[name] for name in SIX)})
    return found


def timed(work: Callable[[], object]) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def plain(given: CheckedCodes, part: int) -> dict[str, float]:
    """Seconds of the published way, by metric."""
    spaces = [
        [np.flatnonzero(column == value).tolist() for value in range(values)]
        for column, values in zip(given.factors.T, given.values, strict=True)
    ]
    searched = timed(lambda: search(spaces, part)) * DRAWS / part
    counted = timed(lambda: count(given, spaces))
    return {"higgins": searched, "kim_mnih": searched, "mig": counted, "modularity": counted}


def search(spaces: list[list[list[int]]], draws: int) -> None:
    """Draw a sample of each factor and look for it in the lists of its values."""
    rng = np.random.default_rng(0)
    for lists in spaces:
        carriers = [row for rows in lists for row in rows]
        for _ in range(draws):
            row = carriers[rng.integers(len(carriers))]
            next(value for value, rows in enumerate(lists) if row in rows)


def count(given: CheckedCodes, spaces: list[list[list[int]]], bins: int = 20) -> None:
    """Count the codes of each dimension in each bin with a mask: those of all samples, and those of each value."""
    low, high = given.codes.min(0), given.codes.max(0)
    drawn = [rows[: round(10_000 * len(rows) / sum(map(len, lists)))] for lists in spaces for rows in lists]
    for rows in (slice(None), *drawn):
        codes = given.codes[rows]
        for dimension in range(given.dimensions):
            edges = np.linspace(low[dimension], high[dimension], bins + 1)
            column = codes[:, dimension]
            [np.count_nonzero((column >= edges[k]) & (column < edges[k + 1])) for k in range(bins)]


if __name__ == "__main__":
    main()
