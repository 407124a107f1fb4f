"""Codes on a grid in a diffusion model: each sample its own, every parameter used, one code drawn given another."""

import pytest
import torch

from molyneux.core import Batch, ConfigError, Modality, Spec
from molyneux.learn.diffusion.fit import CodePosteriors, ExPostDiffusion, fit_denoiser
from molyneux.learn.diffusion.grid import GridLayers
from molyneux.learn.diffusion.multitime import DiffusedCodes, Drawing, MultiTimeDenoiser
from molyneux.learn.diffusion.tokens import TokenDenoiser, TokenLayers
from molyneux.learn.encoders.nets import Dense, GridConvolutional
from molyneux.learn.vaes import MLD

SMALL = GridLayers(channels=8, blocks=1)


def noise(seed=0):
    return torch.Generator().manual_seed(seed)


def build(sizes, grids, width=16, **settings):
    torch.manual_seed(0)
    return MultiTimeDenoiser(
        sizes, width=width, blocks=1, grids=grids, layers=GridLayers(**{"channels": 8, "blocks": 1, **settings})
    )


def stirred(net):
    """The net with no layer at zero, as after some steps."""
    for parameter in net.parameters():
        parameter.data.add_(0.1 * torch.randn(parameter.shape, generator=noise(1)))
    return net


def tokens(predicts):
    """Builds a transformer over the same codes."""
    layers = TokenLayers(heads=2, hidden=2.0, predicts=predicts)
    return lambda sizes, grids: TokenDenoiser(sizes, width=16, blocks=2, tokens=layers, grids=grids)


@pytest.mark.parametrize("kind", [build, tokens("clean"), tokens("velocity")], ids=["convolutions", "clean", "velocity"])
@pytest.mark.parametrize("grids", [{"a": (4, 4)}, {"a": (2, 8)}, {"a": (4, 4), "b": (3, 5)}, {"a": (1, 16), "b": (5, 3)}, {}])
def test_each_sample_is_its_own_and_every_parameter_counts(grids, kind):
    sizes = {"a": 32, "b": 15, "c": 3}
    net = stirred(kind(sizes, grids))
    codes, times = torch.randn(6, 50, generator=noise()), torch.rand(6, 3, generator=noise())
    found = net(codes, times)
    assert found.shape == (6, 50)
    torch.testing.assert_close(net(codes[2:3], times[2:3])[0], found[2], atol=1e-5, rtol=1e-4)
    found.square().sum().backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in net.parameters())
    with torch.no_grad():
        for part, start in (("a", 0), ("b", 32), ("c", 47)):
            other = codes.clone()
            other[:, start] += 1
            moved = (net(other, times) - found).abs().split(list(sizes.values()), -1)
            assert all((each.sum(1) > 0).all() for each in moved), part
            late = times.clone()
            late[:, list(sizes).index(part)] += 0.1
            assert all((each.sum(1) > 0).all() for each in (net(codes, late) - found).abs().split(list(sizes.values()), -1))


@pytest.mark.slow
def test_a_figure_is_drawn_where_another_code_says_and_its_place_is_read():
    """A bright cell of a grid of 4 x 4, and its place as two numbers."""
    place = torch.randint(4, (2048, 2), generator=noise())
    grid = torch.zeros(len(place), 4, 4)
    grid[torch.arange(len(place)), place[:, 0], place[:, 1]] = 1.0
    codes = torch.cat([(grid.flatten(1) - 1 / 16) / 0.24, (place - 1.5) / 1.12], 1)
    net = build({"image": 16, "place": 2}, {"image": (4, 4)}, width=64, channels=16)
    posteriors = CodePosteriors(codes, torch.zeros_like(codes), torch.ones(len(codes), 2, dtype=torch.bool))
    settings = ExPostDiffusion(steps=800, batch_size=128, learning_rate=3e-3, average=0.98, precision="32")
    fit_denoiser(net, posteriors, share=0.5, settings=settings, seed=0)
    right = {}
    for given in (0, 1):
        known = torch.arange(2).expand(256, -1) == given
        parts = {"centre": torch.zeros(18), "spread": torch.ones(18)}
        drawn = DiffusedCodes(net, codes[:256], known, (16, 2), Drawing(15), **parts).rsample((), noise())
        if given:
            cell = drawn[:, :16].argmax(1)
            right[given] = (cell == place[:256, 0] * 4 + place[:256, 1]).float().mean().item()
        else:
            right[given] = ((drawn[:, 16:] * 1.12 + 1.5).round() == place[:256]).all(1).float().mean().item()
    assert min(right.values()) > 0.85, right


def test_a_net_with_a_grid_gives_its_model_convolutions():
    spec = Spec((Modality("image", "image", (1, 16, 24), "uint8"), Modality("touch", "tabular", (3,))))
    nets = {"image": GridConvolutional(channels=3, blocks=1), "touch": Dense(8, 1)}
    torch.manual_seed(0)
    model = MLD(spec, latent_dim={"image": 12, "touch": 2}, width=16, blocks=1, steps=3, rate=1.0, grids=SMALL, nets=nets).eval()
    assert model.denoiser.readers["image"].shape == (2, 2, 3)
    batch = Batch({"image": torch.randint(256, (4, 1, 16, 24), dtype=torch.uint8), "touch": torch.randn(4, 3)}, {})
    views = model.decode(model.encode(batch, ["touch"]).rsample(2, noise()))
    assert views["image"].mean.shape == (2, 4, 1, 16, 24)
    assert views["image"].mean.isfinite().all()


def test_settings_are_checked():
    with pytest.raises(ConfigError, match=r"grids\.channels: expected at least 1, got 0"):
        GridLayers(channels=0)
