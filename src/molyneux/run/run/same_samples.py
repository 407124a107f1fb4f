"""Whether samples are those that a run was made with, as far as the record of its step `data` says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from molyneux.core import ConflictError, Source
from molyneux.data import Split
from molyneux.data.dataset import SPLITS
from molyneux.run.run.samples import digest
from molyneux.run.run.sections import DataSettings

_FILES = "files"


def sample_digests(data: DataSettings, source: Callable[[Split], Source], splits: Collection[Split] = SPLITS) -> dict[str, str]:
    """What samples are known by: the digest of the first of each split, and `files`, that of all of the user's own files.

    Args:
        data: of the experiment.
        source: gives the samples of a split as the model gets them.
        splits: which are looked at.
    """
    whole = {} if data.own is None else {_FILES: str(data.own.settings[_FILES])}
    return {**{split: digest(source(split)) for split in SPLITS if split in splits}, **whole}


def require_same_samples(
    details: Mapping[str, Any],
    data: DataSettings,
    source: Callable[[Split], Source],
    folder: Path,
    splits: Collection[Split] = SPLITS,
) -> None:
    """Compare samples with those that a run was made with. Errors as those of the data set.

    Args:
        details: of the record of its samples.
        data: of the experiment.
        source: as in `sample_digests`.
        folder: of the run, for the message.
        splits: which are compared.

    Raises:
        ConflictError: they are others; names the split. A record without a digest of files, of an earlier version, is compared
            by the first samples of each split alone.
    """
    recorded = details.get("checksums")
    recorded = recorded if isinstance(recorded, Mapping) else {}
    for name, found in sample_digests(data, source, splits).items():
        if recorded.get(name, found if name == _FILES else None) == found:
            continue
        what = "files of the data" if name == _FILES else f"{name} samples"
        raise ConflictError(
            f"the {what} are no longer those that {folder} was made with: restore the version of the package or the files it was "
            "made with, or choose another folder with --out"
        )
