"""Attention of all tokens to all, and GELU, by the operations that take least time on a processor."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

_MOST_TOKENS = 512
"""Tokens up to which attention in bf16 is computed by products on a processor: the weights (N, heads, T, T) are in memory."""

_LINEAR = math.sqrt(8 / math.pi)
_CUBIC = 0.044715 * _LINEAR
"""`0.5 (1 + tanh(u)) = sigmoid(2 u)`: the two factors of `2 u`, as a polynomial of the input."""

_AT_ONCE = 2**17
"""Numbers whose GELU is computed at once, so that what is in between stays in a processor's cache."""


def attention(asked: Tensor, heads: int) -> Tensor:
    """Scaled dot-product attention of all tokens to all, (N, T, W), from queries, keys and values side by side, (N, T, 3 W).

    Vaswani et al., Attention Is All You Need (NeurIPS 2017), equation 1. In bf16 on a processor the backward pass of torch's
    fused kernel takes several times as long as products; in 32 bits it is the faster one.
    """
    samples, tokens, width = asked.shape[0], asked.shape[1], asked.shape[2] // (3 * heads)
    parts = asked.reshape(samples, tokens, 3, heads, width).permute(2, 0, 3, 1, 4)
    if asked.device.type == "cpu" and asked.dtype == torch.bfloat16 and tokens <= _MOST_TOKENS:
        query, key, value = parts.reshape(3, samples * heads, tokens, width).unbind(0)
        scores = torch.baddbmm(query.new_zeros(()), query, key.mT, beta=0, alpha=width**-0.5)
        attended = torch.bmm(scores.softmax(-1), value).reshape(samples, heads, tokens, width)
    else:
        query, key, value = parts.unbind(0)
        attended = functional.scaled_dot_product_attention(query, key, value)
    return attended.transpose(1, 2).flatten(2)


class GELU(nn.Module):
    """`x Phi(x)` by a hyperbolic tangent: Hendrycks & Gimpel, Gaussian Error Linear Units (2016), section 2."""

    def forward(self, value: Tensor) -> Tensor:
        """Of each number."""
        if value.device.type != "cpu":
            return functional.gelu(value, approximate="tanh")
        if not torch.is_grad_enabled():
            return _gelu_and_slope(value, with_slope=False)[0]
        result: Tensor = _SigmoidGELU.apply(value)[0]  # type: ignore[no-untyped-call]
        return result


class _SigmoidGELU(torch.autograd.Function):
    """GELU, and its slope without a gradient."""

    @staticmethod
    def forward(value: Tensor) -> tuple[Tensor, Tensor]:
        return _gelu_and_slope(value)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: tuple[Tensor, Tensor]) -> None:
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(output[1])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (slope,) = ctx.saved_tensors
        gradient: Tensor = gradients[0] * slope
        return gradient

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int], value: Tensor) -> tuple[tuple[Tensor, Tensor], tuple[int, int]]:
        return _SigmoidGELU.apply(value), (in_dims[0], in_dims[0])  # type: ignore[no-untyped-call]


def _gelu_and_slope(value: Tensor, *, with_slope: bool = True) -> tuple[Tensor, Tensor]:
    """`x sigmoid(2 u)`, which a processor computes faster than a hyperbolic tangent, and, if wanted, its slope."""
    value = value.contiguous()
    exact = torch.promote_types(value.dtype, torch.float32)
    result, slope, linear = torch.empty_like(value), torch.empty_like(value), torch.tensor(_LINEAR, dtype=exact)
    for part, found, steep in zip(*(torch.split(each.view(-1), _AT_ONCE) for each in (value, result, slope)), strict=True):
        x = part.to(exact)
        square = x * x
        share = torch.add(linear, square, alpha=_CUBIC).mul_(x).sigmoid_()
        torch.mul(x, share, out=found)
        if with_slope:
            inner = torch.add(linear, square, alpha=3 * _CUBIC, out=square).mul_(x)
            torch.add(torch.ops.aten.sigmoid_backward(inner, share), share, out=steep)
    return result, slope
