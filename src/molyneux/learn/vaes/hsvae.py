"""HSVAE: spike and slab, with a probability of the spike for every dimension of every sample."""

from __future__ import annotations

from typing import Literal, Unpack

import torch
from torch import Tensor

from molyneux.core import Batch, Loss, Progress, Spec, choice_problems
from molyneux.learn.checks import not_positive
from molyneux.learn.objectives import Weight, weight_at, weight_problems
from molyneux.learn.posteriors import Diagonal, HierarchicalSparse, SpikePrior, expert_parameters
from molyneux.learn.posteriors.sparse import LOG_RATIO_BOUND
from molyneux.learn.priors import IndependentPrior
from molyneux.learn.vaes.autoencoder import SharedSettings, importance_log_likelihood, importance_log_weights, reporting
from molyneux.learn.vaes.unimodal import UnimodalAutoencoder


class HSVAE(UnimodalAutoencoder):
    """Prokhorov et al., Learning Sparse Sentence Encoding without Supervision (RepL4NLP 2021): the hierarchical sparse VAE.

    Each dimension has a probability gamma of being in the spike. Model: `p(gamma) = Beta`, `p(z|gamma) = gamma N(0, spike^2) +
    (1 - gamma) N(0, 1)`. The encoder gives `q(gamma|x) = Beta(a(x), b(x))` and the slab of `q(z|x, gamma) = gamma N(0, spike^2) +
    (1 - gamma) N(mu(x), s(x)^2)`. The bound is `E log p(x|z) - psi E_q(gamma) KL(q(z|x, gamma) || p(z|gamma)) - lambda
    KL(q(gamma|x) || p(gamma))`, with one sample: gamma by implicit reparameterisation, spike or slab by a straight-through binary
    concrete choice, the first divergence estimated with the z drawn, the second in closed form. How it is done, and the values
    (Beta(30, 30), spike 0.05, temperature 0.5, weights 1), are of the authors' code.

    Assumed: representations are means of the marginal `q(z|x)`, which is spike and slab again, in closed form; generation and the
    likelihood use it too.

    Deviations: slab and concentrations come from bounded logarithms instead of softplus, and concentrations are told as multiples
    of the prior's (within a factor of 20), so that a new model begins at the prior. `divergence="bound"` puts `E[1 - gamma]
    KL(N(mu, s^2) || N(0, 1))`, which has no noise and is never smaller, in the place of the estimate.

    Args:
        spec: see `Autoencoder`, as the settings in `**shared`.
        psi: weight of the divergence of codes.
        gamma_weight: the paper's lambda, weight of the divergence of probabilities.
        spikes: the prior of probabilities, and the width of the spike.
        temperature: of the choice between spike and slab, for its gradient.
        divergence: "monte_carlo" as the paper, or "bound".
    """

    family = HierarchicalSparse
    numbers = 4
    log_likelihood = importance_log_likelihood
    log_weights = importance_log_weights

    def __init__(
        self,
        spec: Spec,
        *,
        psi: Weight = 1.0,
        gamma_weight: Weight = 1.0,
        spikes: SpikePrior | None = None,
        temperature: float = 0.5,
        divergence: Literal["monte_carlo", "bound"] = "monte_carlo",
        **shared: Unpack[SharedSettings],
    ) -> None:
        problems = weight_problems(psi=psi, gamma_weight=gamma_weight) + not_positive(temperature=temperature)
        with reporting(problems + choice_problems(divergence=(divergence, ("monte_carlo", "bound")))):
            super().__init__(spec, **shared)
        self.psi, self.gamma_weight, self.temperature, self.divergence = psi, gamma_weight, temperature, divergence
        self.spikes = spikes or SpikePrior()
        self.loss_prior = IndependentPrior(self.spikes.of, self.networks.dims)

    def experts(self, raw: Tensor) -> Diagonal:
        """Slab and concentrations; see `Autoencoder`."""
        slab, ratios = raw.float().chunk(2, dim=-1)
        bounded = LOG_RATIO_BOUND * torch.tanh(ratios / LOG_RATIO_BOUND)
        return HierarchicalSparse(*expert_parameters(slab), torch.stack(bounded.chunk(2, dim=-1)), self.spikes)

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """See `core.Trainable`: codes are drawn with their probabilities of spikes; `rate.shared` sums both divergences."""
        observation = self.observe_samples(batch)
        posterior = self.joint(observation.experts, observation.present)
        assert isinstance(posterior, HierarchicalSparse)  # as `experts` makes them
        drawn = posterior.draw(generator, temperature=self.temperature)
        if self.divergence == "bound":
            of_code = posterior.kl_of_code()
        else:
            of_code = drawn.given.log_prob_per_dimension(drawn.codes) - drawn.prior.log_prob_per_dimension(drawn.codes)
        code, probability = (item.sum(-1).mean() for item in (of_code, posterior.kl_of_probability()))
        total = weight_at(self.psi, progress) * code + weight_at(self.gamma_weight, progress) * probability
        terms = {"rate.shared": code + probability, "rate.code": code, "rate.probability": probability}
        cost = Loss(total, {name: term.detach() for name, term in terms.items()})
        return self.reconstruction(observation, drawn.codes, cost)
