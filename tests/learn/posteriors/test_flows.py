"""Flows over codes: their inverse, their density against quadrature, their samples and their mean."""

import numpy as np
import pytest
import torch
from scipy import integrate

from molyneux.learn.posteriors import DiagonalNormal
from molyneux.learn.posteriors.flows import Flow, FlowDistribution, fixed_noise, standard_noise


def noise(seed=0):
    return torch.Generator().manual_seed(seed)


def flow_of(features, context=0, scale=1.0):
    torch.manual_seed(1)
    return Flow(features, context, layers=3, width=16, scale=scale).requires_grad_(False)


@pytest.mark.parametrize(("features", "context"), [(1, 0), (1, 2), (4, 0), (5, 3)])
def test_the_inverse_and_the_volume(features, context):
    flow = flow_of(features, context)
    codes = torch.randn(6, features, generator=noise())
    given = torch.randn(6, context, generator=noise(1)) if context else None
    found, volume = flow(codes, given)
    torch.testing.assert_close(flow.inverse(found, given), codes, atol=1e-3, rtol=1e-3)
    for row in range(3):
        own = None if given is None else given[row]
        jacobian = torch.autograd.functional.jacobian(lambda code, own=own: flow(code, own)[0], codes[row])
        assert volume[row].item() == pytest.approx(torch.linalg.slogdet(jacobian).logabsdet.item(), abs=1e-3)


def test_the_density_has_mass_one_and_the_mean_is_the_mean_of_many_samples():
    made = FlowDistribution(
        flow_of(1, 1),
        DiagonalNormal(torch.tensor([[0.3]]), torch.tensor([[-0.5]])),
        torch.tensor([[0.7]]),
        centre=torch.tensor([2.0]),
        spread=torch.tensor([0.5]),
    )
    grid = torch.linspace(-3, 7, 8001).reshape(-1, 1, 1)
    density = made.log_prob(grid).exp().squeeze(-1).double().numpy()
    points = grid.flatten().double().numpy()
    assert integrate.trapezoid(density, points) == pytest.approx(1.0, abs=2e-3)
    drawn = made.rsample((40_000,), noise()).flatten()
    assert drawn.mean().item() == pytest.approx(integrate.trapezoid(points * density, points), abs=0.02)
    assert made.mean.item() == pytest.approx(drawn.mean().item(), abs=0.2)
    counts, edges = np.histogram(drawn.numpy(), bins=20, range=(0, 4))
    mass = np.interp(edges, points, integrate.cumulative_trapezoid(density, points, initial=0))
    np.testing.assert_allclose(counts / len(drawn), np.diff(mass), atol=0.01)


def test_leading_axes_are_kept_and_samples_do_not_depend_on_the_batch():
    made = FlowDistribution(flow_of(3, 2), standard_noise((5, 7), 3, torch.zeros(())), torch.randn(5, 7, 2, generator=noise()))
    codes = made.rsample((4,), noise())
    assert codes.shape == (4, 5, 7, 3)
    assert made.log_prob(codes).shape == (4, 5, 7)
    assert made.mean.shape == (5, 7, 3)
    alone = FlowDistribution(made.flow, standard_noise((1,), 3, torch.zeros(())), made.context[2, 3:4])
    torch.testing.assert_close(alone.log_prob(codes[1, 2, 3:4]), made.log_prob(codes)[1, 2, 3:4])
    torch.testing.assert_close(alone.mean[0], made.mean[2, 3])


def test_a_scale_of_zero_is_the_identity():
    flow = flow_of(4, 2, scale=0.0)
    codes = torch.randn(6, 4, generator=noise())
    found, volume = flow(codes, torch.randn(6, 2))
    torch.testing.assert_close(found, codes, atol=1e-5, rtol=1e-5)
    assert volume.abs().max() < 1e-4


def test_fixed_noise_is_the_same_at_every_call():
    assert torch.equal(fixed_noise(8, torch.zeros(3)), fixed_noise(8, torch.ones(5, 3)))
    assert fixed_noise(8, torch.zeros(3)).mean(0).abs().max() < 1e-6
