"""Whether trainings that are computed at once do what each of them does alone."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence

import torch
from torch import Tensor

from molyneux.core import ConfigError, MolyneuxError
from molyneux.learn.training.batches import NumberedBatch
from molyneux.learn.training.stacking.stack import Gradient, Stack
from molyneux.learn.training.steps import Steps

__all__ = ["require_same_as_alone"]

_OF_LOSS, _OF_GRADIENT, _OF_ALL = 1e-4, 1e-3, 1e-5
"""What rounding in 32 bits may change: relative to the loss, to the norm of the gradient of a parameter, and to that of all."""
_IN_BF16 = 0.05
"""What it may change in bf16."""


def require_same_as_alone(stack: Stack, batches: Sequence[NumberedBatch]) -> None:
    """Compare losses, gradients and buffers after the next step of each training with those alone; nothing is changed.

    Raises:
        ConfigError: the loss of the models cannot be computed for several of them at once, or is another then.
    """
    alone = [_Alone(steps, batch) for steps, batch in zip(stack.steps, batches, strict=True)]
    before = {name: buffer.clone() for name, buffer in stack.buffers.items()}
    try:
        found = stack.gradient(batches)
    except MolyneuxError:
        raise
    except Exception as error:  # whatever the model does with tensors that stand for several
        line = next(iter(str(error).splitlines()), type(error).__name__)
        raise _refused(stack, f"torch.vmap cannot compute its loss ({line[:200]})") from error
    after = {name: buffer.clone() for name, buffer in stack.buffers.items()}
    with torch.no_grad():
        for name, buffer in stack.buffers.items():
            buffer.copy_(before[name])
    for row, each in enumerate(alone):
        if problem := each.problem(found, after, row, _IN_BF16 if stack.steps[row].placement.bf16 else None):
            raise _refused(stack, problem)


def _refused(stack: Stack, problem: str) -> ConfigError:
    kind = type(stack.steps[0].model).__name__
    varied = f"; models differ in {', '.join(map(str, stack.varied))}" if stack.varied else ""
    return ConfigError(
        f"stacking: expected models that can be trained at once, got {kind}: {problem}{varied}: train them one after the other, "
        "or those alone that differ in nothing but weights and seeds"
    )


class _Alone:
    """Loss, gradient and buffers of one training alone."""

    def __init__(self, steps: Steps, batch: NumberedBatch) -> None:
        model = copy.deepcopy(steps.model)
        made = Steps(model, steps.stage, steps.settings, steps.placement, steps.seed, steps.steps, steps.before, steps.folder)
        self.names, values = made.gradient(batch)
        self.values: list[float] = values.tolist()
        self.gradient = {name: None if item.grad is None else item.grad.detach() for name, item in made.trained.items()}
        self.buffers = dict(model.named_buffers())

    def problem(self, found: Gradient, buffers: dict[str, Tensor], row: int, tolerance: float | None) -> str:
        """What is another in a row of the stack, in a few words; empty where nothing is."""
        of_loss, of_gradient, of_all = (tolerance or item for item in (_OF_LOSS, _OF_GRADIENT, _OF_ALL))
        if found.names != self.names:
            return f"the terms of its loss are {', '.join(found.names)} at once and {', '.join(self.names)} alone"
        if not all(map(math.isfinite, self.values)):
            return ""  # which the step itself will say
        scale = max(abs(self.values[0]), 1e-3)
        for name, alone, value in zip(self.names, self.values, found.values[row].tolist(), strict=True):
            if not abs(alone - value) <= of_loss * max(abs(alone), scale):
                return f"its {name} is {value:.6g} at once and {alone:.6g} alone"
        norms = [item.norm() for item in self.gradient.values() if item is not None]
        whole = torch.stack(norms).norm() if norms else torch.zeros(())
        for name, own in self.gradient.items():
            together = found.of[name]
            if (own is None) != (together is None):
                return f"it has a gradient of {name} {'at once' if own is None else 'alone'} only"
            if own is not None and together is not None:
                gap = (own - together[row]).norm()
                if not gap <= of_gradient * own.norm() + of_all * whole:
                    return f"its gradient of {name} at once is not that alone"
        for name, buffer in self.buffers.items():
            if not torch.allclose(buffer.double(), buffers[name][row].double(), rtol=of_gradient, atol=of_all, equal_nan=True):
                return f"its buffer {name} after a step at once is not that after one alone"
        return ""
