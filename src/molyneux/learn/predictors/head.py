"""The last layers of a predictor: features become a distribution for each target, by the target's task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.distributions import Bernoulli, Categorical, Distribution, Independent, Normal

from molyneux.core import Target
from molyneux.learn.checks import dropout_problems, not_positive, refuse, too_small
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.layers import he_normal


@dataclass(frozen=True)
class Head:
    """Hidden layers with ReLU that all targets share, and one linear layer for each target.

    Args:
        width: units of each hidden layer.
        layers: hidden layers.
        dropout: share of hidden units dropped in training.
        bias: whether the last layers have a bias.
        gain: what the outputs of the last layers are multiplied by. The ShapeWorld paper's probability of agreement,
            `(tanh z + 1) / 2`, is the logistic function of `2 z`: a gain of 2.
    """

    width: int = 256
    layers: int = 1
    dropout: float = 0.0
    bias: bool = True
    gain: float = 1.0

    def __post_init__(self) -> None:
        problems = too_small(self, "width") + too_small(self, "layers", least=0)
        refuse(problems + dropout_problems(dropout=self.dropout) + not_positive(gain=self.gain))

    def build(self, features: int, targets: Sequence[Target], *, steps: int | None = None) -> TargetHeads:
        """The module that makes distributions for `targets` of so many features, of the whole sample or of each of its steps."""
        return TargetHeads(self, features, targets, steps)


PAPER_HEAD = Head(512, bias=False, gain=2.0)
"""The head of all models of Kuhnle & Copestake, ShapeWorld (2017)."""


class TargetHeads(nn.Module):
    """Features (B, F) to a distribution for each target, batch shape (B,); see `Head` and `core.Predicts`.

    Features of T steps, (B, T, F), give a number of the shape (T, ...) its values step by step, by the same layers, and every
    other target those of the mean of the last hidden layer over the steps.
    """

    def __init__(self, settings: Head, features: int, targets: Sequence[Target], steps: int | None = None) -> None:
        super().__init__()
        self.features, self.steps = features, steps
        sizes = [features] + [settings.width] * settings.layers
        drop = [nn.Dropout(settings.dropout)] if settings.dropout else []
        hidden = (part for a, b in pairwise(sizes) for part in (he_normal(nn.Linear(a, b)), nn.ReLU(), *drop))
        self.hidden = nn.Sequential(*hidden)
        self.outputs = ModalityDict[Output]()
        for target in targets:
            self.outputs[target.name] = Output(sizes[-1], target, bias=settings.bias, gain=settings.gain, steps=steps)

    def forward(self, features: Tensor) -> dict[str, Distribution]:
        """The distributions by name of the target."""
        hidden = self.hidden(features)
        return {name: output(hidden) for name, output in self.outputs.items()}


class Output(nn.Module):
    """The distribution of one target: Categorical, Bernoulli, independent Bernoullis, or normal numbers.

    A number with two finite bounds is predicted in units of half their distance, from their middle. The standard deviation of
    numbers is one parameter of the model.
    """

    def __init__(self, inputs: int, target: Target, *, bias: bool, gain: float, steps: int | None = None) -> None:
        super().__init__()
        self.target, self.gain = target, gain
        self.event = torch.Size((len(target.symbols),) if target.task in ("class", "multilabel") else target.shape)
        self.stepwise = stepwise(target, steps)
        self.last = nn.Linear(inputs, self.event[self.stepwise :].numel(), bias=bias)
        low, high = (None, None) if target.task != "number" else target.bounds
        self.middle, self.unit = (0.0, 1.0) if low is None or high is None else ((low + high) / 2, (high - low) / 2)
        if target.task == "number":
            self.log_scale = nn.Parameter(torch.zeros(()))

    def forward(self, hidden: Tensor) -> Distribution:
        """The distribution given hidden units (B, inputs), or (B, T, inputs) of T steps."""
        hidden = hidden.mean(1) if hidden.dim() > 2 and not self.stepwise else hidden
        return self.distribution(self.last(hidden))

    def distribution(self, outputs: Tensor) -> Distribution:
        """The distribution given what the last layer says, (B, ...)."""
        raw = self.gain * outputs.float().reshape(len(outputs), *self.event)
        if self.target.task == "class":
            return Categorical(logits=raw, validate_args=False)
        if self.target.task == "number":
            scale = (self.log_scale.exp() * self.unit).expand_as(raw)
            numbers = Normal(self.middle + self.unit * raw, scale, validate_args=False)
            return Independent(numbers, len(self.event), validate_args=False) if self.event else numbers
        labels = Bernoulli(logits=raw, validate_args=False)
        return Independent(labels, 1, validate_args=False) if self.event else labels


def stepwise(target: Target, steps: int | None) -> bool:
    """Whether a target has a value, or several, for each of so many steps."""
    return steps is not None and target.task == "number" and target.shape[:1] == (steps,)
