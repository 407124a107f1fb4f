"""The runs of studies on record that were asked two-way choices, by the name of the study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from molyneux.run.studies.leaderboard import runs_with

if TYPE_CHECKING:
    from molyneux.report import StudyRun


def read_choices(results: Sequence[Path | str]) -> dict[str, tuple[StudyRun, ...]]:
    """The runs of each study with scores of two-way choice, by the name of its folder; other records are passed over.

    Args:
        results: files of records, folders that hold one, or folders of such folders.

    Raises:
        StoreError: there are no records. CorruptFileError: a record was altered.
    """
    return runs_with(results, "two_way_choice.accuracy")
