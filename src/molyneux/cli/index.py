"""The classes of this package and their settings, read from its source files without importing them.

Importing torch takes seconds, which a list or an error about a misspelt name should not. A test compares this with what an
import finds.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from molyneux.core.tooling.moved import moved_arguments

_ROOT = Path(__file__).parents[2]

FAMILIES: dict[str, tuple[str, ...]] = {
    "auxiliary-objectives": ("molyneux.learn.predictors.objectives", "molyneux.learn.predictors.objectives.AuxiliaryObjective"),
    "benchmarks": ("molyneux.data", "molyneux.data.Benchmark"),
    "corruptions": ("molyneux.data.imperfections", "molyneux.data.imperfections.Corruption"),
    "datasets": ("molyneux.data", "molyneux.data.OwnDataset"),
    "encoders": ("molyneux.learn.encoders", "molyneux.learn.encoders.ViewEncoder"),
    "fusions": ("molyneux.learn.fusion", "molyneux.learn.fusion.Fusion"),
    "imputations": ("molyneux.learn.predictors.imputations", "molyneux.learn.predictors.imputations.Imputation"),
    "measures": ("molyneux.measure", "molyneux.measure.Measure"),
    "models": (
        "molyneux.learn",
        "molyneux.learn.vaes.Autoencoder",
        "molyneux.learn.predictors.Predictor",
        "molyneux.learn.CVAE",
        "molyneux.learn.MLD",
        "molyneux.learn.ContrastiveEncoders",
    ),
    "nets": ("molyneux.learn.encoders.nets", "molyneux.learn.encoders.nets.Net"),
    "objectives": ("molyneux.learn.objectives", "molyneux.learn.objectives.Objective"),
    "worlds": ("molyneux.data", "molyneux.data.World"),
}
"""By kind: the package that exports its classes, and their base classes. It has the classes without open abstract methods."""


GROUPS: dict[str, dict[str, tuple[str, ...]]] = {
    "models": {
        "VAEs of several modalities": ("MultimodalVAE", "MHVAE", "Nexus"),
        "VAEs that generate by diffusion, or by a condition": ("MLD", "CVAE"),
        "Codes of several modalities without a likelihood": ("ContrastiveEncoders", "MaskedTransformer"),
        "Autoencoders of one modality": ("UnimodalAutoencoder",),
        "Predictors from a picture and a text": ("PictureTextPredictor", "PictureOnly", "TextOnly", "VAEAgreement"),
        "Predictors from any modalities": ("Predictor",),
    },
}
"""By kind, titles of groups and the classes or base classes in them; a class is in the first that it fits."""


Annotation = tuple[str, ast.expr]
"""The module in which an annotation stands, and its syntax tree."""


@dataclass(frozen=True, eq=False)
class ClassEntry:
    """A class as its source file describes it: dotted path of module and class, and its syntax tree."""

    path: str
    node: ast.ClassDef

    @property
    def summary(self) -> str:
        """First line of its docstring."""
        return (ast.get_docstring(self.node) or "").partition("\n")[0]

    @cached_property
    def lineage(self) -> list[ClassEntry]:
        """The class and all its bases inside the package, nearest first; what several bases share comes after all of them."""
        names, found = _names(self.module), [self]
        for base in self.node.bases:
            inner = base.value if isinstance(base, ast.Subscript) else base
            above = find(names.get(inner.id, "")) if isinstance(inner, ast.Name) else None
            found += above.lineage if above else []
        return [item for place, item in enumerate(found) if item not in found[place + 1 :]]

    @property
    def methods(self) -> dict[str, ast.FunctionDef]:
        """The methods that its body defines."""
        return {item.name: item for item in self.node.body if isinstance(item, ast.FunctionDef)}

    @property
    def assigned(self) -> dict[str, ast.Assign | ast.AnnAssign]:
        """The names that its body assigns or annotates."""
        targets = ((item, item.targets[0] if isinstance(item, ast.Assign) else item.target) for item in self._assignments)
        return {target.id: item for item, target in targets if isinstance(target, ast.Name)}

    @property
    def _assignments(self) -> Iterator[ast.Assign | ast.AnnAssign]:
        return (item for item in self.node.body if isinstance(item, ast.Assign | ast.AnnAssign))

    @property
    def own_name(self) -> str:
        """The constant `name` of the class, such as `pos-v1`; empty where it has none."""
        value = self.assigned["name"].value if "name" in self.assigned else None
        return str(value.value) if isinstance(value, ast.Constant) else ""

    @property
    def open_methods(self) -> set[str]:
        """Names of abstract methods that neither the class nor a base below theirs defines."""
        missing: set[str] = set()
        for item in reversed(self.lineage):
            abstract = {name for name, method in item.methods.items() if "abstractmethod" in _decorators(method)}
            missing = (missing - item.methods.keys() - item.assigned.keys()) | abstract
        return missing

    @cached_property
    def settings(self) -> set[str]:
        """Names of the arguments of its constructor, as `core.config.arguments` finds them."""
        return {*self.annotations}

    @cached_property
    def annotations(self) -> dict[str, Annotation | None]:
        """The annotations of these arguments, by name; None where there is none."""
        found: dict[str, Annotation | None] = {}
        passed: dict[str, Annotation | None] | None = None
        for item in self.lineage:
            if "dataclass" in _decorators(item.node):
                return {name: kind for part in reversed(self.lineage) for name, kind in _fields(part)} | found
            if (constructor := item.methods.get("__init__")) is None:
                continue
            named = [*constructor.args.args, *constructor.args.kwonlyargs]
            own = {argument.arg: item.annotated(argument.annotation) for argument in named if argument.arg != "self"}
            found = {name: kind for name, kind in own.items() if passed is None or name in passed} | found
            rest = constructor.args.kwarg
            if rest is None:
                break
            if isinstance(rest.annotation, ast.Subscript):  # Unpack[Keys]
                lineage = _known(f"{item.module}.{ast.unparse(rest.annotation.slice)}").lineage
                keys = {
                    name: part.annotated(node.annotation if isinstance(node, ast.AnnAssign) else None)
                    for part in lineage
                    for name, node in part.assigned.items()
                }
                passed = {name: kind for name, kind in keys.items() if passed is None or name in passed}
        return (passed or {}) | found

    @property
    def module(self) -> str:
        """The module that defines it."""
        return self.path.rpartition(".")[0]

    def annotated(self, node: ast.expr | None) -> Annotation | None:
        """An annotation in its source file; None where there is none."""
        return None if node is None else (self.module, node)

    @property
    def earlier(self) -> set[str]:
        """The names that settings had before they were grouped, which are still read (`core.tooling.moved`).

        Where the decorator makes them, the class is imported.
        """
        methods = (item.methods["__init__"] for item in self.lineage if "__init__" in item.methods)
        calls = [node for method in methods for node in method.decorator_list if isinstance(node, ast.Call)]
        words = [word.arg for call in calls if ast.unparse(call.func) == "moved" for word in call.keywords]
        if None not in words:
            return {word for word in words if word}
        module, _, name = self.path.rpartition(".")
        return {*moved_arguments(getattr(importlib.import_module(module), name))}


@cache
def classes(kind: str) -> dict[str, ClassEntry]:
    """The concrete classes of a family by name, sorted."""
    package, *bases = FAMILIES[kind]
    roots = {_resolved(base) for base in bases}
    entries = ((name, find(path)) for name, path in _exports(package).items())
    found = {name: item for name, item in entries if item and any(part.path in roots for part in item.lineage)}
    return {name: item for name, item in sorted(found.items()) if not item.open_methods}


def named(kind: str, name: str) -> ClassEntry | None:
    """The class that an experiment file names, whatever its case and underscores; the files of the others are not read."""
    package = FAMILIES[kind][0]
    names = ast.literal_eval(_all(package))
    return next((find(f"{package}.{each}") for each in reversed(names) if folded(each) == folded(name)), None)


def groups(kind: str) -> dict[str, list[str]]:
    """The names of a family by the titles of its groups."""
    found: dict[str, list[str]] = {title: [] for title in GROUPS[kind]}
    for name, entry in classes(kind).items():
        bases = {part.path.rpartition(".")[2] for part in entry.lineage}
        title = next((title for title, of in GROUPS[kind].items() if bases & set(of)), "Others")
        found.setdefault(title, []).append(name)
    return found


def world_names() -> list[str]:
    """What worlds are called on the command line: their own names without the version, else those of their classes."""
    return [entry.own_name.partition("-v")[0] or name for name, entry in classes("worlds").items()]


def find_class(kind: str, name: str) -> ClassEntry | None:
    """The class of a name, whatever its case and underscores, or of its own name, such as `pos-v1` or `pos`."""
    for short, entry in classes(kind).items():
        own = entry.own_name
        if folded(name) in (folded(short), folded(own), folded(own.partition("-v")[0])):
            return entry
    return None


def folded(name: str) -> str:
    """A name without what does not count in it."""
    return name.replace("_", "").replace("-", "").lower()


@cache
def find(path: str) -> ClassEntry | None:
    """The class at a dotted path; None if there is none in this package."""
    path = _resolved(path)
    module, _, name = path.rpartition(".")
    nodes = _module(module).body
    return next((ClassEntry(path, node) for node in nodes if isinstance(node, ast.ClassDef) and node.name == name), None)


def assigned(module: str, name: str) -> Annotation:
    """What a module of this package, or the one that it imports the name from, assigns to a name.

    Raises:
        LookupError: none does.
    """
    home, _, name = _resolved(f"{module}.{name}").rpartition(".")
    for node in _module(home).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
            return home, node.value
    raise LookupError(f"{module}.{name}")


def _known(path: str) -> ClassEntry:
    found = find(path)
    assert found is not None, path
    return found


@cache
def _module(name: str) -> ast.Module:
    """The syntax tree of a module of this package; an empty one for other modules."""
    base = _ROOT.joinpath(*name.split("."))
    for path in (base / "__init__.py", base.with_suffix(".py")) if name.split(".")[0] == "molyneux" else ():
        if path.is_file():
            return ast.parse(path.read_text(encoding="utf-8"))
    return ast.Module([], [])


@cache
def _names(module: str) -> dict[str, str]:
    """What the names of a module stand for: dotted paths, of its own classes and of what it imports from this package."""
    found: dict[str, str] = {}
    for node in ast.walk(_module(module)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("molyneux"):
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return found | {node.name: f"{module}.{node.name}" for node in _module(module).body if isinstance(node, ast.ClassDef)}


def _resolved(path: str) -> str:
    """The path of the module that defines a class, following re-exports."""
    module, _, name = path.rpartition(".")
    further = _names(module).get(name, path)
    return path if further == path else _resolved(further)


def _exports(package: str) -> dict[str, str]:
    """Names in a package's `__all__` and where they are defined."""
    return {name: _resolved(f"{package}.{name}") for name in ast.literal_eval(_all(package))}


def _all(package: str) -> ast.expr:
    """What stands after `__all__ =` in a package."""
    for node in _module(package).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return node.value
    return ast.List([])


def _decorators(node: ast.ClassDef | ast.FunctionDef) -> str:
    return " ".join(map(ast.unparse, node.decorator_list))


def _fields(entry: ClassEntry) -> Iterator[tuple[str, Annotation | None]]:
    """The fields of a dataclass that its constructor takes, with their annotations."""
    if "dataclass" in _decorators(entry.node):
        for name, item in entry.assigned.items():
            value = ast.unparse(item.value) if item.value else ""
            if isinstance(item, ast.AnnAssign) and "ClassVar" not in ast.unparse(item.annotation) and "init=False" not in value:
                yield name, entry.annotated(item.annotation)
