"""The contract of the nets, for every net and every kind of modality that it serves."""

import math
from typing import get_args

import pytest
import torch

from molyneux.core import ConfigError, Kind, Modality, SpecError
from molyneux.core.views import to_model
from molyneux.learn.encoders import nets
from molyneux.learn.encoders.nets import Net, default_net
from molyneux.learn.likelihoods import default_likelihood
from molyneux.learn.posteriors.diagonal import expert_parameters

SHAPES = {
    "audio": [(2, 37)],
    "image": [(3, 64, 64), (1, 28, 28), (3, 30, 45), (2, 7, 5)],
    "label": [()],
    "series": [(64, 5), (9, 2)],
    "set": [(4, 3)],
    "tabular": [(6,)],
    "text": [(45,), (1,)],
    "video": [(5, 1, 16, 16)],
}


def concrete():
    classes = [getattr(nets, name) for name in nets.__all__]
    return [item for item in classes if isinstance(item, type) and issubclass(item, Net) and item is not Net]


def modality_of(kind, shape):
    symbols = tuple("abcd") if kind in ("label", "text") else ()
    dtype = {"image": "uint8", "label": "int64", "text": "uint8", "video": "uint8"}.get(kind, "float32")
    return Modality("sense", kind, shape, dtype, symbols, 0 if kind == "text" else None)


def takes(net, modality):
    try:
        build(net).check(modality)
    except SpecError:
        return False
    return True


SMALLER = {nets.CharacterTransformer: {"layers": 2, "feedforward": 64}, nets.Patches: {"planes": 16, "hidden": 32, "width": 64}}


def build(net):
    """A net with default settings, but for those whose size is all that they cost."""
    return net(**SMALLER.get(net, {}))


CASES = [
    (net, kind, shape)
    for net in concrete()
    for kind in sorted(net.kinds)
    for shape in SHAPES[kind]
    if takes(net, modality_of(kind, shape))
]


def test_every_net_takes_some_shape_of_each_of_its_kinds():
    assert {(net, kind) for net, kind, _ in CASES} == {(net, kind) for net in concrete() for kind in net.kinds}


def size_of(net, modality, size):
    """The size of a code, or as many numbers for each cell of its grid; `PixelGrid` has its own, here for each 6 of `size`."""
    if net is nets.PixelGrid:
        return size // 6 * build(net).patch ** 2 * modality.shape[0] * math.prod(build(net).code_grid(modality))
    return size * math.prod(build(net).code_grid(modality) or (1,))


def views_of(modality, size, seed=0):
    generator = torch.Generator().manual_seed(seed)
    if modality.symbols:
        return torch.randint(0, len(modality.symbols), (size, *modality.shape), generator=generator)
    return torch.rand((size, *modality.shape), generator=generator)


@pytest.mark.parametrize(("net", "kind", "shape"), CASES)
def test_shapes_and_gradients(net, kind, shape):
    modality = modality_of(kind, shape)
    outputs, inputs = (size_of(net, modality, size) for size in (12, 6))
    encoder = build(net).encoder(modality, outputs)
    decoder = build(net).decoder(modality, inputs, build(net).likelihood(modality))
    views = views_of(modality, 3)
    raw = encoder(to_model(modality, views))
    distribution = decoder(torch.randn(2, 3, inputs, requires_grad=True))
    assert raw.shape == (3, outputs)
    assert distribution.batch_shape == (2, 3)
    assert distribution.view.shape == (2, 3, *modality.shape)
    weights = torch.randn(3, outputs)
    ((raw * weights).sum() + distribution.log_prob(views).sum()).backward()
    for name, parameter in [*encoder.named_parameters(), *decoder.named_parameters()]:
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name


@pytest.mark.parametrize(("net", "kind", "shape"), CASES)
def test_the_rest_of_the_batch_does_not_matter(net, kind, shape):
    torch.manual_seed(0)
    modality = modality_of(kind, shape)
    outputs, inputs = (size_of(net, modality, size) for size in (12, 6))
    encoder = build(net).encoder(modality, outputs).eval()
    decoder = build(net).decoder(modality, inputs, build(net).likelihood(modality)).eval()
    views, codes = views_of(modality, 5), torch.randn(5, inputs)
    with torch.no_grad():
        together, decoded = encoder(views), decoder(codes).view.float()
        for slot in range(5):
            torch.testing.assert_close(encoder(views[slot : slot + 1])[0], together[slot], atol=1e-5, rtol=1e-4)
            torch.testing.assert_close(decoder(codes[slot : slot + 1]).view[0].float(), decoded[slot], atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(encoder(views.flip(0)).flip(0), together, atol=1e-5, rtol=1e-4)


def run(net, modality, views, lengths):
    """Raw numbers, log-probabilities and all gradients of an encoder and a decoder in training."""
    torch.manual_seed(0)
    encoder, decoder = build(net).encoder(modality, 12), build(net).decoder(modality, 12, default_likelihood(modality))
    raw = encoder(views, lengths)
    distribution = decoder(torch.randn(2, len(views), 12)).masked(lengths)
    nats = distribution.fitted(views, torch.ones(2, len(views))).log_prob(views)
    ((raw * torch.randn(raw.shape)).sum() + nats.sum()).backward()
    return raw, nats, [part.grad for side in (encoder, decoder) for part in side.parameters()]


@pytest.mark.parametrize(("net", "kind", "shape"), [case for case in CASES if modality_of(*case[1:]).length_axis is not None])
def test_what_lies_beyond_the_length_changes_neither_output_nor_gradient(net, kind, shape):
    modality = modality_of(kind, shape)
    longest, axis = modality.max_length, 1 + modality.length_axis
    lengths = torch.tensor([longest, (longest + 1) // 2, 1, 0])
    views = views_of(modality, 4)
    other = views_of(modality, 4, seed=1) if modality.symbols else torch.full(views.shape, torch.nan)
    within = torch.arange(longest) < lengths[:, None]
    within = within.reshape(4, *[longest if place == axis else 1 for place in range(1, views.dim())])
    first, second = (run(net, modality, view, lengths) for view in (views, torch.where(within, views, other)))
    torch.testing.assert_close(first, second, rtol=0, atol=0)
    views = views.clamp(min=1) if modality.symbols else views  # no padding at the end, which is not read without lengths
    whole, again = (run(net, modality, views, full) for full in (None, torch.full((4,), longest)))
    torch.testing.assert_close(whole, again, rtol=1e-4, atol=1e-5)
    assert (first[1][:, 3] == 0).all()  # nothing is predicted of an empty view


@pytest.mark.parametrize("net", concrete())
def test_kinds_that_do_not_fit_are_refused(net):
    for kind in set(get_args(Kind)) - net.kinds:
        modality = modality_of(kind, SHAPES[kind][0])
        with pytest.raises(SpecError, match=f"{net.__name__} is a net for .* modality sense is {kind}"):
            net().encoder(modality, 4)
        with pytest.raises(SpecError, match=kind):
            net().body(modality, 4, 1)


@pytest.mark.parametrize("net", concrete())
def test_settings_that_cannot_be_used_are_refused(net):
    for name in net.__dataclass_fields__:
        with pytest.raises(ConfigError, match=name):
            net(**{name: -1})


@pytest.mark.parametrize("kind", get_args(Kind))
def test_every_kind_has_a_default(kind):
    assert kind in default_net(modality_of(kind, SHAPES[kind][0])).kinds


@pytest.mark.parametrize(("shape", "grid"), [((3, 64, 64), (8, 8)), ((1, 28, 20), (4, 3))])
def test_a_code_on_a_grid_tells_of_what_is_near(shape, grid):
    """A change of one corner of an image reaches the codes of cells near it alone, and the other way round."""
    torch.manual_seed(0)
    modality = modality_of("image", shape)
    net = nets.GridConvolutional(channels=6, blocks=1)
    assert net.code_grid(modality) == grid
    encoder, body = net.encoder(modality, 2 * math.prod(grid)).eval(), net.body(modality, 2 * math.prod(grid), 1).eval()
    view, code = torch.rand(1, *shape), torch.randn(1, 2, *grid)
    with torch.no_grad():
        other, changed = view.clone(), code.clone()
        other[..., :2, :2] = 1 - other[..., :2, :2]
        changed[..., 0, 0] += 1
        cells = (encoder(other) - encoder(view)).reshape(2, *grid).abs().sum(0) > 1e-6
        pixels = (body(changed.flatten(1)) - body(code.flatten(1)))[0, 0].abs().sum(0) > 1e-6
    assert cells[0, 0]
    assert not cells[4:].any()
    assert not cells[:, 4:].any()
    assert pixels[:8, :8].any()
    assert not pixels[44:].any()
    assert not pixels[:, 44:].any()


def test_a_code_that_fits_no_grid_is_refused():
    with pytest.raises(SpecError, match="grid of 8 x 8: expected a number of dimensions that 64 divides, got 100"):
        nets.GridConvolutional().encoder(modality_of("image", (3, 64, 64)), 100)
    assert nets.Convolutional().code_grid(modality_of("image", (3, 64, 64))) is None


@pytest.mark.parametrize(("shape", "grid"), [((3, 64, 64), (8, 8)), ((1, 28, 20), (4, 3))])
def test_pixels_are_a_code_that_gives_the_image_back(shape, grid):
    modality, net = modality_of("image", shape), nets.PixelGrid()
    assert net.code_grid(modality) == grid
    size = 64 * shape[0] * math.prod(grid)
    views = torch.randint(256, (5, *shape), dtype=torch.uint8)
    codes = net.encoder(modality, size)(to_model(modality, views))
    cells = codes.reshape(5, -1, *grid)
    own = cells[:, :, 1, 2].reshape(5, shape[0], 8, 8)  # the patch in the second row and the third column
    above, left = ((8 * cells - side) // 2 for cells, side in zip(grid, shape[1:], strict=True))
    known = views[..., 8 - above : 16 - above, 16 - left : 24 - left]
    torch.testing.assert_close(own[..., : known.shape[-1]], known / 127.5 - 1)
    given = net.decoder(modality, size, net.likelihood(modality))(codes)
    assert torch.equal((given.view * 255).round().to(torch.uint8), views)
    raw = net.encoder(modality, 2 * size)(to_model(modality, views))
    loc, log_variance = expert_parameters(raw)
    assert torch.equal(loc, codes)
    torch.testing.assert_close(log_variance.exp().sqrt(), torch.full_like(codes, 2 / 255))
    with pytest.raises(SpecError, match=f"expected {size} dimensions, got 64"):
        net.encoder(modality, 64)
    with pytest.raises(SpecError, match="expected the likelihood Normal or Laplace, got Bernoulli"):
        net.decoder(modality, size, default_likelihood(modality))
