"""`molyneux leaderboard`: the tables, the files, JSON, and what is refused."""

import json
from pathlib import Path

import pytest

from molyneux.cli import main

RESULTS = str(Path(__file__).parents[2] / "studies" / "results" / "pos-best")
MIG = ["--score", "disentanglement.mig"]


def test_tables_files_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["leaderboard", RESULTS, *MIG]) == 0
    shown = capsys.readouterr().out
    assert "MIG" in shown
    assert "Leaderboard: 2 tables of 3 records" in shown
    assert main(["leaderboard", RESULTS, *MIG, "--out", str(tmp_path / "out"), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert [Path(path).name for path in record["files"]] == ["leaderboard.md", "leaderboard.html", "leaderboard.json"]
    assert {table["score"] for table in record["tables"]} == {"disentanglement.mig"}
    assert json.loads((tmp_path / "out" / "leaderboard.json").read_text()).items() <= record.items()


@pytest.mark.parametrize(
    ("words", "status", "problem"),
    [
        ([RESULTS, "--score", "a.b"], 2, "no record has a score a.b that can be ranked"),
        (["absent"], 1, "expected records in absent, got none"),
        ([RESULTS, "--add", "absent.jsonl"], 1, "expected the file absent.jsonl, which is not there"),
    ],
)
def test_what_is_refused(words: list[str], status: int, problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["leaderboard", *words]) == status
    assert problem in capsys.readouterr().err
