"""What computes pieces of a task beside one another: processes on this machine or on others, which `run` hands to the rooms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

P = TypeVar("P")
R = TypeVar("R")


class Workers(Protocol):
    """Processes that compute pieces of a task; each lives for many pieces."""

    @property
    def threads(self) -> int:
        """How many threads each of them has."""
        ...

    def map(self, function: Callable[[P], R], pieces: Iterable[P]) -> Iterator[R]:
        """What a function makes of each piece, in the order of the pieces, however many processes there are.

        A piece whose process or machine is lost is computed again by another, so a function must bear to be called twice for
        the same piece: what it writes is written whole or not at all, and what is there is not made again.

        Args:
            function: is sent to each process once, and keeps there what it holds between its calls, such as files that it has
                opened. Function, pieces and results are pickled on their way.
            pieces: what it is called with.

        Raises:
            MolyneuxError: what the function raises; or StoreError, a piece whose processes were lost several times.
        """
        ...
