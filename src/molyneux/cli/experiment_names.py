"""Names of settings and classes in an experiment, on the command line and in its file, checked without importing a class.

Values are checked later, against the classes themselves, with all their problems at once. Here a name is refused only if the
source files of this package say that it is none; what they do not tell, such as settings of classes from elsewhere, passes.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from molyneux.cli import index
from molyneux.core.errors import ConfigError, nearest
from molyneux.core.tooling.documents import override

_SECTIONS = "molyneux.run.run.sections"
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
    """Settings on the command line that an experiment does not have; each with what was meant.

    Args:
        tree: the settings of the file.
        overrides: pairs of a dotted path and a value, in the order given.

    Returns:
        A sentence for each; none where the file itself has wrong names, whose check tells all problems at once.
    """
    problems, known = list[str](), _fields("molyneux.run.run.experiment.Experiment")
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
    return problems


def name_problems(tree: Mapping[str, Any]) -> list[str]:
    """Names in the settings of an experiment that it does not have."""
    known = _fields("molyneux.run.run.experiment.Experiment")
    problems = [f"{name}: unknown setting; {nearest(name, known)}" for name in tree if name not in known]
    for section, settings in _whole(tree).items():
        if section not in known or not isinstance(settings, Mapping):
            continue
        inner = _fields(f"{_SECTIONS}.{section.capitalize()}Settings")
        for name, value in settings.items():
            if name not in inner:
                problems.append(f"{section}.{name}: unknown setting; {nearest(name, inner)}")
            elif kind := _KINDS.get((section, name)):
                problems += _class_problems(kind, value, f"{section}.{name}")
        measures = settings.get("measures") if section == "measure" else None
        for place, value in enumerate(measures if isinstance(measures, list) else ()):
            problems += _class_problems("measures", value, f"measure.measures.{place}")
    return problems


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
    for section in ("report", "measure", "learn", "data"):  # where several have one, the last counts
        places |= {name: f"{section}.{name}" for name in _fields(f"{_SECTIONS}.{section.capitalize()}Settings")}
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
    """With the settings that are meant where a section is just a list."""
    return {name: {_LISTS[name]: value} if name in _LISTS and isinstance(value, list) else value for name, value in tree.items()}


def _fields(path: str) -> set[str]:
    entry = index.find(path)
    assert entry is not None, path
    return entry.settings
