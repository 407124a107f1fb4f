"""What CONTRIBUTING.md asks of an addition is all that it needs: one of each kind, in a copy, passes the checks of the package.

The files in `additions/` are the classes. Each is copied to its folder and listed in the `__init__` of its packages; a model, a
measure and a fusion get their section in `formulas.md`, the data set the writer of its twin; nothing else is changed. Tables of
the documentation are made with `make tables`, which is not done here.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTRACTS = ("tests/house", "tests/cli/test_formulas.py", "tests/test_public_names.py")
"""Checks of the whole package, beside the contract of each family."""


@dataclass(frozen=True)
class Addition:
    """A class that is added.

    Args:
        name: of the class; its file has the name in lower case with underscores.
        folder: of the package, where its file goes.
        packages: dotted names below `molyneux` of those that list it.
        contract: the file of tests that finds it in the list.
        kind: heading of `formulas.md` below which its formula stands; empty for what has none.
    """

    name: str
    folder: str
    packages: tuple[str, ...]
    contract: str
    kind: str = ""

    @property
    def module(self) -> str:
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", self.name).lower()


ADDITIONS = (
    Addition("Coins", "data/worlds", ("data.worlds", "data"), "tests/data/worlds/test_contract.py"),
    Addition(
        "Lamps",
        "data/benchmarks",
        ("data.benchmarks", "data"),
        "tests/data/benchmarks/test_contract.py",
    ),
    Addition("PlainProduct", "learn/vaes", ("learn.vaes", "learn"), "tests/learn/vaes/test_contract.py", "Models"),
    Addition("Squares", "learn/fusion", ("learn.fusion",), "tests/learn/fusion/test_contract.py", "Fusions"),
    Addition("CodeLength", "measure", ("measure",), "tests/measure/test_measures.py", "Measures"),
)


def listed(init: str, name: str, module: str) -> str:
    """The text of an `__init__` with one more name, in its order."""
    first = re.search(r"^( *)from molyneux\.", init, re.MULTILINE)
    assert first is not None
    init = f"{init[: first.start()]}{first[1]}from {module} import {name}\n{init[first.start() :]}"
    start, end = re.search(r"^__all__ = \[\n", init, re.MULTILINE).end(), init.index("]", init.index("__all__ = ["))
    return f'{init[:start]}    "{name}",\n{init[start:end]}{init[end:]}'


def with_twin(twins: str, module: str, name: str) -> str:
    """The text of the writers of twins with one more."""
    writer = (Path(__file__).parent / "additions" / f"{module}_twin.py").read_text(encoding="utf-8")
    writer = writer[writer.index(f"def _{module}(") :]
    twins = twins.replace("    kinetics,\n", f"    kinetics,\n    {module},\n", 1)
    return re.sub(
        r"^(WRITERS: .*= \{\n)", rf"{writer}\n\n\1    {module}.{name}: _{module},\n", twins, count=1, flags=re.MULTILINE
    )


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with its tests and the additions."""
    place = tmp_path_factory.mktemp("copy")
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, place / name)
    for name in ("conftest.py", "pyproject.toml", "README.md"):
        shutil.copy2(ROOT / name, place / name)
    package = place / "src" / "molyneux"
    formulas = package / "cli" / "formulas.md"
    for added in ADDITIONS:
        shutil.copy2(Path(__file__).parent / "additions" / f"{added.module}.py", package / added.folder)
        module = f"molyneux.{added.folder.replace('/', '.')}.{added.module}"
        for name in added.packages:
            init = package.joinpath(*name.split("."), "__init__.py")
            init.write_text(listed(init.read_text(encoding="utf-8"), added.name, module), encoding="utf-8")
            module = f"molyneux.{name}"
        if added.kind:
            text = formulas.read_text(encoding="utf-8")
            section = f"## {added.kind}\n\n### {added.name}\n\n$$\nx = \\sum_{{d=1}}^{{D}} z_d^{{2}}\n$$\n"
            formulas.write_text(text.replace(f"## {added.kind}\n", section, 1), encoding="utf-8")
    twins = package / "data" / "benchmarks" / "twins" / "multibench.py"
    twins.write_text(with_twin(twins.read_text(encoding="utf-8"), "lamps", "Lamps"), encoding="utf-8")
    fixed = [sys.executable, "-m", "ruff", "check", "--fix", "--quiet", str(place / "src")]
    done = subprocess.run(fixed, capture_output=True, text=True, cwd=place, check=False)  # orders the lists, as `make lint` asks
    assert done.returncode == 0, done.stdout
    return place


def run(copy: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """What Python makes of these words with the copied package."""
    environment = {**os.environ, "PYTHONPATH": str(copy / "src")}
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=copy, env=environment, check=False)


def test_each_kind_passes_the_checks_of_the_house(copy: Path) -> None:
    names = [word for one in ADDITIONS for word in (one.name, one.module)]
    files = dict.fromkeys([*CONTRACTS, *(one.contract for one in ADDITIONS)])
    chosen = " or ".join([*names, "everything_has_a_formula", "exports"])
    done = run(copy, "-m", "pytest", "-v", "-n", "0", *files, "-k", chosen)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    for one in ADDITIONS:
        assert re.search(rf"{one.contract}::.*{one.name}.* PASSED", done.stdout), one.name
        assert re.search(rf"test_room_imports_only_core_and_itself.*{one.module}.* PASSED", done.stdout), one.module


def test_each_kind_is_found_by_its_name_and_has_a_schema(copy: Path) -> None:
    code = "import json; from molyneux.run import experiment_schema; print(json.dumps(experiment_schema()))"
    schema = run(copy, "-c", code)
    assert schema.returncode == 0, schema.stderr
    for added in ADDITIONS:
        assert f'"{added.name}"' in schema.stdout, added.name


def test_contributing_names_all_that_they_need() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    folders = [f"src/molyneux/{one.folder}/" for one in ADDITIONS]
    for word in ("formulas.md", "write_twin", "__all__", "make tables", "CHANGELOG.md", *folders):
        assert word in text, word
