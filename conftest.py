"""The suite runs as on the least processor that is supported: one with AVX2, and without AVX-512 and bf16.

Libraries choose their kernels when they are loaded, from what the processor has and from variables of the environment, which are
set here, before anything imports them. `MOLYNEUX_KERNELS=own` leaves the choice to the processor: `make unit` runs the tests
marked `kernels` so, a second time.
"""

import os
import platform
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
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


def pytest_report_header() -> str:
    """Say which kernels the tests run with."""
    return f"kernels: {os.environ.get('MOLYNEUX_KERNELS', 'least')}"


if __name__ == "__main__":  # `make unit` asks whether the processor has more
    sys.exit(0 if beyond_avx2() else 1)
prepare()
