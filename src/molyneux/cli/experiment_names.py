"""Names and values of settings in an experiment, on the command line and in its file, checked without importing a class.

All is checked again later, against the classes themselves, with all problems at once. Here a name or a value is refused only if
the source files of this package say that it is none; what they do not tell, such as settings of classes from elsewhere, passes.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from molyneux.cli import index
from molyneux.cli.annotations import wrong_values
from molyneux.core.errors import ConfigError, nearest
from molyneux.core.tooling.documents import override

_EXPERIMENT, _SECTIONS = "molyneux.run.run.experiment.Experiment", "molyneux.run.run.sections"
_SECTION_NAMES = ("report", "measure", "learn", "data")
_LISTS = {"measure": "measures", "report": "formats"}
"""Sections that may be just a list, and the setting that is meant."""
_KINDS = {
    ("data", "world"): "worlds",
    ("data", "benchmark"): "benchmarks",
    ("learn", "model"): "models",
}
"""Settings that name a class, and of which kind."""
_GIVEN = {"spec"}


def is_study(tree: Mapping[str, Any]) -> bool:
    """Whether settings are those of a study and of no experiment."""
    return "base" in tree and "data" not in tree


def is_experiment(tree: Mapping[str, Any]) -> bool:
    """Whether settings are those of an experiment and of no study."""
    return "base" not in tree and ("learn" in tree or "data" in tree)


def override_problems(tree: Mapping[str, Any], overrides: Sequence[tuple[str, Any]]) -> list[str]:
    """Settings on the command line that an experiment does not have, each with what was meant, or else values that it refuses.

    Args:
        tree: the settings of the file.
        overrides: pairs of a dotted path and a value, in the order given.

    Returns:
        A sentence for each; none where the file itself has wrong names or values, whose check tells all problems at once.
    """
    problems, known, alone = list[str](), _fields(_EXPERIMENT), tree
    if name_problems(tree):
        return []
    before = set[str]()
    for path, value in overrides:
        if path.partition(".")[0] not in known:
            problems.append(f"--{path.replace('_', '-')}: unknown setting; {_meant(path, tree, known)}")
            continue
        try:
            tree = override(_whole(tree), path, value)
        except ConfigError:  # which the check of the values reports
            continue
        found = [problem for problem in name_problems(tree) if problem not in before]
        before |= {*found}
        problems += found
    if not problems and overrides and (wrong := value_problems(tree)):
        problems += [] if value_problems(alone) else wrong
    return problems


def name_problems(tree: Mapping[str, Any]) -> list[str]:
    """Names in the settings of an experiment that it does not have."""
    known = _fields(_EXPERIMENT)
    problems = [f"{name}: unknown setting; {nearest(name, known)}" for name in tree if name not in known]
    for section, settings in _whole(tree).items():
        if section not in known or not isinstance(settings, Mapping):
            continue
        inner = _fields(_section(section))
        problems += [f"{section}.{name}: unknown setting; {nearest(name, inner)}" for name in settings if name not in inner]
        for kind, at, value in _classes(section, settings):
            problems += _class_problems(kind, value, at)
    return problems


def value_problems(tree: Mapping[str, Any]) -> list[str]:
    """Values in the settings of an experiment that are not of the type of their setting; names that it does not have pass."""
    whole = _whole(tree)
    problems = wrong_values(_entry(_EXPERIMENT), {name: value for name, value in whole.items() if name not in _SECTION_NAMES}, "")
    for section in _SECTION_NAMES:
        settings = whole.get(section)
        if not isinstance(settings, Mapping):
            continue
        problems += wrong_values(_entry(_section(section)), settings, section)
        for kind, at, value in _classes(section, settings):
            name, given = (value.get("class_path"), value.get("init_args")) if isinstance(value, Mapping) else (None, None)
            entry = index.named(kind, name) if isinstance(name, str) and "." not in name else None
            if entry is not None and isinstance(given, Mapping):
                problems += wrong_values(entry, given, f"{at}.init_args")
    return problems


def _classes(section: str, settings: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """The settings of a section that name a class: its kind, the path, and the value."""
    for name, value in settings.items():
        if kind := _KINDS.get((section, name)):
            yield kind, f"{section}.{name}", value
    measures = settings.get("measures") if section == "measure" else None
    for place, value in enumerate(measures if isinstance(measures, list) else ()):
        yield "measures", f"measure.measures.{place}", value


def _class_problems(kind: str, value: Any, at: str) -> Iterator[str]:
    """A class that is not there, and settings that it does not have."""
    given = value.get("init_args") if isinstance(value, Mapping) else None
    name = value.get("class_path") if isinstance(value, Mapping) else value
    if not isinstance(name, str) or "." in name:
        return
    entry = index.named(kind, name)
    if entry is None:
        place = f"{at}.class_path" if isinstance(value, Mapping) else at
        yield f"{place}: unknown class {name[:80]!r}; {nearest(name[:80], index.classes(kind))}"
        return
    known = entry.settings - _GIVEN
    for setting in given if isinstance(given, Mapping) else ():
        if setting not in entry.settings and setting not in entry.earlier:
            yield f"{at}.init_args.{setting}: unknown setting of {entry.node.name}; {nearest(setting, known)}"


def _meant(path: str, tree: Mapping[str, Any], known: set[str]) -> str:
    """Which setting was meant by a name that no section has: the closest of all sections and of the classes that are named."""
    places: dict[str, str] = {}
    for section in _SECTION_NAMES:  # where several have one, the last counts
        places |= {name: f"{section}.{name}" for name in _fields(_section(section))}
    for (section, slot), kind in _KINDS.items():
        settings = tree.get(section)
        value = settings.get(slot) if isinstance(settings, Mapping) else None
        name = value.get("class_path") if isinstance(value, Mapping) else value
        entry = index.named(kind, name) if isinstance(name, str) and "." not in name else None
        places |= {each: f"{section}.{slot}.{each}" for each in (entry.settings - _GIVEN if entry else ()) if each not in places}
    places |= {name: name for name in known}
    close = difflib.get_close_matches(path.rpartition(".")[2].lower(), places, n=1, cutoff=0.65)
    if not close:
        return f"known: {', '.join(sorted(known))}, and what these have, such as --learn.epochs"
    return f"did you mean --{places[close[0]].replace('_', '-')}?"


def _whole(tree: Mapping[str, Any]) -> dict[str, Any]:
    """With the settings that are meant where a section is just a list, or one word of it."""
    return {
        name: {_LISTS[name]: value} if name in _LISTS and isinstance(value, list | str) else value for name, value in tree.items()
    }


def _section(name: str) -> str:
    return f"{_SECTIONS}.{name.capitalize()}Settings"


def _fields(path: str) -> set[str]:
    return _entry(path).settings


def _entry(path: str) -> index.ClassEntry:
    entry = index.find(path)
    assert entry is not None, path
    return entry
