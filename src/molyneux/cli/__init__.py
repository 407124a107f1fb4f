"""The command line: from the arguments of a process to its exit status.

Nothing is imported that takes long before the names on the command line are checked. The exit status is 0 if everything asked for
was done, 1 if it failed, 2 if the input was bad, and 130 after Ctrl-C.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

from molyneux.cli.parser import Arguments, complain, parse, say_json

__all__ = ["main"]

FAILED, BAD_INPUT, STOPPED, PIPE_CLOSED = 1, 2, 130, 141

COMMANDS = {
    "completion": ("listing", "completion"),
    "data": ("worlds", "data"),
    "export": ("sharing", "export"),
    "judge": ("worlds", "judge"),
    "leaderboard": ("sharing", "leaderboard"),
    "learn": ("commands", "learn"),
    "list": ("listing", "list_things"),
    "measure": ("sharing", "measure"),
    "report": ("commands", "report"),
    "run": ("commands", "run"),
    "schema": ("commands", "schema"),
    "sweep": ("commands", "sweep"),
}
"""By command: the module here and the function in it."""


def main(argv: Sequence[str] | None = None) -> int:
    """Do what a command line asks for and return the exit status."""
    arguments = parse(sys.argv[1:] if argv is None else argv)
    # Idle OpenMP threads spin by default, which makes two busy processes several times slower; read when torch is imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        status = _call(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        complain(f"\nmolyneux: stopped; {arguments.after_stop}")
        return STOPPED
    except BrokenPipeError:  # whoever read the output has had enough, such as `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    return status


def _call(arguments: Arguments) -> int:
    from molyneux.cli.names import check_names  # reads YAML, which `--help` does not need

    module, function = COMMANDS[arguments.command]
    try:
        check_names(arguments)
        return int(getattr(importlib.import_module(f"molyneux.cli.{module}"), function)(arguments))
    except BrokenPipeError:
        raise
    except Exception as error:  # whatever is not expected is raised again
        status, problems = _explained(error)
        if not problems or os.environ.get("MOLYNEUX_DEBUG"):
            raise
        for problem in problems:
            complain(f"molyneux: {problem}")
        if arguments.json:
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
