"""From the arguments of a process to its exit status.

0: everything asked for was done. 1: it failed. 2: the input was bad. 130: stopped by Ctrl-C.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from molyneux.cli.output import complain, say_json
from molyneux.cli.parser import Arguments, parse

if TYPE_CHECKING:
    from molyneux.core import MolyneuxError

FAILED, BAD_INPUT, STOPPED, PIPE_CLOSED = 1, 2, 130, 141


COMMANDS = {
    "data": ("samples", "data"),
    "judge": ("judges", "judge"),
    "learn": ("runs", "learn"),
    "list": ("listing", "list_things"),
    "measure": ("runs", "measure"),
    "report": ("runs", "report"),
    "run": ("runs", "run"),
    "sweep": ("sweeps", "sweep"),
}
"""By command: the module here and the function in it."""


def main(argv: Sequence[str] | None = None) -> int:
    """Do what a command line asks for and return the exit status."""
    arguments = parse(sys.argv[1:] if argv is None else argv)
    # Idle OpenMP threads spin by default, which makes two busy processes several times slower; read when torch is imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # A class of the user's own, `their.module.Class`, is found where the command is given; last, so that it hides nothing.
    sys.path.append(str(Path.cwd()))
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
    from molyneux.core import ConfigError, ConflictError, DataError, MolyneuxError, SpecError, StoreError

    module, function = COMMANDS[arguments.command]
    command = getattr(importlib.import_module(f"molyneux.cli.{module}"), function)
    try:
        return int(command(arguments))
    except MolyneuxError as error:
        if os.environ.get("MOLYNEUX_DEBUG"):
            raise
        _tell(error, arguments)
        return BAD_INPUT if isinstance(error, ConfigError | ConflictError | DataError | SpecError) else FAILED
    except BrokenPipeError:
        raise
    except OSError as error:  # of a file that nobody expected to be out of reach
        if os.environ.get("MOLYNEUX_DEBUG"):
            raise
        _tell(StoreError(f"cannot use {error.filename or 'a file'}: {(error.strerror or str(error)).lower()}"), arguments)
        return FAILED


def _tell(error: MolyneuxError, arguments: Arguments) -> None:
    problems = list(getattr(error, "problems", None) or [str(error)])
    for problem in problems:
        complain(f"molyneux: {problem}")
    if arguments.json:
        say_json({"error": type(error).__name__, "problems": problems})
