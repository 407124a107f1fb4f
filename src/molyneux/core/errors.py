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


def nearest(name: object, known: Iterable[str]) -> str:
    """The end of an error message for an unknown name: the closest known name, or all known names.

    A number in place of a name, such as a class of digits, is looked for by its digits.

    >>> nearest("levle", ["level", "seed"])
    'did you mean "level"?'
    >>> nearest("zzz", ["level", "seed"])
    'known: level, seed'
    >>> nearest(3, ["1", "3"])
    'did you mean "3"?'
    """
    names = sorted(known)
    return suggestion(name, names).removeprefix("; ") or f"known: {', '.join(names) or 'none'}"


def suggestion(name: object, known: Iterable[str]) -> str:
    """The end of an error message that lists the known names already: the closest one, or nothing.

    >>> suggestion("levle", ["level", "seed"]), suggestion("zzz", ["level", "seed"])
    ('; did you mean "level"?', '')
    """
    lowered = {item.lower(): item for item in known}
    close = difflib.get_close_matches(str(name).lower(), list(lowered), n=1, cutoff=0.65)
    return f'; did you mean "{lowered[close[0]]}"?' if close else ""


def text_problems(**settings: object) -> list[str]:
    """A problem for each setting that is one text in place of several names: Python would take its letters for them.

    >>> text_problems(targets="y", labels=("y",))
    ["targets: expected several names, got the text 'y': write ['y']"]
    """
    return [
        f"{name}: expected several names, got the text {value!r}: write [{value!r}]"
        for name, value in settings.items()
        if isinstance(value, str)
    ]


def whole_problems(**settings: object) -> list[str]:
    """A problem for each setting that is no whole number; true and false are none.

    >>> whole_problems(level=3, size=2.5, count=True)
    ['size: expected a whole number, got 2.5', 'count: expected a whole number, got True']
    """
    return [
        f"{name}: expected a whole number, got {shown(value)}"
        for name, value in settings.items()
        if not isinstance(value, int) or isinstance(value, bool)
    ]


def instance_problems(kind: type, **settings: object) -> list[str]:
    """A problem for each setting that is no instance of a class, such as a class itself or its name.

    >>> instance_problems(Exception, first=ValueError(), second=ValueError)
    ['second: expected an instance of Exception, got the class ValueError: write ValueError(...)']
    >>> instance_problems(Exception, third="ValueError")
    ["third: expected an instance of Exception, got 'ValueError'"]
    """
    return [
        f"{name}: expected an instance of {kind.__name__}, got {shown(value)}"
        for name, value in settings.items()
        if not isinstance(value, kind)
    ]


def instances_problems(kind: type, **settings: object) -> list[str]:
    """A problem for each setting that is no list or tuple of instances of a class, and for each of its items that is none.

    >>> instances_problems(Exception, errors=(ValueError(), ValueError))
    ['errors[1]: expected an instance of Exception, got the class ValueError: write ValueError(...)']
    """
    found = list[str]()
    for name, values in settings.items():
        if isinstance(values, list | tuple):
            found += instance_problems(kind, **{f"{name}[{place}]": value for place, value in enumerate(values)})
        else:
            found.append(f"{name}: expected a list of instances of {kind.__name__}, got {shown(values)}")
    return found


def shown(value: object) -> str:
    """What a setting is, in at most some words."""
    if isinstance(value, type):
        return f"the class {value.__name__}: write {value.__name__}(...)"
    plain = value is None or isinstance(value, str | int | float)
    return f"{value!r}"[:100] if plain else f"an instance of {type(value).__name__}"


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


def short(error: object) -> str:
    """The first line of a library's error, cut to 200 characters; the name of its class if it has no message."""
    line = str(error).strip().partition("\n")[0]
    return f"{line[:200]}..." if len(line) > 200 else line or type(error).__name__
