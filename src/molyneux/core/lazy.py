"""Names of a package that are imported when they are first used, so that importing the package costs nothing."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
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
