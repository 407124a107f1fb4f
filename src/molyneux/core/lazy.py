"""Imports: names that wait for their first use, and libraries without the settings of a folder or for their version alone."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any


def lazy_names(package: str) -> Callable[[str], Any]:
    """The `__getattr__` (PEP 562) of a package whose `__init__.py` imports its names only under `if TYPE_CHECKING`."""
    module = sys.modules[package]
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    homes = {alias.name: node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}

    def find(name: str) -> Any:
        if name not in homes or name not in module.__all__:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(str(homes[name])), name)
        setattr(module, name, found)
        return found

    return find


class _LaterModule(ModuleType):
    """Stands for a module until one of its names is asked for."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self.__name__), name)


def lazy_module(name: str) -> Any:
    """A module that is imported when one of its names is first asked for; torch takes longer than all else of a short command.

    For functions alone: what a module does with it when it is imported itself would import it.

    >>> lazy_module("math").floor(2.5)
    2
    """
    return _LaterModule(name)


@contextmanager
def settings_apart(library: str) -> Iterator[bool]:
    """Inside, a library is imported that reads settings from the working folder, which may be a stranger's: it finds none there.

    Args:
        library: name of its package.

    Returns:
        Whether it was not imported before; otherwise nothing is changed.
    """
    new = library not in sys.modules
    try:
        inside = chdir(Path(__file__).parent) if new and Path.cwd() else nullcontext()
    except FileNotFoundError:  # the working folder was removed
        inside = nullcontext()
    with inside:
        yield new


@contextmanager
def version_alone(library: str) -> Iterator[None]:
    """Inside, a library that was not imported before is a module with its `__version__` and nothing else.

    It is for the import of another library that asks for that version and for nothing else, where the library takes seconds.
    """
    stand_in = ModuleType(library)
    try:
        stand_in.__dict__["__version__"] = importlib.metadata.version(library)
        new = sys.modules.setdefault(library, stand_in) is stand_in
    except importlib.metadata.PackageNotFoundError:
        new = False
    try:
        yield
    finally:
        if new:
            sys.modules.pop(library, None)
