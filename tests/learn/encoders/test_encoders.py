"""The contract of the encoders, for every one that is listed, on every kind of modality that it fits; and what each computes."""

import inspect
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.signal import stft

from molyneux.core import ConfigError, Modality, SpecError
from molyneux.learn import encoders
from molyneux.learn.encoders import (
    DEPTH,
    MLP,
    VGG11,
    CausalConvolution,
    DeepSets,
    ForceConvolution,
    Identity,
    LeNet,
    Maxout,
    PushLayers,
    RecurrentSteps,
    ResNet,
    ResNet3D,
    RobotCamera,
    Spectrogram,
    Stepwise,
    SymbolTrees,
    TransformerSteps,
    ViewEncoder,
    ViT,
    default_encoder,
)

WORDS = ("", "a", "b", "c")
MODALITIES = {
    "audio": Modality("x", "audio", (2, 48)),
    "image": Modality("x", "image", (3, 20, 16)),
    "label": Modality("x", "label", (), "int64", WORDS),
    "series": Modality("x", "series", (9, 4)),
    "set": Modality("x", "set", (9, 4)),
    "tabular": Modality("x", "tabular", (7,)),
    "text": Modality("x", "text", (9,), "int64", WORDS, padding=0, arities=(0, 1, 2, 0)),
    "video": Modality("x", "video", (9, 3, 12, 12)),
}
SMALL = {
    LeNet: {"layers": 2},
    VGG11: {"share": 1 / 16, "width": 6},
    ResNet: {"channels": (8, 12)},
    RobotCamera: {"channels": (4, 6), "kernels": (5, 3), "width": 6},
    PushLayers: {"width": 5},
    ViT: {"patch": 5, "width": 8, "heads": 2, "layers": 2, "feedforward": 9},
    ResNet3D: {"channels": (8, 16)},
    Spectrogram: {"picture": ResNet((8,)), "window": 16, "hop": 8},
    Stepwise: {"step": ResNet((8,)), "time": RecurrentSteps(width=6)},
    ForceConvolution: {"channels": (6, 7)},
    TransformerSteps: {"width": 8, "heads": 2, "feedforward": 9},
    CausalConvolution: {"channels": (6, 7)},
    RecurrentSteps: {"width": 6},
    Maxout: {"hidden": 8, "width": 6, "dropout": 0.0},
}
LISTED = [getattr(encoders, name) for name in encoders.__all__]
KINDS = [item for item in LISTED if isinstance(item, type) and issubclass(item, ViewEncoder) and not inspect.isabstract(item)]
ALL = [(kind(**SMALL.get(kind, {})), modality) for kind in KINDS for modality in sorted(kind().kinds)]
ALL = [
    (settings, kind)
    for settings, kind in ALL
    if not (type(settings) is VGG11 or (type(settings) is Stepwise and kind != "video"))
]
ALL += [
    (Stepwise(MLP((), 5), RecurrentSteps(width=6)), "series"),
    (Stepwise(MLP((), 5), RecurrentSteps(width=6)), "audio"),
    (RecurrentSteps("lstm", 6, 2, bidirectional=True, outputs=5), "series"),
    (RecurrentSteps(width=6, readout="all"), "series"),
    (RecurrentSteps(width=6, readout="mean"), "text"),
    (TransformerSteps(8, 2, 1, 9, norm_first=False, positions=False, readout="last"), "series"),
    (MLP((6,), 5, stepwise=True, last=True), "series"),
    (DeepSets(8, "max"), "set"),
    (DeepSets(8, "sum"), "text"),
]
VARIABLE = ("audio", "series", "set", "text", "video")


@pytest.fixture(params=ALL, ids=lambda pair: f"{pair[1]}-{pair[0]}"[:80])
def case(request):
    """Settings, a modality that they fit, the encoder and random views of it with lengths of 1 to the largest."""
    settings, kind = request.param
    torch.manual_seed(0)
    modality = MODALITIES[kind]
    return settings, modality, settings.build(modality).eval(), *views_of(modality, 6)


def views_of(modality, size, *, seed=0):
    generator = torch.Generator().manual_seed(seed)
    if modality.symbols:
        view = torch.randint(1, len(modality.symbols), (size, *modality.shape), generator=generator)
    else:
        view = torch.randn(size, *modality.shape, generator=generator)
    if modality.length_axis is None:
        return view, None
    lengths = torch.arange(size) * 2 % modality.max_length + 1
    if modality.kind == "text":
        view = view.where(torch.arange(modality.max_length) < lengths.unsqueeze(1), 0)
    return view, lengths


def values(encoding):
    return encoding.vector, encoding.parts, encoding.mask, *encoding.layers


def test_shapes_are_those_that_it_tells(case):
    _, _, encoder, view, lengths = case
    found, spec = encoder(view, lengths), encoder.encoding_spec
    assert found.vector.shape == (6, spec.vector)
    assert found.parts.shape == (6, spec.count, spec.width)
    assert found.mask.shape == (6, spec.count)
    assert found.mask.dtype == found.present.dtype == torch.bool
    assert [layer.shape[1] for layer in found.hidden] == [*spec.layers]
    assert spec.layers[-1] == spec.vector
    assert found.parts.masked_select(~found.mask.unsqueeze(2)).abs().sum() == 0
    blank = encoder.blank(6, view)
    assert [tensor.shape for tensor in values(blank)] == [tensor.shape for tensor in values(found)]
    assert not blank.present.any()


def test_samples_do_not_see_each_other(case):
    _, _, encoder, view, lengths = case
    whole, order = encoder(view, lengths), torch.tensor([3, 1, 5, 0, 2, 4])
    turned = encoder(view[order], None if lengths is None else lengths[order])
    alone = encoder(view[2:3], None if lengths is None else lengths[2:3])
    for one, other, single in zip(values(whole), values(turned), values(alone), strict=True):
        torch.testing.assert_close(other, one[order], rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(single[0], one[2], rtol=1e-4, atol=1e-5)


def test_a_batch_of_one_trains_and_all_weights_get_a_gradient(case):
    settings, _, encoder, view, lengths = case
    encoder.train()
    assert encoder(view[:1], None if lengths is None else lengths[:1]).vector.isfinite().all()
    found = encoder(view, lengths)
    weights = [torch.randn(tensor.shape, generator=torch.Generator().manual_seed(0)) for tensor in (found.vector, found.parts)]
    if not [*encoder.parameters()]:
        return
    ((found.vector * weights[0]).sum() + (found.parts * weights[1]).sum()).backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad is not None, (settings, name)
        assert parameter.grad.abs().max() > 0, (settings, name)


def test_what_lies_beyond_a_length_is_never_read(case):
    _, modality, encoder, view, lengths = case
    if lengths is None:
        pytest.skip("its views have no lengths")
    axis = 1 + modality.length_axis
    beyond = torch.arange(modality.max_length) >= lengths.unsqueeze(1)
    beyond = beyond.reshape(len(view), *[1] * (axis - 1), -1, *[1] * (view.dim() - axis - 1))
    garbage = view.masked_fill(beyond, 1 if modality.symbols else 99.0)
    for one, other in zip(values(encoder(view, lengths)), values(encoder(garbage, lengths)), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


LONGER = [pair for pair in ALL if pair[1] in VARIABLE and type(pair[0]).__name__ not in ("NetVector", "Spectrogram", "Identity")]
LONGER = [
    pair for pair in LONGER if getattr(pair[0], "readout", "") != "all" and not (type(pair[0]) is MLP and not pair[0].stepwise)
]
LONGER = [pair for pair in LONGER if type(pair[0]) not in (Maxout, ForceConvolution) and not hasattr(pair[0], "masked")]


@pytest.mark.parametrize(("settings", "kind"), LONGER, ids=lambda item: str(item)[:60])
def test_longer_padding_changes_nothing(settings, kind):
    modality = MODALITIES[kind]
    axis = modality.length_axis
    shape = [size + 3 * (number == axis) for number, size in enumerate(modality.shape)]
    torch.manual_seed(0)
    encoder, wide = settings.build(modality).eval(), settings.build(replace(modality, shape=tuple(shape))).eval()
    wide.load_state_dict(encoder.state_dict())
    view, lengths = views_of(modality, 6)
    padding = [0, 0] * (view.dim() - axis - 2) + [0, 3]
    found = wide(torch.nn.functional.pad(view, padding), lengths)
    torch.testing.assert_close(found.vector, encoder(view, lengths).vector, rtol=1e-4, atol=1e-5)


def test_deep_sets_are_invariant_and_not_affine():
    encoder = DeepSets(16).build(MODALITIES["set"]).eval()
    view, _ = views_of(MODALITIES["set"], 4)
    turned = view[:, torch.randperm(9, generator=torch.Generator().manual_seed(0))]
    torch.testing.assert_close(encoder(turned).vector, encoder(view).vector)
    middle = encoder((view[:1] + view[1:2]) / 2).vector
    assert not torch.allclose(middle, (encoder(view[:1]).vector + encoder(view[1:2]).vector) / 2, atol=1e-4)


def test_positions_make_a_transformer_see_the_order():
    view, _ = views_of(MODALITIES["series"], 2)
    turned = view[:, [1, 0, 2, 3, 4, 5, 6, 7, 8]]
    for positions in (True, False):
        torch.manual_seed(0)
        encoder = TransformerSteps(8, 2, positions=positions, readout="last").build(MODALITIES["series"]).eval()
        assert torch.allclose(encoder(view).vector, encoder(turned).vector, atol=1e-5) is not positions


@pytest.mark.parametrize("settings", [CausalConvolution((6, 7)), RecurrentSteps(width=6)], ids=lambda item: type(item).__name__)
def test_causal_states_depend_on_the_past_alone(settings):
    encoder = settings.build(MODALITIES["series"]).eval()
    view, _ = views_of(MODALITIES["series"], 2)
    changed = view.clone()
    changed[:, 5:] += 1
    before, after = encoder(view).parts, encoder(changed).parts
    torch.testing.assert_close(before[:, :5], after[:, :5])
    assert not torch.allclose(before[:, 5:], after[:, 5:])


def test_a_causal_convolution_reaches_as_far_as_its_dilations_say():
    """Two blocks of two convolutions with kernel 3: 1 + 2 * 2 * (1 + 2) = 13 steps."""
    modality = Modality("x", "series", (20, 1))
    encoder = CausalConvolution((4, 4), 3).build(modality).eval()
    view = torch.zeros(1, 20, 1, requires_grad=True)
    encoder(view).vector.sum().backward()
    reached = (view.grad[0, :, 0] != 0).nonzero().flatten()
    assert reached.min().item() >= 19 - 12


def test_a_bidirectional_reading_ends_where_each_direction_ends():
    modality = MODALITIES["series"]
    encoder = RecurrentSteps("gru", 6, bidirectional=True).build(modality).eval()
    view, lengths = views_of(modality, 6)
    found = encoder(view, lengths)
    layer = torch.nn.GRU(4, 6, bidirectional=True, batch_first=True)
    forward, backward = (direction.state_dict() for direction in encoder.directions)
    layer.load_state_dict(forward | {f"{name}_reverse": value for name, value in backward.items()})
    packed = torch.nn.utils.rnn.pack_padded_sequence(view, lengths, batch_first=True, enforce_sorted=False)
    states, last = layer(packed)
    torch.testing.assert_close(found.vector, torch.cat([last[0], last[1]], 1))
    unpacked, _ = torch.nn.utils.rnn.pad_packed_sequence(states, batch_first=True, total_length=9)
    torch.testing.assert_close(found.parts, unpacked)


def test_the_spectrogram_is_that_of_scipy():
    modality = Modality("x", "audio", (1, 400))
    encoder = Spectrogram(Identity(), 64, 32).build(modality)
    view, _ = views_of(modality, 2)
    _, _, expected = stft(view[:, 0].numpy(), window="hann", nperseg=64, noverlap=32, boundary="even", padded=False)
    found = encoder(view).vector.reshape(2, 33, -1)
    power = np.abs(expected * 32) ** 2  # scipy divides by the sum of the window
    assert found.shape == (2, 33, 13)
    np.testing.assert_allclose(
        found[:, :, 2:-2], np.log(1 + 100 * power / 64)[:, :, 2 : found.shape[2] - 2], rtol=1e-4, atol=1e-4
    )


def test_the_shapes_of_the_reference_sheet():
    shapes = {
        LeNet(6, 3): (Modality("x", "image", (1, 28, 28)), 48),
        LeNet(6, 5): (Modality("x", "image", (1, 112, 112)), 192),
        RecurrentSteps("gru", 30, readout="all"): (Modality("x", "series", (24, 12)), 720),
        DEPTH: (Modality("x", "image", (1, 128, 128)), 256),
        ForceConvolution(): (Modality("x", "series", (32, 6)), 256),
    }
    for settings, (modality, width) in shapes.items():
        encoder = settings.build(modality).eval()
        for size in (1, 4):
            assert encoder(torch.zeros(size, *modality.shape)).vector.shape == (size, width)


def test_every_kind_has_a_default_encoder():
    for modality in MODALITIES.values():
        view, lengths = views_of(modality, 2)
        assert default_encoder(modality).build(modality).eval()(view, lengths).vector.isfinite().all()


def test_modalities_that_do_not_fit_are_refused():
    with pytest.raises(SpecError, match="LeNet encodes image, but modality x is series"):
        LeNet().build(MODALITIES["series"])
    with pytest.raises(SpecError, match="LeNet: expected pictures of at least 64 pixels a side, got 20 x 16 of x"):
        LeNet(layers=5).build(MODALITIES["image"])
    with pytest.raises(ConfigError, match="step: expected an encoder of modalities of kind image, got DeepSets"):
        Stepwise(step=DeepSets())
    with pytest.raises(ConfigError, match="width: expected a multiple of the 3 heads, got 8"):
        ViT(width=8, heads=3)
    with pytest.raises(SpecError, match="arities"):
        SymbolTrees().build(Modality("x", "text", (9,), "int64", WORDS))
