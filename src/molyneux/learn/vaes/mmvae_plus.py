"""MMVAE+: a mixture of experts for the shared code, and private codes that no other modality is reconstructed with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Unpack

import torch
from torch import Tensor, nn

from molyneux.core import Spec, choice_problems
from molyneux.learn.encoders.by_modality import module_key
from molyneux.learn.posteriors import Diagonal, DiagonalLaplace, DiagonalNormal, MixturePosterior, mixture_of_experts
from molyneux.learn.priors import IndependentPrior, LatentDims
from molyneux.learn.vaes.autoencoder import reporting
from molyneux.learn.vaes.multimodal import MultimodalSettings, MultimodalVAE
from molyneux.learn.vaes.networks import Observation
from molyneux.learn.vaes.stacked import CrossCodes, StackedPosteriors

Family = Literal["laplace", "normal"]
FAMILIES: Mapping[str, type[Diagonal]] = {"laplace": DiagonalLaplace, "normal": DiagonalNormal}


class MMVAEPlus(MultimodalVAE):
    """Palumbo, Daunhawer & Vogt, MMVAE+: Enhancing the Generative Quality of Multimodal VAEs without Compromises (ICLR 2023).

    Shared code z with `q(z|X) = 1/M sum_m q(z|x_m)`, and private codes w_m. The bound, for one sample, is stratified
    over the experts: `1/M sum_m E [log p(x_m|z, w_m) + sum_{n != m} log p(x_n|z, v_n) + log p(z) p(w_m) - log q(z|X) q(w_m|x_m)]`
    with `z ~ q(z|x_m)`, `w_m ~ q(w_m|x_m)` and `v_n ~ r_n`. The other modalities are reconstructed with private codes drawn from
    auxiliary priors `r_n`, of mean 0 and learned scale, so that what z lacks cannot come to them through private codes. Views
    are generated with private codes of the standard prior `p(w_n)`, where they are not observed.

    With the objective DReG it is the objective of the authors' code, whose K samples are weighed for each expert.

    Deviations from the paper: by default the bound with one sample (the ELBO), the divergence of w_m in closed form; variances as
    every model of this package has them, and not normalised by a softmax; auxiliary priors begin at the standard prior.

    Where modalities are missing, the mixture is over the experts that are present.

    Args:
        spec: see `MultimodalVAE`, as the settings in `**shared`.
        private_dim: dimensions of the private codes, one number for all or numbers by modality (0 for what is not named).
        family: family of experts and priors: "laplace", the paper's choice, or "normal".
    """

    has_private = True

    def __init__(
        self,
        spec: Spec,
        *,
        private_dim: int | Mapping[str, int] = 10,
        family: Family = "laplace",
        **shared: Unpack[MultimodalSettings],
    ) -> None:
        with reporting(cross_problems(private_dim, family, "MMVAE")):
            super().__init__(spec, private_dim=private_dim, **shared)
        self.family = FAMILIES[family]
        self.loss_prior = IndependentPrior(self.family.standard, self.networks.dims)
        self.auxiliary = AuxiliaryPriors(self.family, self.networks.dims, len(spec.modalities))

    def joint(self, experts: Diagonal, present: Tensor) -> MixturePosterior:
        """The mixture of the present experts."""
        return mixture_of_experts(experts, present)

    def stacked(self, observation: Observation, generator: torch.Generator | None) -> StackedPosteriors:
        """Each expert, weighed by the density of the mixture; see `MultimodalVAE`."""
        mixture = self.joint(observation.experts, observation.present)
        cross = self.auxiliary.cross_codes(observation)
        return StackedPosteriors(mixture.components, mixture.weights, density=mixture, cross=cross)


class AuxiliaryPriors(nn.Module):
    """The distributions of private codes that modalities are reconstructed with from the code of another: mean 0, learned scales.

    Args:
        family: of the distributions.
        dims: the latent groups.
        count: number of modalities; of one there is nothing to learn.
    """

    def __init__(self, family: type[Diagonal], dims: LatentDims, count: int) -> None:
        super().__init__()
        self.family = family
        self.log_variances = nn.ParameterDict()
        for name, size in dims.private.items() if count > 1 else ():
            self.log_variances[module_key(name)] = nn.Parameter(torch.full((size,), family.standard_log_variance))

    def of(self, name: str, size: int) -> Diagonal:
        """The distribution of the private codes of a modality for `size` samples, over (B, P)."""
        log_variance = self.log_variances[module_key(name)]
        return self.family(log_variance.new_zeros((size, len(log_variance))), log_variance)

    def cross_codes(self, observation: Observation) -> dict[str, CrossCodes]:
        """For each observed modality with private codes: the bound of its own expert, and what the other bounds draw from."""
        size = observation.present.shape[1]
        return {
            name: CrossCodes(number, self.of(name, size))
            for number, name in enumerate(observation.names)
            if module_key(name) in self.log_variances
        }


def cross_problems(private_dim: int | Mapping[str, int], family: str, without: str) -> list[str]:
    """Problems of the settings of a model with private codes, which `without` them is another one."""
    sizes = [private_dim] if isinstance(private_dim, int) else private_dim.values()
    problems = choice_problems(family=(family, tuple(FAMILIES)))
    return problems + ([] if any(sizes) else [f"private_dim: expected at least one private code, got none: use {without}"])
