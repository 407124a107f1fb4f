"""The state of a page as its address: a frozen dataclass of plain values, written to and read from the query of a URL."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Self, get_args, get_origin, get_type_hints
from urllib.parse import urlencode

_LONGEST, _MOST = 24_000, 512
"""Characters of one value, and values of one name, that are read from an address."""


@dataclass(frozen=True)
class PageState:
    """What a page shows; each field is a str, int, float, bool, or a tuple of str or of (int, float) pairs.

    A link to the page says the same: fields at their defaults are left out. Subclasses are frozen dataclasses with a default
    for each field, and check what they are given in `checked`.
    """

    @classmethod
    def from_query(cls, query: Iterable[tuple[str, str]]) -> Self:
        """The state that an address says; values that cannot be read, and unknown names, are passed over."""
        given: dict[str, list[str]] = {}
        for name, value in query:
            given.setdefault(name, []).append(value[:_LONGEST])
        hints = get_type_hints(cls)
        found: dict[str, Any] = {}
        for item in fields(cls):
            try:
                found |= {item.name: _read(hints[item.name], given[item.name][:_MOST])} if item.name in given else {}
            except ValueError:
                continue
        return cls(**found).checked()

    def checked(self) -> Self:
        """The state with values in their ranges; subclasses override it."""
        return self

    def query(self) -> str:
        """The query of the address, without the fields at their defaults; the same state gives the same text."""
        pairs: list[tuple[str, str]] = []
        for item in fields(self):
            value = getattr(self, item.name)
            if value != item.default:
                pairs += [(item.name, text) for text in _written(value)]
        return urlencode(pairs)

    def address(self, path: str) -> str:
        """The address of a page in this state."""
        query = self.query()
        return f"{path}?{query}" if query else path

    def changed(self, **values: Any) -> Self:
        """The state with other values."""
        return replace(self, **values).checked()


def _read(hint: Any, values: list[str]) -> Any:
    """Texts of an address as a value of a type; ValueError where they are none."""
    if get_origin(hint) is tuple:
        inner = get_args(hint)[0]
        if get_origin(inner) is tuple:
            return tuple(_pair(value) for value in values if value)
        return tuple(value for value in values if value)
    text = values[-1]
    if hint is bool:
        return text not in ("", "0", "false")
    if hint is int:
        return max(-(2**31), min(2**31 - 1, int(text)))
    if hint is float:
        return _finite(text)
    return text


def _pair(text: str) -> tuple[int, float]:
    place, _, value = text.partition(":")
    return int(place), _finite(value)


def _finite(text: str) -> float:
    value = float(text)
    if not abs(value) < 1e9:
        raise ValueError(f"expected a finite number, got {text}")
    return value


def _written(value: Any) -> list[str]:
    """A value as texts of an address; an empty tuple is one empty text, so that it is not the default."""
    if isinstance(value, tuple):
        texts = [f"{part[0]}:{part[1]:g}" if isinstance(part, tuple) else str(part) for part in value]
        return texts or [""]
    if isinstance(value, bool):
        return [str(int(value))]
    return [f"{value:g}" if isinstance(value, float) else str(value)]


def chosen(value: str, known: Iterable[str], default: str = "") -> str:
    """A value if it is one of the known ones, otherwise the default, otherwise the first known one."""
    names = list(known)
    if value in names:
        return value
    return default if default in names else (names[0] if names else "")


def word(value: Any) -> str:
    """A value of a field as text; nothing for what is none, as of a field whose choice was taken back."""
    return "" if value is None else str(value)


def whole(value: Any, default: int) -> int:
    """A value of a field for numbers as a whole number; the default for what is none, such as an empty field."""
    return int(value) if isinstance(value, int | float) and abs(value) < 2**31 else default
