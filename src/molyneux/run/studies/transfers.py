"""What studies on record say of transfer between senses, by the name of the study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from molyneux.core import files
from molyneux.run.studies.leaderboard import record_files

if TYPE_CHECKING:
    from molyneux.report import TransferVariant

_MARK = b'"transfer.accuracy"'


def read_transfers(results: Sequence[Path | str]) -> dict[str, tuple[TransferVariant, ...]]:
    """The variants of each study with scores of transfer, by the name of its folder; other records are passed over.

    Args:
        results: files of records, folders that hold one, or folders of such folders.

    Raises:
        StoreError: there are no records. CorruptFileError: a record was altered.
        DataError: the scores of a variant rest on readings of different readers.
    """
    from molyneux.report import load_records, transfer_variants  # draws: takes a second to import

    found = {}
    for path in sorted({path for place in results for path in record_files(Path(place))}):
        if _MARK in files.read_plain(path) and (variants := transfer_variants(load_records(path))):
            found[path.parent.name] = variants
    return found
