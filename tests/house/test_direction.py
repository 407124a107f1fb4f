"""Rooms import only core, never each other; no file or folder imports another in a circle; sizes stay within their budgets."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "molyneux"
ROOMS = ("data", "learn", "measure", "report")
ALLOWED = {"core": {"core"}, **{room: {"core", room} for room in ROOMS}}
FILES = sorted(SOURCE.rglob("*.py"))


def name_of(path):
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path):
    """Absolute module names of the package imported by a file, for type checking too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_room_imports_only_core_and_itself(path):
    parts = name_of(path).split(".")
    if len(parts) < 2 or parts[1] not in ALLOWED:
        pytest.skip("a face of the house, not a room")
    wrong = [
        target
        for target in imported(path)
        if target.startswith("molyneux.")
        and target.split(".")[1] in (*ROOMS, "run", "cli", "studio")
        and target.split(".")[1] not in ALLOWED[parts[1]]
    ]
    assert wrong == []


def graph_of_files():
    """By file, the other files of the package that it imports; what an `__init__` exports counts as imported from there."""
    names = {name_of(path): path for path in FILES}
    graph = {name: set() for name in names}
    for name, path in names.items():
        for target in imported(path):
            owner = target if target in names else target.rpartition(".")[0]
            if owner in names and owner != name and not name.startswith(owner + "."):
                graph[name].add(owner)
    return graph


def require_no_circle(graph):
    done, path = set(), []

    def visit(name):
        assert name not in path, f"circle: {' -> '.join([*path[path.index(name) :], name])}"
        if name in done:
            return
        path.append(name)
        for target in sorted(graph.get(name, ())):
            visit(target)
        path.pop()
        done.add(name)

    for name in sorted(graph):
        visit(name)


def test_no_circles():
    require_no_circle(graph_of_files())


@pytest.mark.parametrize("room", ["core", *ROOMS, "run", "cli", "studio"])
def test_folders_import_each_other_one_way(room):
    """Neighbours (files and folders of one folder) form no circle: each folder is above or below another one."""
    folders = {}
    for name, targets in graph_of_files().items():
        for target in targets:
            both = list(zip(name.split("."), target.split("."), strict=False))
            depth = next((depth for depth, (one, other) in enumerate(both) if one != other), 0)
            if depth >= 2 and name.split(".")[1] == room:
                ends = (".".join(path.split(".")[: depth + 1]) for path in (name, target))
                folders.setdefault(next(ends), set()).add(next(ends))
    require_no_circle(folders)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_sizes_and_names(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400
    assert not {"utils", "helpers", "common", "misc"} & set(name_of(path).split("."))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            first = node.body[0]
            docstring = (
                isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
            )
            lines = node.end_lineno - node.lineno + 1 - (first.end_lineno - first.lineno + 1 if docstring else 0)
            assert lines <= 60, f"{node.name} has {lines} lines"


def test_a_class_name_has_one_meaning():
    places = {}
    for path in FILES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(name_of(path))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
