"""The public names are one sorted list, and everything in it can be imported; nothing heavy is imported before it is used."""

import ast
import importlib
import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import molyneux
from molyneux.core.config import dump_document, override, read_document

SOURCE = Path(molyneux.__file__)
MOST = {"run": 195, "report": 46, "CdSprites": 45, "list worlds": 16}
"""Files of this package that are imported: by a run of the quickstart to its page, by `molyneux report`, and so on."""
QUICKSTART = Path(__file__).parents[1] / "configs" / "quickstart.yaml"
TINY = {"data.train": 64, "data.validation": 16, "data.test": 32, "learn.steps": 4, "learn.model.init_args.prior": None}
"""Settings of the quickstart that make it short."""
HEAVY = ("matplotlib", "numba", "numpy", "optuna", "rich", "scipy", "sklearn", "torch", "transformers", "yaml")


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
    "what",
    [
        "import molyneux, molyneux.core, molyneux.report, molyneux.run",
        "import molyneux.cli",
        "import molyneux.cli; molyneux.cli.main(['--help'])",
    ],
)
def test_nothing_heavy_is_imported_early(what: str) -> None:
    code = f"import sys\ntry:\n    {what}\nfinally:\n    print([n for n in {HEAVY} if n in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr.strip().endswith("[]")


def test_no_public_name_that_is_imported_late_is_a_module_too() -> None:
    """The import of the module would take its place."""
    late = [path for path in SOURCE.parent.rglob("__init__.py") if "lazy_names(__name__)" in path.read_text()]
    assert len(late) > 5
    for path in late:
        package = importlib.import_module(".".join(path.relative_to(SOURCE.parents[1]).parent.parts))
        assert [name for name in package.__all__ if (path.parent / f"{name}.py").exists() or (path.parent / name).is_dir()] == []


def imported_by(*words: str) -> list[str]:
    """Modules of this package and of torch that a command imports in a process of its own."""
    code = "import atexit, sys\natexit.register(lambda: print([n for n in sys.modules if n.startswith(('molyneux', 'torch'))]))\n"
    code += f"import molyneux.cli\nmolyneux.cli.main({[*words]!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found: list[str] = ast.literal_eval(done.stdout.splitlines()[-1])
    return found


def test_a_run_and_its_report_import_what_they_need(tmp_path: Path) -> None:
    """Of a stored run, `molyneux report` imports what reads records and draws, and writes the same page as the run did."""
    settings, folder = tmp_path / "toy.yaml", tmp_path / "run"
    tree = read_document(QUICKSTART)
    for name, value in TINY.items():
        tree = override(tree, name, value)
    settings.write_text(dump_document(tree))
    run = imported_by("run", str(settings), "--out", str(folder), "--quiet")
    assert len(ours := [name for name in run if name.startswith("molyneux")]) <= MOST["run"], ours
    assert "torchmetrics" not in run
    pages = {path.name: path.read_bytes() for path in (folder / "report").glob("report.*")}
    shutil.rmtree(folder / "report")
    report = imported_by("report", str(folder), "--quiet")
    assert [name for name in report if name.startswith("torch")] == []
    assert len(report) <= MOST["report"], report
    assert {path.name: path.read_bytes() for path in (folder / "report").glob("report.*")} == pages


def test_lists_import_no_class() -> None:
    assert len(found := imported_by("list", "worlds")) <= MOST["list worlds"], found


def test_one_world_is_imported_without_the_others() -> None:
    code = "import sys\nfrom molyneux import CdSprites\nprint([n for n in sys.modules if n.startswith('molyneux')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = ast.literal_eval(done.stdout)
    assert len(found) <= MOST["CdSprites"], found
    assert [name for name in found if name.startswith("molyneux.learn")] == []


def test_a_class_is_found_without_the_others() -> None:
    """The short name and the dotted path of a model import its file, and no other model."""
    code = "import sys\nfrom molyneux.core import Trainable\nfrom molyneux.core.config import find_class\n"
    code += "found = find_class('mvae', Trainable, package='molyneux.learn')\n"
    code += "assert found is find_class('molyneux.learn.MVAE', Trainable)\n"
    code += (
        "print([n for n in sys.modules if n.startswith(('molyneux.learn.vaes', 'molyneux.learn.predictors', 'molyneux.data'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = {name.rpartition(".")[2] for name in ast.literal_eval(done.stdout)}
    assert "mvae" in found
    assert found.isdisjoint({"mmvae", "mopoe", "fusion_predictor", "predictors", "data"})


def test_commands_wait_for_no_statistics() -> None:
    """scikit-learn, scipy.stats and transformers take seconds to import, which only what uses them needs."""
    code = "import sys, molyneux.cli.worlds, molyneux.run.run.steps\nprint([n for n in sys.modules if n in {}])"
    late = ("matplotlib", "optuna", "scipy.stats", "sklearn", "transformers")
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
