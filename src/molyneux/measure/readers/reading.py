"""What a reader says of views: how many it accepts, and how many of those that show something it reads correctly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from molyneux.core import Reader, Reading, Score, Spec


@dataclass(frozen=True)
class LabelledViews:
    """Views and what they show.

    Args:
        views: (n, ...) as their world stores them.
        truth: by factor, the true values (n,) by name; of those that every view shows.
    """

    views: np.ndarray
    truth: Mapping[str, Sequence[str]] = field(default_factory=dict)


def reading_scores(reader: Reader, spec: Spec, shown: LabelledViews, *, named: str = "") -> tuple[list[Score], Reading]:
    """What a reader says of views of one kind, and its reading.

    Args:
        reader: of the modality of the views.
        spec: whose factors the reader reads.
        shown: the views, and what they show.
        named: a factor of which every value that was accepted is counted.

    Returns:
        Shares in %: `reading.accepted`, of views of which every factor was read; by factor `reading.read`, and where the truth is
        known `reading.correct` and, of readers that have one, `reading.correct_forced` by forced choice; `reading.accepted_as` by
        value of `named`.

    Raises:
        SpecError: a true value is none of its factor.
    """
    reading = reader.read(torch.from_numpy(np.ascontiguousarray(shown.views)))
    codes, count = reading.codes.numpy(), len(shown.views)
    accepted = np.all(codes >= 0, axis=1)
    scores = [Score("reading.accepted", _share(accepted), n=count, unit="%", higher_is_better=None)]
    for column, name in enumerate(reading.factors):
        read, factor = codes[:, column], spec.factor(name)
        scores.append(Score("reading.read", _share(read >= 0), {"factor": name}, n=count, unit="%", higher_is_better=None))
        if name in shown.truth:
            true = np.array([factor.code(value) for value in shown.truth[name]])
            scores.append(Score("reading.correct", _share(read == true), {"factor": name}, n=count, unit="%"))
            if reading.forced is not None:
                forced = reading.forced[:, column].numpy() == true
                scores.append(Score("reading.correct_forced", _share(forced), {"factor": name}, n=count, unit="%"))
        for code, value in enumerate(factor.values if name == named else ()):
            taken = _share(accepted & (read == code))
            scores.append(Score("reading.accepted_as", taken, {name: value}, n=count, unit="%", higher_is_better=None))
    return scores, reading


def _share(rows: np.ndarray) -> float:
    return 100 * float(np.mean(rows))
