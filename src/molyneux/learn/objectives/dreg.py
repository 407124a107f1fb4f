"""DReG: the importance-weighted bound, with a gradient of lower variance for the encoders."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from molyneux.core import Loss
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.objectives.bounds import Bound, Estimates, importance_weighted


@dataclass(frozen=True)
class DReG(Bound):
    """The importance-weighted bound of `IWAE`, with the doubly reparameterised gradient.

    Tucker et al., Doubly Reparameterized Gradient Estimators for Monte Carlo Objectives (ICLR 2019), equation 8. With the
    normalised weights `w_k`, the gradient of a decoder is that of IWAE, `sum_k w_k d log p(x, z_k)`, and that of an encoder is
    `sum_k w_k^2 d(log p(x, z_k) - log q(z_k | x)) / dz_k dz_k`, where the density q is a constant of its parameters. Its
    expectation is the gradient of IWAE, its variance is lower, and its signal does not vanish as K grows. Value and terms are
    those of `IWAE`.

    With one sample it is the gradient of Roeder et al., Sticking the Landing (NeurIPS 2017).

    The identity holds where codes are weighed by the density they are drawn from. MMVAE draws from each expert and weighs by the
    mixture; there this is what Shi et al. (NeurIPS 2019, equation 3) train with, whose expectation is the gradient of IWAE for
    K = 1, and only close to it for more. The same holds for the models that draw codes as MMVAE does.

    Args:
        samples: K.
        chunk: see `IWAE`.
    """

    samples: int = 8
    chunk: int = 8

    def __post_init__(self) -> None:
        refuse(too_small(self, "samples", "chunk"))

    def loss(self, estimates: Estimates) -> Loss:
        """See `Criterion`."""
        found = estimates.log_weights(self.samples, chunk=self.chunk, detached=True)
        shares = found.values.detach().softmax(0).unsqueeze(-1)
        for codes, rows in found.codes:
            if codes.requires_grad:
                _weigh_gradient(codes, shares[:, rows])
        return importance_weighted(found)


def _weigh_gradient(codes: Tensor, shares: Tensor) -> None:
    """Multiply the gradient of codes (K, R, B, D), which counts each sample by its share, by the shares (K, R, B, 1) again."""

    def weigh(gradient: Tensor) -> Tensor:
        return gradient * shares.to(gradient)

    if torch.is_grad_enabled():
        codes.register_hook(weigh)  # type: ignore[no-untyped-call]
