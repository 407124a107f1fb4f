"""How progress is put in words."""

from __future__ import annotations

from collections.abc import Mapping


def joined(*parts: str) -> str:
    """The parts that say something, in one line."""
    return " · ".join(part for part in parts if part)


def losses(row: Mapping[str, float]) -> str:
    """An epoch's number and its losses."""
    told = [f"{row[name]:.1f}" for name in ("train/loss", "validation/loss") if name in row]
    return f"epoch {int(row['epoch'])}: loss {' / '.join(told)}"


def duration(seconds: float) -> str:
    """A duration in minutes and seconds.

    >>> duration(75), duration(3700)
    ('1:15', '1:01:40')
    """
    whole = int(seconds)
    hours, minutes = whole // 3600, whole % 3600 // 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
