"""Evaluations that another process has opened too, so that it computes some of their batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import nn

from molyneux.core.workers import Workers
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.sharing import BatchTask, Sharing


@dataclass(frozen=True)
class OpenedEvaluations:
    """Computes batches of evaluations, which it opens at the first one; it travels to other processes before that.

    Args:
        open: gives the evaluations, one for each condition, as they are in the process that asks.
        threads: of torch, as many as that process has, since how many share a sum decides its last digits.
    """

    open: Callable[[], Sequence[Evaluation]]
    threads: int

    def __call__(self, task: BatchTask) -> Any:
        """What is made of a batch."""
        evaluation = self._evaluation(task)
        with torch.inference_mode():
            return task.work(evaluation, *task.span)

    @cached_property
    def _opened(self) -> dict[tuple[int, bool, int], Evaluation]:
        """The evaluations by condition, whether of training samples, and their number of samples."""
        torch.set_num_threads(self.threads)
        given = self.open()
        for evaluation in given:
            if isinstance(evaluation.model, nn.Module):
                evaluation.model.eval()
        return {(number, False, evaluation.samples): evaluation for number, evaluation in enumerate(given)}

    def _evaluation(self, task: BatchTask) -> Evaluation:
        key = task.condition, task.training, task.samples
        if key not in self._opened:
            plain = next(
                item for (number, training, _), item in self._opened.items() if number == task.condition and not training
            )
            found = plain.training if task.training else plain
            assert found is not None  # the process that asks has training samples too
            self._opened[key] = replace(found, samples=task.samples)
        return self._opened[key]


def share_out(evaluations: Sequence[Evaluation], workers: Workers, opened: OpenedEvaluations) -> list[Evaluation]:
    """The evaluations, whose batches are computed by workers; scores are those of one process, to the last digit.

    Args:
        evaluations: one for each condition.
        workers: processes that reach the files of the model and the samples.
        opened: opens the same evaluations there.
    """
    return [
        replace(evaluation, sharing=Sharing(workers, opened, number, evaluation.marks))
        for number, evaluation in enumerate(evaluations)
    ]
