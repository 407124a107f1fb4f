"""Nexus: a code of each modality, and above them a code of these codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

import torch
from torch import Tensor, nn

from molyneux.core import Batch, CodeDistribution, Loss, NotApplicableError, Posterior, Progress, Spec
from molyneux.learn.checks import levels_below_zero
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.objectives import Weight, weight_at, weight_problems
from molyneux.learn.posteriors import Diagonal, DiagonalNormal, expert_parameters
from molyneux.learn.priors import FittedPrior, LatentDims
from molyneux.learn.priors.conditional import PrivateDensity
from molyneux.learn.vaes.autoencoder import Autoencoder, SharedSettings, importance_log_likelihood, reporting
from molyneux.learn.vaes.networks import Observation


class Nexus(Autoencoder):
    """Vasco et al., Leveraging Hierarchy in Multimodal Generative Models for Effective Cross-Modality Inference (2022).

    Neural Networks 146. Each modality has a code of its own, z_m, and its own VAE: the bottom loss `sum_m -E log p(x_m|z_m) +
    bottom_beta KL(q(z_m|x_m) || N(0, 1))`. Of each z_m a net makes a message; of the mean of the messages another makes the
    posterior of a code h above: the top loss `-gamma sum_m E log p(z_m|h) + beta KL(q(h|z) || N(0, 1))` with `p(z_m|h) =
    N(f_m(h), 1)`, in which the z_m are constants. Forced perceptual dropout: in training, messages of a random part of the
    modalities are left out, and h has to tell the z_m of all.

    In the terms of the other models, h is the shared code and z_m a private one, which decoders read alone and whose prior
    depends on the shared code: generation draws h, then every z_m given h. `log_likelihood` is that of
    `p(h) prod_m p(z_m|h) p(x_m|z_m)`.

    Deviations from the paper: outside of training, messages are made of the means of the z_m, so that the posterior has a
    density; a weight of each kind of term instead of each modality, besides the scales. Assumed, as in a public
    re-implementation: how many messages are left out (the number is uniform, at least one stays).

    Where modalities are missing, they send no message and have no term.

    Args:
        spec: see `Autoencoder`, as the settings in `**shared`.
        private_dim: dimensions of the codes of the modalities, one number for all or numbers by modality; all above 0.
        message_dim: numbers in a message.
        width: units of the hidden layer of each net between the codes.
        dropout: share of the samples that lose messages in training; 0 for none.
        beta: weight of the divergence of the code above, constant or scheduled.
        bottom_beta: weight of the divergences of the codes of the modalities.
        gamma: weight of the log-densities of these codes given the one above.
    """

    has_private = True
    log_likelihood = importance_log_likelihood

    def __init__(
        self,
        spec: Spec,
        *,
        private_dim: int | Mapping[str, int] = 10,
        message_dim: int = 64,
        width: int = 128,
        dropout: float = 0.5,
        beta: Weight = 1.0,
        bottom_beta: Weight = 1.0,
        gamma: float = 1.0,
        **shared: Unpack[SharedSettings],
    ) -> None:
        problems = weight_problems(beta=beta, bottom_beta=bottom_beta) + levels_below_zero(gamma=gamma)
        numbers = {"message_dim": message_dim, "width": width}
        problems += [f"{name}: expected at least 1, got {number}" for name, number in numbers.items() if number < 1]
        problems += [] if 0 <= dropout <= 1 else [f"dropout: expected a share in 0..1, got {dropout}"]
        sizes = dict.fromkeys(spec.names, private_dim) if isinstance(private_dim, int) else private_dim
        problems += [f"private_dim: expected a code of every modality, got none of {n}" for n in spec.names if not sizes.get(n)]
        with reporting(problems):
            super().__init__(spec, private_dim={**sizes, **{n: 1 for n in spec.names if not sizes.get(n)}}, **shared)
        self.dropout, self.beta, self.bottom_beta, self.gamma = dropout, beta, bottom_beta, gamma
        self.messages, self.tops = ModalityDict[nn.Module](), ModalityDict[PrivateDensity]()
        for name, size in self.private_dims.items():
            self.messages[name] = _net(size, width, message_dim)
            self.tops[name] = _UnitNormal(_net(self.latent_dim, width, size))
        self.above = nn.Sequential(nn.ReLU(), _net(message_dim, width, 2 * self.latent_dim))
        if self.fitted is not None:
            self.fitted = FittedPrior(self.fitted.settings, LatentDims(self.latent_dim))

    @property
    def replaces_prior(self) -> bool:
        """See `Autoencoder`: codes of modalities are drawn given the shared one."""
        return True

    def prior(self, size: int) -> Posterior:
        """See `Autoencoder`."""
        return Posterior(super().prior(size).shared, dict(self.tops.items()))

    def joint(self, experts: Diagonal, present: Tensor) -> CodeDistribution:
        """Raises NotApplicableError: messages are combined, not experts."""
        raise NotApplicableError("Nexus combines messages of the codes of modalities, not experts: use shared_posterior")

    def shared_posterior(self, observation: Observation) -> DiagonalNormal:
        """The posterior of the code above given the means of those of the present modalities; see `Autoencoder`."""
        means = {name: observation.private[name].mean for name in observation.names}
        return self._above(means, observation.present)

    def read_dims(self, dims: LatentDims) -> LatentDims:
        """Decoders read the private codes alone; see `Autoencoder`."""
        return LatentDims(0, dims.private)

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """The bottom and the top loss; see `core.Trainable`."""
        observation = self.observe_samples(batch)
        codes = {name: observation.private[name].rsample((), generator) for name in observation.names}
        bottom, rate = dict[str, Tensor](), dict[str, Tensor]()
        for name, code in codes.items():
            weight, nothing = torch.ones_like(code[:, 0]), code[:, :0]
            bottom[name] = -self.networks.log_likelihood(observation, name, nothing, code, weight=weight).mean()
            rate[name] = observation.private[name].kl().mean()
        fixed = {name: code.detach() for name, code in codes.items()}
        top, top_rate = self._top(observation, fixed, generator)
        total = torch.stack([self.scales[name] * term for name, term in bottom.items()]).sum()
        total = total + weight_at(self.bottom_beta, progress) * torch.stack(list(rate.values())).sum()
        total = total + self.gamma * torch.stack(list(top.values())).sum() + weight_at(self.beta, progress) * top_rate
        terms = {f"distortion.{name}": term for name, term in bottom.items()}
        terms |= {f"rate.private.{name}": term for name, term in rate.items()}
        terms |= {f"top.distortion.{name}": term for name, term in top.items()} | {"top.rate": top_rate}
        return Loss(total, {name: term.detach() for name, term in terms.items()})

    def _top(
        self, observation: Observation, codes: Mapping[str, Tensor], generator: torch.Generator | None
    ) -> tuple[dict[str, Tensor], Tensor]:
        """Mean negative log-density of the code of each modality given the one above, and the divergence of that."""
        kept = observation.present
        if self.training and self.dropout:
            kept = forced_perceptual_dropout(kept, self.dropout, generator)
        posterior = self._above(codes, kept)
        above = posterior.rsample((), generator)
        found = {}
        for name, code in codes.items():
            density = self.tops[name].given(above).log_prob(code)
            found[name] = -(density * observation.mask(name)).mean()
        return found, posterior.kl().mean()

    def _above(self, codes: Mapping[str, Tensor], kept: Tensor) -> DiagonalNormal:
        """The posterior given the messages of the codes (B, P) that are kept, (M, B); the prior where none is."""
        messages = torch.stack([self.messages[name](code).float() for name, code in codes.items()])
        mean = (messages * kept.unsqueeze(-1)).sum(0) / kept.sum(0).clamp_min(1).unsqueeze(-1)
        return DiagonalNormal(*expert_parameters(self.above(mean))).where(kept.any(0))


class _UnitNormal(PrivateDensity):
    """A normal distribution of variance 1, whose mean a net makes of the shared code."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def given(self, shared: Tensor) -> DiagonalNormal:
        """See `PrivateDensity`."""
        loc = self.net(shared).float()
        return DiagonalNormal(loc, torch.zeros_like(loc))


def forced_perceptual_dropout(present: Tensor, share: float, generator: torch.Generator | None) -> Tensor:
    """Which of the present modalities, (M, B) bool, keep their message: all, or a random part in a share of the samples.

    Of n present modalities, 1 to n - 1 are then kept; the number is uniform, and so are the members given the number.
    """
    draws = torch.rand((2, present.shape[1]), generator=generator, device=present.device)
    order = torch.rand(present.shape, generator=generator, device=present.device).masked_fill(~present, 2.0)
    rank = order.argsort(0).argsort(0)
    count = present.sum(0)
    size = 1 + (draws[1] * (count - 1).clamp_min(0)).long()
    lose = (draws[0] < share) & (count > 1)
    return present & ((rank < size) | ~lose)


def _net(inputs: int, width: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, outputs))
