"""The runs of studies on record that were asked two-way choices, by the name of the study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from molyneux.core import files
from molyneux.run.studies.leaderboard import record_files

if TYPE_CHECKING:
    from molyneux.report import StudyRun

_MARK = b'"two_way_choice.accuracy"'


def read_choices(results: Sequence[Path | str]) -> dict[str, tuple[StudyRun, ...]]:
    """The runs of each study with scores of two-way choice, by the name of its folder; other records are passed over.

    Args:
        results: files of records, folders that hold one, or folders of such folders.

    Raises:
        StoreError: there are no records. CorruptFileError: a record was altered.
    """
    from molyneux.report import load_records  # draws: takes a second to import

    found = {}
    for path in sorted({path for place in results for path in record_files(Path(place))}):
        if _MARK in files.read_plain(path):
            found[path.parent.name] = tuple(load_records(path))
    return found
