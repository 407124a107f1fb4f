import torch
from torch import nn

from molyneux.learn.judges.augment import jitter, soften


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_noise_is_an_argument():
    view = torch.rand(8, 3, 16, 16, generator=generator())
    assert torch.equal(soften(view, generator(1)), soften(view, generator(1)))
    assert not torch.equal(soften(view, generator(1)), soften(view, generator(2)))
    series = torch.rand(8, 16, 2, generator=generator())
    assert torch.equal(jitter(series, generator(1)), jitter(series, generator(1)))


def test_grey_stays_grey_within_bounds():
    """Blur changes nothing inside a uniform picture; gain is 0.8..1.2, noise at most 5 % standard deviation."""
    inside = soften(torch.full((64, 3, 32, 32), 0.5), generator())[:, :, 2:-2, 2:-2]
    means, spreads = inside.mean((1, 2, 3)), inside.std((1, 2, 3))
    assert means.min() > 0.38
    assert means.max() < 0.62
    assert spreads.max() < 0.055
    assert soften(torch.ones(8, 3, 8, 8), generator()).max() <= 1


def test_half_of_the_pictures_are_blurred():
    """Stripes one pixel wide keep their contrast where they stay sharp; the full filter leaves none of it."""
    stripes = torch.zeros(400, 1, 16, 16)
    stripes[:, :, :, ::2] = 0.8
    seen = soften(stripes, generator())[:, 0, 3:13, 4:12]
    contrast = (seen[:, :, ::2] - seen[:, :, 1::2]).mean((1, 2)) / seen.mean((1, 2)) / 2
    assert 150 < (contrast < 0.95).sum() < 230
    assert contrast.min() < 0.1
    assert 0.9 < contrast.max() < 1.05


def test_jitter_is_small():
    series = torch.randn(200, 64, 3, generator=generator()) * torch.tensor([1.0, 10.0, 100.0])
    change = (jitter(series, generator()) - series).std((0, 1)) / series.std((0, 1))
    assert nn.functional.l1_loss(change, torch.full((3,), 0.02 / 3**0.5)) < 0.002
