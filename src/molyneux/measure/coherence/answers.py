"""Answers: the factors asked for and the factors read, and which of them are right.

A factor that is absent from a sample (-1 in the truth) is not asked for and counts for nothing there. A factor that could not be
read (-1 in the reading) is wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from torch import Tensor

from molyneux.core import Factor, Reader, Reading, Spec, SpecError
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import Direction, having


@dataclass(frozen=True)
class ReadCodes:
    """The true and the read codes of some factors.

    Args:
        factors: the factors asked for, F of them.
        truth: (N, F) true codes; -1 = absent, not asked.
        read: (N, F) codes read; -1 = unreadable.
        forced: (N, F) codes read where the reader may not abstain; None where it cannot be forced.

    Raises:
        SpecError: the shapes do not fit.
    """

    factors: tuple[Factor, ...]
    truth: np.ndarray
    read: np.ndarray
    forced: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.truth.shape != self.read.shape or self.truth.shape[1:] != (len(self.factors),):
            raise SpecError(
                f"expected truth and reading of shape (N, {len(self.factors)}), got {self.truth.shape} and {self.read.shape}"
            )

    @classmethod
    def join(cls, parts: Sequence[ReadCodes]) -> ReadCodes:
        """The answers of several batches as one."""
        truth, read = (np.concatenate([getattr(part, side) for part in parts]) for side in ("truth", "read"))
        forced = [part.forced for part in parts if part.forced is not None]
        return cls(parts[0].factors, truth, read, np.concatenate(forced) if len(forced) == len(parts) else None)

    @property
    def asked(self) -> np.ndarray:
        """(N, F) whether a factor is asked for."""
        return np.asarray(self.truth >= 0)

    @property
    def right(self) -> np.ndarray:
        """(N, F) whether a factor is asked for and read correctly."""
        return np.asarray(self.asked & (self.read == self.truth))

    def column(self, number: int) -> np.ndarray:
        """(n,) whether one factor is read correctly, of the n samples that it is asked of."""
        return np.asarray(self.right[self.asked[:, number], number])

    @property
    def strict(self) -> np.ndarray:
        """(N,) whether every factor asked for is right."""
        return np.asarray((self.right | ~self.asked).all(1))

    @property
    def features(self) -> np.ndarray:
        """(N,) how many factors are right."""
        return np.asarray(self.right.sum(1))

    @property
    def unreadable(self) -> np.ndarray:
        """(N,) whether some factor asked for could not be read."""
        return np.asarray((self.asked & (self.read < 0)).any(1))

    @property
    def without_abstaining(self) -> ReadCodes:
        """The answers of the same reader where it may not abstain; itself where it cannot be forced."""
        return self if self.forced is None else ReadCodes(self.factors, self.truth, self.forced)

    def select(self, names: Sequence[str]) -> ReadCodes:
        """The same answers for these factors only, in the order given."""
        known = [factor.name for factor in self.factors]
        columns = [known.index(name) for name in names]
        forced = None if self.forced is None else self.forced[:, columns]
        return ReadCodes(tuple(self.factors[column] for column in columns), self.truth[:, columns], self.read[:, columns], forced)


def guessed(answers: ReadCodes) -> np.ndarray:
    """(N, F) probability that a uniform guess is right; 0 where a factor is not asked."""
    return answers.asked / np.array([len(factor.values) for factor in answers.factors], dtype=np.float64)


def strict_chance(answers: ReadCodes) -> float:
    """Mean probability that independent uniform guesses are all right: the product of 1 / number of values."""
    return float(np.where(answers.asked, guessed(answers), 1.0).prod(1).mean())


def features_chance(answers: ReadCodes) -> float:
    """Mean number of factors that uniform guesses get right: the sum of 1 / number of values."""
    return float(guessed(answers).sum(1).mean())


def majority(codes: np.ndarray) -> int:
    """The most common code that is not -1 (the smallest of equals); -1 if there is none."""
    present = codes[codes >= 0]
    return int(np.bincount(present).argmax()) if len(present) else -1


def always(answers: ReadCodes, codes: np.ndarray) -> ReadCodes:
    """The answers of a reader that always reads `codes` (F,)."""
    return ReadCodes(answers.factors, answers.truth, np.broadcast_to(codes, answers.truth.shape))


def best_constant(answers: ReadCodes) -> tuple[ReadCodes, ReadCodes]:
    """The best constant answers: the most common combination (for Strict) and the most common values (for Features).

    They are found on the very samples they are scored on, so no constant does better (where no factor is absent).
    """
    rows, counts = np.unique(answers.truth, axis=0, return_counts=True)
    values = np.array([majority(column) for column in answers.truth.T], dtype=answers.truth.dtype)
    return always(answers, rows[counts.argmax()]), always(answers, values)


def asked_factors(evaluation: Evaluation, direction: Direction) -> tuple[str, ...]:
    """The factors that the target's reader reads and that some observed modality shows.

    A caption without a colour cannot ask for one. A modality nobody reads is taken to show every factor.
    """
    target = evaluation.reader(direction.target)
    if target is None:
        return ()
    readers = [evaluation.reader(name) for name in direction.observed]
    shown = {factor for reader in readers if reader is not None for factor in reader.factors}
    everything = any(reader is None for reader in readers)
    known = (factor.name for factor in evaluation.spec.factors if factor.name in target.factors)
    return tuple(name for name in known if everything or name in shown)


def read(reader: Reader, view: Tensor, spec: Spec, truth: Tensor | None = None) -> ReadCodes:
    """What a reader reads in stored views (B, ...), against true factors (B, all factors of the Spec); nothing is asked without.

    The factors are in the order of the Spec, whatever the order of the reader.
    """
    reading = reader.read(view.cpu())
    columns = np.array([spec.factor_index(name) for name in reading.factors], dtype=np.int64)
    order = np.argsort(columns)
    codes, columns = reading.codes.cpu().numpy()[:, order], columns[order]
    forced = None if reading.forced is None else reading.forced.cpu().numpy()[:, order]
    asked = np.full_like(codes, -1) if truth is None else truth.cpu().numpy()[:, columns]
    return ReadCodes(tuple(spec.factors[column] for column in columns), asked, codes, forced)


def read_all(evaluation: Evaluation, made: Mapping[str, Tensor]) -> dict[str, ReadCodes]:
    """What the readers read in the views of each modality that has one; nothing is asked."""
    readers = {name: reader for name in made if (reader := evaluation.reader(name)) is not None}
    return {name: read(reader, made[name], evaluation.spec) for name, reader in readers.items()}


def true_answers(evaluation: Evaluation) -> dict[str, ReadCodes]:
    """What the readers read in the true views, by modality that some sample has: the ceiling of their scores."""
    return evaluation.once("true answers", lambda: _read_true(evaluation, judges=False))


def judged_true(evaluation: Evaluation) -> dict[str, ReadCodes]:
    """As `true_answers`, by the judges of modalities that an exact reader reads too."""
    return evaluation.once("judged true views", lambda: _read_true(evaluation, judges=True))


def _read_true(evaluation: Evaluation, *, judges: bool) -> dict[str, ReadCodes]:
    names = [name for name in evaluation.available if _reader_of(evaluation, name, judges=judges) is not None]
    parts: dict[str, list[ReadCodes]] = defaultdict(list)
    for found in evaluation.by_batch(partial(_read_true_batch, names, judges)) if names else ():
        for name, answers in found.items():
            parts[name].append(answers)
    return {name: ReadCodes.join(parts[name]) for name in names if name in parts}


def _read_true_batch(names: Sequence[str], judges: bool, evaluation: Evaluation, start: int, end: int) -> dict[str, ReadCodes]:
    batch, found = evaluation.true_batch(start, evaluation.batch(start, end)), {}
    for name in names:
        part, reader = having(batch, (name,)), _reader_of(evaluation, name, judges=judges)
        if reader is not None and part.factors is not None and len(part):
            found[name] = read(reader, part.views[name], evaluation.spec, part.factors)
    return found


def _reader_of(evaluation: Evaluation, modality: str, *, judges: bool) -> Reader | None:
    return evaluation.judge(modality) if judges else evaluation.reader(modality)


def reading_text(reading: Reading, factors: Sequence[Factor], row: int) -> str:
    """What was read in one sample, as text; the reason where it could not be read.

    A factor without a code is unreadable (`size?`) if the reader gives a reason for the sample; else the sample does not have it.
    """
    codes: np.ndarray = reading.codes[row].cpu().numpy()
    known = {factor.name: factor for factor in factors}
    if (codes < 0).all():
        return f"unreadable: {reading.reasons[row]}" if row in reading.reasons else "unreadable"
    mark = "?" if row in reading.reasons else ""
    read = zip(reading.factors, codes, strict=True)
    return " ".join(known[name].values[code] if code >= 0 else f"{name}{mark}" for name, code in read if code >= 0 or mark)
