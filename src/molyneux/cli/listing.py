"""`molyneux list`: what there is, one line each: the first line of every docstring; and all of one of them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from molyneux.cli.output import say, say_json
from molyneux.cli.parser import Arguments
from molyneux.cli.worlds import class_name
from molyneux.core import ConfigError, Trainable, nearest
from molyneux.core.config import REQUIRED, dump_document, find_class, plain, short_names
from molyneux.core.config import arguments as constructor
from molyneux.data import World
from molyneux.learn.judges import Judge, load_judge, shipped_judges
from molyneux.learn.nets import Net
from molyneux.learn.objectives import Objective
from molyneux.measure import Measure
from molyneux.measure.disentanglement import METRICS

_FAMILIES: dict[str, tuple[type, str]] = {
    "measures": (Measure, "molyneux.measure"),
    "models": (Trainable, "molyneux.learn"),
    "nets": (Net, ""),
    "objectives": (Objective, ""),
    "worlds": (World, "molyneux.data"),
}
"""By kind: what its classes are, and the room that exports them where that is another than theirs."""

_GIVEN = {"spec"}
"""What is required of nobody, for an experiment knows it."""


def list_things(arguments: Arguments) -> int:
    """`molyneux list KIND` and `molyneux list KIND NAME`."""
    kind, name = arguments.options.kind, arguments.options.name
    if name is not None:
        _tell(about(kind, name), json=arguments.json)
        return 0
    lines = listing(kind)
    if arguments.json:
        say_json(lines)
        return 0
    width = max((len(name) for name in lines), default=0)
    for name, summary in lines.items():
        say(f"{name:<{width}}  {summary}".rstrip())
    return 0


def listing(kind: str, *, configs: Path = Path("configs")) -> dict[str, str]:
    """Names and summaries of everything of a kind, sorted by name.

    Args:
        kind: `configs`, `judges`, `measures`, `metrics`, `models`, `nets`, `objectives` or `worlds`.
        configs: the folder in which experiment files are looked for.
    """
    if kind in _FAMILIES:
        base, room = _FAMILIES[kind]
        return {name: _summary(found) for name, found in short_names(base, package=room).items()}
    others = {"configs": lambda: _configs(configs), "judges": _judges, "metrics": _metrics}
    return dict(others[kind]())


def about(kind: str, name: str) -> dict[str, Any]:
    """What one of a kind does, `says`; for a class also its settings: those `required`, and plain `defaults` of the others.

    Raises:
        ConfigError: there is no such thing.
    """
    if kind not in _FAMILIES:
        known = listing(kind)
        if name not in known:
            raise ConfigError(f"{kind} has no {name!r}; {nearest(name, known)}")
        return {"name": name, "says": known[name]}
    base, room = _FAMILIES[kind]
    found = find_class(class_name(name) if kind == "worlds" else name, base, package=room)
    settings = constructor(found)
    return {
        "name": found.__name__,
        "says": inspect.getdoc(found) or "",
        "required": [name for name, item in settings.items() if item.default is REQUIRED and name not in _GIVEN],
        "defaults": {name: plain(item.default) for name, item in settings.items() if item.default is not REQUIRED},
    }


def _tell(record: dict[str, Any], *, json: bool) -> None:
    if json:
        say_json(record)
        return
    say(f"{record['name']}: {record['says']}")
    if required := record.get("required"):
        say(f"\nRequired: {', '.join(required)}")
    if defaults := record.get("defaults"):
        say(f"\nDefaults:\n{dump_document(defaults)}".rstrip())


def _summary(found: type) -> str:
    return (inspect.getdoc(found) or "").partition("\n")[0]


def _configs(folder: Path) -> Iterator[tuple[str, str]]:
    """Experiment and study files; the first comment line is the summary."""
    for path in sorted(folder.rglob("*.yaml")):
        lines = path.read_text(encoding="utf-8").splitlines()
        comments = (line for line in lines if line.startswith("#") and "$schema=" not in line)
        yield str(path), next(comments, "").lstrip("# ")


def _judges() -> Iterator[tuple[str, str]]:
    """The judges that come with the package, and how they read the factor they read worst."""
    for world, modality in shipped_judges():
        judge = load_judge(world, modality)
        worst = min(share for level in judge.record.accuracy.values() for share in level.values())
        reads = ", ".join(factor.name for factor in judge.record.factors)
        yield f"{world} {modality}", f"Reads {reads}; at least {worst:.1%} right{_refusals(judge)}."


def _metrics() -> Iterator[tuple[str, str]]:
    """The metrics of disentanglement, and the variants that each of them has."""
    for name, metric in METRICS.items():
        yield name, f"{metric.description} Variants: {', '.join(metric.variants)}."


def _refusals(judge: Judge) -> str:
    """How a judge refuses, in the factor and the kind of ghost where it does worst; nothing if it was not examined for it."""
    levels = [judge.doubts(tuple(level)) for level in judge.record.accuracy.values()]
    true = [share for level in levels for share in level.get("true views refused", {}).values()]
    ghosts = [share for level in levels for share in level.get("ghosts refused", {}).values()]
    if not true or not ghosts:
        return ""
    return f"; refuses at most {max(true):.1%} of true views, at least {min(ghosts):.0%} of any kind of ghost"
