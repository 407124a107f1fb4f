"""The net with an attention window on the one figure of an image."""

import math

import pytest
import torch

from molyneux.core import ConfigError, Modality, SpecError
from molyneux.learn.encoders.nets import WhatWhere
from molyneux.learn.encoders.nets.what_where import MEASURED, _Frame
from molyneux.learn.likelihoods import ChromaticNormal, Normal
from molyneux.learn.likelihoods.chromatic import chromatic
from molyneux.learn.posteriors.diagonal import expert_parameters

IMAGE = Modality("image", "image", (3, 48, 64), "uint8")


def discs(places, radius, ground=0.25, colour=(0.5, 0.0, 0.5)):
    """Discs of one colour at (column, row) on a grey ground, (B, 3, 48, 64)."""
    rows, columns = torch.meshgrid(torch.arange(48.0), torch.arange(64.0), indexing="ij")
    images = []
    for column, row in places:
        inside = ((columns - column) ** 2 + (rows - row) ** 2 <= radius**2).float()
        images.append(ground * (1 - inside) + inside * torch.tensor(colour)[:, None, None])
    return torch.stack(images)


def test_where_the_figure_is_and_how_bright_are_measured():
    """A disc has a root mean square distance of its radius over the square root of two."""
    frame = _Frame(WhatWhere(), IMAGE)
    places = [(20.0, 30.0), (40.0, 12.0), (31.5, 23.5)]
    measured = frame.measure(chromatic(discs(places, 9.0)))
    centre, half = frame.window(measured)
    expected = torch.tensor(places) - torch.tensor([31.5, 23.5])
    torch.testing.assert_close(centre, expected, atol=0.01, rtol=0)
    torch.testing.assert_close(half, torch.full((3, 1), 2.3 * 9 / math.sqrt(2)), atol=0, rtol=0.03)
    torch.testing.assert_close((measured[:, 3:] + 1) / 2, torch.tensor([[0.25, 0.5]]).expand(3, -1), atol=1e-3, rtol=0)


def test_a_patch_that_was_cut_out_is_put_back_in_its_place():
    frame = _Frame(WhatWhere(), IMAGE)
    image = chromatic(discs([(20.0, 30.0), (42.0, 12.0)], 8.0))
    measured = frame.measure(image)
    placed = frame.place(frame.cut(image[:, 1:], measured), measured)
    error = (placed - image[:, 1:]).square().sum((1, 2, 3)) / image[:, 1:].square().sum((1, 2, 3))
    assert (error < 0.05).all(), error
    shifted = frame.place(frame.cut(image[:, 1:], measured), measured + torch.tensor([0.5, 0, 0, 0, 0]))
    torch.testing.assert_close(
        frame.measure(torch.cat([image[:, :1], shifted], 1))[:, 0] - measured[:, 0], torch.full((2,), 0.5), atol=0.02, rtol=0
    )


def test_the_window_makes_the_learned_code_one_of_the_figure_alone():
    """Figures of another place and size have the same learned dimensions; the measured ones are their posterior's means."""
    torch.manual_seed(0)
    encoder = WhatWhere(channels=4).encoder(IMAGE, 2 * 8).eval()
    with torch.no_grad():
        loc, log_variance = expert_parameters(encoder(torch.cat([discs([(20.0, 20.0)], 8.0), discs([(40.0, 26.0)], 8.0)])))
        other, _ = expert_parameters(encoder(discs([(40.0, 26.0)], 8.0, colour=(0.0, 0.5, 0.0))))
    torch.testing.assert_close(loc[0, MEASURED:], loc[1, MEASURED:], atol=1e-4, rtol=0)
    assert (other[0, MEASURED:] - loc[1, MEASURED:]).abs().max() > 2e-3
    assert (loc[0, :2] - loc[1, :2]).abs().min() > 0.4
    torch.testing.assert_close(
        log_variance[:, :MEASURED].div(2).exp(), torch.tensor([[0.01, 0.01, 0.01, 0.02, 0.02]]).expand(2, -1)
    )


def test_white_figures_on_black_are_found_by_their_brightness():
    torch.manual_seed(0)
    white = discs([(20.0, 30.0), (40.0, 12.0)], 9.0, ground=0.0, colour=(0.9, 0.9, 0.9))
    frame = _Frame(WhatWhere(salience="brightness"), IMAGE)
    measured = frame.measure(chromatic(white))
    torch.testing.assert_close(frame.window(measured)[0], torch.tensor([[-11.5, 6.5], [8.5, -11.5]]), atol=0.01, rtol=0)
    torch.testing.assert_close((measured[:, 3:] + 1) / 2, torch.tensor([[0.0, 0.9]]).expand(2, -1), atol=1e-3, rtol=0)
    encoder = WhatWhere(channels=4, salience="brightness").encoder(IMAGE, 16).eval()
    square = torch.zeros(1, 3, 48, 64)
    square[:, :, 20:36, 24:40] = 0.9
    loc, _ = expert_parameters(encoder(torch.cat([white, square])))
    torch.testing.assert_close(loc[0, MEASURED:], loc[1, MEASURED:], atol=1e-5, rtol=0)
    assert (loc[2, MEASURED:] - loc[1, MEASURED:]).abs().max() > 1e-4
    with pytest.raises(ConfigError, match="salience: expected saturation or brightness, got 'size'"):
        WhatWhere(salience="size")


def test_outlines_of_white_figures_are_learned():
    """No image has a colour, so that the variance of a colour that was drawn would count without bounds."""
    torch.manual_seed(0)
    net = WhatWhere(channels=8, width=64, salience="brightness")
    encoder, decoder = net.encoder(IMAGE, 16).train(), net.decoder(IMAGE, 8, ChromaticNormal(weight=1.0)).train()
    rows, columns = torch.meshgrid(torch.arange(48.0), torch.arange(64.0), indexing="ij")
    away = torch.stack([(rows - 24).abs(), (columns - 32).abs()])
    disc, square = (away.square().sum(0) <= 100).float(), (away.amax(0) <= 9).float()
    bar = ((away[0] <= 12) & (away[1] <= 6)).float()
    images = torch.stack([disc, square, bar] * 8)[:, None].expand(-1, 3, -1, -1).contiguous()
    optimiser = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=5e-3)
    for _ in range(40):
        loc, _ = expert_parameters(encoder(images))
        drawn = decoder(loc).fitted(images, torch.ones(len(images)))
        loss = -drawn.log_prob(images).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert torch.equal(drawn.mean[:, 0], drawn.mean[:, 1])
    error = (drawn.mean - images).square().sum((1, 2, 3)) / images.square().sum((1, 2, 3))
    assert (error < 0.05).all(), error[:3]


def test_figures_on_black_are_drawn_in_one_colour_after_training():
    """Also at their border, which is pale on a grey ground; the outline that is trained stays the same."""
    drawn, trained = {}, {}
    codes = torch.randn(6, 12, generator=torch.Generator().manual_seed(1)) * 0.3
    codes[:, 3] = -1.0
    for ground in ("grey", "black"):
        torch.manual_seed(0)
        decoder = WhatWhere(channels=4, ground=ground).decoder(IMAGE, 12, ChromaticNormal())
        trained[ground] = decoder.train()(codes).loc.flatten(-2)
        drawn[ground] = decoder.eval()(codes).loc.flatten(-2)
    torch.testing.assert_close(trained["black"], trained["grey"])
    torch.testing.assert_close(drawn["black"][:, 0], drawn["grey"][:, 0])
    colours = drawn["black"][:, 1:]
    assert (colours == colours[..., :1]).all()
    pale = drawn["grey"][:, 1:]
    assert (pale.square().sum(1).amin(1) == 0).all()
    along = torch.nn.functional.cosine_similarity(pale[..., pale.square().sum((0, 1)).argmax()], colours[..., 0])
    assert (along > 0.5).all(), along
    with pytest.raises(ConfigError, match="ground: expected grey or black, got 'white'"):
        WhatWhere(ground="white")


def test_images_without_colour_have_finite_codes():
    encoder = WhatWhere(channels=4).encoder(IMAGE, 12).eval()
    for image in (torch.zeros(2, 3, 48, 64), torch.ones(2, 3, 48, 64)):
        assert encoder(image).isfinite().all()


def test_what_does_not_fit_is_refused():
    with pytest.raises(SpecError, match="reads images of 3 channels, but image has 1"):
        WhatWhere().encoder(Modality("image", "image", (1, 28, 28), "uint8"), 12)
    with pytest.raises(SpecError, match="expected at least 6, got 5"):
        WhatWhere().encoder(IMAGE, 10)
    with pytest.raises(SpecError, match="expected an even number, got 13"):
        WhatWhere().encoder(IMAGE, 13)
    with pytest.raises(SpecError, match="expected the likelihood ChromaticNormal, got Normal"):
        WhatWhere().decoder(IMAGE, 8, Normal())
    assert WhatWhere().decoder(IMAGE, 8, ChromaticNormal())(torch.zeros(2, 8)).view.shape == (2, 3, 48, 64)
