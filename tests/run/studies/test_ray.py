"""A study as tasks on Ray, started on this machine: a worker that is killed has its run taken up by another."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from molyneux.core import store
from molyneux.report import load_records
from molyneux.run.cluster.ray_agents import begin_of, watch

HERE = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra ray")

FATAL = """
import os, signal
from pathlib import Path
from toy import Toy

class Fatal(Toy):
    def batch(self, indices, **how):
        mark = Path("killed-once")
        if how["split"] == "validation" and how["seed"] == 1 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().batch(indices, **how)
"""


SEARCH = """
import sys
from pathlib import Path
import sweeper
from molyneux.core.config import read_document
from dataclasses import replace
from molyneux.run import run_study

base = {"name": "toy", **read_document(Path(sys.argv[1]))}
base["learn"] |= {"epochs": 3, "threads": 1, "tensorboard": False, "checkpoint_seconds": 0.001}
base["data"] |= {"train": 200, "validation": 50, "test": 100, "world": "fatal.Fatal"}
base["report"] = {"formats": ["markdown"]}
base["seed"] = 1
study = replace(sweeper.study_of(base), trials=3)
outcome = run_study(study, Path("runs"), Path("results"), jobs=2, on="ray", progress=sweeper.Quiet())
print([item.error for item in outcome.finished])
"""


@pytest.mark.slow
def test_a_search_with_pruning_on_ray_survives_a_killed_worker(tmp_path: Path) -> None:
    (tmp_path / "fatal.py").write_text(FATAL)
    path = os.pathsep.join([str(HERE), str(tmp_path), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "RAY_DEDUP_LOGS": "0"}
    command = [sys.executable, "-c", SEARCH, str(HERE / "toy.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False, timeout=600)
    assert done.stdout.splitlines()[-1] == "['', '', '']", done.stderr
    assert (tmp_path / "killed-once").exists()
    trials = store.read_lines(tmp_path / "results" / "trials.jsonl")[1:]
    assert len(trials) == 3
    complete = [trial for trial in trials if trial["state"] == "complete"]
    assert len(load_records(tmp_path / "results")) == len(complete)
    assert {trial["state"] for trial in trials} <= {"complete", "pruned"}
    assert json.loads(next((tmp_path / "runs").glob("toy-seed1-*/measure/stage.json")).read_text())["details"]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_what_was_named_ends_when_the_process_that_named_it_is_killed() -> None:
    sleeper = [sys.executable, "-S", "-c", "import time; print(flush=True); time.sleep(1000)"]
    named, other = (subprocess.Popen(sleeper, stdout=subprocess.PIPE) for _ in range(2))
    with named, other:
        try:
            for process in (named, other):
                assert process.stdout is not None
                assert process.stdout.read(1) == b"\n"
            later = begin_of(other.pid) + 1  # as of a process that got the number of one that has ended
            words = f"({named.pid}, {begin_of(named.pid)}), ({other.pid}, {later})"
            code = f"import sys, time; sys.path[:] = {sys.path!r}; from molyneux.run.cluster.ray_agents import watch; "
            code += f"kept = watch([{words}]); print(kept.pid, flush=True); time.sleep(1000)"
            with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as driver:
                assert driver.stdout is not None
                assert int(driver.stdout.readline())
                assert named.poll() is None
                driver.kill()
            assert named.wait() < 0
            assert other.poll() is None
        finally:
            named.kill()
            other.kill()
    assert watch([]) is None
