"""The evidence lower bound, put together from its terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from molyneux.core import Loss


@dataclass(frozen=True)
class Evidence:
    """The terms of a bound on the evidence, each (B,) nats per sample.

    Args:
        distortion: expected negative log-likelihood of each modality, unscaled; 0 where it is absent.
        rate: divergence of each part of the posterior (`shared`, `private.<modality>`) from the prior, counted once.
    """

    distortion: Mapping[str, Tensor]
    rate: Mapping[str, Tensor]


def negative_elbo(evidence: Evidence, *, scales: Mapping[str, float], beta: float) -> Loss:
    """The loss `mean over the batch of sum_m scale_m distortion_m + beta sum_p rate_p`, in nats per sample.

    Higgins et al., beta-VAE (ICLR 2017), equation 4; with beta 1 and scales 1 it is the negative evidence lower bound
    (Kingma & Welling, 2014). Its terms are reported unscaled, as `distortion.<modality>` and `rate.<part>`.
    """
    distortion = {name: term.mean() for name, term in evidence.distortion.items()}
    rate = {name: term.mean() for name, term in evidence.rate.items()}
    cost = torch.stack([scales[name] * term for name, term in distortion.items()]).sum()
    total = cost + beta * torch.stack(list(rate.values())).sum()
    terms = {f"distortion.{name}": term.detach() for name, term in distortion.items()}
    return Loss(total, {**terms, **{f"rate.{name}": term.detach() for name, term in rate.items()}})
