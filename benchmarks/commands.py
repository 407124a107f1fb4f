"""Commands: processor time from the start of the process to its end, beside the import of torch alone.

    python benchmarks/commands.py [--quick] [--out FOLDER]

The best of three, one thread. What is compiled by numba is compiled before, but for the first batches, which have an empty cache.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from record import Record, options

WHAT = "Processor time of commands, and of the first batch of a world where nothing is compiled yet; best of three, one thread"
ROOT = Path(__file__).parents[1]
QUICKSTART = str(ROOT / "configs" / "quickstart.yaml")
CAPTION = "small red heart at top left on light"


def main() -> None:
    arguments = options(__doc__).parse_args()
    record = Record("commands", WHAT, arguments.out)
    rounds = 1 if arguments.quick else 3
    torch = best(lambda: seconds(["-c", "import torch"]), rounds)
    with tempfile.TemporaryDirectory() as folder:
        for name, words in commands(Path(folder)).items():
            if arguments.quick and name not in ("molyneux --help", "a misspelt setting"):
                continue
            took = best(lambda words=words: seconds(words), rounds)
            record.add({"what": name, "seconds": took, "import of torch, s": torch})
    for world in () if arguments.quick else ("CdSprites", "ShapeWorld"):
        with tempfile.TemporaryDirectory() as folder:
            took = seconds(["-c", first_batch(world)], {"NUMBA_CACHE_DIR": folder})
        record.add({"what": f"first batch of {world}, nothing compiled", "seconds": took, "import of torch, s": torch})
    record.write()


def commands(folder: Path) -> dict[str, list[str]]:
    """What is measured: words after `python`, by name."""
    command = ["-m", "molyneux"]
    return {
        "molyneux --help": [*command, "--help"],
        "molyneux list": [*command, "list"],
        "molyneux list models": [*command, "list", "models"],
        "molyneux list metrics": [*command, "list", "metrics"],
        "a misspelt setting": [*command, "run", QUICKSTART, "--learn.epoch", "3"],
        "a wrong value": [*command, "run", QUICKSTART, "--learn.steps", "abc"],
        "a wrong value of a world": [*command, "run", QUICKSTART, "--data.world.level", "9"],
        "an unknown class": [*command, "run", QUICKSTART, "--learn.model", "MoEP"],
        "from molyneux import CdSprites": ["-c", "from molyneux import CdSprites"],
        "molyneux data cdsprites --size 10": [*command, "data", "cdsprites", "--size", "10", "--out", str(folder / "samples")],
        "molyneux generate cdsprites-level5": [*command, "generate", "cdsprites-level5", "--text", CAPTION, "--to", "image"],
        "molyneux doctor": [*command, "doctor"],
    }


def first_batch(world: str) -> str:
    """A program that makes one."""
    return f"import molyneux\nmolyneux.{world}().source('train', 128, seed=1).batch(range(128))"


def best(work: Callable[[], float], rounds: int) -> float:
    """The least of some measurements: other work on the machine only adds to them."""
    return min(work() for _ in range(rounds))


def seconds(words: Sequence[str], variables: Mapping[str, str] | None = None) -> float:
    """Processor time of a Python process, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", **(variables or {})}
    subprocess.run([sys.executable, *words], env=environment, check=False, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
