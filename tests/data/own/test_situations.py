"""Every situation of a person's file has the outcome that the documentation says."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from situations import GROUPS, Situation, outcome_of

CASES = [(group, situation) for group, found in GROUPS.items() for situation in found]


@pytest.mark.parametrize("situation", [case for _, case in CASES], ids=[f"{group}: {case.what}" for group, case in CASES])
def test_a_file_is_read_converted_or_refused_as_the_documentation_says(tmp_path: Path, situation: Situation) -> None:
    outcome, sentences = outcome_of(situation, tmp_path)
    assert outcome == situation.outcome, sentences
    if outcome != "read":
        assert any(situation.says in sentence for sentence in sentences), sentences
        assert all("\n" not in sentence for sentence in sentences), sentences
    if outcome != "refused":
        (tmp_path / "again").mkdir()
        assert situation.check(situation.make(tmp_path / "again"))


def test_every_situation_is_named_once_in_its_group() -> None:
    names = [(group, case.what) for group, case in CASES]
    assert len({*names}) == len(names)
