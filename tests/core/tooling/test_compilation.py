"""What is compiled is kept once for all processes, and says that it takes time."""

import os
import subprocess
import sys
from pathlib import Path

from molyneux.core.tooling.compiled import LOGGER, compilation_time, compiled, kernel_folder

MODULE = """
import sys, logging
from molyneux.core.tooling.compiled import compilation_time, compiled

@compiled
def twice(x):
    return x + x

if __name__ == "__main__":
    kind = {"int": int, "float": float}[sys.argv[1]]
    with compilation_time() as spent:
        assert twice(kind(2)) == 4
    print(spent.seconds > 0)
"""


def started(path: Path, kind: str, folder: Path) -> "subprocess.Popen[str]":
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    return subprocess.Popen([sys.executable, str(path), kind], stdout=subprocess.PIPE, text=True, env=variables)


def test_processes_that_compile_at_once_keep_what_is_theirs(tmp_path: Path) -> None:
    """Numba counts the files of signatures: two processes would give two signatures the same."""
    path, folder = tmp_path / "doubling.py", tmp_path / "cache"
    path.write_text(MODULE, encoding="utf-8")
    first = [started(path, kind, folder) for kind in ("int", "float")]
    assert [each.communicate()[0] for each in first] == ["True\n", "True\n"]
    codes = sorted(folder.rglob("*.nbc"))
    assert len({each.name for each in codes}) == 2
    for kind in ("int", "float"):  # what both keep is right, whichever of them wrote the index last
        again = started(path, kind, folder)
        assert again.communicate()[0] in ("True\n", "False\n")
        assert again.returncode == 0
    again = started(path, "float", folder)
    assert again.communicate()[0] == "False\n"
    assert len(sorted(folder.rglob("*.nbc"))) == 2


def test_of_two_processes_that_need_the_same_code_one_compiles_it(tmp_path: Path) -> None:
    path, folder = tmp_path / "doubling.py", tmp_path / "cache"
    path.write_text(MODULE, encoding="utf-8")
    both = [started(path, "int", folder) for _ in range(2)]
    assert sorted(each.communicate()[0] for each in both) == ["False\n", "True\n"]


KINDS = "from typing import NamedTuple\nclass Pair(NamedTuple):\n    first: float\n    second: float\n"
PARTS = """
from molyneux.core.tooling.compiled import compiled
FACTOR = 2.0

@compiled
def part(x):
    return x * 10
"""
WHOLE = """
from kinds import {kind} as Kind
from molyneux.core.tooling.compiled import compilation_time
from kernels import whole

with compilation_time() as spent:
    print(whole(Kind(1.0, 2.0)), spent.seconds > 0)
"""
KERNELS = """
from parts import FACTOR, part
from molyneux.core.tooling.compiled import compiled

@compiled
def whole(pair):
    return part(pair[0]) + pair[1] * FACTOR
"""


def test_what_is_compiled_is_renewed_with_all_that_it_is_compiled_from(tmp_path: Path) -> None:
    """The functions that it calls and constants, also of other files, and the classes of its arguments."""
    folder = tmp_path / "cache"
    files = {"kinds.py": KINDS, "parts.py": PARTS, "kernels.py": KERNELS, "whole.py": WHOLE.format(kind="Pair")}

    def run(**changed: str) -> str:
        files.update({f"{name}.py": text for name, text in changed.items()})
        for name, text in files.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        variables = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, str(tmp_path / "whole.py")], capture_output=True, text=True, env=variables, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert run() == "14.0 True"
    assert run() == "14.0 False"
    assert run(parts=PARTS.replace("FACTOR = 2.0", "FACTOR = 3.0")) == "16.0 True"
    assert run(parts=PARTS.replace("x * 10", "x * 20")) == "24.0 True"
    assert run(parts=PARTS) == "14.0 False"  # as before
    moved = run(kinds=KINDS.replace("Pair", "Two"), whole=WHOLE.format(kind="Two"))
    assert moved == "14.0 True"
    for factor in ("5.0", "6.0"):
        run(parts=PARTS.replace("FACTOR = 2.0", f"FACTOR = {factor}"))
    assert len([path for path in folder.glob("kernels.whole/*") if path.is_dir()]) == 4


def test_compilations_are_timed(tmp_path: Path) -> None:
    @compiled
    def halved(x: float) -> float:
        return x / 2

    for stored in kernel_folder(halved).rglob("*halved*.nb?"):  # of an earlier run of this test
        stored.unlink()
    with compilation_time() as spent:
        halved(3.0)
        first = spent.seconds
        halved(4.0)
    assert 0 < first == spent.seconds
    assert kernel_folder(halved).name


def test_a_process_says_once_that_it_compiles(tmp_path: Path) -> None:
    code = "import logging\nlogging.basicConfig(level=logging.INFO, format='%(name)s: %(message)s')\n"
    code += (
        "import numpy as np\nfrom molyneux.core import seeds\nseeds.uniforms(seeds.key(1), np.arange(3, dtype=np.uint64), 2)\n"
    )
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    for said in (1, 0):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=variables)
        assert done.stderr.count(f"{LOGGER}: compiling, once") == said
