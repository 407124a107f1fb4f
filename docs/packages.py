"""The reference of packages in parts: of each a table of its names, and the directive that shows them; used by `tables.py`."""

from __future__ import annotations

import importlib
import inspect
import re
from functools import cache

PARTS: dict[str, tuple[str, ...]] = {
    "core.samples": ("batch", "dataset", "spec", "sources", "reader", "understood", "conversion", "features"),
    "core.rest": (),
    "data.molyneux": ("worlds.molyneux_shapes",),
    "data.worlds": ("worlds",),
    "data.foils": tuple(f"benchmarks.{name}" for name in ("clevr", "crepe", "nlvr", "sugarcrepe", "winoground")),
    "data.benchmarks": ("benchmarks",),
    "data.rest": (),
    "learn.single": ("vaes.unimodal", "vaes.hsvae"),
    "learn.products": tuple(
        f"vaes.{name}" for name in ("mvae", "gpoe", "mvtcae", "crmvae", "dmvae", "helvae", "codevae", "mopoe")
    ),
    "learn.mixtures": tuple(f"vaes.{name}" for name in ("mmvae", "mmvae_plus", "idmvae", "cmvae", "mmjsd", "mmvm")),
    "learn.joint": ("vaes",),
    "learn.representations": ("representations",),
    "learn.predictors": ("predictors",),
    "learn.pretrained": ("pretrained",),
    "learn.judges": ("judges",),
    "learn.rest": (),
    "measure.prediction": ("prediction", "robustness", "complexity", "trained_control"),
    "measure.codes": ("disentanglement", "clustering", "projection", "posterior_gap", "homotopy", "traversals"),
    "measure.rest": (),
    "report.studies": ("study", "leaderboard", "aggregation"),
    "report.rest": (),
    "run.trained": ("trained", "sharing"),
    "run.studies": ("studies", "cluster", "comparison", "model_report"),
    "run.rest": (),
}
"""By part of a room: the modules whose public names it shows, `()` for all that no part before it shows."""


def api_table(part: str) -> str:
    """The names of a part of a room, such as `learn.products`, as a table and as a directive of mkdocstrings."""
    room = part.partition(".")[0]
    names = names_of(part)
    package = f"molyneux.{room}"
    rows = [f"| [`{name}`][{package}.{name}] | {_said(package, name)} |" for name in sorted(names, key=str.lower)]
    table = "\n".join(["| name | what it is |", "| :--- | :--- |", *rows, ""])
    members = ", ".join(names)
    hidden = "".join(f"      show_{part}: false\n" for part in ("submodules", "root_heading", "root_toc_entry"))
    options = f"    options:\n      members: [{members}]\n{hidden}"
    return f"{table}\n::: {package}\n{options}      heading_level: 2\n"


@cache
def names_of(part: str) -> tuple[str, ...]:
    """The public names of a part: those that its modules define and that no part before it has."""
    room = part.partition(".")[0]
    module = importlib.import_module(f"molyneux.{room}")
    homes = {
        name: str(getattr(getattr(module, name), "__module__", "")).removeprefix(f"molyneux.{room}.") for name in module.__all__
    }
    taken = {name for other in PARTS if other.startswith(f"{room}.") and _before(other, part) for name in names_of(other)}
    return tuple(name for name in module.__all__ if name not in taken and _is_in(homes[name], PARTS[part]))


def _before(other: str, part: str) -> bool:
    order = list(PARTS)
    return order.index(other) < order.index(part)


def _is_in(home: str, modules: tuple[str, ...]) -> bool:
    return not modules or any(home == module or home.startswith(f"{module}.") for module in modules)


def _said(package: str, name: str) -> str:
    """The first sentence of a description; empty for constants and names of types."""
    item = getattr(importlib.import_module(package), name)
    if not (inspect.isclass(item) or inspect.isroutine(item)):
        return "a constant or the name of a type"
    text = " ".join((inspect.getdoc(item) or "").split("\n\n")[0].split())
    return re.split(r"(?<=[a-z)`\d])[.] (?=[A-Z])", text)[0].removesuffix(".").replace("|", "\\|")
