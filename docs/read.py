"""What is read, converted and refused of people's files: a table made by reading the files of the tests."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "data" / "own"))

from situations import GROUPS, Situation, outcome_of

from molyneux.report.tables import pipe_table


def read_table(group: str) -> str:
    """The situations of a group with their outcomes: what is read in words, the others in the sentences that a user gets."""
    rows = ([_cell(case.what), case.outcome, _cell(_said(case))] for case in GROUPS[group])
    return pipe_table(["a file holds", "is", "what is said"], rows, words=range(3))


def _said(case: Situation) -> str:
    """What becomes of a situation, in words; the sentence where there is one."""
    if case.outcome == "read":
        return f"({case.says})"
    with TemporaryDirectory() as folder:
        _, sentences = outcome_of(case, Path(folder))
    return next(sentence for sentence in sentences if case.says in sentence)


def _cell(text: str) -> str:
    """A text in a cell, where only backticks mean something."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else _plain(part) for part in parts).replace("|", "\\|")


def _plain(text: str) -> str:
    return re.sub(r"([\\*_\[\]$])", r"\\\1", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
