"""Noise by row: what is drawn for one row of a batch does not depend on the other rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from molyneux.core import seeds

ROWS = 128
"""Rows that are computed at once. Products of matrices of one size give a row the same bits wherever it stands, so that a
sample alone is computed as one of many are."""
FEW_ROWS = 8
"""The same where a row costs much, as the likelihood of many draws."""
_MOST_TRIES = 8


class _AmbiguousAxisError(Exception):
    """Several axes of a drawn tensor are as long as the batch."""


class RowNoise(TorchFunctionMode):
    """Draws with its `generator` are made row by row, each from a stream of its own (Salmon et al., SC 2011: Philox).

    Within the context, `torch.randn`, `torch.rand` and `Tensor.exponential_` called with `generator` fill the axis that is as
    long as the batch by the streams of its rows. Where no axis is, all rows share what is drawn.

    Args:
        rows: (B,) uint64, what the draws of a row depend on.
        seed: root seed.
        device: on which noise is wanted. It is drawn on the processor, so that it is the same everywhere.
    """

    def __init__(self, rows: np.ndarray, seed: int, device: torch.device | str = "cpu") -> None:
        super().__init__()
        self.generator = seeds.torch_generator(seed, "shared by rows", device=str(device))
        self._rows, self._key = rows, seeds.key(seed, "rows")[0]

    @cached_property
    def _streams(self) -> list[np.random.Generator]:
        return [np.random.Generator(np.random.Philox(key=np.array([row, self._key]))) for row in self._rows]

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Make a draw with the generator of this object row by row, and call everything else as it is."""
        kwargs = kwargs or {}
        draw = _DRAWS.get(getattr(func, "__name__", "")) if kwargs.get("generator") is self.generator else None
        if draw is None:
            return func(*args, **kwargs)
        like = func(*args, **kwargs)
        axes = [axis for axis, size in enumerate(like.shape) if size == len(self._rows)]
        if len(axes) > 1:
            raise _AmbiguousAxisError
        if not axes:
            return like
        shape = [size for axis, size in enumerate(like.shape) if axis != axes[0]]
        return like.copy_(torch.from_numpy(np.stack([draw(stream, shape) for stream in self._streams], axes[0])))


_DRAWS: dict[str, Callable[[np.random.Generator, Sequence[int]], np.ndarray]] = {
    "randn": lambda rng, shape: rng.standard_normal(shape),
    "rand": lambda rng, shape: rng.random(shape, np.float32),
    "exponential_": lambda rng, shape: rng.standard_exponential(shape),
}


Draw = Callable[[np.ndarray, "RowNoise"], dict[str, Tensor]]


def by_rows(
    draw: Draw, rows: np.ndarray, seed: int, device: torch.device | str = "cpu", *, size: int = ROWS
) -> dict[str, Tensor]:
    """What `draw` makes of rows, which are given to it in parts of one size, with the noise of each.

    Args:
        draw: gets positions (B,) and the noise, within which it draws, and returns tensors whose first axis is B. The last part
            is filled up with positions that it has already.
        rows: (N,) uint64, what the noise of a row depends on.
        seed: root seed.
        device: of the model.
        size: rows that are computed at once.

    Returns:
        By name, tensors on the processor whose first axis is N.
    """
    for size in range(size, size + _MOST_TRIES):  # noqa: B020 - the first without two axes of that length
        try:
            parts = [_part(draw, rows, range(start, start + size), seed, device) for start in range(0, len(rows), size)]
        except _AmbiguousAxisError:
            continue
        return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}
    raise AssertionError("axes of every length")


def _part(
    draw: Callable[[np.ndarray, RowNoise], dict[str, Tensor]],
    rows: np.ndarray,
    places: range,
    seed: int,
    device: torch.device | str,
) -> dict[str, Tensor]:
    positions = np.minimum(np.array(places), len(rows) - 1)
    with torch.no_grad():
        made = draw(positions, RowNoise(rows[positions], seed, device))
    return {name: tensor[: len(rows) - places.start].cpu() for name, tensor in made.items()}
