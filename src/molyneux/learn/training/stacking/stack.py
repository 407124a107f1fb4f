"""Weights of several trainings stacked on a first axis, and the optimiser step that all of them make at once."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.optim import Optimizer

from molyneux.core import Batch, Loss, Progress, TrainingError
from molyneux.learn.training.batches import NumberedBatch
from molyneux.learn.training.stacking.differences import Varied
from molyneux.learn.training.stacking.member_draws import MemberDraws
from molyneux.learn.training.stacking.stacked_meters import StackedMeters
from molyneux.learn.training.steps import Steps, flatten, optimizer_of

__all__ = ["Gradient", "Stack"]

_FALLBACK = "There is a performance drop because we have not yet implemented the batching rule"
"""How torch begins to say that it computes an operation for one training after the other."""

Batches = Sequence[NumberedBatch]
"""One of each training."""


@dataclass(frozen=True)
class Gradient:
    """Losses of N trainings and their gradients.

    Args:
        names: of the terms, the total first.
        values: of the terms, (N, T).
        of: gradients by the name of the parameter, (N, ...); None where the loss does not depend on it.
    """

    names: tuple[str, ...]
    values: Tensor
    of: dict[str, Tensor | None]

    def norms(self) -> Tensor:
        """The norm of each training's gradient, (N,)."""
        found = [item.reshape(len(item), -1) for item in self.of.values() if item is not None]
        if not found:
            return self.values.new_zeros(len(self.values))
        each = torch.stack([torch.linalg.vector_norm(item, dim=1) for item in found])
        norms: Tensor = torch.linalg.vector_norm(each, dim=0)
        return norms

    def kept(self, rows: Sequence[int]) -> Gradient:
        """That of some of the trainings."""
        return Gradient(
            self.names, self.values[rows], {name: None if item is None else item[rows] for name, item in self.of.items()}
        )


@dataclass(frozen=True)
class _Alike:
    """Trainings beside each other in the stack whose optimisers have the same settings and made as many steps."""

    start: int
    stop: int
    optimizer: Optimizer


class Stack:
    """Several trainings that make their steps at once, with one call of each operation for all of them.

    The loss is that of the first model, computed by `torch.vmap` for all weights, batches and random numbers. Until `close`, the
    parameters and buffers of the models, and the moments of their optimisers, are parts of the stacked tensors: a model alone can
    be validated and written at any time.

    Args:
        steps: of each training, at the same stage, on the same device; sorted by `order`.
        varied: numbers in which the first of these models differs from the others.
    """

    def __init__(self, steps: Sequence[Steps], varied: Sequence[Varied] = ()) -> None:
        self.steps, self._first = list(steps), steps[0]
        device = self._first.placement.device
        self._member = torch.arange(len(steps), device=device)
        self.varied = varied
        self._values = [torch.tensor(item.values, dtype=torch.float32, device=device) for item in varied]
        self._draws = torch.Generator(device)  # never drawn from
        self._loss = _LossOf(self._first.model)
        self._layouts = [{name: _layout(item) for name, item in _tensors(each.model)} for each in self.steps]
        with torch.no_grad():
            self._weights = self._stacked([dict(each.model.named_parameters()) for each in self.steps])
            self.buffers = self._stacked([dict(each.model.named_buffers()) for each in self.steps])
        self._trained = {name: self._weights[name].requires_grad_() for name in self._first.trained}
        self._alike = list(self._optimizers())
        self._meters = StackedMeters([each.train_meter for each in self.steps])

    @staticmethod
    def order(steps: Sequence[Steps]) -> list[int]:
        """Positions of trainings, so that those with like optimisers come one after the other."""
        keys = [_key(each) for each in steps]
        return sorted(range(len(steps)), key=lambda place: (keys.index(keys[place]), place))

    def gradient(self, batches: Batches) -> Gradient:
        """The loss of each training's batch, and its gradient."""
        for item in self._trained.values():
            item.grad = None
        number, progress = batches[0].number, self._first.progress(batches[0])
        stream = ("train", self._first.before + number)
        noise = [each.noise(*stream) for each in self.steps]
        dropout = [self._generator(each.dropout_seed(*stream)) for each in self.steps]
        names: list[tuple[str, ...]] = []

        def loss(
            weights: dict[str, Tensor], buffers: dict[str, Tensor], views: dict[str, Tensor], member: Tensor, *own: Tensor
        ) -> Any:
            with self._put(own), MemberDraws(self._draws, noise, dropout, member):
                state = {f"model.{name}": item for name, item in (weights | buffers).items()}
                found: Loss = functional_call(self._loss, state, (Batch.from_tensors(views), progress, self._draws))
            term, values = flatten(found)
            names.append(term)
            return found.total, values

        with self._first.placement.autocast(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", _FALLBACK)
            total, values = torch.vmap(loss)(self._weights, self.buffers, self._placed(batches), self._member, *self._values)
        total.sum().backward()
        return Gradient(names[0], values, {name: item.grad for name, item in self._trained.items()})

    def train(self, batches: Batches) -> list[TrainingError | None]:
        """One optimiser step of each training; the error of each whose loss or gradient is not finite, which makes none.

        Where there are such errors, no other training has made its step yet either: those that are left make theirs by `apply`
        in a stack without them.
        """
        gradient = self.gradient(batches)
        norms = gradient.norms()
        errors: list[TrainingError | None] = []
        for row, numbers in enumerate(torch.cat([gradient.values, norms.to(gradient.values)[:, None]], 1).tolist()):
            errors.append(self._error(gradient, row, numbers, batches[row]))
        if not any(errors):
            self.apply(gradient, norms, batches)
        else:
            self.left = gradient
        return errors

    def apply(self, gradient: Gradient, norms: Tensor, batches: Batches) -> None:
        """Make the optimiser steps, given the norms of the gradients (N,)."""
        scales = self._scales(norms)
        if scales is not None:
            for item in gradient.of.values():
                if item is not None:
                    item.mul_(scales.to(item).reshape(-1, *(1,) * (item.dim() - 1)))
        for alike in self._alike:
            first = self.steps[alike.start]
            for group in alike.optimizer.param_groups:
                group["lr"] = first.settings.rate(batches[0].number, first.steps)
                for name, part in zip(first.trained, group["params"], strict=True):
                    found = gradient.of[name]
                    part.grad = None if found is None else found[alike.start : alike.stop]
            alike.optimizer.step()
        self._link()
        self._meters.add(gradient.names, gradient.values, len(batches[0]))

    def close(self) -> None:
        """Give every model its own weights and buffers, and its optimiser its own moments."""
        with torch.no_grad():
            for each, layouts in zip(self.steps, self._layouts, strict=True):
                for name, item in _tensors(each.model):
                    item.data = _owned(item, layouts[name])
                for state in each.optimizer.state.values():
                    state.update({key: value.clone() for key, value in state.items() if isinstance(value, Tensor)})
        self._meters.close()

    def _stacked(self, models: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
        """Stacked tensors by name, whose parts become the data of the models' own."""
        stacked = {}
        for name in models[0]:
            stacked[name] = whole = torch.stack([model[name].detach() for model in models])
            for row, model in enumerate(models):
                model[name].data = whole[row]
        return stacked

    def _optimizers(self) -> Iterator[_Alike]:
        keys = [_key(each) for each in self.steps]
        start = 0
        while start < len(keys):
            stop = next((place for place in range(start, len(keys)) if keys[place] != keys[start]), len(keys))
            parts = [nn.Parameter(item.detach()[start:stop]) for item in self._trained.values()]
            optimizer = optimizer_of(self.steps[start].settings, parts)
            for name, part in zip(self._first.trained, parts, strict=True):
                states = [each.optimizer.state.get(each.trained[name], {}) for each in self.steps[start:stop]]
                for key, value in states[0].items():
                    whole = key == "step" or not isinstance(value, Tensor)
                    optimizer.state[part][key] = value if whole else torch.stack([state[key] for state in states])
            yield _Alike(start, stop, optimizer)
            start = stop
        self._linked = 0

    def _link(self) -> None:
        """Make the moments of each training's own optimiser parts of the stacked ones."""
        if self._linked == (count := sum(len(alike.optimizer.state) for alike in self._alike)):
            return
        for alike in self._alike:
            for name, part in zip(self._first.trained, alike.optimizer.param_groups[0]["params"], strict=True):
                for key, value in alike.optimizer.state.get(part, {}).items():
                    whole = key == "step" or not isinstance(value, Tensor)
                    for row, each in enumerate(self.steps[alike.start : alike.stop]):
                        each.optimizer.state[each.trained[name]][key] = value if whole else value[row]
        self._linked = count

    def _error(self, gradient: Gradient, row: int, numbers: list[float], batch: NumberedBatch) -> TrainingError | None:
        if all(map(math.isfinite, numbers)):
            return None
        each, (*terms, length) = self.steps[row], numbers
        for name, item in each.trained.items():
            found = gradient.of[name]
            item.grad = None if found is None else found[row]
        try:
            each.check(gradient.names, terms, length, batch)
        except TrainingError as error:
            return error
        return None

    def _scales(self, norms: Tensor) -> Tensor | None:
        """What each training's gradient is multiplied by, (N,); None where none is clipped."""
        clips = [each.settings.clip for each in self.steps]
        if all(clip is None for clip in clips):
            return None
        most = torch.tensor([math.inf if clip is None else clip for clip in clips], dtype=norms.dtype, device=norms.device)
        return (most / (norms + 1e-6)).clamp(max=1.0)

    def _placed(self, batches: Batches) -> dict[str, Tensor]:
        """The tensors of all batches, stacked, on the device."""
        each = [batch.batch.tensors() for batch in batches]
        device = self._first.placement.device
        return {name: torch.stack([tensors[name] for tensors in each]).to(device, non_blocking=True) for name in each[0]}

    def _generator(self, seed: int) -> torch.Generator:
        return torch.Generator(self._first.placement.device).manual_seed(seed)

    @contextlib.contextmanager
    def _put(self, own: Sequence[Tensor]) -> Iterator[None]:
        """The numbers in which models differ, as one of them has them."""
        before = [item.take() for item in self.varied]
        try:
            for item, value in zip(self.varied, own, strict=True):
                item.put(value)
            yield
        finally:
            for item, value in zip(self.varied, before, strict=True):
                item.put(value)


class _LossOf(nn.Module):
    """The loss of a model as a module's result, which `torch.func.functional_call` asks for."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: Batch, progress: Progress, generator: torch.Generator) -> Loss:
        """See `core.Trainable`."""
        found: Loss = self.model.loss(batch, progress, generator)  # type: ignore[operator]
        return found


def _key(steps: Steps) -> tuple[Any, ...]:
    """What trainings have in common whose optimiser steps are one call."""
    settings = steps.settings
    states = [steps.optimizer.state.get(item, {}) for item in steps.trained.values()]
    made = tuple((len(state), float(state.get("step", 0))) for state in states)
    rates = settings.learning_rate, settings.betas, settings.weight_decay, settings.schedule, settings.warmup_steps
    return settings.optimizer, *rates, made


def _tensors(model: nn.Module) -> Iterator[tuple[str, Tensor]]:
    yield from model.named_parameters()
    yield from model.named_buffers()


def _layout(item: Tensor) -> tuple[int, ...]:
    return item.stride()


def _owned(item: Tensor, stride: tuple[int, ...]) -> Tensor:
    """A copy of a tensor, laid out in memory as it was before it was stacked."""
    return torch.empty_strided(item.shape, stride, dtype=item.dtype, device=item.device).copy_(item.detach())
