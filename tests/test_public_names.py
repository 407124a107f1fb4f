"""The public names are one sorted list, and everything in it can be imported; nothing heavy is imported before it is used."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import molyneux

SOURCE = Path(molyneux.__file__)
HEAVY = ("lightning", "matplotlib", "numba", "numpy", "optuna", "rich", "scipy", "sklearn", "torch", "transformers", "yaml")


def test_every_name_can_be_imported_and_is_what_the_rooms_export() -> None:
    for name in molyneux.__all__:
        assert getattr(molyneux, name) is not None
    checked = {
        alias.name
        for node in ast.walk(ast.parse(SOURCE.read_text()))
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
        if isinstance(inner, ast.ImportFrom)
        for alias in inner.names
    }
    assert {*checked, "__version__"} == set(molyneux.__all__)
    assert dir(molyneux) == sorted(molyneux.__all__)


def test_unknown_names_are_no_attributes() -> None:
    with pytest.raises(AttributeError, match="module 'molyneux' has no attribute 'Nothing'"):
        molyneux.Nothing  # noqa: B018
    assert not hasattr(molyneux, "torch")


@pytest.mark.parametrize("room", ["core", "core.config", "data", "learn", "measure", "report", "run", "cli"])
def test_each_room_exports_one_list_without_doubles(room: str) -> None:
    module = __import__(f"molyneux.{room}", fromlist=["__all__"])
    assert len(set(module.__all__)) == len(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)


@pytest.mark.parametrize(
    "what", ["import molyneux, molyneux.core", "import molyneux.cli", "import molyneux.cli; molyneux.cli.main(['--help'])"]
)
def test_nothing_heavy_is_imported_early(what: str) -> None:
    code = f"import sys\ntry:\n    {what}\nfinally:\n    print([n for n in {HEAVY} if n in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr.strip().endswith("[]")


def test_commands_wait_for_no_statistics() -> None:
    """scikit-learn, scipy.stats and transformers take seconds to import, which only what uses them needs."""
    code = "import sys, molyneux.cli.commands, molyneux.cli.worlds\nprint([n for n in sys.modules if n in {}])"
    late = ("lightning", "matplotlib", "optuna", "scipy.stats", "sklearn", "transformers")
    done = subprocess.run([sys.executable, "-c", code.format(late)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_waits_for_nothing_heavy() -> None:
    code = "import atexit, runpy, sys\natexit.register(lambda: print([n for n in sys.modules if n in {}]))\n"
    code += "sys.argv = ['molyneux', '--help']\nrunpy.run_module('molyneux', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code.format(HEAVY)], capture_output=True, text=True, check=True)
    assert "molyneux" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("room", ["core", "data", "learn", "report", "run"])
def test_public_functions_take_paths_as_text_too(room: str) -> None:
    """Who writes `open_evaluation("runs/mine")` is right. Constructors say `Path` in their schema, and convert."""
    module = __import__(f"molyneux.{room}", fromlist=["__all__"])
    found = [getattr(module, name) for name in module.__all__]
    functions = {item.__name__: inspect.unwrap(item) for item in found if inspect.isfunction(item)}
    own = {name: item for name, item in functions.items() if name not in INSIDE}
    strict = [
        f"{name}({argument})"
        for name, item in own.items()
        for argument, kind in item.__annotations__.items()
        if argument != "return" and "Path" in str(kind) and "str" not in str(kind)
    ]
    assert strict == []


INSIDE = ("realise_with_ace", "train_judge")
"""Functions whose folders come from other functions of the package."""
