"""Which losses are means over samples, so that processes may share out a batch."""

from contextlib import nullcontext
from dataclasses import replace

import pytest
import torch

from molyneux.core import Progress
from molyneux.learn.training.shared_draws import SharedDraws
from molyneux.learn.training.whole_batch import whole_batch_problem

WHOLE = {
    "HSVAE": "its loss of a few samples",  # numbers of Gamma variables are as many as it takes
    "IDMVAE": "contrastive terms",
    "MMVAE-ELBO": "free bits",
    "VAE-BetaVAE-0": "free bits",
    "VAE-CCI-2": "the capacity of the mean divergence",
    "VAE-BetaTCVAE-3": "the total correlation",
    "VAE-BetaTCVAE-4": "the total correlation",
    "VAE-FactorVAE-5": "the total correlation",
    "VAE-DIP-6": "covariances",
    "VAE-DIP-7": "covariances",
    "VAE-MAT-8": "the mean discrepancy",
    "VAE-MAT-9": "the mean discrepancy",
}


def noise():
    return torch.Generator().manual_seed(1)


def loss(model, rows, share):
    generator = noise()
    with nullcontext() if share is None else SharedDraws(generator, share):
        return model.loss(rows, Progress(0, 10), generator)


@pytest.mark.parametrize("count", [1, 3])
def test_every_model(any_model, count, build, batch_of):
    """With gaps where there are several modalities. Each part draws what the whole batch draws for it."""
    model = build(any_model, count).train()
    batch = batch_of(model.spec, 16)
    if count > 1:
        batch = replace(batch, present={name: torch.ones(16, dtype=torch.bool) for name in model.spec.names})
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    found = whole_batch_problem(model, loss, batch, 1)
    assert found.startswith(WHOLE[any_model.__name__]) if any_model.__name__ in WHOLE else found == ""
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
