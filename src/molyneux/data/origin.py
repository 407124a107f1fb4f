"""Where samples come from, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from molyneux.core import Source


@runtime_checkable
class HasOrigin(Protocol):
    """A source that can say everything its samples depend on."""

    @property
    def origin(self) -> Mapping[str, Any] | None:
        """Two sources of the same origin hold the same bytes; None where that is not known."""
        ...


def origin_of(source: Source, **changes: Any) -> Mapping[str, Any] | None:
    """The origin of a source, or of what these changes make of it; None where the source cannot say."""
    origin = source.origin if isinstance(source, HasOrigin) else None
    if origin is None:
        return None
    return {"of": dict(origin), **changes} if changes else dict(origin)
