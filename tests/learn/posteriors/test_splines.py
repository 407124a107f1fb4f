"""Splines and coupling layers beside those of `zuko`: values, inverses, gradients, several flows at once."""

import copy

import pytest
import torch
from zuko.transforms import MonotonicRQSTransform

from molyneux.learn.posteriors import coupling
from molyneux.learn.posteriors.flows import Flow, codes_of, noise_of
from molyneux.learn.posteriors.splines import inverse_spline, spline

BINS = 8


def noise(seed=0):
    return torch.Generator().manual_seed(seed)


def drawn(*shape, scale=1.0, seed=0):
    return scale * torch.randn(*shape, dtype=torch.float64, generator=noise(seed))


def theirs(raw):
    widths, heights, slopes = raw.transpose(-1, -2).split([BINS, BINS, BINS - 1], -1)
    return MonotonicRQSTransform(widths, heights, slopes)


@pytest.mark.parametrize("columns", [40, 1])
def test_a_spline_is_that_of_zuko(columns):
    raw, values = drawn(3, 3 * BINS - 1, columns, scale=2.0), drawn(3, 40, scale=3.0, seed=1)
    values[0, :4] = torch.tensor([-5.0, 5.0, 60.0, -torch.inf])
    reference = theirs(raw)
    expected, volume = reference.call_and_ladj(values)
    found = spline(raw, values)
    torch.testing.assert_close(found[0], expected, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(found[1], volume.nan_to_num(), rtol=1e-10, atol=1e-9)
    torch.testing.assert_close(inverse_spline(raw, values), reference.inv(values), rtol=1e-9, atol=1e-9)


def test_a_value_that_is_no_number_stays_one():
    raw = drawn(3 * BINS - 1, 3)
    values = torch.tensor([torch.nan, 0.3, torch.inf], dtype=torch.float64)
    for found in (spline(raw, values)[0], inverse_spline(raw, values)):
        assert found.isnan().tolist() == [True, False, False]
        assert found[2] == torch.inf


@pytest.mark.parametrize("columns", [6, 1])
def test_gradients_are_those_of_differences(columns):
    raw = drawn(2, 3 * BINS - 1, columns).requires_grad_()
    values = drawn(2, 6, scale=2.0, seed=1)
    values[0, 0] = 7.0
    values.requires_grad_()
    assert torch.autograd.gradcheck(spline, (raw, values))
    assert torch.autograd.gradcheck(inverse_spline, (raw, values))


@pytest.mark.parametrize(("features", "context"), [(1, 0), (1, 2), (2, 0), (3, 0), (6, 0), (2, 3), (7, 3)])
def test_a_flow_is_that_of_zuko(features, context):
    """In 32 bits beside the same weights in 64, values to six digits; gradients of all weights too."""
    torch.manual_seed(2)
    flow = Flow(features, context, scale=1.0)
    wide = copy.deepcopy(flow).double()
    codes = 1.5 * torch.randn(4, 9, features, generator=noise())
    given = torch.randn(9, context, generator=noise(1)) if context else None
    reference = wide.layers(None if given is None else given.double().expand(4, 9, context))
    expected, found = reference.call_and_ladj(codes.double()), flow(codes, given)
    weights = torch.randn(4, 9, features + 1, generator=noise(2))
    for wanted, got in zip(expected, found, strict=True):
        torch.testing.assert_close(got.double(), wanted, rtol=1e-5, atol=2e-5)
    torch.testing.assert_close(flow.inverse(codes, given).double(), reference.inv(codes.double()), rtol=1e-5, atol=2e-5)
    for results in (expected, found):
        ((results[0] * weights[..., :-1]).sum() + (results[1] * weights[..., -1]).sum()).backward()
    for (name, ours), other in zip(flow.named_parameters(), wide.parameters(), strict=True):
        assert (ours.grad is None) == (other.grad is None), name
        if ours.grad is not None:
            torch.testing.assert_close(ours.grad.double(), other.grad, rtol=1e-4, atol=1e-4 * max(1.0, other.grad.abs().max()))


def test_several_flows_at_once_are_each_alone(monkeypatch):
    flows = []
    for seed in range(3):
        torch.manual_seed(seed)
        flows.append(Flow(5, scale=1.0).requires_grad_(False))
    codes = torch.randn(1, 4, 10, 5, generator=noise())
    found, volume = noise_of(flows, codes)
    back = codes_of(flows, found)
    assert found.shape == (3, 4, 10, 5)
    assert volume.shape == (3, 4, 10)
    for number, flow in enumerate(flows):
        alone = flow(codes[0])
        torch.testing.assert_close(found[number], alone[0], rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(volume[number], alone[1], rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(back[number], flow.inverse(found[number]), rtol=1e-5, atol=1e-5)
    monkeypatch.setattr(coupling, "_COLUMNS", 7)
    with torch.no_grad():
        in_parts = noise_of(flows, codes)
        torch.testing.assert_close(in_parts[0], found, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(in_parts[1], volume, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(codes_of(flows, found), back, rtol=1e-5, atol=1e-5)
        assert noise_of(flows, codes[:, :0])[0].shape == (3, 0, 10, 5)
