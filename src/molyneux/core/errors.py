"""The errors of Molyneux, one small tree.

    MolyneuxError
    ├── ConfigError          settings that cannot be used; carries every problem found
    ├── SpecError            a batch, net or model that does not fit its Spec
    ├── DataError            samples that are not what they should be (NaN, out of range)
    ├── StoreError           a folder or file that cannot be used
    │   ├── ConflictError    made by another configuration, or in use by another process
    │   └── CorruptFileError truncated or altered since it was written
    ├── TrainingError        training that cannot go on
    └── NotApplicableError   a measure that needs what a model or a source does not have

Every message says what was expected, what came, and what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import Any


class MolyneuxError(Exception):
    """Base class of all errors that this package raises on purpose."""


class ConfigError(MolyneuxError):
    """Settings that cannot be used.

    `problems` holds one sentence for each problem of the file; the message shows all of them.
    """

    def __init__(self, problems: str | Sequence[str]) -> None:
        self.problems: tuple[str, ...] = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class SpecError(MolyneuxError):
    """A batch, net or model does not fit its Spec; the message names both sides."""


class DataError(MolyneuxError):
    """Samples have invalid values: NaN, out of range, unreadable."""


class StoreError(MolyneuxError):
    """A folder or file cannot be read or written."""


class ConflictError(StoreError):
    """A folder was made by another configuration, or is in use by another process."""


class CorruptFileError(StoreError):
    """A file was truncated or altered since it was written."""


class TrainingError(MolyneuxError):
    """Training cannot go on; the message names the term, the step and the saved batch."""


class NotApplicableError(MolyneuxError):
    """A measure needs what a model or a source does not have; the message says what."""


def collected(parts: Iterable[Callable[[], Any]]) -> list[Any]:
    """The results of all parts; all are tried, and the problems of all are raised as one ConfigError."""
    made, problems = [], list[str]()
    for part in parts:
        try:
            made.append(part())
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(problems)
    return made


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of an error message for an unknown name: the closest known name, or all known names.

    >>> nearest("levle", ["level", "seed"])
    'did you mean "level"?'
    >>> nearest("zzz", ["level", "seed"])
    'known: level, seed'
    """
    names = sorted(known)
    return suggestion(name, names).removeprefix("; ") or f"known: {', '.join(names) or 'none'}"


def suggestion(name: str, known: Iterable[str]) -> str:
    """The end of an error message that lists the known names already: the closest one, or nothing.

    >>> suggestion("levle", ["level", "seed"]), suggestion("zzz", ["level", "seed"])
    ('; did you mean "level"?', '')
    """
    lowered = {item.lower(): item for item in known}
    close = difflib.get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.65)
    return f'; did you mean "{lowered[close[0]]}"?' if close else ""


def choice_problems(**settings: tuple[object, Sequence[object]]) -> list[str]:
    r"""A problem for each setting, given as a pair of its value and its choices, whose value is none of them.

    >>> choice_problems(kind=("II", ("I", "II")), per=("sampl", ("sample", "batch")))
    ['per: expected one of sample, batch, got \'sampl\'; did you mean "sample"?']
    """
    return [
        f"{name}: expected one of {', '.join(map(str, known))}, got {value!r}{suggestion(str(value), map(str, known))}"
        for name, (value, known) in settings.items()
        if not any(value == choice and type(value) is type(choice) for choice in known)
    ]
