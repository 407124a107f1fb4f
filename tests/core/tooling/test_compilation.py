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


def test_compilations_are_timed(tmp_path: Path) -> None:
    @compiled
    def halved(x: float) -> float:
        return x / 2

    for stored in kernel_folder(halved).glob("*halved*.nb?"):  # of an earlier run of this test
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
