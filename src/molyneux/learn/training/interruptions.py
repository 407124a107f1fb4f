"""Ctrl-C and SIGTERM during a training: the step under way ends, and a checkpoint is written, before they take effect."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

__all__ = ["Interruptions"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruptions:
    """A context in which the first SIGINT or SIGTERM is noted, and takes effect when `deliver` is called or the context ends.

    It then does what it did before the context: SIGINT raises KeyboardInterrupt, SIGTERM ends the process, a handler of the
    user's is called. A second signal takes effect at once. A signal that the process ignores is ignored, and outside of the main
    thread, where signals do not arrive, nothing is changed.
    """

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self._noted: int | None = None

    @property
    def asked(self) -> bool:
        """Whether a signal waits to take effect."""
        return self._noted is not None

    def __enter__(self) -> Interruptions:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                before = signal.getsignal(number)
                if before not in (signal.SIG_IGN, None):  # None: a handler that is not of Python, which cannot be set again
                    self._before[number] = before
                    signal.signal(number, self._note)
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        self._restore()
        if kind is None:
            self.deliver()

    def deliver(self) -> None:
        """Let a signal that waits take effect; nothing where none does."""
        if self._noted is not None:
            number, self._noted = self._noted, None
            self._restore()
            signal.raise_signal(number)

    def after(self, save: Callable[[], None]) -> None:
        """Let a signal that waits take effect once `save` has been called; nothing where none does."""
        if self.asked:
            save()
            self.deliver()

    def _note(self, number: int, frame: FrameType | None) -> None:
        again = self.asked
        self._noted = number
        if again:
            self.deliver()

    def _restore(self) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
        self._before = {}
