"""The suite runs as on the least processor that is supported: one with AVX2, and without AVX-512 and bf16.

Libraries choose their kernels when they are loaded, from what the processor has and from variables of the environment, which are
set here, before anything imports them. `MOLYNEUX_KERNELS=own` leaves the choice to the processor: `make unit` runs the tests
marked `kernels` so, a second time.

Tests marked `slow` are run in turns with `--slow turn`, as `make test` does: a third of them each time, chosen by the commit.
"""

import datetime
import os
import platform
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule

LEAST = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "NPY_DISABLE_CPU_FEATURES": "",
    "NUMBA_CPU_FEATURES": "",
    "NUMBA_CPU_NAME": "haswell",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "OPENBLAS_CORETYPE": "Haswell",
}
"""Variables that limit torch, MKL, NumPy, numba, oneDNN and OpenBLAS, and their values; NumPy is asked what it can do without."""


def beyond_avx2() -> str:
    """Names of the groups of features above AVX2 that NumPy has found here and can do without."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    beyond = re.compile(r"AVX512.*|X86_V4")
    return " ".join(name for name in __cpu_dispatch__ if beyond.fullmatch(name) and __cpu_features__.get(name))


def least() -> dict[str, str]:
    """The variables as the libraries at hand need them; NumPy is asked in a process of its own, because it reads them once."""
    command = [sys.executable, "-c", f"import runpy; print(runpy.run_path({str(Path(__file__))!r})['beyond_avx2']())"]
    disabled = subprocess.run(command, capture_output=True, check=True, text=True, env={**os.environ, "MOLYNEUX_KERNELS": "own"})
    return {**LEAST, "NPY_DISABLE_CPU_FEATURES": disabled.stdout.strip()}


def prepare() -> None:
    """Set the variables, unless the kernels of the processor are wanted, or another process of the suite has set them."""
    if os.environ.get("MOLYNEUX_KERNELS", "least") != "least" or platform.machine() not in ("x86_64", "AMD64"):
        return
    if loaded := sorted({"numba", "numpy", "torch"} & sys.modules.keys()):
        raise pytest.UsageError(f"expected conftest.py before {', '.join(loaded)}: their kernels are chosen already")
    if os.environ.get("OPENBLAS_CORETYPE") != LEAST["OPENBLAS_CORETYPE"]:
        os.environ.update(least())


@pytest.fixture(scope="session")
def all_modules() -> list[str]:
    """Names of the modules of the package, for servers of forks: what they import, no process that is forked imports again."""
    source = Path(__file__).parent / "src"
    paths = (path.relative_to(source).with_suffix("") for path in sorted(source.rglob("*.py")))
    names = (".".join(path.parts).removesuffix(".__init__") for path in paths)
    return [name for name in names if not name.endswith("__main__")]


@pytest.fixture
def limited() -> Callable[..., AbstractContextManager[None]]:
    """Blocks that may take so many seconds of processor time, which ends what would never end.

    A limit is many times what is needed, so that no other work on the machine matters.
    """

    @contextmanager
    def block(seconds: float, what: str = "it") -> Iterator[None]:
        def stop(*_: object) -> None:
            raise AssertionError(f"{what} took more than {seconds:.0f} seconds of processor time")

        before = signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)

    return block


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Search only files with an example for examples: the search imports a file, and looks at all that it has."""
    found = yield
    if file_path.suffix == ".py" and ">>>" not in file_path.read_text(encoding="utf-8"):
        found = [collector for collector in found if not isinstance(collector, DoctestModule)]
    return found


TURNS = 3
"""In so many turns all slow tests are run."""


def turn_now(root: Path) -> int:
    """Which turn it is, 1, 2 or 3: by the hash of the commit, or where there is none by the date."""
    asked = ["git", "-C", str(root), "rev-parse", "HEAD"]
    try:
        commit = subprocess.run(asked, capture_output=True, check=True, text=True).stdout
        return int(commit, 16) % TURNS + 1
    except (OSError, subprocess.CalledProcessError, ValueError):
        return datetime.date.today().toordinal() % TURNS + 1


def turns_of(slow: Iterable[str]) -> dict[str, int]:
    """The turn of each of the names: they are shared out in the order of the alphabet."""
    return {name: number % TURNS + 1 for number, name in enumerate(sorted(set(slow)))}


def slow_name(item: pytest.Item) -> str | None:
    """What runs in one turn: a test, a file that is marked as a whole, or the tests of a file that share what the mark names."""
    for node, mark in item.iter_markers_with_node("slow"):
        shared = mark.kwargs.get("shared")
        return f"{item.nodeid.partition('::')[0]}::{shared}" if shared else node.nodeid
    return None


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--slow`: whether tests marked `slow` are run in turns."""
    turns = [str(number) for number in range(1, TURNS + 1)]
    told = "run all tests marked slow (default), those of one turn, or those of the turn of this commit"
    parser.addoption("--slow", choices=["all", *turns, "turn"], default="all", help=told)


def pytest_configure(config: pytest.Config) -> None:
    """Choose the turn once, for all workers: somebody may commit meanwhile."""
    if config.option.slow == "turn":
        config.option.slow = str(turn_now(config.rootpath))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out slow tests of other turns."""
    if config.option.slow == "all":
        return
    names = {item: slow_name(item) for item in items}
    turns = turns_of(name for name in names.values() if name is not None)
    run = [item for item in items if (name := names[item]) is None or turns[name] == int(config.option.slow)]
    kept = set(run)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = run


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say which kernels the tests run with, and which slow tests."""
    slow = config.option.slow
    told = "all" if slow == "all" else f"turn {slow} of {TURNS} (SLOW=all or --slow all runs all)"
    return [f"kernels: {os.environ.get('MOLYNEUX_KERNELS', 'least')}", f"slow tests: {told}"]


if __name__ == "__main__":  # `make unit` asks whether the processor has more
    sys.exit(0 if beyond_avx2() else 1)
prepare()
