"""A transformer over codes in a diffusion model: what it predicts, each sample its own, one code drawn given another."""

import pytest
import torch
from torch.nn import functional

from molyneux.core import Batch, ConfigError, Modality, Spec
from molyneux.learn.diffusion import CodeDiffusion
from molyneux.learn.diffusion.attention import GELU, attention
from molyneux.learn.diffusion.fit import CodePosteriors, ExPostDiffusion, fit_denoiser
from molyneux.learn.diffusion.multitime import DiffusedCodes, Drawing
from molyneux.learn.diffusion.schedule import signal_and_noise
from molyneux.learn.diffusion.tokens import TokenDenoiser, TokenLayers
from molyneux.learn.encoders.nets import Dense, GridConvolutional
from molyneux.learn.vaes import MLD


def noise(seed=0):
    return torch.Generator().manual_seed(seed)


def build(sizes, grids, width=16, blocks=2, schedule="linear", **settings):
    torch.manual_seed(0)
    tokens = TokenLayers(**{"heads": 2, "hidden": 2.0, **settings})
    return TokenDenoiser(sizes, width=width, blocks=blocks, tokens=tokens, grids=grids, schedule=schedule)


def stirred(net):
    """The net with no layer at zero, as after some steps."""
    for parameter in net.parameters():
        parameter.data.add_(0.1 * torch.randn(parameter.shape, generator=noise(1)))
    return net


@pytest.mark.parametrize("schedule", ["linear", "cosine"])
def test_clean_codes_are_what_it_predicts(schedule):
    """`a z - s v` of the noisy code is the prediction itself, zero at the start, wherever there is more noise than the least."""
    net = build({"a": 32, "b": 3}, {"a": (4, 4)}, schedule=schedule)
    codes, times = torch.randn(6, 35, generator=noise()), 0.2 + 0.8 * torch.rand(6, 2, generator=noise())
    signal, scale = (part.repeat_interleave(torch.tensor([32, 3]), 1) for part in signal_and_noise(times, schedule))
    torch.testing.assert_close(signal * codes - scale * net(codes, times), torch.zeros_like(codes), atol=1e-5, rtol=0)
    assert net(codes, torch.zeros(6, 2)).isfinite().all(), "what is known has no noise"
    assert (build({"a": 32, "b": 3}, {"a": (4, 4)}, predicts="velocity")(codes, times) == 0).all()


def test_cells_are_told_apart_by_their_places_alone():
    """Cells in another order, with their places, give the same numbers in that order: nothing else knows of the grid."""
    net = stirred(build({"a": 32, "b": 3}, {"a": (4, 4)}))
    codes, times = torch.randn(5, 35, generator=noise()), torch.rand(5, 2, generator=noise())
    order = torch.randperm(16, generator=noise(2))

    def turned(flat):
        return torch.cat([flat[:, :32].reshape(-1, 2, 16)[..., order].flatten(1), flat[:, 32:]], 1)

    with torch.no_grad():
        found = net(codes, times)
        assert not torch.allclose(net(turned(codes), times), turned(found), atol=1e-3)
        net.places["a"].table.copy_(net.places["a"].table[order].clone())
        torch.testing.assert_close(net(turned(codes), times), turned(found), atol=1e-5, rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("predicts", ["clean", "velocity"])
def test_a_figure_is_drawn_where_another_code_says_and_its_place_is_read(predicts):
    """A bright cell of a grid of 4 x 4, and its place as two numbers."""
    place = torch.randint(4, (2048, 2), generator=noise())
    grid = torch.zeros(len(place), 4, 4)
    grid[torch.arange(len(place)), place[:, 0], place[:, 1]] = 1.0
    codes = torch.cat([(grid.flatten(1) - 1 / 16) / 0.24, (place - 1.5) / 1.12], 1)
    net = build({"image": 16, "place": 2}, {"image": (4, 4)}, width=64, predicts=predicts)
    posteriors = CodePosteriors(codes, torch.zeros_like(codes), torch.ones(len(codes), 2, dtype=torch.bool))
    settings = ExPostDiffusion(steps=1200, batch_size=128, learning_rate=3e-3, warmup_steps=50, average=0.98, precision="32")
    fit_denoiser(net, posteriors, share=0.5, settings=settings, seed=0)
    right = {}
    for given in (0, 1):
        known = torch.arange(2).expand(256, -1) == given
        parts = {"centre": torch.zeros(18), "spread": torch.ones(18)}
        drawn = DiffusedCodes(net, codes[:256], known, (16, 2), Drawing(15), **parts).rsample((), noise())
        cell = drawn[:, :16].argmax(1)
        said = (drawn[:, 16:] * 1.12 + 1.5).round().clamp(0, 3).long()
        right[given] = (cell == said[:, 0] * 4 + said[:, 1]).float().mean()
        assert torch.equal(drawn[:, :16], codes[:256, :16]) == (given == 0)
    assert min(right.values()) > 0.95, right


def test_an_image_and_another_code_in_one_model():
    spec = Spec((Modality("image", "image", (3, 16, 16), "uint8"), Modality("numbers", "tabular", (4,))))
    diffusion = CodeDiffusion(width=16, blocks=1, tokens=TokenLayers(heads=2), steps=3)
    nets = {"image": GridConvolutional(channels=3, blocks=1), "numbers": Dense(width=8)}
    model = MLD(spec, latent_dim={"image": 8, "numbers": 2}, nets=nets, diffusion=diffusion).eval()
    assert isinstance(model.denoiser, TokenDenoiser)
    assert model.denoiser.cells == {"image": 4, "numbers": 1}
    views = {
        "image": torch.randint(256, (5, 3, 16, 16), generator=noise(), dtype=torch.uint8),
        "numbers": torch.randn(5, 4, generator=noise()),
    }
    with torch.no_grad():
        codes = model.encode(Batch(views), ("numbers",)).rsample(generator=noise())
        assert codes.shared.shape == (1, 5, 10)
        assert codes.shared.isfinite().all()


def test_settings_that_cannot_be_used():
    with pytest.raises(ConfigError, match=r"tokens\.heads: expected at least 1, got 0") as error:
        TokenLayers(heads=0, hidden=0.0, predicts="noise")
    assert "tokens.hidden: expected a number above 0, got 0.0" in str(error.value)
    assert "predicts: expected one of clean, velocity" in str(error.value)
    with pytest.raises(ConfigError, match="width: expected a multiple of the 3 heads, got 16"):
        build({"a": 3}, {}, heads=3)


@pytest.mark.parametrize("arithmetic", [torch.float64, torch.float32, torch.bfloat16])
def test_gelu_and_its_gradient_are_those_of_torch(arithmetic):
    """As exact as rounding allows, in several parts too, without a gradient, and under `vmap`."""
    values = torch.linspace(-9, 9, 150_001, dtype=torch.float64).to(arithmetic).requires_grad_()
    exact = values.detach().double().requires_grad_()
    expected = functional.gelu(exact, approximate="tanh")
    (slope,) = torch.autograd.grad(expected.sum(), exact)
    found = GELU()(values)
    (steep,) = torch.autograd.grad(found.sum(), values)
    error = {"atol": 64 * torch.finfo(arithmetic).eps, "rtol": 2 * torch.finfo(arithmetic).eps}
    torch.testing.assert_close(found.detach().double(), expected.detach(), **error)
    torch.testing.assert_close(steep.double(), slope, **error)
    with torch.no_grad():
        assert torch.equal(GELU()(values), found)
    rows = values.detach()[:150_000].reshape(3, -1).requires_grad_()
    (stacked,) = torch.autograd.grad(torch.vmap(GELU())(rows).sum(), rows)
    assert torch.equal(stacked.flatten(), steep[:150_000])


@pytest.mark.parametrize("tokens", [5, 600])
@pytest.mark.parametrize("arithmetic", [torch.float32, torch.bfloat16])
def test_attention_is_the_softmax_of_scaled_products(arithmetic, tokens):
    asked = torch.randn(2, tokens, 3 * 8, generator=noise()).to(arithmetic).requires_grad_()
    exact = asked.detach().double().requires_grad_()
    query, key, value = exact.reshape(2, tokens, 3, 2, 4).permute(2, 0, 3, 1, 4)
    expected = ((query @ key.mT / 2.0).softmax(-1) @ value).transpose(1, 2).flatten(2)
    found = attention(asked, 2)
    assert found.dtype == arithmetic
    error = {"atol": 32 * torch.finfo(arithmetic).eps, "rtol": 8 * torch.finfo(arithmetic).eps}
    torch.testing.assert_close(found.double(), expected, **error)
    directions = torch.randn(found.shape, generator=noise(1))
    (gradient,) = torch.autograd.grad((found * directions).sum(), asked)
    (true,) = torch.autograd.grad((expected * directions).sum(), exact)
    torch.testing.assert_close(gradient.double(), true, **error)
