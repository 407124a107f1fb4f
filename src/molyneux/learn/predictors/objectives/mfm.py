"""MFM: a shared factor that predicts and private factors of the modalities, which together reconstruct all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import get_args

import torch
from torch import Tensor

from molyneux.core import Loss, Spec, choice_problems
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.encoding import EncodingSpec
from molyneux.learn.encoders.layers import perceptron
from molyneux.learn.encoders.nets import Net
from molyneux.learn.likelihoods import Scales, likelihood_scales
from molyneux.learn.objectives import Weight, weight_at, weight_problems
from molyneux.learn.predictors.objectives.auxiliary import AuxiliaryLoss, AuxiliaryObjective, PredictorStep, mean_of
from molyneux.learn.predictors.objectives.reconstruction import Reconstruction, Reconstructions
from molyneux.learn.predictors.objectives.refnet import hidden_problems


@dataclass(frozen=True)
class MFM(AuxiliaryObjective):
    """The multimodal factorized model: Tsai et al. (ICLR 2019), equation 4; Liang et al., MultiBench (2021), equation 3.

    The fused features are the factor `z_y`, which the head reads. A network makes of the vector of each modality its private
    factor `z_m`, and a decoder of `[z_m, z_y]` the modality. Added are the costs of the reconstructions and the squared maximum
    mean discrepancy between each factor and N(0, 1), which stands for the divergence from the prior: all factors are points.

    Terms: `reconstruction.<modality>`, and `mmd.<modality>` and `mmd.features`, of the samples that have the modality, or any.

    Args:
        weight: what the reconstructions are multiplied by, constant or scheduled.
        mmd: what the discrepancies are multiplied by, constant or scheduled.
        private: numbers of each private factor.
        hidden: units of the hidden layers that make it, with ReLU.
        decoders: nets by the name of a modality or by a kind; what is in neither has the default net of its kind.
        reconstruction: its cost: "mse", the mean squared error of a number; "likelihood", nats of a view; or "sigmoid", as in
            `PublishedMFM`.
        scales: weights of the modalities' reconstructions: "none", "auto" by size, or numbers by name.
        bandwidths: of the kernels of the discrepancy.
    """

    weight: Weight = 1.0
    mmd: Weight = 1.0
    private: int = 64
    hidden: tuple[int, ...] = (64,)
    decoders: Mapping[str, Net] = field(default_factory=dict)
    reconstruction: Reconstruction = "mse"
    scales: Scales = "none"
    bandwidths: tuple[float, ...] = (0.5, 1.0, 2.0)

    def __post_init__(self) -> None:
        problems = weight_problems(weight=self.weight, mmd=self.mmd) + too_small(self, "private")
        problems += hidden_problems(hidden=self.hidden)
        problems += choice_problems(reconstruction=(self.reconstruction, get_args(Reconstruction)))
        if not self.bandwidths or not all(0 < width < math.inf for width in self.bandwidths):
            problems.append(f"bandwidths: expected at least one number above 0, got {self.bandwidths}")
        refuse(problems)

    def build(self, spec: Spec, encodings: Mapping[str, EncodingSpec], features: int) -> MFMLoss:
        """See `AuxiliaryObjective`."""
        return MFMLoss(self, spec, encodings, features)


@dataclass(frozen=True)
class PublishedMFM(AuxiliaryObjective):
    """What MultiBench's published code calls MFM: `MFM` without the discrepancy, with the cross-entropy of sigmoids as its cost.

    Its recipes multiply the loss of the targets by 2: the model's `target_weight`.

    Terms: `reconstruction.<modality>`.

    Args:
        weight: what the reconstructions are multiplied by, constant or scheduled.
        private: numbers of each private factor.
        hidden: units of the hidden layers that make it, with ReLU.
        decoders: see `MFM`.
    """

    weight: Weight = 1.0
    private: int = 64
    hidden: tuple[int, ...] = (64,)
    decoders: Mapping[str, Net] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._as_mfm()

    def build(self, spec: Spec, encodings: Mapping[str, EncodingSpec], features: int) -> MFMLoss:
        """See `AuxiliaryObjective`."""
        return MFMLoss(self._as_mfm(), spec, encodings, features, regularised=False)

    def _as_mfm(self) -> MFM:
        return MFM(self.weight, 0.0, self.private, self.hidden, self.decoders, "sigmoid")


class MFMLoss(AuxiliaryLoss):
    """See `MFM`; without terms of the discrepancy where it is not `regularised`."""

    whole_batch = "the mean discrepancy of codes"

    def __init__(
        self, settings: MFM, spec: Spec, encodings: Mapping[str, EncodingSpec], features: int, *, regularised: bool = True
    ) -> None:
        super().__init__()
        self.settings, self.regularised = settings, regularised
        self.scales = likelihood_scales(spec.restrict([*encodings]), settings.scales)
        self.private = ModalityDict[torch.nn.Sequential]()
        for name, item in encodings.items():
            self.private[name] = perceptron((item.vector, *settings.hidden, settings.private))
        width = settings.private + features
        self.reconstructions = Reconstructions(spec, tuple(encodings), settings.decoders, width, settings.reconstruction)

    def forward(self, step: PredictorStep) -> Loss:
        """See `AuxiliaryLoss`."""
        factors = {name: layer(step.encodings[name].vector).float() for name, layer in self.private.items()}
        costs = {}
        for name, factor in factors.items():
            costs[name] = mean_of(self.reconstructions(name, torch.cat([factor, step.pooled], 1), step))
        weighed = torch.stack([self.scales[name] * cost for name, cost in costs.items()]).sum()
        total = weight_at(self.settings.weight, step.progress) * weighed
        terms = {f"reconstruction.{name}": cost.detach() for name, cost in costs.items()}
        if not self.regularised:
            return Loss(total, terms)
        known = {name: factor[step.encodings[name].present] for name, factor in factors.items()}
        known["features"] = step.pooled[step.observed]
        found = {f"mmd.{name}": discrepancy_from_normal(codes, self.settings.bandwidths) for name, codes in known.items()}
        total = total + weight_at(self.settings.mmd, step.progress) * torch.stack([*found.values()]).sum()
        return Loss(total, {**terms, **{name: term.detach() for name, term in found.items()}})


def discrepancy_from_normal(codes: Tensor, bandwidths: tuple[float, ...] = (1.0,)) -> Tensor:
    """The squared maximum mean discrepancy between codes (N, D) and N(0, 1): Gretton et al. (JMLR 2012), equation 5.

    `mean k(x, x') + E k(y, y') - 2 mean E k(x, y)` with `k(x, y) = exp(-|x - y|^2 / (2 s))`, `s = D b`, as a mean over the
    bandwidths b: two draws y of the prior are about `sqrt(2 D)` apart. Means go over all pairs of codes, each with itself too, so
    it is at least 0. Expectations over the prior are in closed form, `E k(y, y') = (s / (s + 2))^(D / 2)` and
    `E k(x, y) = (s / (s + 1))^(D / 2) exp(-|x|^2 / (2 (s + 1)))`, so nothing is drawn. 0 of no codes. In full precision.
    """
    if not len(codes):
        return codes.float().sum()
    with torch.autocast(codes.device.type, enabled=False):
        codes, dimensions = codes.float(), codes.shape[1]
        lengths = codes.square().sum(1)
        squared = (lengths.unsqueeze(1) + lengths - 2 * codes @ codes.T).clamp(min=0)
        found = []
        for scale in (dimensions * width for width in bandwidths):
            inside, prior = (-squared / (2 * scale)).exp().mean(), (scale / (scale + 2)) ** (dimensions / 2)
            across = (scale / (scale + 1)) ** (dimensions / 2) * (-lengths / (2 * (scale + 1))).exp().mean()
            found.append(inside + prior - 2 * across)
        return torch.stack(found).mean()
