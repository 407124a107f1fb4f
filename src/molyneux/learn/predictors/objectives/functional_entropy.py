"""RMFE: regularisation by the functional Fisher information of each modality; and passes through a model that leave no trace."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn
from torch.distributions import Bernoulli, Categorical, Distribution, Independent, Normal
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from molyneux.core import ConfigError, Loss, Spec, choice_problems
from molyneux.learn.checks import levels_below_zero, not_positive, refuse, too_small
from molyneux.learn.encoders.encoding import Encoding, EncodingSpec, read_view
from molyneux.learn.predictors.objectives.auxiliary import AuxiliaryLoss, AuxiliaryObjective, PredictorStep

Perturbed = Literal["encodings", "inputs"]
TINY = 1e-12
"""What divergences are at least, where they divide."""


@dataclass(frozen=True)
class RMFE(AuxiliaryObjective):
    """Regularisation by maximising functional entropies (RMFE): Gat, Schwartz, Schwing and Hazan (NeurIPS 2020).

    A modality is perturbed, `x_m + s epsilon` with normal `epsilon`, and `f` is the divergence of the perturbed prediction from
    the other one. The functional Fisher information `I_m = E |grad f|^2 / f`, with the gradient by `epsilon`, bounds the
    functional entropy of `f` (at most `I_m / 2`, the log-Sobolev inequality): it is small where the prediction ignores the
    modality. `weight` times the sum of `1 / I_m` is added to the loss in training; losses in evaluation mode are without it.

    `f` is the cross-entropy of classes and labels, as in the paper, and of numbers the squared distance of the means in standard
    deviations, half of it, which is a divergence too. Several targets add. The perturbed passes are without dropout and without
    effect on statistics of batch normalisation. `s` is `scale` times the root mean square of what is perturbed, over the batch.

    Terms: `<modality>/information`, `I_m`, a mean over the samples that have the modality; 0 where there are none.

    Args:
        weight: of the sum. With the published 1e-10 only a modality that is all but ignored counts; larger weights balance. The
            gradient grows with `1 / I_m^2`: set `Training.clip` beside a larger weight.
        samples: perturbations of each sample. (MultiBench: 10.)
        scale: see above.
        perturbed: "encodings" perturbs what encoders make (vector, parts, hidden layers); "inputs", as in the paper, what they
            read, so that the encoders are regularised too, at the price of as many passes through them.
    """

    weight: float = 1e-10
    samples: int = 10
    scale: float = 1.0
    perturbed: Perturbed = "encodings"

    def __post_init__(self) -> None:
        problems = levels_below_zero(weight=self.weight) + too_small(self, "samples") + not_positive(scale=self.scale)
        refuse(problems + choice_problems(perturbed=(self.perturbed, get_args(Perturbed))))

    def build(self, spec: Spec, encodings: Mapping[str, EncodingSpec], features: int) -> RMFELoss:
        """See `AuxiliaryObjective`; raises ConfigError where inputs are symbols, which have no perturbation."""
        symbols = [name for name in encodings if spec.modality(name).symbols]
        if symbols and self.perturbed == "inputs":
            raise ConfigError(f"perturbed: expected inputs of numbers, got symbols in {', '.join(symbols)}: choose encodings")
        return RMFELoss(self)


class RMFELoss(AuxiliaryLoss):
    """See `RMFE`."""

    whole_batch = "the scale of the noise"

    def __init__(self, settings: RMFE) -> None:
        super().__init__()
        self.settings = settings

    def forward(self, step: PredictorStep) -> Loss:
        """See `AuxiliaryLoss`."""
        total = torch.zeros((), device=step.features.device)
        if not self.training:
            return Loss(total)
        terms = {f"{name}/information": total for name in step.encodings}
        with without_dropout(step.model), twice_differentiable():
            with torch.no_grad():
                reference = step.model.distributions(step.encodings)
            for name, encoding in step.encodings.items():
                if bool(encoding.present.any()):
                    found = self._information(name, reference, step)
                    total = total + self.settings.weight / (found + TINY)
                    terms[f"{name}/information"] = found.detach()
        return Loss(total, terms)

    def _information(self, name: str, reference: Mapping[str, Distribution], step: PredictorStep) -> Tensor:
        """The functional Fisher information of one modality."""
        count = self.settings.samples
        perturb = self._inputs if self.settings.perturbed == "inputs" else self._encodings
        perturbed, noises = perturb(name, step)
        repeated = {other: repeat(encoding, count) for other, encoding in step.encodings.items()}
        found = step.model.distributions({**repeated, name: perturbed})
        rows = step.encodings[name].present
        divergence = torch.stack([divergences(reference[target], found[target], count) for target in found]).sum(0)
        slopes = torch.autograd.grad(divergence.sum(), noises, create_graph=True, allow_unused=True)
        squares = [slope.flatten(1).square().sum(1).reshape(count, -1) for slope in slopes if slope is not None]
        if not squares:
            return divergence.sum() * 0
        norms = torch.stack([square if square.shape[1] == len(rows) else _scattered(square, rows) for square in squares]).sum(0)
        return (norms / divergence.reshape(count, -1).clamp(min=TINY))[:, rows].mean()

    def _encodings(self, name: str, step: PredictorStep) -> tuple[Encoding, list[Tensor]]:
        """Perturbed encodings of a modality, (samples * B), and the noise."""
        noises: list[Tensor] = []

        def perturbed(values: Tensor) -> Tensor:
            if not values.is_floating_point():
                return repeat_rows(values, self.settings.samples)
            there = encoding.mask.unsqueeze(2) if values is encoding.parts else encoding.present.unsqueeze(1)
            size = values.detach().float().square().sum() / (there.sum() * values.shape[-1]).clamp(min=1)
            noises.append(self._noise((len(values) * self.settings.samples, *values.shape[1:]), step))
            spread = self.settings.scale * size.sqrt() * noises[-1]
            return repeat_rows(values, self.settings.samples) + spread * repeat_rows(there, self.settings.samples)

        encoding = step.encodings[name]
        return encoding.map(perturbed), noises

    def _inputs(self, name: str, step: PredictorStep) -> tuple[Encoding, list[Tensor]]:
        """Encodings of perturbed inputs of a modality, (samples * B), and the noise."""
        count, encoder, rows = self.settings.samples, step.model.encoders[name], step.encodings[name].present
        view = read_view(step.batch, step.spec, name)[rows].float()
        noise = self._noise((len(view) * count, *view.shape[1:]), step)
        inputs = repeat_rows(view, count) + self.settings.scale * view.square().mean().sqrt() * noise
        lengths = step.batch.lengths.get(name)
        found = encoder(inputs) if lengths is None else encoder(inputs, repeat_rows(lengths[rows], count))
        blank = encoder.blank(count * len(rows), like=inputs)
        return found.scattered(rows.repeat(count), blank), [noise]

    def _noise(self, shape: tuple[int, ...], step: PredictorStep) -> Tensor:
        """Normal noise, by which gradients are asked for."""
        drawn = torch.randn(shape, generator=step.generator, device=step.features.device)
        return drawn.requires_grad_()


def divergences(reference: Distribution, found: Distribution, count: int) -> Tensor:
    """The divergence of predictions (count * B) from a reference (B,) for the same samples; see `RMFE`.

    Nothing learns from the reference, nor from the standard deviation of numbers.
    """
    if isinstance(found, Independent) and isinstance(reference, Independent):
        each = divergences(reference.base_dist, found.base_dist, count)
        return each.flatten(1).sum(1)
    if isinstance(found, Categorical) and isinstance(reference, Categorical):
        return -(repeat_rows(reference.probs, count) * found.logits).sum(-1)
    if isinstance(found, Bernoulli) and isinstance(reference, Bernoulli):
        probabilities = repeat_rows(reference.probs, count)
        return functional.binary_cross_entropy_with_logits(found.logits, probabilities, reduction="none")
    assert isinstance(found, Normal)
    assert isinstance(reference, Normal)
    return 0.5 * ((found.loc - repeat_rows(reference.loc, count)) / found.scale.detach()).square()


def repeat_rows(values: Tensor, count: int) -> Tensor:
    """Values (B, ...) `count` times one after the other, (count * B, ...)."""
    return values.repeat(count, *[1] * (values.dim() - 1))


def repeat(encoding: Encoding, count: int) -> Encoding:
    """An encoding of B samples `count` times one after the other."""
    return encoding.map(lambda values: repeat_rows(values, count))


def _scattered(values: Tensor, rows: Tensor) -> Tensor:
    """Values (K, N) of the N samples `rows` (B,) bool, as (K, B); 0 elsewhere."""
    return values.new_zeros(len(values), len(rows)).masked_scatter(rows, values)


@contextlib.contextmanager
def without_dropout(model: nn.Module) -> Iterator[None]:
    """All layers but recurrent ones in evaluation mode, and each in its own mode afterwards.

    Recurrent layers stay as they are because cuDNN gives them no gradient in evaluation mode.
    """
    changed = [part for part in model.modules() if part.training and not isinstance(part, nn.RNNBase)]
    for part in changed:
        part.training = False
    try:
        yield
    finally:
        for part in changed:
            part.training = True


@contextlib.contextmanager
def twice_differentiable() -> Iterator[None]:
    """Computes attention and recurrent layers by operations whose gradient has a gradient."""
    backend: Any = torch.backends.mkldnn
    before, backend.enabled = backend.enabled, False  # its `flags` warn of settings that nobody changes
    try:
        with torch.backends.cudnn.flags(enabled=False), sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        backend.enabled = before
