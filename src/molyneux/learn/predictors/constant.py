"""Constant: answers without looking, the control of every other predictor."""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch import Tensor
from torch.distributions import Bernoulli, Distribution
from torch.nn import functional

from molyneux.core import Batch, ConfigError, Spec
from molyneux.learn.predictors.head import Head
from molyneux.learn.predictors.predictor import Predictor

HEAD = Head(layers=0, bias=False)


class Constant(Predictor):
    """Answers the same for every sample: the distribution of the targets in training, or always that views agree, or never.

    ShapeWorld's controls `always_true` and `always_false` (2018), and the majority. How sure it is, is learned in every case.

    Args:
        spec: see `Predictor`.
        agrees: what it says of targets of the task agreement; by default what is more common.

    Raises:
        ConfigError: `agrees` is given, but no target is of the task agreement.
    """

    def __init__(self, spec: Spec, *, agrees: bool | None = None) -> None:
        super().__init__(spec)
        if agrees is not None and not any(target.task == "agreement" for target in spec.targets):
            raise ConfigError(f"agrees: expected samples with a target of the task agreement, got none: leave it out ({agrees})")
        self.agrees = agrees
        self.answer_from(1, HEAD)

    def features(self, batch: Batch, observed: Collection[str] | None = None) -> Tensor:
        """The number 1 for every sample."""
        return torch.ones(len(batch), 1, device=next(self.parameters()).device)

    def predict(self, batch: Batch, observed: Collection[str] | None = None) -> dict[str, Distribution]:
        """See `Predictor`."""
        found = super().predict(batch, observed)
        sign = {None: 0, True: 1, False: -1}[self.agrees]
        for target in self.spec.targets if sign else ():
            answer = found[target.name]
            if target.task == "agreement" and isinstance(answer, Bernoulli):
                found[target.name] = Bernoulli(logits=sign * functional.softplus(answer.logits), validate_args=False)
        return found
