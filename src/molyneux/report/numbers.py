"""Format numbers for tables: a value, its interval and its controls have the same number of decimals."""

from __future__ import annotations

import math

from molyneux.core import Score

MISSING = "n/a"


def places(score: Score) -> int:
    """Number of decimals of a score: one for percentages, none for counts, otherwise by the size of its bounds or its value.

    >>> places(Score("a.b", 12.345, unit="%")), places(Score("a.b", 1.2345, bounds=(0, 3)))
    (1, 2)
    """
    if score.unit == "%":
        return 1
    if isinstance(score.value, int) or _is_count(score):
        return 0
    ends = [abs(end) for end in score.bounds if end]
    sizes = ends or [abs(number) for number in (score.value, *(score.interval or ())) if number is not None]
    size = max(sizes, default=0.0)
    if size == 0 or math.isinf(size):
        return 2
    return min(6, max(1 if size < 10_000 else 0, 2 - math.floor(math.log10(size))))


def _is_count(score: Score) -> bool:
    """Whether a score without a unit is a count: a whole number with whole bounds, of which the upper is above one."""
    whole = [end is not None and end == int(end) for end in (score.value, *score.bounds) if end is None or math.isfinite(end)]
    return score.unit in ("", "1") and len(whole) == 3 and all(whole) and (score.bounds[1] or 0) > 1


def write(number: float | None, decimals: int) -> str:
    """A number with thousands separators and a true minus sign; `n/a` for None.

    >>> write(-1234.56, 1), write(None, 1), write(-0.04, 1)
    ('−1,234.6', 'n/a', '0.0')
    """
    if number is None:
        return MISSING
    text = f"{number:,.{decimals}f}"
    if not text.strip("-0.,"):
        text = text.lstrip("-")
    return text.replace("-", "−").replace("inf", "∞")  # noqa: RUF001


def write_interval(interval: tuple[float, float], decimals: int) -> str:
    """An interval with an en dash, or with "to" where an end is negative.

    >>> write_interval((1.23, 4.56), 1), write_interval((-1.0, 2.0), 1)
    ('1.2–4.6', '−1.0 to 2.0')
    """
    low, high = (write(end, decimals) for end in interval)
    return f"{low} to {high}" if "−" in low + high else f"{low}–{high}"  # noqa: RUF001


def write_count(number: int) -> str:
    """A count with thousands separators."""
    return f"{number:,}"
