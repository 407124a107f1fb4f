"""Traversals: one dimension of a code is moved at a time; what is seen, and how many factors change."""

from __future__ import annotations

from itertools import accumulate
from typing import ClassVar, final

import numpy as np
import torch

from molyneux.core import Cell, Codes, ConfigError, Decodes, Encodes, Gallery, Score
from molyneux.measure.codes import CodeTable, from_named
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.galleries import ReadSequence, read_sequence, stepped_cells
from molyneux.measure.generation import decoded
from molyneux.measure.measures import Measure, Measurement, exhibit_name
from molyneux.measure.scores import Recorder, percent

_FIRST = 1000
"""Samples over which the variance of codes is taken."""
_RANDOM = "random directions"


@final
class Traversals(Measure):
    """One gallery for each modality, with one row for each dimension of the code that is moved.

    All other dimensions stay at the posterior mean of one sample given all modalities. Rows are ordered by the variance of
    the posterior mean over samples; dead dimensions come last. A modality shows the shared code and its own private one. Where
    there is a reader, each view says which factors its step changed.

    With `scored_samples`, what is seen has scores: the rows of as many samples are read, of the same dimensions; with `about`
    naming the modality:

    - `traversals.moving` %: rows along which any factor changes, between any two views that can be read.
    - `traversals.factors`: how many factors change along these; 1 where each dimension is one factor or a part of one.
    - `traversals.single` %: of these rows, those along which a single factor changes.
    - `traversals.readable` %: views in which the reader can read all factors that it reads.

    Control: `random directions`, the same for as many random directions of the same code, along which it is moved as far: a code
    whose dimensions mean nothing in particular does as well there. Intervals are over rows as if they were independent.

    Args:
        steps: values along a dimension.
        limit: from -limit to limit.
        dimensions: at most so many rows.
        sample: position of the sample whose code is moved.
        scored_samples: samples whose codes are moved for the scores, the first ones; 0 for no scores.

    Raises:
        ConfigError: steps below 2, dimensions below 1, negative samples, or a limit that is not positive.
    """

    name: ClassVar[str] = "traversals"
    needs: ClassVar[tuple[type, ...]] = (Encodes, Decodes)
    scored = False

    def __init__(
        self, *, steps: int = 7, limit: float = 3.0, dimensions: int = 10, sample: int = 0, scored_samples: int = 0
    ) -> None:
        if steps < 2 or dimensions < 1 or sample < 0 or not limit > 0:
            raise ConfigError(
                "expected steps of at least 2, dimensions of at least 1, sample of at least 0 and a positive limit, "
                f"got {steps}, {dimensions}, {sample} and {limit}"
            )
        if scored_samples < 0:
            raise ConfigError(f"scored_samples: expected at least 0, got {scored_samples}")
        self.steps, self.limit, self.dimensions, self.sample = steps, limit, dimensions, sample
        self.scored_samples, self.scored = scored_samples, scored_samples > 0

    def measure(self, evaluation: Evaluation) -> Measurement:
        """One gallery for each modality, and the scores of those that a reader reads."""
        table = evaluation.table(evaluation.available, max(_FIRST, self.sample + 1, self.scored_samples))
        galleries = tuple(self._gallery(evaluation, name, table) for name in evaluation.available)
        read = [name for name in evaluation.available if evaluation.reader(name) is not None] if self.scored else []
        return Measurement(tuple(score for name in read for score in self._scores(evaluation, name, table)), galleries)

    def _scores(self, evaluation: Evaluation, name: str, table: CodeTable) -> list[Score]:
        """What changes along the rows of the first samples, beside what changes along random directions."""
        parts = {code: table.means[code].shape[1] for code in ("shared", f"private.{name}") if code in table.means}
        starts = list(accumulate(parts.values(), initial=0))
        firsts = dict(zip(parts, starts, strict=False))
        axes = np.eye(starts[-1])[[firsts[code] + dimension for code, dimension in self._ordered(table, name)]]
        noise = evaluation.rng(self.name, "directions", name).normal(size=axes.shape)
        rows, control = (
            self._rows_read(evaluation, name, table, directions=directions)
            for directions in (axes, noise / np.linalg.norm(noise, axis=1, keepdims=True))
        )
        recorder = Recorder(self.name, evaluation.rng(self.name, name), {"modality": name}, evaluation.provenance([name]))
        return row_scores(rows, control, recorder)

    def _rows_read(self, evaluation: Evaluation, name: str, table: CodeTable, *, directions: np.ndarray) -> ReadSequence:
        """What is read in the views along each of R directions (R, D) from the codes of N samples: (N, R, S, F)."""
        reader, count = evaluation.reader(name), min(self.scored_samples, len(table))
        assert reader is not None  # only such modalities are scored
        parts = {code: table.means[code][:count] for code in ("shared", f"private.{name}") if code in table.means}
        means, widths = np.concatenate(list(parts.values()), 1), np.cumsum([part.shape[1] for part in parts.values()])[:-1]
        values = np.linspace(-self.limit, self.limit, self.steps)
        paths = moved_codes(means, directions, values).reshape(-1, means.shape[1])
        numbers, made = np.arange(len(paths)) // (len(directions) * self.steps), []
        for start in range(0, len(paths), evaluation.batch_size):
            at = slice(start, start + evaluation.batch_size)
            still = {code: codes[numbers[at]] for code, codes in table.means.items()}
            moved = still | dict(zip(parts, np.split(paths[at], widths, axis=1), strict=True))
            ready = {code: torch.from_numpy(codes).to(evaluation.device, torch.float32) for code, codes in moved.items()}
            made.append(decoded(evaluation.model, from_named(ready), evaluation.spec, only=[name])[name])
        return read_sequence(reader, evaluation.spec, torch.cat(made), shape=(count, len(directions), self.steps))

    def _gallery(self, evaluation: Evaluation, name: str, table: CodeTable) -> Gallery:
        values = torch.linspace(-self.limit, self.limit, self.steps)
        rows = []
        for code, dimension in self._ordered(table, name):
            codes = self._codes(table, code, dimension, values.to(evaluation.device))
            made = decoded(evaluation.model, codes, evaluation.spec, only=[name])[name]
            rows.append((Cell(text=f"{code} {dimension + 1}"), *stepped_cells(evaluation, name, made)))
        return Gallery(
            name=exhibit_name("traversal", name),
            title=f"One dimension at a time: {name}",
            note="The other dimensions stay at the code of one sample. The dimensions that vary most come first. "
            f"After what is read, each view says what its step changed. {evaluation.read_by([name])}".strip(),
            columns=("", *(f"{value:+.1f}" for value in values.tolist())),
            rows=tuple(rows),
        )

    def _ordered(self, table: CodeTable, name: str) -> list[tuple[str, int]]:
        """The dimensions that reach a modality, by falling variance of their mean."""
        found = {
            (code, dimension): float(variance)
            for code, means in table.means.items()
            if code in ("shared", f"private.{name}")
            for dimension, variance in enumerate(means.var(0))
        }
        return sorted(found, key=lambda place: -found[place])[: self.dimensions]

    def _codes(self, table: CodeTable, code: str, dimension: int, values: torch.Tensor) -> Codes:
        """The code of the sample, once for each value (S, D), with one dimension moved."""
        row = min(self.sample, len(table.factors) - 1)
        moved = {part: torch.from_numpy(means[row]).to(values).repeat(len(values), 1) for part, means in table.means.items()}
        moved[code][:, dimension] = values
        return from_named(moved)


def moved_codes(means: np.ndarray, directions: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Codes (N, D) whose component along each of R directions (R, D) of length 1 takes each of S values, (N, R, S, D).

    >>> moved_codes(np.array([[1.0, 2.0]]), np.array([[0.0, 1.0]]), np.array([-3.0, 3.0])).tolist()
    [[[[1.0, -3.0], [1.0, 3.0]]]]
    """
    component = means @ directions.T
    still = means[:, None] - component[..., None] * directions
    return np.asarray(still[:, :, None] + values[:, None] * directions[None, :, None])


def changing(sequence: ReadSequence) -> np.ndarray:
    """(...,) how many factors take more than one value in the readable views of a row."""
    codes, readable = sequence.codes, sequence.readable[..., None]
    low = np.where(readable, codes, np.iinfo(codes.dtype).max).min(-2)
    high = np.where(readable, codes, np.iinfo(codes.dtype).min).max(-2)
    return np.asarray((high > low).sum(-1))


def row_scores(rows: ReadSequence, random: ReadSequence, recorder: Recorder) -> list[Score]:
    """The scores of rows along dimensions, beside those of rows along random directions."""
    (own, control), most = (changing(part).ravel() for part in (rows, random)), len(rows.factors)
    moving, other = own[own > 0], control[control > 0]
    beside = {_RANDOM: float(other.mean())} if len(other) else {}
    single = {_RANDOM: percent(other == 1)} if len(other) else {}
    return [
        recorder.share("moving", own > 0, higher_is_better=None, controls={_RANDOM: percent(control > 0)}),
        recorder.mean("factors", moving, higher_is_better=False, bounds=(1.0, float(max(1, most))), controls=beside),
        recorder.share("single", moving == 1, controls=single),
        recorder.share("readable", rows.readable.ravel(), controls={_RANDOM: percent(random.readable.ravel())}),
    ]
