"""The contract of the nets, for every net and every kind of modality that it serves."""

from typing import get_args

import pytest
import torch

from molyneux.core import ConfigError, Kind, Modality, SpecError
from molyneux.core.views import to_model
from molyneux.learn import nets
from molyneux.learn.likelihoods import default_likelihood
from molyneux.learn.nets import Net, default_net

SHAPES = {
    "audio": [(2, 37)],
    "image": [(3, 64, 64), (1, 28, 28), (3, 30, 45), (2, 7, 5)],
    "label": [()],
    "series": [(64, 5), (9, 2)],
    "set": [(4, 3)],
    "tabular": [(6,)],
    "text": [(45,), (1,)],
}


def concrete():
    classes = [getattr(nets, name) for name in nets.__all__]
    return [item for item in classes if isinstance(item, type) and issubclass(item, Net) and item is not Net]


CASES = [(net, kind, shape) for net in concrete() for kind in sorted(net.kinds) for shape in SHAPES[kind]]


def modality_of(kind, shape):
    symbols = tuple("abcd") if kind in ("label", "text") else ()
    dtype = {"image": "uint8", "label": "int64", "text": "uint8"}.get(kind, "float32")
    return Modality("sense", kind, shape, dtype, symbols, 0 if kind == "text" else None)


def views_of(modality, size, seed=0):
    generator = torch.Generator().manual_seed(seed)
    if modality.symbols:
        return torch.randint(0, len(modality.symbols), (size, *modality.shape), generator=generator)
    return torch.rand((size, *modality.shape), generator=generator)


@pytest.mark.parametrize(("net", "kind", "shape"), CASES)
def test_shapes_and_gradients(net, kind, shape):
    modality = modality_of(kind, shape)
    encoder = net().encoder(modality, 10)
    decoder = net().decoder(modality, 6, default_likelihood(modality))
    views = views_of(modality, 3)
    raw = encoder(to_model(modality, views))
    distribution = decoder(torch.randn(2, 3, 6))
    assert raw.shape == (3, 10)
    assert distribution.batch_shape == (2, 3)
    assert distribution.view.shape == (2, 3, *modality.shape)
    weights = torch.randn(3, 10)
    ((raw * weights).sum() + distribution.log_prob(views).sum()).backward()
    for name, parameter in [*encoder.named_parameters(), *decoder.named_parameters()]:
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name


@pytest.mark.parametrize(("net", "kind", "shape"), CASES)
def test_neighbours_and_slots_in_the_batch_do_not_matter(net, kind, shape):
    torch.manual_seed(0)
    modality = modality_of(kind, shape)
    encoder = net().encoder(modality, 4).eval()
    decoder = net().decoder(modality, 6, default_likelihood(modality)).eval()
    views, codes = views_of(modality, 5), torch.randn(5, 6)
    with torch.no_grad():
        together, decoded = encoder(views), decoder(codes).view.float()
        for slot in range(5):
            torch.testing.assert_close(encoder(views[slot : slot + 1])[0], together[slot], atol=1e-5, rtol=1e-4)
            torch.testing.assert_close(decoder(codes[slot : slot + 1]).view[0].float(), decoded[slot], atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(encoder(views.flip(0)).flip(0), together, atol=1e-5, rtol=1e-4)


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
