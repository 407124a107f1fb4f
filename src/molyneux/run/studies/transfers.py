"""What studies on record say of transfer between senses, by the name of the study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from molyneux.run.studies.leaderboard import runs_with

if TYPE_CHECKING:
    from molyneux.report import TransferVariant


def read_transfers(results: Sequence[Path | str]) -> dict[str, tuple[TransferVariant, ...]]:
    """The variants of each study with scores of transfer, by the name of its folder; other records are passed over.

    Args:
        results: files of records, folders that hold one, or folders of such folders.

    Raises:
        StoreError: there are no records. CorruptFileError: a record was altered.
        DataError: the scores of a variant rest on readings of different readers.
    """
    from molyneux.report import transfer_variants  # draws: takes a second to import

    found = {name: transfer_variants(runs) for name, runs in runs_with(results, "transfer.accuracy").items()}
    return {name: variants for name, variants in found.items() if variants}
