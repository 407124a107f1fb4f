"""Encoders of numbers of any kind: the numbers themselves, fully connected layers, maxout units and Deep Sets."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from molyneux.core import Kind, Modality, choice_problems
from molyneux.learn.checks import dropout_problems, refuse, too_small
from molyneux.learn.encoders.encoding import Encoder, Encoding, ViewEncoder
from molyneux.learn.encoders.layers import he_normal
from molyneux.learn.encoders.steps import BatchNorm1d, ViewSteps, step_mask, step_mean

Activation = Literal["relu", "leaky_relu"]
Pool = Literal["mean", "sum", "max"]
ALL: frozenset[Kind] = frozenset(get_args(Kind))


@dataclass(frozen=True)
class Identity(ViewEncoder):
    """The view as it is: its vector is all of its numbers, its parts are its steps. Symbols become vectors with a single one."""

    kinds = ALL

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        self.check(modality)
        return IdentityEncoder(modality)


class IdentityEncoder(Encoder):
    """See `Identity`."""

    def __init__(self, modality: Modality) -> None:
        steps = ViewSteps(modality, 0)
        super().__init__(modality, vector=steps.count * steps.width, width=steps.width, grid=(1, steps.count))
        self.steps = steps

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Encoding:
        """See `Encoder`."""
        parts, counts = self.steps(view, lengths)
        return Encoding(parts.flatten(1), parts, step_mask(counts, self.steps.count))


@dataclass(frozen=True)
class MLP(ViewEncoder):
    """Fully connected layers over all numbers of a view, or over those of each step.

    Args:
        hidden: units of each hidden layer.
        width: numbers of the result.
        activation: after each hidden layer.
        last: whether it stands after the last layer too.
        dropout: share of hidden units dropped in training.
        stepwise: whether each step goes through the layers by itself; the vector is then the mean over the steps.
    """

    hidden: tuple[int, ...] = (256,)
    width: int = 128
    activation: Activation = "relu"
    last: bool = False
    dropout: float = 0.0
    stepwise: bool = False

    kinds = ALL

    def __post_init__(self) -> None:
        problems = too_small(self, "width") + choice_problems(activation=(self.activation, get_args(Activation)))
        if any(size < 1 for size in self.hidden):
            problems.append(f"hidden: expected units of each layer, at least 1, got {self.hidden}")
        refuse(problems + dropout_problems(dropout=self.dropout))

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        self.check(modality)
        return MLPEncoder(modality, self)


class MLPEncoder(Encoder):
    """See `MLP`."""

    def __init__(self, modality: Modality, settings: MLP) -> None:
        steps = ViewSteps(modality, 0)
        count = steps.count if settings.stepwise else 1
        sizes = (steps.width * (steps.count // count), *settings.hidden, settings.width)
        super().__init__(modality, vector=sizes[-1], width=sizes[-1], grid=(1, count), layers=sizes[1:])
        self.steps, self.stepwise = steps, settings.stepwise
        drop = [nn.Dropout(settings.dropout)] if settings.dropout else []
        shape = nn.ReLU if settings.activation == "relu" else nn.LeakyReLU
        plain = nn.Linear(sizes[-2], sizes[-1])
        hidden = [nn.Sequential(he_normal(nn.Linear(a, b)), shape(), *drop) for a, b in pairwise(sizes[:-1])]
        self.layers = nn.ModuleList([*hidden, nn.Sequential(plain, shape()) if settings.last else plain])

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Encoding:
        """See `Encoder`."""
        values, counts = self.steps(view, lengths)
        if not self.stepwise:
            values, counts = values.flatten(1).unsqueeze(1), torch.ones_like(counts)
        layers = []
        for layer in self.layers:
            values = layer(values)
            layers.append(step_mean(values, counts))
        mask = step_mask(counts, values.shape[1])
        return Encoding(layers[-1], values * mask.unsqueeze(2), mask, layers=tuple(layers))


@dataclass(frozen=True)
class Maxout(ViewEncoder):
    """Layers of maxout units, as in GMU; Goodfellow et al. (ICML 2013), equation 1; Arevalo et al. (ICLR workshop 2017).

    Batch normalisation of the inputs; then for each layer units that are the largest of `pieces` linear ones, batch normalisation
    and dropout.

    Args:
        hidden: units of the first layer.
        width: units of the second layer.
        pieces: linear units of each unit.
        dropout: share of units dropped in training.
    """

    hidden: int = 512
    width: int = 512
    pieces: int = 2
    dropout: float = 0.3

    kinds = ALL - {"text"}

    def __post_init__(self) -> None:
        refuse(too_small(self, "hidden", "width", "pieces") + dropout_problems(dropout=self.dropout))

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        self.check(modality)
        return MaxoutEncoder(modality, self)


class MaxoutEncoder(Encoder):
    """See `Maxout`."""

    def __init__(self, modality: Modality, settings: Maxout) -> None:
        sizes = (settings.hidden, settings.width)
        super().__init__(modality, vector=sizes[-1], width=sizes[-1], grid=(1, 1), layers=sizes)
        self.steps = ViewSteps(modality, 0)
        inputs = self.steps.count * self.steps.width
        self.norm = BatchNorm1d(inputs)
        self.layers = nn.ModuleList(
            nn.Sequential(MaxoutUnits(a, b, settings.pieces), BatchNorm1d(b), nn.Dropout(settings.dropout))
            for a, b in pairwise((inputs, *sizes))
        )

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Encoding:
        """See `Encoder`."""
        values = self.norm(self.steps(view, lengths)[0].flatten(1))
        layers = []
        for layer in self.layers:
            values = layer(values)
            layers.append(values)
        return whole(values, tuple(layers))


class MaxoutUnits(nn.Module):
    """Units that are the largest of several linear ones: `max_k x W_k + b_k`."""

    def __init__(self, inputs: int, outputs: int, pieces: int) -> None:
        super().__init__()
        self.pieces, self.linear = pieces, nn.Linear(inputs, outputs * pieces)

    def forward(self, values: Tensor) -> Tensor:
        """Values (..., inputs) to (..., outputs)."""
        units: Tensor = self.linear(values).unflatten(-1, (-1, self.pieces)).amax(-1)
        return units


@dataclass(frozen=True)
class DeepSets(ViewEncoder):
    """Deep Sets: `rho(pool_i phi(x_i))`, whatever the order of the elements; Zaheer et al. (NeurIPS 2017), theorem 2.

    `phi` and `rho` have two layers, with ReLU after all but the last. (In MultiBench's published code neither has a nonlinearity,
    so that the whole encoder is affine.)

    Args:
        width: units of every layer.
        pool: "mean", "sum" or "max" over the elements.
        embedding: numbers of a word; the elements of a text are its words.
    """

    width: int = 128
    pool: Pool = "mean"
    embedding: int = 32

    kinds = frozenset({"series", "set", "text", "video"})

    def __post_init__(self) -> None:
        refuse(too_small(self, "width", "embedding") + choice_problems(pool=(self.pool, get_args(Pool))))

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        self.check(modality)
        return DeepSetsEncoder(modality, self)


class DeepSetsEncoder(Encoder):
    """See `DeepSets`; the part of an element is the vector of a set of it alone."""

    def __init__(self, modality: Modality, settings: DeepSets) -> None:
        steps, width = ViewSteps(modality, settings.embedding), settings.width
        super().__init__(modality, vector=width, width=width, grid=(1, steps.count))
        self.steps, self.pool = steps, settings.pool
        self.element = nn.Sequential(he_normal(nn.Linear(steps.width, width)), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.whole = nn.Sequential(he_normal(nn.Linear(width, width)), nn.ReLU(), nn.Linear(width, width))

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Encoding:
        """See `Encoder`."""
        values, counts = self.steps(view, lengths)
        mask = step_mask(counts, self.steps.count)
        elements = self.element(values) * mask.unsqueeze(2)
        # Elements are not negative after the ReLU, so zeros change no maximum.
        pooled = {"mean": step_mean(elements, counts), "sum": elements.sum(1), "max": elements.amax(1)}[self.pool]
        return Encoding(self.whole(pooled), self.whole(elements) * mask.unsqueeze(2), mask)


def whole(vector: Tensor, layers: tuple[Tensor, ...] = ()) -> Encoding:
    """The encoding of views whose only part is the whole."""
    return Encoding(vector, vector.unsqueeze(1), torch.ones_like(vector[:, :1], dtype=torch.bool), layers=layers)
