"""What a machine has is told in few lines, and what is wrong in one sentence that says what to do."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from molyneux.run import examine
from molyneux.run.trained import doctor

FACTS = {"molyneux", "python", "packages", "extras", "accelerator", "processor", "threads", "memory", "working folder", "data"}
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def test_a_machine_that_works_has_no_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(doctor.DATA, str(tmp_path))
    found = examine()
    assert found.problems == ()
    assert FACTS | {"models", "samples", "training", "drawing"} <= set(found.facts)
    assert found.facts["samples"].startswith("those that every machine makes")
    assert found.facts["data"].endswith("no data set that the package knows")
    assert len(found.lines()) <= 25
    assert found.lines()[-1] == "Everything works."
    assert json.loads(json.dumps(found.to_json())) == {"facts": dict(found.facts), "problems": []}


def test_what_is_wrong_is_one_sentence_with_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(doctor.DATA, str(tmp_path / "absent"))
    monkeypatch.setitem(doctor.DIGESTS, "Letters", "0" * 16)
    monkeypatch.setattr(doctor, "_LEAST_FREE", 1e9)
    found = examine()
    assert any("which is no folder: set it to" in problem for problem in found.problems)
    assert any("got 9c93d05bd50b3984: report it" in problem for problem in found.problems)
    assert sum("free some space" in problem for problem in found.problems) == 3
    assert found.facts["samples"] == "failed"
    assert [line for line in found.lines() if line.startswith("Problem: ")] == [f"Problem: {text}" for text in found.problems]


def test_data_sets_are_found_by_their_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "fashion-mnist").mkdir()
    monkeypatch.setenv(doctor.DATA, str(tmp_path))
    assert "FashionMNIST" not in examine(self_test=False).facts["data"]
    from molyneux.data.benchmarks import FashionMNIST

    for name in FashionMNIST().expected:
        path = FashionMNIST().folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    assert examine(self_test=False).facts["data"] == f"{tmp_path}: FashionMNIST"
