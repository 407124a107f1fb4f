"""Monotonic rational-quadratic splines with a derivative in closed form, computed along the samples.

Samples are the last axis, so that each operation runs over memory that lies together. Only the piece that a value lies in is
computed with, forward and backward: a step takes about a quarter of the operations that automatic differentiation makes.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

__all__ = ["inverse_spline", "spline"]

_BOUND = 5.0
"""A spline maps [-5, 5] to itself; beyond it is the identity."""

_CLIP = 1 / abs(math.log(1e-3))
"""Raw parameters are bounded softly by what gives a slope of a thousandth."""


def spline(raw: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """What splines make of values, and the logarithms of their slopes there.

    Durkan et al., Neural Spline Flows (NeurIPS 2019), equations 4 and 5, with the parametrisation of `zuko`: shares of K pieces
    in width and height are a softmax, slopes at the inner knots are exponentials, of parameters that are bounded softly.
    Gradients can be taken once.

    Args:
        raw: parameters (..., 3 K - 1, N): of widths, of heights, of slopes; or (..., 3 K - 1, 1), the same for all N.
        values: (..., N).

    Returns:
        The results and the logarithms of the slopes, (..., N) each.
    """
    return cast(tuple[Tensor, Tensor], _Spline.apply(raw, values))  # type: ignore[no-untyped-call]


def inverse_spline(raw: Tensor, values: Tensor) -> Tensor:
    """The values (..., N) of which the splines make `values` (..., N); see `spline`."""
    with torch.no_grad():
        found = _inverse(raw, values)
    if not (torch.is_grad_enabled() and (raw.requires_grad or values.requires_grad)):
        return found
    # The derivative of an inverse is that of the function, which must stay where it is: values - result is 0 but for rounding.
    result, volume = spline(raw, found)
    left = values - result
    return found + (left - left.detach()) * (-volume.detach()).exp()


def _inverse(raw: Tensor, values: Tensor) -> Tensor:
    piece = _piece_of(raw, values, heights=True)
    (left, bottom), (width, height), (first, last) = piece.starts.unbind(-2), piece.sizes.unbind(-2), piece.slopes.unbind(-2)
    above = values.clamp(-_BOUND, _BOUND) - bottom
    middle = height / width
    bend = above * (first + last - 2 * middle)
    a, b, c = height * (middle - first) + bend, height * first - bend, -middle * above
    share = 2 * c / (-b - (b.square() - 4 * a * c).clamp_min(0).sqrt())
    return torch.where(values.abs() < _BOUND, torch.addcmul(left, share, width), values)


class _Piece(NamedTuple):
    """Of each value the piece it lies in: corner and size across and upwards, and slopes at both ends, (..., 2, N) each."""

    starts: Tensor
    sizes: Tensor
    slopes: Tensor
    raw_slopes: Tensor
    number: Tensor
    """Of the piece, (..., N)."""
    total: Tensor
    """Of all exponentials in width and height, (..., 2, N), or for one N."""
    exponentials: Tensor
    """Of which the sizes are shares, (..., 2, K, N), or for one N."""
    softness: Tensor
    """What their raw parameters were divided by, of the same shape."""


def _piece_of(raw: Tensor, values: Tensor, *, heights: bool) -> _Piece:
    """Where values lie, across, or with `heights` upwards; values outside in the first or the last piece."""
    bins, shape, size = (raw.shape[-2] + 1) // 3, (*raw.shape[:-2], 2), values.shape[-1]
    wide = _in_two(raw, bins)
    softness = _softness(wide, 2 * _CLIP)
    exponentials = (wide / softness).exp_()  # bounded softly, between 1 / 32 and 32
    ends = exponentials.cumsum(-2)
    total = ends[..., -1, :]
    place = (values * (0.5 / _BOUND) + 0.5) * total[..., int(heights), :]
    # The signs of the distances to the K - 1 inner knots have the sum 2 n - (K - 1) after n of them; at a knot, the piece before.
    signs = (place.unsqueeze(-2) - ends[..., int(heights), :-1, :]).sign_().sum(-2)
    number = ((signs + (bins - 1)) * 0.5).nan_to_num_(0.0).long()
    index = number[..., None, None, :].expand(*shape, 1, size)
    chosen, end = (item.expand(*shape, bins, size).gather(-2, index).squeeze(-2) for item in (exponentials, ends))
    knots = functional.pad(raw[..., 2 * bins :, :], (0, 0, 1, 1))
    raw_slopes = knots.expand(*shape[:-1], bins + 1, size).gather(-2, torch.stack([number, number + 1], -2))
    slopes = (raw_slopes / _softness(raw_slopes, _CLIP)).exp_()
    scale = 2 * _BOUND / total
    starts, sizes = (end - chosen).mul_(scale).sub_(_BOUND), chosen.mul_(scale)
    return _Piece(starts, sizes, slopes, raw_slopes, number, total, exponentials, softness)


def _in_two(raw: Tensor, bins: int) -> Tensor:
    """Raw parameters (..., 3 K - 1, N) of widths and heights, (..., 2, K, N)."""
    return raw[..., : 2 * bins, :].reshape(*raw.shape[:-2], 2, bins, raw.shape[-1])


def _softness(raw: Tensor, factor: float) -> Tensor:
    """`1 + factor |raw|`, by which raw parameters are divided; the derivative of the quotient is one over its square."""
    return torch.rsub(raw.abs(), 1.0, alpha=-factor)


class _Spline(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, raw: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        inside = values.abs() < _BOUND
        piece = _piece_of(raw, values, heights=False)
        (left, bottom), (width, height), (first, last) = piece.starts.unbind(-2), piece.sizes.unbind(-2), piece.slopes.unbind(-2)
        share, middle = (values.clamp(-_BOUND, _BOUND) - left).div_(width), height / width
        rest = 1 - share
        both, squared = share * rest, share * share
        above = torch.addcmul(first * both, middle, squared)
        below = torch.addcmul(middle, (first + last).sub_(middle, alpha=2), both)
        slope = torch.addcmul(torch.addcmul(2 * middle * both, first, rest * rest), last, squared)
        result = torch.addcmul(bottom, height, above / below)
        volume = (middle / below).square_().mul_(slope).log_()
        ctx.save_for_backward(raw, inside, *piece, share, above, below, slope)
        return torch.where(inside, result, values), volume.mul_(inside)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_result: Tensor, by_volume: Tensor) -> tuple[Tensor | None, Tensor | None]:
        raw, inside, *found = ctx.saved_tensors
        piece, (share, above, below, slope) = _Piece(*found[:8]), found[8:]
        (width, height), (first, last) = piece.sizes.unbind(-2), piece.slopes.unbind(-2)
        up, volume = by_result * inside, by_volume * inside
        middle, rest = height / width, 1 - share
        both, tilt, squared = share * rest, rest - share, share * share
        quotient = above / below
        # By the numerator and the denominator of the result, and by the slope.
        by_above = up * height / below
        by_below = torch.addcmul(2 * volume / below, by_above, quotient).neg_()
        by_slope = volume / slope
        by_share = by_above * torch.addcmul(first * tilt, middle, share, value=2)
        by_share.addcmul_(by_below * tilt, (first + last).sub_(middle, alpha=2))
        by_share.addcmul_(by_slope, torch.addcmul(last * share, middle, tilt).addcmul_(first, rest, value=-1), value=2)
        by_middle = torch.addcmul(2 * volume / middle, by_above, squared).addcmul_(by_slope, both, value=2)
        by_middle.addcmul_(by_below, 1 - 2 * both)
        common = by_below * both
        by_slopes = torch.stack(
            [(by_above * both).add_(common).addcmul_(by_slope, rest * rest), common.addcmul(by_slope, squared)], -2
        )
        by_left = by_share.neg_().div_(width)
        by_values = torch.addcmul(by_result - up, by_left, inside, value=-1)
        if not ctx.needs_input_grad[0]:
            return None, by_values
        by_middle /= width
        by_sizes = torch.stack(
            [(by_left * share).addcmul_(by_middle, middle, value=-1), torch.addcmul(by_middle, up, quotient)], -2
        )
        return _by_raw(raw, piece, torch.stack([by_left, up], -2), by_sizes, by_slopes), by_values


def _by_raw(raw: Tensor, piece: _Piece, by_starts: Tensor, by_sizes: Tensor, by_slopes: Tensor) -> Tensor:
    """Gradients by the raw parameters, of those by the piece, (..., 2, N) each."""
    bins, shape, one = piece.exponentials.shape[-2], piece.exponentials.shape[:-2], piece.exponentials.shape[-1]
    # Whether a piece is before that of a value, and whether it is the same, as numbers.
    ahead = piece.number.to(raw.dtype).unsqueeze(-2) - torch.arange(bins, dtype=raw.dtype, device=raw.device).unsqueeze(-1)
    before = ahead.clamp(0, 1)
    same = (ahead + 1).clamp_(0, 1).sub_(before)
    # Through the softmax: the pieces before shift the start, the piece itself has the size, and the mean is taken off all.
    mean = torch.addcmul(by_sizes * piece.sizes, by_starts, piece.starts + _BOUND)
    mean, start, end = (item / piece.total for item in (mean, 2 * _BOUND * by_starts, 2 * _BOUND * by_sizes))
    wide = torch.addcmul(mean.neg_().unsqueeze(-2), before.unsqueeze(-3), start.unsqueeze(-2))
    wide.addcmul_(same.unsqueeze(-3), end.unsqueeze(-2))
    by_slopes = by_slopes * piece.slopes / _softness(piece.raw_slopes, _CLIP).square_()
    knots = (same[..., 1:, :] * by_slopes[..., :1, :]).addcmul_(same[..., :-1, :], by_slopes[..., 1:, :])
    if raw.shape[-1] == 1:
        wide, knots = wide.sum(-1, keepdim=True), knots.sum(-1, keepdim=True)
    wide = wide.mul_(piece.exponentials).div_(piece.softness).div_(piece.softness)
    return torch.cat([wide.reshape(*shape[:-1], 2 * bins, one), knots], -2)
