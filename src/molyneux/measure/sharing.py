"""Batches of an evaluation that workers share: where they are computed changes no digit of what is made of them.

A batch is a fixed block of samples, and what is drawn for it comes from streams that its position names. Workers compute what is
made of batches, and one process joins these in the order of the samples, as it does where it computes all of them itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from molyneux.core.workers import Workers

Span = tuple[int, int]
"""Position of the first sample of a batch, and that after its last one."""


@dataclass(frozen=True)
class BatchTask:
    """What a worker is asked for.

    Args:
        condition: number of the condition.
        training: whether the samples are those of the training.
        samples: how many the evaluation is of.
        span: of the batch.
        work: what is made of it, see `Evaluation.by_batch`.
    """

    condition: int
    training: bool
    samples: int
    span: Span
    work: Callable[..., Any]


@dataclass(frozen=True)
class Sharing:
    """Who shares the batches of an evaluation.

    Args:
        workers: compute what is made of batches.
        opened: what they call with a task; opens the evaluations once in each process.
        condition: number of the condition of this evaluation among those.
        marks: of this evaluation (`Evaluation.marks`): one with other marks, as of another model, is not shared.
        training: whether it is of the samples of the training.
    """

    workers: Workers
    opened: Callable[[BatchTask], Any]
    condition: int
    marks: tuple[Any, ...]
    training: bool = False

    def map(self, work: Callable[..., Any], spans: Sequence[Span], *, samples: int) -> Iterator[Any]:
        """What is made of batches, in order."""
        tasks = (BatchTask(self.condition, self.training, samples, span, work) for span in spans)
        return self.workers.map(self.opened, tasks)
