"""The names of `molyneux`, room by room: what each is, by the first sentence of its description."""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from pathlib import Path

import molyneux


@cache
def _homes() -> dict[str, str]:
    """By name, the room that it is imported from."""
    tree = ast.parse(Path(str(molyneux.__file__)).read_text(encoding="utf-8"))
    return {
        alias.name: str(node.module).removeprefix("molyneux.")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("molyneux.")
        for alias in node.names
        if alias.name in molyneux.__all__
    }


def names_table(room: str) -> str:
    """The public names of a room that `import molyneux` has, and what each is."""
    rows = [f"| [`{name}`][molyneux.{room}.{name}] | {_said(name)} |" for name, home in sorted(_homes().items()) if home == room]
    return "\n".join(["| name | what it is |", "| :--- | :--- |", *rows, ""]) if rows else ""


def _said(name: str) -> str:
    """The first sentence of a description."""
    text = " ".join((inspect.getdoc(getattr(molyneux, name)) or "").split("\n\n")[0].split())
    return re.split(r"(?<=[a-z)`\d])[.] (?=[A-Z])", text)[0].removesuffix(".").replace("|", "\\|")
