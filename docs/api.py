"""The order of the reference: of each package first the classes of its family, then other classes, functions and constants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import griffe


class FamiliesFirst(griffe.Extension):
    """Orders `__all__` of every package, by which its page is ordered, and leaves `__all__` itself out.

    A family is an abstract class of this project and at least two exported classes that derive from it. Its classes come before
    the abstract class.
    """

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **_: Any) -> None:
        """Order every package below this one."""
        loader.resolve_aliases(implicit=True)
        for module in _modules(pkg):
            for name in [name for name, item in module.members.items() if _is_outside(item, pkg)]:
                del module.members[name]
            if module.path.count(".") == 1:
                module.docstring = None  # the pages of a room say what it is
            if isinstance(module.exports, list):
                _order(module)
                module.members.pop("__all__", None)


def _modules(module: griffe.Module) -> Iterator[griffe.Module]:
    yield module
    for inner in module.modules.values():
        if not inner.is_alias:
            yield from _modules(inner)


def _is_outside(item: Any, package: griffe.Module) -> bool:
    """Whether a name of a module stands for something of another project, of which nothing is known here."""
    return bool(item.is_alias) and not item.target_path.startswith(f"{package.path}.")


def _order(module: griffe.Module) -> None:
    names = [str(name) for name in module.exports or ()]
    known = {name: module[name] for name in names if name in module.members}
    classes = {name: item for name, item in known.items() if item.is_class}
    above = {name: {base.path for base in item.mro() if _is_abstract(base)} for name, item in classes.items()}
    counts = [path for paths in above.values() for path in paths]
    families = {path for path in counts if counts.count(path) > 1}

    def rank(name: str) -> tuple[int, int]:
        item = known.get(name)
        if name in classes:
            family, abstract = bool(above[name] & families), _is_abstract(classes[name])
            place = 0 if family and not abstract else 1 if family or _own(classes[name]).path in families else 2
        else:
            place = 3 if item is not None and item.is_function else 4
        return place, names.index(name)

    module.exports = sorted(names, key=rank)


def _is_abstract(item: Any) -> bool:
    """Whether a class leaves a method to those below it."""
    return any("abstractmethod" in member.labels for member in _own(item).members.values() if not member.is_alias)


def _own(item: Any) -> Any:
    """The class itself, where a name stands for a class of another module."""
    return item.final_target if item.is_alias else item
