"""In which numbers models differ that are trained together, and why models cannot be trained together."""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from molyneux.core import Spec

__all__ = ["Varied", "differences"]

_SKIPPED = ("_parameters", "_buffers", "_non_persistent_buffers_set", "training")
"""Attributes of a module that are no settings: weights and buffers are stacked."""


@dataclass(frozen=True)
class Varied:
    """A number in which models differ.

    Args:
        path: where it is in a model, such as `objective.beta`.
        owner: the object that has it in the first model.
        key: its attribute there, or its key.
        values: of each model.
    """

    path: str
    owner: Any
    key: Any
    values: tuple[float, ...]

    def put(self, value: Any) -> None:
        """Set it in the first model, whether or not that is frozen."""
        if isinstance(self.owner, dict | list):
            self.owner[self.key] = value
        else:
            object.__setattr__(self.owner, self.key, value)

    def take(self) -> Any:
        """Its value in the first model."""
        return self.owner[self.key] if isinstance(self.owner, dict | list) else getattr(self.owner, self.key)

    def __str__(self) -> str:
        return f"{self.path} ({', '.join(f'{value:g}' for value in self.values)})"


def differences(models: Sequence[nn.Module]) -> tuple[list[Varied], list[str]]:
    """Numbers with a fraction in which models differ, and other differences, by which they cannot be trained together.

    Compared are the attributes of modules and of what they hold, by name, and the names and shapes of weights and buffers.
    """
    first, *others = [
        {name: (tuple(item.shape), item.dtype) for name, item in (*model.named_parameters(), *model.named_buffers())}
        for model in models
    ]
    kinds = {f"{type(model).__module__}.{type(model).__qualname__}" for model in models}
    if len(kinds) > 1:
        return [], [f"expected models of one class, got {', '.join(sorted(kinds))}"]
    for other in others:
        if names := sorted(first.keys() ^ other.keys()):
            return [], [f"expected models with weights of the same names, got {names[0]} in some and not in others"]
        if names := sorted(name for name in first if first[name] != other[name]):
            shapes = " and ".join(str(list(item[names[0]][0])) for item in (first, other))
            return [], [f"expected models with weights of the same shapes, got {names[0]} of the shapes {shapes}"]
    varied: list[Varied] = []
    return varied, list(_Comparison(varied).of("", tuple(models), None, None))


class _Comparison:
    """Goes through several objects of the same structure; gives a sentence for each difference that is no such number."""

    def __init__(self, varied: list[Varied]) -> None:
        self._varied, self._seen = varied, set[int]()

    def of(self, path: str, items: tuple[Any, ...], owner: Any, key: Any) -> Iterator[str]:
        """Compare what is at a path; `owner` holds the first of them by `key`, if it can be changed there."""
        first = items[0]
        if all(item is first for item in items):
            return
        if isinstance(first, float | int) and not isinstance(first, bool) and all(type(item) in (int, float) for item in items):
            yield from self._numbers(path, items, owner, key)
        elif any(type(item) is not type(first) for item in items):
            kinds = ", ".join(dict.fromkeys(type(item).__name__ for item in items))
            yield f"{path}: expected the same kind of value, got {kinds}"
        elif isinstance(first, bool | str | bytes | None | torch.dtype | torch.device | Spec):
            if any(item != first for item in items):
                yield f"{path}: expected the same value, got {' and '.join(dict.fromkeys(map(repr, items)))}"
        elif isinstance(first, Tensor | np.ndarray):
            yield from self._tensors(path, items)
        elif id(first) not in self._seen:
            self._seen.add(id(first))
            yield from self._parts(path, items)

    def _numbers(self, path: str, items: tuple[Any, ...], owner: Any, key: Any) -> Iterator[str]:
        if all(item == items[0] or (item != item and items[0] != items[0]) for item in items):
            return
        values = tuple(map(float, items))
        if any(isinstance(item, float) for item in items) and owner is not None and all(map(math.isfinite, values)):
            self._varied.append(Varied(path, owner, key, values))
        else:
            yield f"{path}: expected the same number, got {' and '.join(dict.fromkeys(map(str, items)))}"

    @staticmethod
    def _tensors(path: str, items: tuple[Any, ...]) -> Iterator[str]:
        if isinstance(items[0], nn.Parameter):
            return  # stacked with the weights
        same = all(
            item.shape == items[0].shape and bool((torch.as_tensor(item) == torch.as_tensor(items[0])).all()) for item in items
        )
        if not same:
            yield f"{path}: expected the same numbers, got a tensor that differs and is no buffer: register it as one"

    def _parts(self, path: str, items: tuple[Any, ...]) -> Iterator[str]:
        first = items[0]
        if isinstance(first, Mapping):
            yield from self._mappings(path, items, first if isinstance(first, dict) else None)
        elif isinstance(first, list | tuple):
            if len({len(item) for item in items}) > 1:
                yield f"{path}: expected as many values, got {' and '.join(str(len(item)) for item in items)}"
                return
            owner = first if isinstance(first, list) else None
            for number, each in enumerate(zip(*items, strict=True)):
                yield from self.of(f"{path}.{number}".lstrip("."), each, owner, number)
        elif isinstance(first, set | frozenset | range | type | torch.Size):
            if any(item != first for item in items):
                yield f"{path}: expected the same value, got others"
        elif isinstance(first, functools.partial):
            yield from self.of(path, tuple((item.func, item.args, item.keywords) for item in items), None, None)
        elif isinstance(first, types.MethodType):
            yield from self._functions(path, tuple(item.__func__ for item in items))
            yield from self.of(path, tuple(item.__self__ for item in items), None, None)
        elif isinstance(first, types.FunctionType):
            yield from self._functions(path, items)
        elif attributes := _attributes(first):
            parts = tuple(attributes(item) for item in items)
            yield from self._mappings(path, parts, first)

    def _mappings(self, path: str, items: tuple[Mapping[Any, Any], ...], owner: Any) -> Iterator[str]:
        if any(item.keys() != items[0].keys() for item in items):
            yield f"{path}: expected the same names, got others"
            return
        for key in items[0]:
            inner = path if key == "_modules" else f"{path}.{key}".lstrip(".")
            yield from self.of(inner, tuple(item[key] for item in items), owner, key)

    def _functions(self, path: str, items: tuple[Any, ...]) -> Iterator[str]:
        if any(item.__code__ is not items[0].__code__ for item in items):
            yield f"{path}: expected the same function, got others"
            return
        cells = tuple([cell.cell_contents for cell in item.__closure__ or ()] for item in items)
        yield from self.of(
            path, tuple((tuple(each), item.__defaults__) for each, item in zip(cells, items, strict=True)), None, None
        )


def _attributes(item: Any) -> Callable[[Any], dict[str, Any]] | None:
    """What gives the attributes of objects like this one that may be settings; None where there are none."""
    if isinstance(item, nn.Module):
        return lambda each: {name: value for name, value in vars(each).items() if name not in _SKIPPED and "hook" not in name}
    names = [name for kind in type(item).__mro__ for name in getattr(kind, "__slots__", ()) if hasattr(item, name)]
    if not hasattr(item, "__dict__") and not names:
        return None
    return lambda each: {**getattr(each, "__dict__", {}), **{name: getattr(each, name) for name in names if hasattr(each, name)}}
