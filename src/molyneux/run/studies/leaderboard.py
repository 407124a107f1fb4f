"""Records of studies are gathered for the leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from molyneux.core import StoreError, files, store

if TYPE_CHECKING:
    from molyneux.report import Leaderboard, StudyRun


def make_leaderboard(results: Sequence[Path | str], *, add: Sequence[Path | str] = (), scores: Sequence[str] = ()) -> Leaderboard:
    """Rank the models in records of studies.

    Args:
        results: files of records, folders that hold one, or folders of such folders.
        add: files of records from elsewhere (`report.ForeignRecord`), one JSON object a line.
        scores: names of the scores to rank; by default the headlines of each run.

    Raises:
        ConfigError: a record from elsewhere is not valid or has a place in no table, or no record has one of the scores.
        StoreError: there are no records. CorruptFileError: a record was altered.
        DataError: two records of one run differ, or a value lies outside its bounds.
    """
    from molyneux.report import Leaderboard, load_records, make_boards, read_foreign  # draws: takes a second to import

    runs = [
        run for path in sorted({path for place in results for path in record_files(Path(place))}) for run in load_records(path)
    ]
    foreign = [record for path in add for record in read_foreign(path)]
    boards, left = make_boards(runs, foreign, scores)
    apart = {id(run) for run in left}
    shown = [run for run in runs if id(run) not in apart]
    return Leaderboard(tuple(boards), len(shown), len(left))


def record_files(place: Path) -> list[Path]:
    """The files of records at a place: a file of records, the folder that holds one, or a folder of such folders.

    Raises:
        StoreError: there are none.
    """
    if store.is_file(place):
        return [place.resolve()]
    within = sorted(path.relative_to(place).as_posix() for path in place.glob("*/records.jsonl"))
    names = ["records.jsonl"] if store.is_file(place / "records.jsonl") else within
    found = [files.inside(place, name) for name in names]
    if not found:
        raise StoreError(f"expected records in {place}, got none: name a file of records, or the folder of a study's results")
    return [path.resolve() for path in found]


def runs_with(results: Sequence[Path | str], score: str) -> dict[str, tuple[StudyRun, ...]]:
    """The runs of the studies on record that have a score, by the name of the folder; other records are not parsed.

    Args:
        results: files of records, folders that hold one, or folders of such folders.
        score: its name.

    Raises:
        StoreError: there are no records. CorruptFileError: a record was altered.
    """
    from molyneux.report import load_records  # draws: takes a second to import

    paths = sorted({path for place in results for path in record_files(Path(place))})
    return {path.parent.name: tuple(load_records(path)) for path in paths if f'"{score}"'.encode() in files.read_plain(path)}
