"""One thing that a person's file may hold, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from molyneux.core import Batch, MolyneuxError
from molyneux.data import OwnDataset

Outcome = Literal["read", "converted", "refused"]


def nothing_more(data: OwnDataset) -> bool:
    """Where the sentence says it all."""
    return True


@dataclass(frozen=True)
class Situation:
    """One thing that a file may hold.

    Args:
        what: in words.
        outcome: `read` means that values are what the file says, without a word; `converted` that a note of the data set says
            what was changed; `refused` that an error does.
        make: writes the file into an empty folder and opens it.
        says: for `read`, what is read, in words; for the others a part of the sentence that says so.
        check: whether what was read is right.
    """

    what: str
    outcome: Outcome
    make: Callable[[Path], OwnDataset]
    says: str
    check: Callable[[OwnDataset], bool] = nothing_more


def outcome_of(situation: Situation, folder: Path) -> tuple[Outcome, tuple[str, ...]]:
    """What became of a situation in an empty folder, and the sentences that say so, without the path of the folder."""
    try:
        data = situation.make(folder)
        notes = data.notes
        for split, size in data.splits.items():
            data.source(split).batch(np.arange(size)).check(data.spec)
    except MolyneuxError as error:
        return "refused", (_without(str(error), folder),)
    return ("converted" if notes else "read"), tuple(_without(note, folder) for note in notes)


def whole(data: OwnDataset) -> Batch:
    """All samples in the order of the file."""
    content = data._content
    return content.batch(np.arange(sum(map(len, content.rows.values()))))


def _without(sentence: str, folder: Path) -> str:
    return sentence.replace(f"{folder}/", "").replace(str(folder), "the folder")
