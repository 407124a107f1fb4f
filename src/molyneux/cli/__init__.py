"""The command line: from the arguments of a process to its exit status.

Nothing is imported that takes long before the names on the command line are checked. The exit status is 0 if everything asked for
was done, 1 if it failed, 2 if the input was bad, 130 after Ctrl-C, and 141 where nobody reads the output any more. SIGTERM ends a
process as Ctrl-C does, with the same sentence, and by the signal itself.
"""

from __future__ import annotations

import importlib
import io
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from molyneux.cli.parser import Arguments, OutputError, complain, parse, say_json

__all__ = ["main"]

FAILED, BAD_INPUT, STOPPED, PIPE_CLOSED = 1, 2, 130, 141

COMMANDS = {
    "ask": ("asking", "ask"),
    "check": ("checking", "check"),
    "completion": ("listing", "completion"),
    "data": ("worlds", "data"),
    "doctor": ("commands", "doctor"),
    "export": ("sharing", "export"),
    "generate": ("trained", "generate"),
    "judge": ("worlds", "judge"),
    "leaderboard": ("sharing", "leaderboard"),
    "learn": ("commands", "learn"),
    "list": ("listing", "list_things"),
    "measure": ("sharing", "measure"),
    "predict": ("trained", "predict"),
    "read": ("trained", "read"),
    "push": ("sharing", "push"),
    "report": ("commands", "report"),
    "run": ("commands", "run"),
    "schema": ("commands", "schema"),
    "studio": ("studio", "studio"),
    "sweep": ("commands", "sweep"),
}
"""By command: the module here and the function in it."""


def main(argv: Sequence[str] | None = None) -> int:
    """Do what a command line asks for and return the exit status."""
    _open_streams()
    _hush_libraries()
    try:
        status = _commanded(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has had enough, such as `head`
        _discard_output()
        return PIPE_CLOSED
    except OSError as error:  # of standard output, such as one on a full disk
        _discard_output()
        complain(f"molyneux: cannot write the answer to standard output: {(error.strerror or str(error)).lower()}")
        return FAILED
    return status


def _commanded(argv: Sequence[str]) -> int:
    arguments = parse(argv)
    if not (getattr(arguments.options, "quiet", False) or arguments.json):
        logger = logging.getLogger("molyneux.compiling")  # of `core.tooling.compiled`, which takes numba to import
        logger.setLevel(logging.INFO)
        logger.propagate, logger.handlers = False, [_Compiling()]
    # Idle OpenMP threads spin by default, which makes two busy processes several times slower; read when torch is imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # A file `.numba_config.yaml` in the working folder could name a folder of compiled code; these come from the user alone.
    for name in ("NUMBA_CACHE_DIR", "NUMBA_CACHE_LOCATOR_CLASSES"):
        os.environ.setdefault(name, "")
    try:
        Path.cwd()
    except FileNotFoundError:
        complain("molyneux: expected a working folder, got one that was removed: change to a folder that is there")
        return BAD_INPUT
    try:
        with _termination_raised():
            return _call(arguments)
    except KeyboardInterrupt as stop:
        complain(f"\nmolyneux: stopped; {arguments.after_stop}")
        if isinstance(stop, _Terminated):
            signal.raise_signal(signal.SIGTERM)
        return STOPPED


class _Terminated(KeyboardInterrupt):
    """SIGTERM came."""


@contextmanager
def _termination_raised() -> Iterator[None]:
    """Inside, SIGTERM raises an exception, so that what is under way is put in order."""

    def stop(*_: object) -> None:
        raise _Terminated

    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _open_streams() -> None:
    """Streams that were closed (`>&-`) lead nowhere, so that no file takes their place; what cannot be encoded is escaped."""
    for number, name, mode in ((0, "stdin", os.O_RDONLY), (1, "stdout", os.O_WRONLY), (2, "stderr", os.O_WRONLY)):
        if getattr(sys, name) is not None:
            continue
        handle = os.open(os.devnull, mode)
        if handle != number:
            os.dup2(handle, number)
            os.close(handle)
        setattr(sys, name, open(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _hush_libraries() -> None:
    """Remarks of libraries below errors, such as on a cache that they cannot write, do not stand between our sentences."""
    if logging.lastResort is not None:
        logging.lastResort.setLevel(logging.ERROR)


class _Compiling(logging.Handler):
    """Says that code is compiled, which takes long the first time."""

    def emit(self, record: logging.LogRecord) -> None:
        """See `logging.Handler`."""
        complain("molyneux: compiling, once: about 20 seconds the first time; what is compiled is kept for the next time")


def _discard_output() -> None:
    """What is left of standard output goes nowhere, or Python would complain of it when it ends."""
    handle = os.open(os.devnull, os.O_WRONLY)
    os.dup2(handle, sys.stdout.fileno())
    os.close(handle)


def _call(arguments: Arguments) -> int:
    from molyneux.cli.names import check_names  # reads YAML, which `--help` does not need

    module, function = COMMANDS[arguments.command]
    try:
        check_names(arguments)
        return int(getattr(importlib.import_module(f"molyneux.cli.{module}"), function)(arguments))
    except OutputError as error:
        raise error.cause from error
    except Exception as error:  # whatever is not expected is raised again
        status, problems = _explained(error)
        if not problems or os.environ.get("MOLYNEUX_DEBUG"):
            raise
        for problem in problems:
            complain(f"molyneux: {problem}")
        if arguments.json:
            with suppress(OutputError):
                say_json({"error": type(error).__name__, "problems": problems})
        return status


def _explained(error: Exception) -> tuple[int, list[str]]:
    """The exit status that an error has, and its sentences; none for an error that is not expected."""
    from molyneux.core.errors import ConfigError, ConflictError, DataError, MolyneuxError, SpecError

    if isinstance(error, MolyneuxError):
        bad_input = isinstance(error, ConfigError | ConflictError | DataError | SpecError)
        return BAD_INPUT if bad_input else FAILED, list(getattr(error, "problems", None) or [str(error)])
    if isinstance(error, OSError):  # of a file that nobody expected to be out of reach
        return FAILED, [f"cannot use {error.filename or 'a file'}: {(error.strerror or str(error)).lower()}"]
    return FAILED, []
