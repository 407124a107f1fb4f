"""MMVM-VAE: each modality has its own code, and the mixture of all modalities' posteriors as its prior."""

from __future__ import annotations

from typing import Literal, Unpack

import torch
from torch import Tensor

from molyneux.core import Spec, choice_problems
from molyneux.learn.posteriors import Diagonal, DiagonalNormal, MixturePosterior, mixture_of_experts
from molyneux.learn.vaes.autoencoder import reporting
from molyneux.learn.vaes.multimodal import MultimodalSettings, MultimodalVAE
from molyneux.learn.vaes.networks import Observation
from molyneux.learn.vaes.stacked import StackedPosteriors


class MMVM(MultimodalVAE):
    """Sutter et al., Unity by Diversity: Improved Representation Learning for Multimodal VAEs (NeurIPS 2024).

    Each modality has a code `z_m` in a common space, which it alone reconstructs from, and whose prior is the mixture of all
    posteriors (the MMVM prior) `h(z|X) = 1/M sum_m q(z|x_m)`. The objective is `sum_m E_{q(z_m|x_m)} log p(x_m|z_m) - sum_m
    KL(q(z_m|x_m) || h(z_m|X))`: nothing makes modalities share a code, but unlike codes cost something.

    As the authors' code, by default the divergence is replaced by its upper bound by convexity, `1/M sum_n KL(q(z|x_m) ||
    q(z|x_n))`, in closed form, and a part `standard` of the prior may be N(0, 1).

    In this package a sample has one code for generation: that of a modality, drawn from the mixture of those observed, as the
    paper imputes what is missing. Since `h` depends on the sample, the objective bounds no density of samples. The
    prior of generation and `log_likelihood` is N(0, 1), which `standard=0` does not train: have a prior fitted.

    Where modalities are missing, M counts those that are present.

    Args:
        spec: see `MultimodalVAE`, as the settings in `**shared`.
        divergence: "bound" as the authors' code, or "monte_carlo", which estimates the divergence with the codes drawn.
        standard: weight of N(0, 1) in the prior, 0..1. With 1 these are VAEs that share nothing.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        divergence: Literal["bound", "monte_carlo"] = "bound",
        standard: float = 0.0,
        **shared: Unpack[MultimodalSettings],
    ) -> None:
        problems = choice_problems(divergence=(divergence, ("bound", "monte_carlo")))
        problems += [] if 0 <= standard <= 1 else [f"standard: expected a number in 0..1, got {standard}"]
        with reporting(problems):
            super().__init__(spec, **shared)
        self.divergence, self.standard = divergence, standard

    def joint(self, experts: Diagonal, present: Tensor) -> MixturePosterior:
        """The mixture of the present experts."""
        return mixture_of_experts(experts, present)

    def stacked(self, observation: Observation, generator: torch.Generator | None) -> StackedPosteriors:
        """Each expert, which reconstructs its own modality, with the mixture as its prior; see `MultimodalVAE`."""
        present, experts = observation.present, observation.experts.where(observation.present)
        own = {name: torch.tensor([i], device=present.device) for i, name in enumerate(observation.names)}
        rate = self._bound(experts, present) if self.divergence == "bound" else None
        return StackedPosteriors(experts, present.float(), prior=self._prior(experts, present), rate=rate, reconstructs=own)

    def _prior(self, experts: Diagonal, present: Tensor) -> MixturePosterior:
        """The mixture of the present experts, and N(0, 1) with its weight."""
        mixture = self.joint(experts, present)
        normal = DiagonalNormal.standard(tuple(experts.loc[:1].shape), experts.loc)
        loc, log_variance = (torch.cat(pair) for pair in ((experts.loc, normal.loc), (experts.log_variance, normal.log_variance)))
        share = torch.full_like(mixture.weights[:1], self.standard)
        return MixturePosterior(DiagonalNormal(loc, log_variance), torch.cat([(1 - self.standard) * mixture.weights, share]))

    def _bound(self, experts: Diagonal, present: Tensor) -> Tensor:
        """Sum over experts of the weighted mean of their divergences from each other and from N(0, 1), (B,) nats."""
        assert isinstance(experts, DiagonalNormal)  # as `experts` of this family makes them
        both = present.unsqueeze(1) & present.unsqueeze(0)
        each = DiagonalNormal(experts.loc.unsqueeze(1), experts.log_variance.unsqueeze(1))
        from_others = (each.kl_to(experts) * both).sum((0, 1)) / present.sum(0).clamp_min(1)
        from_normal = (experts.kl() * present).sum(0)
        return (1 - self.standard) * from_others + self.standard * from_normal
