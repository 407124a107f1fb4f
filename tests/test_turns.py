"""Slow tests are run in turns; none is left out by all of them."""

import re
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[1]
SOME = """
import pytest

@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2])
def test_a(number): ...

@pytest.mark.slow
def test_b(): ...

@pytest.mark.slow(shared="model")
def test_e(): ...

@pytest.mark.slow(shared="model")
def test_f(): ...

def test_quick(): ...
"""
TOGETHER = """
import pytest
pytestmark = pytest.mark.slow

def test_c(): ...
def test_d(): ...
"""


@pytest.fixture
def turns(pytestconfig: pytest.Config) -> ModuleType:
    """The root's conftest."""
    found = pytestconfig.pluginmanager.get_plugin(str(ROOT / "conftest.py"))
    assert found
    return found


def test_every_slow_test_is_in_one_turn_and_turns_are_equally_long(turns: ModuleType) -> None:
    found = turns.turns_of([*"hgfedcba", "a"])
    assert found == {"a": 1, "b": 2, "c": 3, "d": 1, "e": 2, "f": 3, "g": 1, "h": 2}


def test_the_commit_chooses_the_turn_and_the_date_where_there_is_none(turns: ModuleType, tmp_path: Path) -> None:
    assert turns.turn_now(tmp_path) in (1, 2, 3)

    def git(*words: str) -> str:
        settings = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
        done = subprocess.run(["git", "-C", str(tmp_path), *settings, *words], capture_output=True, check=True, text=True)
        return done.stdout.strip()

    git("init", "-q")
    for number in range(3):
        git("commit", "-q", "--allow-empty", "-m", str(number))
        assert turns.turn_now(tmp_path) == int(git("rev-parse", "HEAD"), 16) % 3 + 1


def test_a_run_leaves_out_slow_tests_of_other_turns_and_says_so(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOLYNEUX_KERNELS", "own")
    (pytester.path / "conftest.py").write_text((ROOT / "conftest.py").read_text(encoding="utf-8"), encoding="utf-8")
    pytester.makepyfile(test_some=SOME, test_together=TOGETHER)
    pytester.makeini("[pytest]\nmarkers = slow: takes seconds")

    told = {}
    for turn in "123":
        told[turn] = "\n".join(pytester.runpytest_inprocess("--collect-only", "-p", "no:xdist", "--slow", turn).outlines)
    found = {turn: set(re.findall(r"<Function (.*)>", text)) - {"test_quick"} for turn, text in told.items()}
    assert found == {
        "1": {"test_e", "test_f", "test_b"},
        "2": {"test_a[1]", "test_c", "test_d"},
        "3": {"test_a[2]"},
    }
    assert "slow tests: turn 2 of 3 (SLOW=all or --slow all runs all)" in told["2"]
    assert all("<Function test_quick>" in text for text in told.values())
    assert "4 deselected" in told["2"]
