"""What the package holds, read from its source files without importing them.

Importing torch takes longer than a list is worth waiting for. A family (`models`, `worlds`, ...) is the exported classes of a
package below a base class that leave none of its abstract methods open; a test compares this with what is imported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).parents[2]

FAMILIES: dict[str, tuple[str, str]] = {
    "benchmarks": ("molyneux.data", "molyneux.data.Benchmark"),
    "corruptions": ("molyneux.data.imperfections", "molyneux.data.imperfections.Corruption"),
    "measures": ("molyneux.measure", "molyneux.measure.Measure"),
    "models": ("molyneux.learn", "molyneux.learn.vaes.Autoencoder"),
    "nets": ("molyneux.learn.nets", "molyneux.learn.nets.Net"),
    "objectives": ("molyneux.learn.objectives", "molyneux.learn.objectives.Objective"),
    "worlds": ("molyneux.data", "molyneux.data.World"),
}
"""By kind: the package that exports its classes, and their base class."""


@dataclass(frozen=True)
class Entry:
    """A class as its source file describes it.

    Args:
        path: dotted path of module and class.
        summary: first line of its docstring.
        attributes: constant attributes of the class.
        bases: dotted paths of its base classes.
        abstract: names of its own abstract methods.
        defined: every name that its body defines.
    """

    path: str
    summary: str
    attributes: dict[str, object]
    bases: tuple[str, ...]
    abstract: frozenset[str]
    defined: frozenset[str]


def classes(kind: str) -> dict[str, Entry]:
    """The concrete classes of a family by name, sorted."""
    package, base = FAMILIES[kind]
    root = _resolved(base)
    entries = {name: _entry(path) for name, path in _exports(package).items()}
    found = {name: item for name, item in entries.items() if item is not None and _is_below(item, root) and not _open(item)}
    return dict(sorted(found.items()))


def summaries(kind: str) -> dict[str, str]:
    """Name and first line of the docstring of every class of a family, sorted."""
    return {name: entry.summary for name, entry in classes(kind).items()}


def _is_below(entry: Entry, root: str) -> bool:
    return any(item.path == root for item in _lineage(entry)[1:])


def _open(entry: Entry) -> set[str]:
    """Names of abstract methods that neither the class nor a base below theirs defines."""
    missing: set[str] = set()
    for item in reversed(_lineage(entry)):
        missing = (missing - item.defined) | item.abstract
    return missing


def _lineage(entry: Entry) -> list[Entry]:
    """The class and all its bases inside the package, nearest first."""
    found = [entry]
    for base in entry.bases:
        above = _entry(base)
        found += [item for item in (_lineage(above) if above is not None else []) if item not in found]
    return found


@cache
def _module(name: str) -> tuple[ast.Module, str] | None:
    """The syntax tree of a module of this package, and the package it is in; None for other modules."""
    base = _ROOT.joinpath(*name.split("."))
    for path, package in ((base / "__init__.py", name), (base.with_suffix(".py"), name.rpartition(".")[0])):
        if name.split(".")[0] == "molyneux" and path.is_file():
            return ast.parse(path.read_text(encoding="utf-8")), package
    return None


@cache
def _names(module: str) -> dict[str, str]:
    """What the names of a module stand for: dotted paths, of its own classes and of what it imports from this package."""
    parsed = _module(module)
    found: dict[str, str] = {}
    for node in parsed[0].body if parsed else ():
        if isinstance(node, ast.ClassDef):
            found[node.name] = f"{module}.{node.name}"
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("molyneux"):
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _resolved(path: str) -> str:
    """The path of the module that defines a class, following re-exports."""
    for _ in range(8):
        module, _, name = path.rpartition(".")
        further = _names(module).get(name, path)
        if further == path:
            break
        path = further
    return path


def _exports(package: str) -> dict[str, str]:
    """Names in a package's `__all__` and where they are defined."""
    parsed = _module(package)
    listed = [
        item.value
        for node in (parsed[0].body if parsed else ())
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__" and isinstance(node.value, ast.List)
        for item in node.value.elts
        if isinstance(item, ast.Constant) and isinstance(item.value, str)
    ]
    return {name: _resolved(f"{package}.{name}") for name in listed}


@cache
def _entry(path: str) -> Entry | None:
    """The class at a dotted path; None if there is none in this package."""
    path = _resolved(path)
    module, _, name = path.rpartition(".")
    parsed = _module(module)
    for node in parsed[0].body if parsed else ():
        if isinstance(node, ast.ClassDef) and node.name == name:
            names = _names(module)
            bases = tuple(names[base] for base in _base_names(node) if base in names)
            summary = (ast.get_docstring(node) or "").partition("\n")[0]
            methods = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
            abstract = frozenset(
                name
                for name, item in methods.items()
                if any("abstractmethod" in ast.unparse(decorator) for decorator in item.decorator_list)
            )
            attributes = dict(_attributes(node))
            annotated = {
                item.target.id for item in node.body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
            }
            defined = frozenset(methods) - abstract | frozenset(attributes) | annotated
            return Entry(path, summary, attributes, bases, abstract, defined)
    return None


def _base_names(node: ast.ClassDef) -> Iterator[str]:
    for base in node.bases:
        inner = base.value if isinstance(base, ast.Subscript) else base
        if isinstance(inner, ast.Name):
            yield inner.id


def _attributes(node: ast.ClassDef) -> Iterator[tuple[str, object]]:
    """Class attributes that are constants."""
    for item in node.body:
        target = item.targets[0] if isinstance(item, ast.Assign) else item.target if isinstance(item, ast.AnnAssign) else None
        value = item.value if isinstance(item, ast.Assign | ast.AnnAssign) else None
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant):
            yield target.id, value.value
