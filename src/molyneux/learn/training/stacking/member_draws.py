"""Random numbers of several trainings that are computed at once: each gets those of its own generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

__all__ = ["MemberDraws"]

_NEW = ("rand", "randint", "randn", "randperm")
_IN_PLACE = ("bernoulli_", "exponential_", "normal_", "uniform_")

Drawn = Callable[[torch.Generator], Tensor]
"""Draws with a generator, as one training would."""


class MemberDraws(TorchFunctionMode):
    """Draws within `torch.vmap` over several trainings, as each of them makes them alone.

    Within the context, `torch.rand`, `randn`, `randint`, `randperm` and the methods that fill a new tensor, called with
    `generator`, and the masks of dropout are drawn once for each training, by its own generators. What else draws numbers is an
    error of `vmap`.

    Args:
        generator: the one that the losses are given; it stands for all of `noise` and draws nothing.
        noise: of each training, what its loss alone is given.
        dropout: of each training, in the state that torch's own generator has for it.
        member: a number for each training, (N,), mapped over: what tells the draws of `vmap` apart.
    """

    def __init__(
        self, generator: torch.Generator, noise: Sequence[torch.Generator], dropout: Sequence[torch.Generator], member: Tensor
    ) -> None:
        super().__init__()
        self._generator, self._noise, self._dropout, self._member = generator, noise, dropout, member

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Draw for each training, and call everything else as it is."""
        kwargs, name = kwargs or {}, getattr(func, "__name__", "")
        if kwargs.get("generator") is self._generator:
            return self._drawn(func, name, args, kwargs)
        if func is functional.dropout:
            return self._dropped(*args, **kwargs)
        return func(*args, **kwargs)

    def _drawn(self, func: Any, name: str, args: Any, kwargs: dict[str, Any]) -> Tensor:
        if name not in (*_NEW, *_IN_PLACE):
            raise NotImplementedError(f"draws by {name or func!r}")
        if name in _NEW:
            return self._each(lambda own: func(*args, **{**kwargs, "generator": own}), self._noise)
        first, *rest = args
        empty = _like(first)
        return self._each(lambda own: func(empty(), *rest, **{**kwargs, "generator": own}), self._noise)

    def _dropped(self, view: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
        """What dropout leaves of a tensor, scaled; the tensor itself is left as it is."""
        if not training or p == 0:
            return view
        empty = _like(view)

        def mask(own: torch.Generator) -> Tensor:
            return empty().bernoulli_(1 - p, generator=own).div_(1 - p)

        return view * (self._each(mask, self._dropout) if p < 1 else 0.0)

    def _each(self, draw: Drawn, generators: Sequence[torch.Generator]) -> Tensor:
        drawn: Tensor = _Draw.apply(self._member, draw, generators)  # type: ignore[no-untyped-call]
        return drawn


def _like(tensor: Tensor) -> Callable[[], Tensor]:
    """Makes tensors of the shape, type and device of another, as one training sees it."""
    shape, dtype, device = tuple(tensor.shape), tensor.dtype, tensor.device
    return lambda: torch.empty(shape, dtype=dtype, device=device)


class _Draw(torch.autograd.Function):
    """Numbers of each training, without a gradient; `vmap` gives them the axis of the trainings."""

    @staticmethod
    def forward(member: Tensor, draw: Drawn, generators: Sequence[torch.Generator]) -> Tensor:
        """Numbers of one training; not under `vmap`."""
        return draw(generators[int(member)])

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Nothing is kept: numbers have no gradient."""
        ctx.mark_non_differentiable(output)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, None, None]:
        """Nothing."""
        return None, None, None

    @staticmethod
    def vmap(info: Any, in_dims: Any, member: Tensor, draw: Drawn, generators: Sequence[torch.Generator]) -> tuple[Tensor, int]:
        """Numbers of all trainings, on a first axis."""
        return torch.stack([draw(own) for own in generators]), 0
