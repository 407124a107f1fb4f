"""FactorVAE's discriminator: who gets which gradient, and what it learns."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from molyneux.core import Progress
from molyneux.learn.objectives import FactorVAE, Sampled
from molyneux.learn.objectives.total_correlation import permute_dimensions
from molyneux.learn.posteriors import DiagonalNormal


def test_dimensions_are_permuted_each_by_itself():
    codes = torch.arange(40.0).reshape(20, 2)
    permuted = permute_dimensions(codes, torch.Generator().manual_seed(0))
    assert torch.equal(permuted.sort(0).values, codes)
    assert not torch.equal(permuted[:, 1], permuted[:, 0] + 1)


def test_gradients_are_those_of_two_optimisers(sample):
    torch.manual_seed(0)
    penalty, sampled = FactorVAE(3.0, width=5, layers=2).build(3).double(), sample(8)
    generator_state = sampled.generator.get_state()
    penalty(sampled).total.backward()
    together = [sampled.posterior.loc.grad.clone(), *(item.grad.clone() for item in penalty.parameters())]
    assert all(item.requires_grad for item in penalty.parameters())

    first, discriminator = sample(8), penalty.discriminator
    odds = discriminator(first.codes).squeeze(-1)
    (first.posterior.kl().mean() + 3 * odds.mean()).backward()
    discriminator.zero_grad()
    codes = first.codes.detach()
    permuted = permute_dimensions(codes, first.generator.set_state(generator_state))
    # As published: two logits and a cross-entropy, half of each kind.
    logits = [torch.cat([discriminator(part), torch.zeros(8, 1).double()], 1) for part in (codes, permuted)]
    loss = sum(0.5 * cross_entropy(part, torch.full((8,), label)) for label, part in enumerate(logits))
    loss.backward()
    apart = [first.posterior.loc.grad, *(item.grad for item in penalty.parameters())]
    torch.testing.assert_close(together, apart)


def test_in_evaluation_the_discriminator_costs_nothing(sample):
    penalty, sampled = FactorVAE(3.0, width=5, layers=2).build(3).double().eval(), sample(8)
    loss = penalty(sampled)
    expected = loss.terms["rate.shared"] + 3 * loss.terms["total_correlation"]
    assert loss.total.item() == pytest.approx(expected.item())
    assert loss.terms["discriminator"] > 0


def test_the_discriminator_finds_the_total_correlation():
    torch.manual_seed(0)
    factor = torch.linalg.cholesky(torch.tensor([[1.0, 0.9], [0.9, 1.0]]))
    penalty, generator = FactorVAE(0.0, width=32, layers=2).build(2), torch.Generator().manual_seed(1)
    optimizer = torch.optim.Adam(penalty.parameters(), lr=5e-3)
    found = []
    for step in range(200):
        codes = torch.randn(512, 2, generator=generator) @ factor.T
        loss = penalty(Sampled(DiagonalNormal(codes, torch.zeros(())), codes, Progress(step, 200), generator))
        optimizer.zero_grad()
        loss.total.backward()
        optimizer.step()
        found.append(loss.terms["total_correlation"].item())
    assert sum(found[-50:]) / 50 == pytest.approx(-0.5 * torch.tensor(1 - 0.81).log().item(), abs=0.15)
