"""A kill at any stage of writing a checkpoint leaves one to go on from, and what is half-written goes when the run is opened."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from molyneux.run.run.stored import opened

SCRIPT = Path(__file__).with_name("killed_checkpoints.py")
FIRST, SECOND = "checkpoint-01-000000001", "checkpoint-01-000000002"


@pytest.mark.slow
def test_kills_at_every_event_of_the_file_system(tmp_path: Path) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, SCRIPT, tmp_path], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert any(f"{SECOND}.part" in each["before"] for each in found)
    assert any(FIRST in each["before"] and SECOND in each["before"] for each in found)
    for each in found:
        step = 2 if SECOND in each["before"] else 1
        assert each["after"] == [SECOND if step == 2 else FIRST], each
        assert (each["step"], each["weight"], each["parts"]) == (step, step, 0), each
    assert found[-1]["before"] == [SECOND]
    assert [each["step"] for each in found] == sorted(each["step"] for each in found)


def test_what_killed_processes_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    for name in ("model/checkpoints/checkpoint-01-000000003.part/weights.safetensors", "samples/.train.0a.part/view.npy"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    (tmp_path / "measure").mkdir()
    (tmp_path / "measure" / ".scores.jsonl.1b.part").touch()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "kept.txt").touch()
    run = tmp_path / "run"
    for part in ("model", "samples", "measure"):
        run.mkdir(exist_ok=True)
        (tmp_path / part).rename(run / part)
    (run / ".link.part").symlink_to(tmp_path / "outside")
    (run / "my notes.part").touch()
    with opened(run):
        pass
    left = {str(path.relative_to(run)) for path in run.rglob("*")}
    assert left == {".lock", "my notes.part", "model", "model/checkpoints", "samples", "measure"}
    assert (tmp_path / "outside" / "kept.txt").exists()
