"""Lightning without its own words: what it says is written for those who call it themselves."""

from __future__ import annotations

import logging
import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lightning.pytorch import Trainer

_LOGGERS = ("lightning.pytorch", "lightning.fabric")


@contextmanager
def quiet_lightning() -> Iterator[None]:
    """Inside the block Lightning logs warnings and errors only, and its advice that does not apply here is left out."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    levels = [logger.level for logger in loggers]
    with warnings.catch_warnings():
        # A GPU left idle and training without validation are the user's choice; sources of whole batches need no workers.
        warnings.filterwarnings("ignore", message="GPU available but not used", category=UserWarning)
        warnings.filterwarnings("ignore", message=".*have no `val_dataloader`", category=UserWarning)
        warnings.filterwarnings("ignore", message=".*does not have many workers", category=UserWarning)
        # Lightning uses a part of torch that torch renames.
        warnings.filterwarnings("ignore", message=".*LeafSpec.* is deprecated", category=FutureWarning)
        for logger in loggers:
            logger.setLevel(logging.WARNING)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)


@contextmanager
def interruptible(trainer: Trainer) -> Iterator[None]:
    """Inside the block Ctrl-C is a KeyboardInterrupt; Lightning would end the process and ignore Ctrl-C from then on.

    SIGTERM ends the process with status 143; Lightning would end it with 0, as if all had been done.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    except SystemExit as error:
        if isinstance(error.__context__, KeyboardInterrupt) and trainer.interrupted:
            raise KeyboardInterrupt from error
        if trainer.received_sigterm:
            raise SystemExit(128 + signal.SIGTERM) from error
        raise
    finally:
        if in_main_thread and handler is not None:
            signal.signal(signal.SIGINT, handler)
