"""Making the model of a run: with the weights it starts with, or with stored ones; and the limits within which it is made."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from molyneux.core import ConfigError, Spec, SpecError, seeds
from molyneux.learn import load_weights
from molyneux.learn.files import stored_values
from molyneux.run.run.sections import LearnSettings

MOST_OPERATIONS = 20_000
"""Tensor operations that may make a model; those of this package need a few hundred."""
MOST_DRAWN = 10**7
"""Values of weights that a check draws: more takes time."""
_FACTORIES = {"clone", "empty", "full", "new_empty", "new_ones", "new_zeros", "ones", "rand", "randn", "repeat", "zeros"}
_COUNTED = {"arange", "eye", "linspace", "logspace"}
_ALIKE = {"empty_like", "full_like", "ones_like", "rand_like", "randn_like", "zeros_like"}
SPARE = 1 << 24
"""Values that making a stored model may take beside twice its weights: 64 MB."""
_FILLS = {"uniform_", "normal_", "fill_", "zero_"}


def make_model(learn: LearnSettings, spec: Spec, seed: int) -> nn.Module:
    """The model with the weights it starts with, which depend on the seed alone.

    Raises:
        ConfigError: the model refuses its settings or these samples, or is too large for this machine.
    """
    with torch.random.fork_rng(devices=[]), _Limits():
        torch.manual_seed(int(seeds.key(seed, "learn", "weights")[0] >> 1))
        return _made(learn, spec)


def stored_model(learn: LearnSettings, spec: Spec, seed: int, folder: Path) -> nn.Module:
    """The model of a stored run with its weights.

    Its settings may be those of a stranger: making the model stops as soon as it takes more than weights of the stored size do.

    Args:
        learn: the section of the settings.
        spec: of its samples.
        seed: of the run.
        folder: of the model, with its weights.

    Raises:
        ConfigError: the model refuses its settings. SpecError: settings and weights are not of the same model.
        StoreError: there are no weights. CorruptFileError: they were truncated or altered.
    """
    values = stored_values(folder)
    with torch.random.fork_rng(devices=[]), _Limits(most=2 * values + SPARE, weights=folder / "weights.safetensors"):
        torch.manual_seed(int(seeds.key(seed, "learn", "weights")[0] >> 1))
        model = _made(learn, spec)
    load_weights(model, folder)
    return model


def check_model(learn: LearnSettings, spec: Spec) -> nn.Module:
    """Make the model without drawing all of its weights, so that their memory is never used; errors as `make_model`."""
    with torch.random.fork_rng(devices=[]), _Limits(filled=MOST_DRAWN):
        return _made(learn, spec)


def _made(learn: LearnSettings, spec: Spec) -> nn.Module:
    model = learn.model.make("learn.model", spec=spec)
    if not isinstance(model, nn.Module):
        raise ConfigError(f"learn.model: expected a torch module, got a {type(model).__name__}: derive it from torch.nn.Module")
    return model


class _Limits(TorchFunctionMode):
    """Refuses a model while it is made: as soon as its tensors are too large for this machine, or too many.

    Args:
        filled: how many values get drawn or set in place; the memory of further ones is reserved and never used.
        most: how many values its tensors may have in all; more are not of the stored weights.
        weights: file of those, for messages.
    """

    def __init__(self, *, filled: float = math.inf, most: float = math.inf, weights: Path | None = None) -> None:
        super().__init__()
        self.filled, self.calls, self.used, self.most, self.weights = filled, 0, 0, most, weights
        self.memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Count the operation and what it allocates, before it does."""
        name = getattr(func, "__name__", "")
        self.calls += 1
        if name in _FACTORIES:
            sizes = next((part for part in args if isinstance(part, list | tuple)), [part for part in args if type(part) is int])
            repeated = args[0].numel() if name in ("clone", "repeat") else 1
            self.used += 4 * repeated * math.prod(sizes)
            if name in ("full", "ones", "zeros") and math.prod(sizes) > self.filled:
                func, args, kwargs = torch.empty, (sizes,), {"dtype": (kwargs or {}).get("dtype")}
        elif name in _COUNTED or name in _ALIKE:
            self.used += 4 * _values(name, args, kwargs or {})
        elif name in _FILLS or getattr(func, "__module__", "") == "torch.nn.init":
            tensor = args[0] if args else kwargs["tensor"]
            self.filled -= tensor.numel()
            if self.filled < 0:
                return tensor
        if self.used > 4 * self.most:
            raise SpecError(
                f"{self.weights} does not fit this model, which its settings make much larger: "
                "build the model with the settings it was saved with"
            )
        if self.used > self.memory:
            size = f"{self.memory / 1e9:.0f} GB"
            raise ConfigError(f"expected a model that fits into the {size} of memory of this machine, got a larger one")
        if self.calls > MOST_OPERATIONS:
            raise ConfigError(
                f"expected a model made by at most {MOST_OPERATIONS} tensor operations, got more: take fewer layers"
            )
        return func(*args, **(kwargs or {}))


def _values(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> int:
    """How many values an operation of `_COUNTED` or `_ALIKE` makes; asking the meta device would import torch's compiler."""
    if name in _ALIKE:
        return int((args[0] if args else kwargs["input"]).numel())
    if name == "eye":
        rows = args[0] if args else kwargs["n"]
        return int(rows) * int(args[1] if len(args) > 1 and type(args[1]) is int else kwargs.get("m") or rows)
    if name in ("linspace", "logspace"):
        return int(args[2] if len(args) > 2 else kwargs["steps"])
    places = [float(part) for part in args]
    first, last = (0.0, places[0]) if len(places) == 1 else (places or (0.0, 0.0))[:2]
    first, last = float(kwargs.get("start", first)), float(kwargs.get("end", last))
    step = float(kwargs.get("step", places[2] if len(places) > 2 else 1.0))
    return max(0, math.ceil((last - first) / step)) if step else 0
