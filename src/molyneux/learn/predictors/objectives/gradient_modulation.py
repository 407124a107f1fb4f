"""OGMGE: gradients of encoders whose modality dominates the prediction are made smaller, and have noise added."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor
from torch.distributions import Distribution
from torch.nn import functional
from torch.utils.hooks import RemovableHandle

from molyneux.core import ConfigError, Loss, Spec, choice_problems
from molyneux.learn.checks import not_positive, refuse
from molyneux.learn.encoders.encoding import Encoding, EncodingSpec
from molyneux.learn.fusion.pooled import ConcatenationLayer
from molyneux.learn.predictors.head import Output
from molyneux.learn.predictors.objectives.auxiliary import AuxiliaryLoss, AuxiliaryObjective, PredictorStep
from molyneux.learn.predictors.objectives.functional_entropy import without_dropout
from molyneux.learn.predictors.predictor import JoiningPredictor

Noise = Literal["gradient", "none"]


@dataclass(frozen=True)
class OGMGE(AuxiliaryObjective):
    """On-the-fly gradient modulation with generalisation enhancement: Peng et al. (CVPR 2022), equations 8 to 12.

    The discrepancy ratio `rho_m` of a modality compares how probable the truth is by this modality alone with the mean of that
    over the other modalities. Where it is above 1, the gradient of each weight of the modality's encoder is multiplied by
    `1 - tanh(alpha rho_m)`; for two modalities this is the paper's rule. Then normal noise with the standard deviation of the
    weight tensor's gradient is added to the gradients of all encoders. Fusion, head and other objectives' layers keep their
    gradients. It adds nothing to the loss, and any fusion and other objectives can stand beside it. Adam divides gradients by
    their running size, so a constant coefficient changes none of its steps: train with the optimiser `sgd`, as the paper does.

    What a modality says alone is its part of the outputs where a linear head follows on the vectors side by side, with its share
    of the bias (of numbers, with all of it), as in the paper; with any other fusion or head it is the prediction for samples that
    lack all others, without dropout. A probability of several numbers or labels counts as its geometric mean over these, and the
    ratio of several targets as the geometric mean of theirs. Modalities that no sample of a batch has are not modulated.

    Term: `<modality>/modulation`, the coefficients.

    Args:
        alpha: strength of the modulation; the paper takes 0.1 to 0.8.
        noise: "gradient" for OGM-GE, "none" for OGM. (The published code adds noise to weights of convolutions alone.)
        begin: share of the training after which modulation begins.
        end: share of the training at which it ends.
    """

    alpha: float = 0.5
    noise: Noise = "gradient"
    begin: float = 0.0
    end: float = 1.0

    def __post_init__(self) -> None:
        problems = not_positive(alpha=self.alpha) + choice_problems(noise=(self.noise, get_args(Noise)))
        if not 0 <= self.begin < self.end <= 1:
            problems.append(f"begin, end: expected 0 <= begin < end <= 1, got {self.begin} and {self.end}")
        refuse(problems)

    def build(self, spec: Spec, encodings: Mapping[str, EncodingSpec], features: int) -> OGMGELoss:
        """See `AuxiliaryObjective`; raises ConfigError for fewer than two modalities."""
        if len(encodings) < 2:
            raise ConfigError(f"OGMGE: expected at least two modalities, got {', '.join(encodings)}")
        return OGMGELoss(self)


class OGMGELoss(AuxiliaryLoss):
    """See `OGMGE`. Its hooks change the next gradient of the encoders' weights, and no later one."""

    whole_batch = "the modulation of gradients"

    def __init__(self, settings: OGMGE) -> None:
        super().__init__()
        self.settings = settings
        self._hooks: list[RemovableHandle] = []

    def forward(self, step: PredictorStep) -> Loss:
        """See `AuxiliaryLoss`."""
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        nothing = torch.zeros((), device=step.features.device)
        if not self.training:
            return Loss(nothing)
        coefficients = {name: torch.ones_like(nothing) for name in step.encodings}
        if self.settings.begin <= step.progress.fraction < self.settings.end:
            coefficients = modulation(discrepancy_ratios(step), self.settings.alpha)
            self._change(step, coefficients)
        return Loss(nothing, {f"{name}/modulation": value for name, value in coefficients.items()})

    def _change(self, step: PredictorStep, coefficients: Mapping[str, Tensor]) -> None:
        for name, coefficient in coefficients.items():
            noisy = self.settings.noise == "gradient"
            for parameter in step.model.encoders[name].parameters():
                if parameter.requires_grad:
                    change = _modulated(coefficient, step.generator, noisy=noisy)
                    self._hooks.append(parameter.register_hook(change))  # type: ignore[no-untyped-call]


def _modulated(coefficient: Tensor, generator: torch.Generator | None, *, noisy: bool) -> Callable[[Tensor], Tensor | None]:
    """A hook that changes one gradient: its product with the coefficient, and noise as large as the gradient was."""
    done = False

    def change(gradient: Tensor) -> Tensor | None:
        nonlocal done
        if done:
            return None
        done = True
        found = gradient * coefficient.to(gradient.dtype)
        if noisy and gradient.numel() > 1:
            noise = torch.randn(gradient.shape, generator=generator, device=gradient.device, dtype=gradient.dtype)
            found = found + gradient.std() * noise
        return found

    return change


def modulation(ratios: Mapping[str, Tensor], alpha: float) -> dict[str, Tensor]:
    """The coefficients by which gradients are multiplied, from the discrepancy ratios; Peng et al. (2022), equation 10."""
    return {name: torch.where(ratio > 1, 1 - torch.tanh(alpha * ratio), torch.ones_like(ratio)) for name, ratio in ratios.items()}


def discrepancy_ratios(step: PredictorStep) -> dict[str, Tensor]:
    """How much more probable the truth is by each modality alone than by the mean of the others; 1 without evidence."""
    with torch.no_grad(), without_dropout(step.model):
        found = alone(step)
    logs = {target.name: _log_means(target.name, found, step) for target in step.spec.targets}
    ratios = {}
    for name in step.encodings:
        parts = []
        for means in logs.values():
            others = [value for other, value in means.items() if other != name]
            if name in means and others:
                mean = torch.stack(others).logsumexp(0) - math.log(len(others))
                parts.append(means[name] - mean)
        ratios[name] = torch.stack(parts).mean().exp() if parts else torch.ones((), device=step.features.device)
    return ratios


def _log_means(target: str, found: Mapping[str, Mapping[str, Distribution]], step: PredictorStep) -> dict[str, Tensor]:
    """By modality, the logarithm of the mean probability of the truth over samples that have it and whose target is known."""
    known, truth, means = step.batch.known_mask(target), step.batch.targets[target], {}
    truth = truth.where(known.reshape(-1, *[1] * (truth.dim() - 1)), 0)
    for name, one in found.items():
        rows = known & step.encodings[name].present
        if bool(rows.any()):
            distribution = one[target]
            values = distribution.log_prob(truth.float()) / max(distribution.event_shape.numel(), 1)
            means[name] = values[rows].logsumexp(0) - math.log(int(rows.sum()))
    return means


def alone(step: PredictorStep) -> Mapping[str, Mapping[str, Distribution]]:
    """What each modality says alone; see `OGMGE`."""
    model = step.model
    if _is_linear(model):
        return _shares(model.answers.outputs.items(), step.encodings)
    return model.alone(step.encodings)


def _is_linear(model: JoiningPredictor) -> bool:
    """Whether outputs are linear in the vectors side by side: no layer and no imputation stands between."""
    fusion, imputer = getattr(model, "fusion", None), getattr(model, "imputer", None)
    side_by_side = isinstance(fusion, ConcatenationLayer) and not len(fusion.layers)
    return side_by_side and imputer is None and not len(model.answers.hidden)


def _shares(outputs: Sequence[tuple[str, Output]], encodings: Mapping[str, Encoding]) -> dict[str, dict[str, Distribution]]:
    """The distributions by each modality's part of the outputs of linear layers over vectors side by side."""
    found: dict[str, dict[str, Distribution]] = {name: {} for name in encodings}
    for target, output in outputs:
        layer, first = output.last, 0
        for name, encoding in encodings.items():
            width = encoding.vector.shape[1]
            made = functional.linear(encoding.vector.float(), layer.weight[:, first : first + width])
            if layer.bias is not None:
                made = made + layer.bias / (1 if output.target.task == "number" else len(encodings))
            found[name][target] = output.distribution(made)
            first += width
    return found
