"""The net that learns the outlines of closed contours in a frame of their own."""

import math

import numpy as np
import pytest
import torch

from molyneux.core import Modality, SpecError
from molyneux.data import CdSprites
from molyneux.learn.encoders.nets import Contour
from molyneux.learn.encoders.nets.contour import MEASURED, coefficients, followed, frame, measure, turned
from molyneux.learn.likelihoods import Normal
from molyneux.learn.posteriors.diagonal import expert_parameters

TOUCH = Modality("touch", "series", (64, 5))


def contours(count=200, noise=0.0):
    world = CdSprites(level=5, modalities=["image", "text", "touch"], touch_noise=noise)
    return world.batch(np.arange(count), split="train", seed=1).views["touch"]


def ellipse(centre, axes, start, count=512):
    """Points of an ellipse at equal steps of its angle, from a start in radians; (1, count, 5)."""
    angle = start + torch.arange(count) * (2 * math.pi / count)
    points = torch.stack([centre[0] + axes[0] * angle.cos(), centre[1] + axes[1] * angle.sin()], -1)
    return followed(points[None])


def test_an_ellipse_has_its_centre_its_mean_radius_and_its_start():
    """Of x + i y = a cos t + i b sin t, the coefficient of frequency 1 is (a + b) / 2."""
    centre, radius, phase = frame(measure(coefficients(ellipse((0.3, 0.6), (0.2, 0.1), 1.1)[..., :2])))
    torch.testing.assert_close(centre, torch.tensor([[0.3 + 0.6j]]))
    torch.testing.assert_close(radius, torch.tensor([[0.15]]))
    torch.testing.assert_close(phase, torch.tensor([[1.1]]))


def test_directions_and_turns_are_those_of_the_world():
    views = contours()
    torch.testing.assert_close(followed(views[..., :2].double()).float(), views, atol=2e-3, rtol=0)
    torch.manual_seed(0)
    drawn = Contour().body(TOUCH, 16, 1)(0.3 * torch.randn(3, 16))
    assert drawn.shape == (3, 1, 64, 5)
    torch.testing.assert_close(drawn[..., 4].sum(-1), torch.full((3, 1), 2 * math.pi), atol=1e-4, rtol=0)


def test_the_learned_code_is_that_of_the_outline_alone():
    """Moved, enlarged and begun elsewhere, an outline has the same learned dimensions."""
    torch.manual_seed(0)
    encoder = Contour(width=32).encoder(Modality("touch", "series", (512, 5)), 2 * 8).eval()
    with torch.no_grad():
        first, moved, other = (
            expert_parameters(encoder(view))[0]
            for view in (
                ellipse((0.5, 0.5), (0.2, 0.1), 0.0),
                ellipse((0.2, 0.9), (0.1, 0.05), 2.0),
                ellipse((0.5, 0.5), (0.1, 0.2), 0.0),
            )
        )
    torch.testing.assert_close(moved[:, MEASURED:], first[:, MEASURED:], atol=1e-4, rtol=0)
    assert (other[:, MEASURED:] - first[:, MEASURED:]).abs().max() > 2e-3
    assert (moved[:, :MEASURED] - first[:, :MEASURED]).abs().min() > 0.1


def test_a_contour_that_starts_elsewhere_has_the_same_coefficients():
    views = contours()
    lines = coefficients(views[..., :2])
    frequencies = torch.fft.fftfreq(64, 1 / 64)
    later = turned(lines, frequencies, torch.full((200, 1), 2 * math.pi * 5 / 64))
    torch.testing.assert_close(later, coefficients(views[..., :2].roll(-5, 1)), atol=1e-5, rtol=0)
    _, _, phase = frame(measure(lines))
    started = turned(lines, frequencies, -phase)
    assert started[:, 1].imag.abs().max() < 1e-5
    assert measure(lines).isfinite().all()


def test_a_contour_that_is_a_point_has_a_finite_code_and_gradient():
    encoder = Contour(width=8).encoder(TOUCH, 12).eval()
    assert encoder(torch.full((2, 64, 5), 0.5)).isfinite().all()
    points = torch.zeros(1, 64, 2, requires_grad=True)
    followed(points).sum().backward()
    assert points.grad is not None
    assert points.grad.isfinite().all()


def test_outlines_are_learned_from_few_steps():
    """Reconstructions of contours that begin anywhere, which fully connected layers of the sequence do not learn in this time."""
    torch.manual_seed(0)
    views = contours(512, noise=0.02)
    encoder, decoder = Contour(width=128).encoder(TOUCH, 32).train(), Contour(width=128).decoder(TOUCH, 16, Normal(0.05)).train()
    optimiser = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=3e-3)
    for step in range(60):
        batch = views[128 * (step % 4) : 128 * (step % 4 + 1)]
        drawn = decoder(expert_parameters(encoder(batch))[0])
        loss = -drawn.log_prob(batch).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    error = (drawn.mean - batch)[..., :2].square().mean().sqrt()
    assert error < 0.015, error


def test_what_does_not_fit_is_refused():
    with pytest.raises(SpecError, match="Contour reads contacts of 5 numbers"):
        Contour().encoder(Modality("touch", "series", (64, 3)), 12)
    with pytest.raises(SpecError, match="expected at least 6, got 5"):
        Contour().encoder(TOUCH, 10)
    with pytest.raises(SpecError, match="expected an even number, got 13"):
        Contour().encoder(TOUCH, 13)
    with pytest.raises(SpecError, match="expected harmonics below half the 64 contacts of touch, got 32"):
        Contour(harmonics=32).encoder(TOUCH, 12)
    with pytest.raises(SpecError, match="use a likelihood with one, such as Normal"):
        Contour().body(TOUCH, 8, 2)
