"""A multimodal VAE in a user's own file: MVTCAE, written with public names only."""

from molyneux.learn.posteriors import product_of_experts
from molyneux.learn.vaes import MultimodalVAE, StackedPosteriors, reporting


class MVTCAE(MultimodalVAE):
    """Hwang et al., Multi-View Representation Learning via Total Correlation Objective (NeurIPS 2021).

    `q(z|X) = prod_m q(z|x_m)`, without the prior; the loss is `(M - alpha) / M E sum_m -log p(x_m|z) + (1 - alpha)
    KL(q(z|X) || p(z)) + alpha / M sum_m KL(q(z|X) || q(z|x_m))`, equation 6, divided here by (M - alpha) / M.

    Args:
        spec: see `MultimodalVAE`, as the settings in `**shared`.
        alpha: weight of the total correlation, 0..1.
    """

    def __init__(self, spec, *, alpha=0.9, **shared):
        with reporting([] if 0 <= alpha <= 1 else [f"alpha: expected a number in 0..1, got {alpha}"]):
            super().__init__(spec, **shared)
        self.alpha = alpha

    def joint(self, experts, present):
        """The product of the present experts."""
        return product_of_experts(experts, present, prior_expert=False)

    def stacked(self, observation, generator):
        """The product, whose divergence is that from the prior and from the experts."""
        experts, present = observation.experts.where(observation.present), observation.present
        product = self.joint(experts, present)
        squared = (product.loc - experts.loc).square() + product.variance
        to_experts = 0.5 * (squared / experts.variance + experts.log_variance - product.log_variance - 1).sum(-1)
        count = present.sum(0).clamp_min(1)
        rate = (1 - self.alpha) * product.kl() + self.alpha / count * (to_experts * present).sum(0)
        weight = present.any(0, keepdim=True).float()
        return StackedPosteriors(product[None], weight, rate=rate * count / (count - self.alpha))
