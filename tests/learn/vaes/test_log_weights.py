"""Importance weights: those of the log-likelihood, decoded in chunks of a size that does not depend on how many there are."""

import math

import pytest
import torch

from molyneux.core import Batch, ImportanceWeights, Modality, Spec
from molyneux.learn import DMVAE, MMVAE, MVAE, MoPoE

SPEC = Spec((Modality("left", "tabular", (3,)), Modality("right", "tabular", (2,))))


def noise():
    return torch.Generator().manual_seed(0)


@pytest.mark.parametrize("kind", [DMVAE, MMVAE, MVAE, MoPoE])
def test_weights_are_those_of_the_log_likelihood_and_come_in_chunks(kind, monkeypatch):
    torch.manual_seed(0)
    model = kind(SPEC, latent_dim=2).eval()
    assert isinstance(model, ImportanceWeights)
    batch = Batch({"left": torch.randn(20, 3), "right": torch.randn(20, 2)}, {"right": torch.arange(20) % 2 == 0})
    rows, decode = [], model.networks.decode
    monkeypatch.setattr(
        model.networks,
        "decode",
        lambda name, shared, *rest: (rows.append(shared[..., 0].numel()), decode(name, shared, *rest))[1],
    )
    weights = model.log_weights(batch, 50, noise())
    assert weights.shape == (50, 20)
    assert max(rows) == 160
    torch.testing.assert_close(weights.logsumexp(0) - math.log(50), model.log_likelihood(batch, 50, noise()))
