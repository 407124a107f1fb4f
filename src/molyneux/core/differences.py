"""Where two plain records differ, in words."""

from __future__ import annotations

from typing import Any

_LONGEST = 500
"""Characters of a place and of a value that are shown."""


def differences(old: Any, new: Any, at: str = "") -> str:
    """The first few places where two plain records differ, as `path: old -> new`; long values are cut."""
    found = places(old, new, at)
    return "; ".join(found[:3]) + (f"; and {len(found) - 3} more" if len(found) > 3 else "")


def places(old: Any, new: Any, at: str = "") -> list[str]:
    """All places where two plain records differ, told as in `differences`."""
    found, missing = list[str](), object()

    def walk(a: Any, b: Any, path: str) -> None:
        if isinstance(a, dict) and isinstance(b, dict):
            for name in sorted({*a, *b}):
                walk(a.get(name, missing), b.get(name, missing), f"{path}.{name}" if path else str(name))
        elif a != b:
            shown = ["not there" if value is missing else _brief(value) for value in (a, b)]
            found.append(f"{path[:_LONGEST]}: {shown[0]} -> {shown[1]}")

    walk(old, new, at)
    return found


def _brief(value: Any) -> str:
    told = repr(value)
    return told if len(told) <= _LONGEST else f"{told[:_LONGEST]}..."
