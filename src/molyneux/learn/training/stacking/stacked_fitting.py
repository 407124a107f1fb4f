"""One of several trainings that are computed at once: its clock, its checkpoints, and the signals that end all of them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, cast

from molyneux.core import Source
from molyneux.learn.training.batches import LoadedSource, load
from molyneux.learn.training.fitting import Fitting, Walk
from molyneux.learn.training.interruptions import Interruptions

__all__ = ["StackedFitting", "shared_loader"]


class StackedFitting(Fitting):
    """A training whose steps are made together with those of others.

    Attributes:
        shared: notes the signals for all trainings; whoever makes the steps lets them take effect once all have been written.
        saving: whether the step under way is followed by a checkpoint.
        walked: what is left of the training; None after its end.
        spent: seconds that were spent on it: of its own work, and its share of steps.
    """

    shared: Interruptions
    saving: bool = False
    walked: Walk | None = None
    spent: float = 0.0
    _resumed: float | None = None

    def interruptions(self) -> AbstractContextManager[Interruptions]:
        """See `Fitting`."""
        return contextlib.nullcontext(cast(Interruptions, _Noted(self.shared)))

    def now(self) -> float:
        """The seconds that were spent on this training."""
        return self.spent + (0.0 if self._resumed is None else time.perf_counter() - self._resumed)

    def checkpoint_due(self) -> bool:
        """Whether all trainings of the step are written."""
        return self.saving

    def due(self) -> bool:
        """Whether so much time has passed since the last checkpoint that it is time for another."""
        return super().checkpoint_due()

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Count the time within as spent on this training."""
        self._resumed = time.perf_counter()
        try:
            yield
        finally:
            self.spent, self._resumed = self.now(), None


class _Noted:
    """Says whether a signal waits, and leaves it to others to let it take effect."""

    def __init__(self, shared: Interruptions) -> None:
        self._shared = shared

    @property
    def asked(self) -> bool:
        """See `Interruptions`."""
        return self._shared.asked

    def deliver(self) -> None:
        """Nothing: other trainings are still to be written."""

    def after(self, save: Callable[[], Any]) -> None:
        """Nothing: a validation comes to its end first."""


def shared_loader() -> Callable[[Source], LoadedSource | None]:
    """Loads each source into memory once, however often it is asked for."""
    known: dict[int, tuple[Source, LoadedSource | None]] = {}

    def loaded(source: Source) -> LoadedSource | None:
        if id(source) not in known:
            known[id(source)] = source, load(source)
        return known[id(source)][1]

    return loaded
