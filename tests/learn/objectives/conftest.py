"""Posteriors of a batch with a sample of each, and penalties on them."""

import pytest
import torch

from molyneux.core import Progress
from molyneux.learn.objectives import Sampled
from molyneux.learn.posteriors import DiagonalNormal


@pytest.fixture
def sample():
    """Draws a batch of posteriors and codes, in double precision; both take gradients."""

    def make(size=6, dimensions=3, *, seed=0, progress=None):
        generator = torch.Generator().manual_seed(seed)
        numbers = [torch.randn(size, dimensions, generator=generator, dtype=torch.float64).requires_grad_() for _ in range(2)]
        posterior = DiagonalNormal(*numbers)
        posterior.log_variance.retain_grad()
        return Sampled(posterior, posterior.rsample((), generator), progress or Progress(0, 1), generator)

    return make


@pytest.fixture
def cost_of():
    """The cost of a sample under an objective, and its terms as numbers."""

    def cost(objective, sampled):
        torch.manual_seed(0)
        loss = objective.build(sampled.codes.shape[-1]).double()(sampled)
        return loss.total, {name: term.item() for name, term in loss.terms.items()}

    return cost
