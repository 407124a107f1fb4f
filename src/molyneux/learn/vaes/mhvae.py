"""MHVAE: codes on several levels, and on each a product of the experts and of the prior given the level above."""

from __future__ import annotations

from typing import Literal, Unpack

import torch
from torch import Tensor, nn

from molyneux.core import Batch, CodeDistribution, Loss, NotApplicableError, Posterior, Progress, Spec, choice_problems
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.objectives import Weight, weight_at, weight_problems
from molyneux.learn.posteriors import Diagonal, Point, subsets_of
from molyneux.learn.posteriors.hierarchy import HierarchicalNormal, Levels
from molyneux.learn.priors import LatentDims
from molyneux.learn.vaes.autoencoder import Autoencoder, SharedSettings, importance_log_likelihood, reporting
from molyneux.learn.vaes.networks import Observation


class MHVAE(Autoencoder):
    """Dorent et al., Unified Brain MR-Ultrasound Synthesis using Multi-Modal Hierarchical Representations (MICCAI 2023).

    Codes z_1 to z_L: `p(z) = N(z_L; 0, 1) prod_l p(z_l|z_(l+1))`, and the posterior given modalities S is `q(z_L|x_S) = p(z_L)
    prod_m q(z_L|x_m)` and on every lower level `q(z_l|x_S, z_(l+1)) = p(z_l|z_(l+1)) prod_m q(z_l|x_m, z_(l+1))`, renormalised.
    All modalities are decoded from z_1. The loss is the mean over the subsets S of `-E sum_m log p(x_m|z_1) + beta sum_l
    KL(q(z_l|x_S, z_(l+1)) || p(z_l|z_(l+1)))`, each divergence in closed form given the codes drawn above.

    The shared code holds z_1 to z_L side by side.

    Deviations from the paper: codes are vectors and the nets between levels fully connected, where the paper has feature maps of
    images; no adversarial loss; each sample draws one subset of its modalities at a step, which is the same loss in expectation.

    Where modalities are missing, the subsets are those of what is present, and absent modalities are not reconstructed.

    Args:
        spec: see `Autoencoder`, as the settings in `**shared`; `latent_dim` is that of all levels together.
        levels: L, which divides `latent_dim`.
        width: units of the layers between levels, and numbers that describe a modality on the levels above the first.
        subsets: "drawn" draws one for each sample; "all" takes all of them, which costs 2^M - 1 times as much decoding.
        beta: weight of the divergences, constant or scheduled.
    """

    numbers = 16
    log_likelihood = importance_log_likelihood

    def __init__(
        self,
        spec: Spec,
        *,
        levels: int = 2,
        width: int = 128,
        subsets: Literal["drawn", "all"] = "drawn",
        beta: Weight = 1.0,
        **shared: Unpack[SharedSettings],
    ) -> None:
        problems = weight_problems(beta=beta) + choice_problems(subsets=(subsets, ("drawn", "all")))
        problems += [f"{name}: expected at least 1, got {n}" for name, n in (("levels", levels), ("width", width)) if n < 1]
        self.level_count = max(1, levels)
        total = shared.get("latent_dim", 24)
        if total % self.level_count:
            problems.append(f"levels: expected a number that divides latent_dim, {total}, got {levels}")
        with reporting(problems):
            super().__init__(spec, **shared)
        self.subsets, self.beta = subsets, beta
        size = self.latent_dim // levels
        features = [self.numbers * size, *[width] * (levels - 1)]
        self.levels = Levels(levels, size, features=width, width=width)
        self.up = ModalityDict[nn.ModuleList]()
        for name in spec.names:
            self.up[name] = nn.ModuleList(nn.Sequential(nn.Linear(a, width), nn.ReLU()) for a in features)

    def read_dims(self, dims: LatentDims) -> LatentDims:
        """Decoders read the lowest level; see `Autoencoder`."""
        return LatentDims(max(1, dims.shared // self.level_count))

    def experts(self, raw: Tensor) -> Diagonal:
        """Features, from which the nets of the levels make experts; see `Autoencoder`."""
        return Point(raw.float())

    def joint(self, experts: Diagonal, present: Tensor) -> CodeDistribution:
        """Raises NotApplicableError: there are experts on every level."""
        raise NotApplicableError("MHVAE has experts on every level, which depend on the level above: use shared_posterior")

    def shared_posterior(self, observation: Observation) -> HierarchicalNormal:
        """The posterior of the codes of all levels given the present modalities; see `Autoencoder`."""
        return HierarchicalNormal(self.levels, self._described(observation), observation.present)

    def prior(self, size: int) -> Posterior:
        """The codes of all levels, from the top; or the prior that was fitted; see `Autoencoder`."""
        if self.fitted is not None:
            return self.fitted.of(size)
        like = self.levels.top.weight
        nothing = torch.zeros(0, size, dtype=torch.bool, device=like.device)
        described = [like.new_zeros(0, size, like.shape[1]) for _ in range(self.level_count)]
        return Posterior(HierarchicalNormal(self.levels, described, nothing))

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """The mean of the negative bounds of the subsets, or of those that are drawn; see `core.Trainable`."""
        observation = self.observe_samples(batch)
        kept, weight = self._subsets(observation.present, generator)
        described = [item.unsqueeze(1) for item in self._described(observation)]
        codes, rates = HierarchicalNormal(self.levels, described, kept.transpose(0, 1)).draw((), generator)
        lowest, terms = self.read_code(codes), dict[str, Tensor]()
        for name in observation.names:
            found = self.networks.log_likelihood(observation, name, lowest, weight=weight)
            terms[f"distortion.{name}"] = -(weight * found).sum(0).mean()
        costs = [self.scales[name] * terms[f"distortion.{name}"] for name in observation.names]
        terms["rate.shared"] = (weight * rates).sum(0).mean()
        total = torch.stack(costs).sum() + weight_at(self.beta, progress) * terms["rate.shared"]
        return Loss(total, {name: term.detach() for name, term in terms.items()})

    def _described(self, observation: Observation) -> list[Tensor]:
        """What describes the modalities on each level, from the lowest, (M, B, width)."""
        found: list[list[Tensor]] = [[] for _ in range(self.level_count)]
        for features, name in zip(observation.experts.where(observation.present).loc, observation.names, strict=True):
            for level, net in enumerate(self.up[name]):
                features = net(features)
                found[level].append(features.float())
        return [torch.stack(parts) for parts in found]

    def _subsets(self, present: Tensor, generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
        """Subsets of the present modalities, (S, M, B) bool, and what their bounds count, (S, B)."""
        if self.subsets == "drawn":
            kept = drawn_subsets(present, generator)
            return kept.unsqueeze(0), present.any(0, keepdim=True).float()
        members = subsets_of(len(present), generator).to(present.device)
        valid = torch.tensordot(members.float(), (~present).float(), 1) == 0
        kept = members.unsqueeze(-1) & present
        return kept, valid.float() / valid.sum(0).clamp_min(1)


def drawn_subsets(present: Tensor, generator: torch.Generator | None) -> Tensor:
    """For each sample a non-empty subset of its present modalities, all with the same probability, (M, B) bool."""
    count, rank = present.sum(0), present.cumsum(0) - 1
    uniform = torch.rand(present.shape[1], generator=generator, device=present.device, dtype=torch.float64)
    number = 1 + (uniform * (2.0**count - 1)).long()
    return present & ((number >> rank.clamp_min(0)) & 1).bool()
