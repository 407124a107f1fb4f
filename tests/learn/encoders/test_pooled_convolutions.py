"""Pooled convolutions against the layers that they join, and the memory that they keep."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn

from molyneux.learn.encoders.pictures.convolutional import convolution
from molyneux.learn.encoders.pictures.pooled_convolutions import PooledConvolutions

SHAPES = [(40, 1, 30, 28), (3, 2, 7, 9), (1, 4, 2, 2), (5, 3, 13, 4)]


def stage(inputs: int, outputs: int = 6, count: int = 1) -> PooledConvolutions:
    """Convolutions whose scales have both signs, shifted so that about half of the maps are rectified."""
    torch.manual_seed(1)
    layers = [convolution(inputs if not number else outputs, outputs, 3) for number in range(count)]
    for layer in layers:
        nn.init.normal_(layer[1].weight)
        nn.init.normal_(layer[1].bias, std=0.3)
        nn.init.uniform_(layer[1].running_var, 0.5, 2.0)
        nn.init.normal_(layer[1].running_mean)
    return PooledConvolutions(*layers)


def by_layers(stage: PooledConvolutions, maps: Tensor) -> Tensor:
    """The layers one after the other."""
    for layer in stage:
        maps = layer(maps)
    return maps


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("count", [1, 2])
def test_same_as_the_layers(shape: tuple[int, ...], training: bool, count: int) -> None:
    joined = stage(shape[1], count=count).train(training)
    apart = copy.deepcopy(joined)
    maps = torch.randn(shape, dtype=torch.float32)
    first, second = maps.clone().requires_grad_(), maps.clone().requires_grad_()
    got, expected = joined(first), by_layers(apart, second)
    weights = torch.randn_like(expected)
    (got * weights).sum().backward()
    (expected * weights).sum().backward()
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(first.grad, second.grad, rtol=1e-3, atol=1e-4)
    for (name, one), other in zip(joined.named_parameters(), apart.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-3, atol=2e-4, msg=name)
    for (name, one), other in zip(joined.named_buffers(), apart.buffers(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5, msg=name)


def test_ties_go_to_the_first_as_in_torch() -> None:
    joined = stage(1).eval()
    apart = copy.deepcopy(joined)
    first, second = torch.zeros(2, 1, 8, 8, requires_grad=True), torch.zeros(2, 1, 8, 8, requires_grad=True)
    joined(first).square().sum().backward()
    by_layers(apart, second).square().sum().backward()
    torch.testing.assert_close(first.grad, second.grad)


def test_large_means_do_not_spoil_the_variance() -> None:
    joined = stage(1).train()
    maps = torch.randn(16, 1, 12, 12) + 100.0
    apart = copy.deepcopy(joined).double()
    torch.testing.assert_close(joined(maps).double(), by_layers(apart, maps.double()), rtol=1e-3, atol=5e-3)


def test_nan_stays_nan() -> None:
    maps = torch.zeros(2, 1, 8, 8)
    maps[0, 0, 3, 3] = torch.nan
    assert bool(stage(1).train()(maps).isnan().all())


def test_any_memory_format_and_other_precisions() -> None:
    joined, maps = stage(3).eval(), torch.randn(4, 3, 10, 10)
    expected = joined(maps)
    torch.testing.assert_close(joined.to(memory_format=torch.channels_last)(maps), expected)
    torch.testing.assert_close(joined.double()(maps.double()).float(), expected, rtol=1e-4, atol=1e-5)


def test_second_derivatives_without_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    joined, maps = stage(3).train(), torch.randn(4, 3, 10, 10, requires_grad=True)
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", False)
    (slope,) = torch.autograd.grad(joined(maps).square().sum(), maps, create_graph=True)
    slope.square().sum().backward()
    assert maps.grad is not None
    assert bool(maps.grad.abs().sum() > 0)


@pytest.mark.kernels
def test_autocast() -> None:
    joined, maps = stage(3).train(), torch.randn(8, 3, 10, 10)
    expected = joined(maps)
    with torch.autocast("cpu", torch.bfloat16):
        got = joined(maps)
    assert got.dtype == torch.float32
    torch.testing.assert_close(got, expected, rtol=0.1, atol=0.05)


def test_names_of_weights_are_those_of_the_layers() -> None:
    assert {*stage(1).state_dict()} == {*nn.Sequential(convolution(1, 6, 3), nn.MaxPool2d(2)).state_dict()}


def test_a_step_keeps_less_memory_than_by_the_layers() -> None:
    """Which is why it takes less time: maps before pooling are not kept."""
    joined = PooledConvolutions(convolution(1, 6, 5)).to(memory_format=torch.channels_last)
    maps = torch.randn(40, 1, 112, 112)
    kept = {"joined": 0, "apart": 0}
    for name, forward in (("joined", joined), ("apart", lambda maps: by_layers(joined, maps))):

        def count(tensor: Tensor, name: str = name) -> Tensor:
            kept[name] += tensor.numel() * tensor.element_size()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
            forward(maps)
    assert kept["joined"] < 0.75 * kept["apart"]
