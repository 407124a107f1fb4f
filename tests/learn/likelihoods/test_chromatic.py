"""Brightness and chromaticity: the map and its volume, a density that integrates to one, the best fit and the weight."""

import pytest
import torch
from torch.distributions import MultivariateNormal

from molyneux.core import ConfigError, Modality, SpecError
from molyneux.learn.likelihoods import ChromaticNormal
from molyneux.learn.likelihoods.chromatic import chromatic, coloured

IMAGE = Modality("picture", "image", (3, 5, 4), "uint8")
BATCH = torch.Size((2, 6))
COVARIANCE = torch.tensor([[0.02, 0.0, 0.0], [0.0, 0.01, 0.004], [0.0, 0.004, 0.03]])


def noise(seed=0):
    return torch.Generator().manual_seed(seed)


def head(weight=1.0):
    made = ChromaticNormal(weight=weight).head(IMAGE)
    made.covariance.copy_(COVARIANCE)
    return made


def raw_and_target():
    target = 0.1 + 0.9 * torch.rand(6, 3, 5, 4, generator=noise())
    return chromatic(target).repeat(2, 1, 1, 1).unsqueeze(1) + 0.1 * torch.randn(12, 1, 3, 5, 4, generator=noise(1)), target


def normal(loc, covariance, target):
    """Nats of brightness and chromaticity by torch's own distribution, (samples, B)."""
    return (
        MultivariateNormal(loc.permute(0, 1, 3, 4, 2), covariance).log_prob(chromatic(target).permute(0, 2, 3, 1)).sum((-1, -2))
    )


def test_an_image_and_its_brightness_and_chromaticity():
    image = torch.rand(7, 3, 5, 4, generator=noise())
    torch.testing.assert_close(coloured(chromatic(image)), image, atol=1e-6, rtol=1e-5)
    lit = chromatic(0.3 * image)
    torch.testing.assert_close(lit[:, 1:], chromatic(image)[:, 1:])
    torch.testing.assert_close(lit[:, 0], 0.3 * image.amax(1))
    grey = chromatic(torch.rand(1, 1, 5, 4).expand(1, 3, 5, 4))
    torch.testing.assert_close(grey[:, 1:], torch.zeros(1, 2, 5, 4))
    assert (chromatic(torch.zeros(1, 3, 2, 2)) == 0).all()
    assert (coloured(10 * torch.randn(9, 3, 5, 4, generator=noise())) <= 1).all()


def test_the_density_counts_the_volume_of_the_map():
    raw, target = raw_and_target()
    views = head().eval()(raw, BATCH)
    loc = raw.reshape(2, 6, 3, 5, 4)
    volume = torch.zeros(6)
    for sample, image in enumerate(target):
        for pixel in image.flatten(1).T:
            jacobian = torch.autograd.functional.jacobian(lambda x: chromatic(x[:, None, None]).flatten(), pixel)
            volume[sample] += jacobian.det().abs().log()
    torch.testing.assert_close(views.log_prob(target), normal(loc, COVARIANCE, target) + volume, rtol=1e-4, atol=1e-3)


def test_the_density_of_a_pixel_integrates_to_one():
    made = ChromaticNormal().head(Modality("picture", "image", (3, 1, 1), "uint8")).eval()
    made.covariance.copy_(torch.diag(torch.tensor([0.003, 0.004, 0.002])))
    views = made(chromatic(torch.tensor([0.7, 0.4, 0.3])[None, :, None, None]).unsqueeze(1), torch.Size((1,)))
    side = (torch.arange(80) + 0.5) / 80
    cube = torch.cartesian_prod(side, side, side)[:, :, None, None]
    total = views.log_prob(cube).double().exp().mean()
    assert total.item() == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("variance", [0.1, 1e-6])
def test_black_pixels_have_no_more_probability_than_their_brightness(variance):
    """However surely grey: the integral over colours below half a step of stored images is a third of that of the brightness."""
    made = ChromaticNormal().head(Modality("picture", "image", (3, 1, 1), "uint8")).eval()
    made.covariance.copy_(torch.diag(torch.tensor([4e-4, variance, variance])))
    views = made(torch.zeros(1, 1, 3, 1, 1), torch.Size((1,)))
    largest = 0.5 / 255
    side = (torch.arange(40) + 0.5) / 40 * largest
    cube = torch.cartesian_prod(side, side, side)[:, :, None, None]
    total = views.log_prob(cube).double().exp().mean() * largest**3
    brightness = torch.distributions.Normal(0.0, 0.02).cdf(torch.tensor(largest)) - 0.5
    assert total.item() == pytest.approx(brightness.item() / 3, rel=0.01)


def test_draws_scatter_around_the_mean():
    raw, _ = raw_and_target()
    views = head().eval()(raw.clamp(0.4, 0.6) * torch.tensor([1.0, 0.1, 0.1])[:, None, None], BATCH)
    drawn = chromatic(views.sample((4000,), noise()))
    torch.testing.assert_close(drawn[..., 0, :, :].var(0), torch.full((*BATCH, 5, 4), 0.02), atol=3e-3, rtol=0)
    torch.testing.assert_close(coloured(drawn).mean(0), views.mean, atol=0.08, rtol=0)
    assert torch.equal(views.mean, views.mode)


def test_the_fit_is_the_best_one():
    raw, target = raw_and_target()
    weight = torch.rand(BATCH, generator=noise(2))
    best = (head().train()(raw, BATCH).fitted(target, weight).log_prob(target) * weight).sum()
    loc = raw.reshape(2, 6, 3, 5, 4)
    residuals = (chromatic(target) - loc).flatten(-2)
    moments = torch.einsum("sb,sbip,sbjp->ij", weight, residuals, residuals) / (20 * weight.sum())
    moments[0, 1:], moments[1:, 0] = 0, 0
    for size in (0.0, 0.03, 0.3):
        step = torch.eye(3)
        step[1:, 1:] += size * torch.randn(2, 2, generator=noise(1))
        step[0, 0] += size
        found = (normal(loc, step @ moments @ step.T, target) * weight).sum()
        assert found == pytest.approx(best.item(), rel=1e-4) if size == 0 else found < best


def test_the_weight_is_that_of_the_brightness_in_training():
    raw, target = raw_and_target()
    whole, less, least = (
        head(weight).train()(raw, BATCH).fitted(target, torch.ones(BATCH)).log_prob(target) for weight in (1.0, 0.5, 1e-9)
    )
    torch.testing.assert_close(whole - less, less - least, rtol=1e-3, atol=1e-2)
    raw.requires_grad_()
    (gradient,) = torch.autograd.grad(
        head(1e-9).train()(raw, BATCH).fitted(target, torch.ones(BATCH)).log_prob(target).sum(), raw
    )
    assert gradient[:, :, 0].abs().max() < 1e-6 < gradient[:, :, 1:].abs().max()
    evaluated = [head(weight).eval()(raw, BATCH).log_prob(target) for weight in (1.0, 0.1)]
    assert torch.equal(*evaluated)


def test_samples_of_weight_0_do_not_count_and_the_mean_runs():
    raw, target = raw_and_target()
    weight, far = torch.ones(BATCH), target.clone()
    weight[:, 1], far[1] = 0, 0.0
    made = head().train()
    first, second = (made(raw, BATCH).fitted(value, weight).factor for value in (target, far))
    torch.testing.assert_close(first, second)
    fitted = first @ first.T
    torch.testing.assert_close(made.covariance, 0.95 * (0.95 * COVARIANCE + 0.05 * fitted) + 0.05 * fitted)
    assert made(raw, BATCH).fitted(target, torch.zeros(BATCH)).log_prob(target).isfinite().all()
    assert made.eval()(raw, BATCH).log_prob(torch.zeros_like(target)).isfinite().all()


def test_what_it_is_not_for():
    with pytest.raises(SpecError, match="describes image"):
        ChromaticNormal().head(Modality("touch", "series", (7, 2)))
    with pytest.raises(SpecError, match="images of 3 channels, but picture has 1"):
        ChromaticNormal().head(Modality("picture", "image", (1, 8, 8), "uint8"))
    with pytest.raises(ConfigError, match="weight: expected a number above 0"):
        ChromaticNormal(weight=0.0)
