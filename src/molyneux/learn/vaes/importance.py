"""The likelihood of whole samples by importance sampling from the joint posterior."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from molyneux.core import Batch, Posterior
from molyneux.learn.vaes.observation import Observation

if TYPE_CHECKING:
    from molyneux.learn.vaes.autoencoder import Autoencoder

ROWS = 1024
"""Codes decoded at once: memory does not grow with the number of importance samples."""


@torch.no_grad()
def importance_log_likelihood(model: Autoencoder, batch: Batch, k: int, generator: torch.Generator | None) -> Tensor:
    """`log 1/K sum_k p(x, z_k) / q(z_k | x)` with z_k from q, (B,) nats: a lower bound that tightens as K grows.

    Burda et al., Importance Weighted Autoencoders (ICLR 2016), equation 8. Absent modalities contribute nothing.
    """
    names = tuple(name for name in model.spec.names if name in batch.views)
    observation = model.observe(batch, names)
    posterior = model.posterior(observation)
    chunk = max(1, ROWS // max(1, len(batch)))
    counts = [min(chunk, k - start) for start in range(0, k, chunk)]
    weights = [_log_weights(model, observation, posterior, count, generator) for count in counts]
    return torch.cat(weights).logsumexp(0) - math.log(k)


def _log_weights(
    model: Autoencoder, observation: Observation, posterior: Posterior, count: int, generator: torch.Generator | None
) -> Tensor:
    """`log p(x, z) - log q(z | x)` of `count` draws, (count, B)."""
    codes = posterior.rsample(count, generator)
    prior = model.prior(codes.shared.shape[-2])
    total = torch.stack(list(prior.log_probs(codes).values())).sum(0) - posterior.log_prob(codes)
    for index, name in enumerate(observation.names):
        distribution = model.decode_view(name, codes.shared, codes.private.get(name))
        total = total + distribution.log_prob(observation.views[name]) * observation.present[index]
    return total
