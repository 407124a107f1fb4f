"""Options of a command line, and the names of worlds in it, checked before anything is imported that takes long.

The values in the files of experiments and studies are checked later, against the classes, with all their problems at once.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from molyneux.cli.parser import Arguments
from molyneux.core.errors import ConfigError, StoreError, nearest
from molyneux.core.tooling.documents import parse_value, read_document

MOST_SAMPLES, MOST_JOBS = 10**12, 1024
_MOST_FILES = 10_000


def check_names(arguments: Arguments) -> None:
    """Refuse a command line for options that cannot be used, files that cannot be read, and worlds that do not exist.

    Raises:
        ConfigError: with what is wrong. StoreError: there is no such run.
    """
    options, problems = arguments.options, list[str]()
    path = getattr(options, "config", None) or getattr(options, "run", None)
    if arguments.command == "sweep":
        from molyneux.cli.experiment_names import is_experiment  # a report needs none of it

        if is_experiment(_document(options.study)):
            raise ConfigError(f"expected a study, got {options.study}, which is an experiment: molyneux run {options.study}")
        problems += _range_problems(options)
    elif path is not None and (arguments.command == "run" or is_document(str(path))):
        from molyneux.cli.experiment_names import is_study, override_problems

        tree = _document(path)
        if is_study(tree):
            raise ConfigError(f"expected an experiment, got {path}, which is a study: molyneux sweep {path}")
        problems += override_problems(tree, values(arguments)) if arguments.command == "run" else []
    elif path is not None and not path.exists():
        raise StoreError(
            f"expected the folder of a run, got {path}, which is not there: name a folder made by molyneux run{_nearby(path)}"
        )
    elif arguments.command in ("data", "judge"):
        problems += [*_option_problems(options), *_world_problems(options.world, dict(values(arguments)), vars(options))]
    if problems:
        raise ConfigError(list(dict.fromkeys(problems)))


def _document(path: Path) -> dict[str, Any]:
    """The settings in a file; the error of one that is not there says what is."""
    if path.is_dir():
        run = (path / "config.yaml").is_file()
        hint = (
            f"molyneux report {path} writes its report again"
            if run
            else "name a file in it, such as those of molyneux list configs"
        )
        raise ConfigError(f"expected the YAML file of settings, got the folder {path}{' of a run' if run else ''}: {hint}")
    try:
        return read_document(path)
    except ConfigError as error:
        if path.exists():
            raise
        raise ConfigError([f"{error.problems[0]}{_nearby(path)}", *error.problems[1:]]) from error


def _nearby(path: Path) -> str:
    """A question after the name of a file or folder that is not there: the closest one beside it, or among the settings files."""
    try:
        beside = {other.name: str(other) for other in sorted(path.parent.iterdir())[:_MOST_FILES]}
    except OSError:
        beside = {}
    listed = {other.stem: str(other) for other in sorted(Path("configs").glob("*.yaml"))[:_MOST_FILES]}
    close = difflib.get_close_matches(path.name, beside, n=1, cutoff=0.8)
    found = beside[close[0]] if close else listed.get(path.stem, "")
    return f"; did you mean {found}?" if found else ""


def values(arguments: Arguments) -> list[tuple[str, Any]]:
    """The settings of a command line with their values read as YAML.

    Raises:
        ConfigError: with every value that is no YAML.
    """
    found, problems = list[tuple[str, Any]](), list[str]()
    for name, text in arguments.settings:
        try:
            found.append((name, parse_value(text)))
        except ConfigError as error:
            problems += [f"--{name}: {problem}" for problem in error.problems]
    if problems:
        raise ConfigError(problems)
    return found


def is_document(name: str) -> bool:
    """Whether a word on the command line is the name of an experiment file."""
    return Path(name).suffix in (".yaml", ".yml")


def _range_problems(options: Any) -> Iterator[str]:
    """Numbers out of range."""
    ranges = {"seed": (0, 2**63 - 1), "size": (1, MOST_SAMPLES), "samples": (1, MOST_SAMPLES), "jobs": (1, MOST_JOBS)}
    for name, (least, most) in ranges.items():
        value = getattr(options, name, least)
        if value is not None and not least <= value <= most:
            yield f"expected --{name} from {least:,} to {most:,}, got {value:,}"


def _option_problems(options: Any) -> Iterator[str]:
    """Options of `data` and `judge` whose values cannot be used."""
    yield from _range_problems(options)
    sheet = getattr(options, "contact_sheet", None)
    if sheet is not None and sheet.suffix.lower() not in ("", ".png"):
        yield f"expected a name that ends in .png for --contact-sheet, which is written as PNG alone, got {sheet}"
    if options.out is None and sheet is None:
        yield "expected --out, a place for the samples, or --contact-sheet, a file for a picture of them"


def _world_problems(name: str, given: Mapping[str, Any], options: Mapping[str, Any]) -> Iterator[str]:
    """A world that does not exist, or has another version, settings that it does not have, and values that they do not take."""
    if "." in name:  # a class from outside this package
        return
    from molyneux.cli import index  # which the other commands do not need

    entry = index.find_class("worlds", name.partition("-v")[0])
    if entry is None:
        yield f"unknown world {name!r}; {nearest(name, index.world_names())}"
        return
    if "-v" in name and entry.own_name != name.lower():
        yield f"world: expected a version that this package has, {entry.own_name}, got {name}"
    settings = entry.settings
    unknown = [name for name in (word.removeprefix("world.") for word in given) if name.partition(".")[0] not in settings]
    earlier = entry.earlier if unknown else set()
    for setting in unknown:
        if setting not in earlier:
            offered = (word.replace("_", "-") for word in settings | options.keys())
            yield f"--{setting.replace('_', '-')}: unknown setting of {entry.node.name}; {nearest(setting, offered)}"
    if not unknown:
        from molyneux.cli.annotations import wrong_values

        for problem in wrong_values(entry, {word.removeprefix("world."): value for word, value in given.items()}, ""):
            name, _, said = problem.partition(": ")
            yield f"--{name.replace('_', '-')}: {said}"
