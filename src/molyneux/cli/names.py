"""Names on a command line and in its files, checked before anything is imported that takes long.

What is looked at are options, settings of the sections of an experiment or a study, the classes named there, and their settings.
Values, and classes from outside this package, are checked later, against the classes themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from molyneux.cli import index
from molyneux.cli.parser import Arguments
from molyneux.core.documents import override, parse_value, read_document
from molyneux.core.errors import ConfigError, StoreError, nearest

MOST_SAMPLES, MOST_JOBS = 10**12, 1024
_SECTIONS = {name: f"molyneux.run.sections.{name.capitalize()}Settings" for name in ("data", "learn", "measure", "report")}
_LISTS = {"measure": "measures", "report": "formats"}
_CLASSES = (("data", "world", "worlds"), ("data", "benchmark", "benchmarks"), ("learn", "model", "models"))


def check_names(arguments: Arguments) -> None:
    """Refuse a command line, or the experiment or study that it names, for names that do not exist.

    Raises:
        ConfigError: with all of them, or with what is wrong with the options of `data`. StoreError: there is no such run.
    """
    options, problems = arguments.options, list[str]()
    path = getattr(options, "config", None) or getattr(options, "run", None)
    if arguments.command == "sweep":
        problems += _study_problems(read_document(options.study), options)
    elif path is not None and (arguments.command == "run" or path.suffix in (".yaml", ".yml")):
        problems += _experiment_problems(_overridden(read_document(path), values(arguments)))
    elif path is not None and not path.exists():
        raise StoreError(f"expected the folder of a run, got {path}, which is not there: name a folder made by molyneux run")
    elif arguments.command in ("data", "judge"):
        problems += [*_option_problems(options), *_world_problems(options.world, dict(values(arguments)), vars(options))]
    if problems:
        raise ConfigError(list(dict.fromkeys(problems)))


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


def _option_problems(options: Any) -> Iterator[str]:
    """Options of `data` and `judge` whose values cannot be used."""
    ranges = {"seed": (0, 2**63 - 1), "size": (1, MOST_SAMPLES), "samples": (1, MOST_SAMPLES), "jobs": (1, MOST_JOBS)}
    for name, (least, most) in ranges.items():
        if not least <= (value := getattr(options, name, least)) <= most:
            yield f"expected --{name} from {least:,} to {most:,}, got {value:,}"
    sheet = getattr(options, "contact_sheet", None)
    if sheet is not None and sheet.suffix.lower() not in ("", ".png"):
        yield f"expected a name that ends in .png for --contact-sheet, which is written as PNG alone, got {sheet}"
    if options.out is None and sheet is None:
        yield "expected --out, a place for the samples, or --contact-sheet, a file for a picture of them"


def _world_problems(name: str, given: Mapping[str, Any], options: Mapping[str, Any]) -> Iterator[str]:
    """A world that does not exist, or has another version, and settings that it does not have."""
    if "." in name:  # a class from outside this package
        return
    entry = index.find_class("worlds", name.partition("-v")[0])
    if entry is None:
        known = (item.own_name.partition("-v")[0] for item in index.classes("worlds").values())
        yield f"unknown world {name!r}; {nearest(name, known)}"
        return
    if "-v" in name and entry.own_name != name.lower():
        yield f"world: expected a version that this package has, {entry.own_name}, got {name}"
    settings = entry.settings
    for setting in (setting.removeprefix("world.") for setting in given):
        if setting.partition(".")[0] not in settings:
            offered = (word.replace("_", "-") for word in settings | options.keys())
            yield f"--{setting.replace('_', '-')}: unknown setting of {entry.node.name}; {nearest(setting, offered)}"


def _experiment_problems(tree: Mapping[str, Any]) -> Iterator[str]:
    """Settings that the sections of an experiment do not have, and classes that do not exist."""
    yield from _unknown("", "molyneux.run.experiment.Experiment", tree)
    sections = {name: tree.get(name) for name in _SECTIONS}
    given = {name: value for name, value in sections.items() if isinstance(value, Mapping)}
    for name, values_of in given.items():
        yield from _unknown(f"{name}.", _SECTIONS[name], values_of)
    for section, setting, kind in _CLASSES:
        yield from _class_problems(kind, given.get(section, {}).get(setting), f"{section}.{setting}")
    measures = given.get("measure", {}).get("measures")
    for number, item in enumerate(measures if isinstance(measures, list) else ()):
        yield from _class_problems("measures", item, f"measure.measures.{number}")


def _class_problems(kind: str, value: Any, place: str) -> Iterator[str]:
    """What is wrong with the name of a class and the names of its settings."""
    name = value.get("class_path") if isinstance(value, Mapping) else value
    if not isinstance(name, str) or "." in name:  # dotted paths are imported and checked later
        return
    entry = next((item for short, item in index.classes(kind).items() if index.folded(short) == index.folded(name)), None)
    if entry is None:
        known = {short: item.own_name.partition("-v")[0] for short, item in index.classes(kind).items()}
        yield f"{place}{'.class_path' * isinstance(value, Mapping)}: unknown class {name!r}; {nearest(name, known)}"
    elif isinstance(value, Mapping) and isinstance(given := value.get("init_args"), Mapping):
        known_settings = entry.settings - {"spec"} if kind == "models" else entry.settings
        for setting in given:
            if setting not in known_settings:
                sentence = f"unknown setting of {entry.node.name}; {nearest(str(setting), known_settings)}"
                yield f"{place}.init_args.{setting}: {sentence}"


def _unknown(place: str, path: str, given: Mapping[str, Any]) -> Iterator[str]:
    entry = index.find(path)
    known = entry.settings if entry else set()
    for name in given:
        if name not in known:
            yield f"{place}{name}: unknown setting; {nearest(str(name), known)}"


def _study_problems(tree: Mapping[str, Any], options: Any) -> Iterator[str]:
    """As `_experiment_problems`, of the experiment that a study varies, also with the settings that it varies."""
    yield from _unknown("", "molyneux.run.study.Study", tree)
    if not 1 <= options.jobs <= MOST_JOBS:
        yield f"expected --jobs from 1 to {MOST_JOBS:,}, got {options.jobs:,}"
    base = tree.get("base")
    if isinstance(base, str):
        base = read_document(options.study.parent / base)
    if not isinstance(base, Mapping):
        return
    yield from _experiment_problems(_overridden(base, []))
    points = [(path, value) for path, given in _mapping(tree, "grid").items() if isinstance(given, list) for value in given]
    points += [(path, None) for path in _mapping(tree, "ranges")]
    points += [pair for variant in _mapping(tree, "variants") for pair in _mapping(_mapping(tree, "variants"), variant).items()]
    for pair in points:  # alone: arguments without their class are not looked at, for another setting may choose it
        yield from _experiment_problems(_overridden({}, [pair]))


def _mapping(tree: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = tree.get(name)
    return found if isinstance(found, Mapping) else {}


def _overridden(tree: Mapping[str, Any], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The settings of an experiment with sections that are just a list written out, and single settings replaced."""

    def written_out(given: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: {_LISTS[name]: value if isinstance(value, list) else [value]}
            if name in _LISTS and isinstance(value, list | str)
            else value
            for name, value in given.items()
        }

    out, problems = written_out(tree), list[str]()
    for path, value in pairs:
        try:
            out = written_out(override(out, path, value))
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(problems)
    return out
