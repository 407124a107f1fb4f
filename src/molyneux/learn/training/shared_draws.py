"""Random numbers for a part of a batch: those that its samples would get in the whole batch."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

__all__ = ["Share", "SharedDraws"]

_DRAWS = ("rand", "randint", "randn")


class Share(NamedTuple):
    """Which samples of a batch are in a part of it.

    Args:
        start: position of the first.
        length: how many.
        size: samples of the whole batch.
    """

    start: int
    length: int
    size: int


class SharedDraws(TorchFunctionMode):
    """Draws with a generator are made for a whole batch, of which a part takes the numbers of its own samples.

    Within the context, `torch.rand`, `torch.randn`, `torch.randint` and `Tensor.exponential_` called with `generator` draw for
    `share.size` samples wherever a tensor of `share.length` is asked for: processes with parts of a batch together draw what one
    process with all of it draws. What has no axis of that length, such as a choice of subsets for all samples, is the same for
    all parts. Where several axes are as long as the part, normal numbers are taken to be codes (..., B, D), and uniform ones
    choices (..., B).

    Args:
        generator: of the step, seeded alike for all parts.
        share: the samples of the part.
    """

    def __init__(self, generator: torch.Generator, share: Share) -> None:
        super().__init__()
        self._generator, self._share = generator, share

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Make a draw with the generator of this object for the whole batch, and call everything else as it is."""
        if not kwargs or kwargs.get("generator") is not self._generator:
            return func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "")
        if name == "exponential_":
            return self._filled(func, args[0], *args[1:], **kwargs)
        return self._drawn(func, args, kwargs) if name in _DRAWS else func(*args, **kwargs)

    def _drawn(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Tensor:
        """A new tensor, whose shape is `size` or else the last argument, or all of them."""
        bounds, shape = ((), args) if args and func.__name__ != "randint" and isinstance(args[-1], int) else (args[:-1], args[-1])
        axis = self._axis(tuple(shape), codes=func.__name__ == "randn")
        if axis is None:
            found: Tensor = func(*args, **kwargs)
            return found
        whole = [*shape]
        whole[axis] = self._share.size
        return self._own(func(*bounds, whole, **kwargs), axis)

    def _filled(self, func: Any, tensor: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        axis = self._axis(tuple(tensor.shape), codes=True)
        if axis is None:
            found: Tensor = func(tensor, *args, **kwargs)
            return found
        whole = [*tensor.shape]
        whole[axis] = self._share.size
        return tensor.copy_(self._own(func(tensor.new_empty(whole), *args, **kwargs), axis))

    def _own(self, drawn: Tensor, axis: int) -> Tensor:
        return drawn.narrow(axis, self._share.start, self._share.length)

    def _axis(self, shape: tuple[int, ...], *, codes: bool) -> int | None:
        found = [axis for axis, length in enumerate(shape) if length == self._share.length]
        return len(shape) - 2 if codes and len(shape) - 2 in found else found[-1] if found else None
