import pytest
import torch
from torch.distributions import MultivariateNormal

from molyneux.core import Modality, SpecError
from molyneux.learn.likelihoods import CorrelatedNormal

IMAGE = Modality("picture", "image", (3, 5, 4), "uint8")
BATCH = torch.Size((2, 6))
COVARIANCE = torch.tensor([[0.5, 0.3, 0.1], [0.3, 0.4, 0.2], [0.1, 0.2, 0.3]])


def raw_and_target():
    generator = torch.Generator().manual_seed(0)
    return torch.randn(12, 1, 3, 5, 4, generator=generator), torch.rand(6, 3, 5, 4, generator=generator)


def reference(loc, covariance, target):
    """Nats by torch's own distribution of pixels, channels last."""
    pixels = MultivariateNormal(loc.permute(0, 1, 3, 4, 2), covariance)
    return pixels.log_prob(target.permute(0, 2, 3, 1)).sum((-1, -2))


def head(covariance=COVARIANCE):
    made = CorrelatedNormal().head(IMAGE)
    made.covariance.copy_(covariance)
    return made


def test_log_probability_and_draws():
    raw, target = raw_and_target()
    views = head().eval()(raw, BATCH)
    loc = raw.reshape(2, 6, 3, 5, 4)
    torch.testing.assert_close(views.log_prob(target), reference(loc, COVARIANCE, target))
    torch.testing.assert_close(views.stddev.flatten(), COVARIANCE.diagonal().sqrt())
    drawn = (views.sample((4000,), torch.Generator().manual_seed(0)) - loc).permute(0, 1, 2, 4, 5, 3).flatten(0, -2)
    torch.testing.assert_close(drawn.T.cov(), COVARIANCE, atol=5e-3, rtol=0)
    assert views.fitted(target, torch.ones(BATCH)) is views


def test_the_fitted_covariance_is_the_best_one():
    raw, target = raw_and_target()
    weight = torch.rand(BATCH, generator=torch.Generator().manual_seed(2))
    best = (head().train()(raw, BATCH).fitted(target, weight).log_prob(target) * weight).sum()
    loc, generator = raw.reshape(2, 6, 3, 5, 4), torch.Generator().manual_seed(1)
    residuals = (target - loc).flatten(-2)
    moments = torch.einsum("sb,sbip,sbjp->ij", weight, residuals, residuals) / (20 * weight.sum())
    for size in (0.0, 0.03, 0.3):
        step = size * torch.randn(3, 3, generator=generator)
        other = (torch.eye(3) + step) @ moments @ (torch.eye(3) + step).T
        found = (reference(loc, other, target) * weight).sum()
        assert found == pytest.approx(best.item(), rel=1e-4) if size == 0 else found < best


def test_the_gradient_is_that_of_half_the_log_determinant():
    raw, target = raw_and_target()
    raw.requires_grad_()
    (-head().train()(raw, BATCH).fitted(target, torch.ones(BATCH)).log_prob(target)).sum().backward()
    found, raw.grad = raw.grad, None
    residuals = (target - raw.reshape(2, 6, 3, 5, 4)).transpose(1, 2).transpose(0, 1).flatten(1)
    (0.5 * 12 * 20 * torch.logdet(residuals @ residuals.T / residuals.shape[1])).backward()
    torch.testing.assert_close(found, raw.grad, rtol=1e-3, atol=1e-3)


def test_samples_of_weight_0_do_not_count_and_the_mean_runs():
    raw, target = raw_and_target()
    weight, far = torch.ones(BATCH), target.clone()
    weight[:, 1], far[1] = 0, 1000.0
    made = head().train()
    first, second = (made(raw, BATCH).fitted(value, weight).factor for value in (target, far))
    torch.testing.assert_close(first, second)
    fitted = first @ first.T
    expected = 0.95 * (0.95 * COVARIANCE + 0.05 * fitted) + 0.05 * fitted
    torch.testing.assert_close(made.covariance, expected)
    assert made(raw, BATCH).fitted(target, torch.zeros(BATCH)).log_prob(target).isfinite().all()


def test_it_is_for_images():
    with pytest.raises(SpecError, match="describes image"):
        CorrelatedNormal().head(Modality("touch", "series", (7, 2)))
