"""The command line in processes of its own.

`molyneux` starts each from a server that has imported everything, which saves seconds a call; `bare` starts Python anew, as a
user does.
"""

import importlib
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TOY = HERE.parent / "run"
Done = "subprocess.CompletedProcess[str]"


@pytest.fixture(scope="session", autouse=True)
def _paths() -> Iterator[None]:
    for folder in (HERE, TOY):
        sys.path.insert(0, str(folder))
    yield
    for folder in (HERE, TOY):
        sys.path.remove(str(folder))


@pytest.fixture(scope="session")
def context(_paths: None, all_modules: list[str]) -> multiprocessing.context.ForkServerContext:
    """Starts processes in which everything is imported already."""
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(all_modules)
    return found


@pytest.fixture
def environment() -> dict[str, str]:
    """The toy world can be imported; one thread."""
    path = os.pathsep.join(filter(None, (str(TOY), os.environ.get("PYTHONPATH", ""))))
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "COLUMNS": "120"}


@pytest.fixture
def molyneux(tmp_path: Path, context: multiprocessing.context.ForkServerContext) -> Callable[..., Done]:
    """Calls `molyneux` in an empty folder."""
    call = importlib.import_module("calling").call
    logs = tmp_path.with_name(f"{tmp_path.name}-output")
    logs.mkdir()

    def run(*words: object, largest_file: int | None = None, **variables: str) -> Done:
        output = (str(logs / "out"), str(logs / "err"))
        process = context.Process(
            target=call, args=([str(word) for word in words], str(tmp_path), variables, output, largest_file)
        )
        process.start()
        process.join()
        texts = [Path(path).read_text(encoding="utf-8") for path in output]
        return subprocess.CompletedProcess(words, process.exitcode or 0, *texts)

    return run


@pytest.fixture
def bare(tmp_path: Path, environment: dict[str, str]) -> Callable[..., Done]:
    """Calls `python -m molyneux` in an empty folder."""

    def run(*words: object) -> Done:
        command = [sys.executable, "-m", "molyneux", *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)

    return run
