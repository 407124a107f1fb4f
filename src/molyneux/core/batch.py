"""Batches of samples, and the sources that yield them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from molyneux.core.errors import DataError, SpecError, nearest
from molyneux.core.lazy import lazy_module
from molyneux.core.spec import Factor, Spec, Target

if TYPE_CHECKING:
    import torch
    from torch import Tensor
else:
    torch = lazy_module("torch")


@dataclass(frozen=True)
class Batch:
    """Samples, whole batches at once.

    Args:
        views: one tensor per modality, (B, *modality.shape), as stored (images uint8 0..255, text ids).
        present: per modality a boolean mask (B,); a modality without a mask is present in every sample. What lies in
            `views` where the mask is False means nothing and is never read. This is the only way to say that a view is missing.
        factors: (B, F) int64 codes in the order of `Spec.factors`; -1 means absent.
        lengths: per modality how much of its longest axis (`Modality.length_axis`) counts in each sample, (B,) int64, from 0 to
            `Modality.max_length`; a modality without lengths counts whole. What lies beyond means nothing.
        targets: per target (B, *target.stored_shape), see `core.Task`.
        known: per target a boolean mask (B,); a target without a mask is known of every sample. What lies in `targets` where
            the mask is False means nothing.
        quantities: (B, Q) float32 in the order of `Spec.quantities`; NaN means absent.
    """

    views: Mapping[str, Tensor]
    present: Mapping[str, Tensor] = field(default_factory=dict)
    factors: Tensor | None = None
    lengths: Mapping[str, Tensor] = field(default_factory=dict)
    targets: Mapping[str, Tensor] = field(default_factory=dict)
    known: Mapping[str, Tensor] = field(default_factory=dict)
    quantities: Tensor | None = None

    def __post_init__(self) -> None:
        for name in ("views", "present", "lengths", "targets", "known"):
            if not isinstance(getattr(self, name), Mapping):
                kind = type(getattr(self, name)).__name__
                raise DataError(f"Batch: expected tensors by name as {name}, got a {kind}: name the argument, such as factors=")
        for name in ("factors", "quantities"):
            if not isinstance(getattr(self, name), torch.Tensor | None):
                kind = type(getattr(self, name)).__name__
                raise DataError(f"Batch: expected a tensor or None as {name}, got a {kind}: name the argument, such as lengths=")

    def __len__(self) -> int:
        return len(next(iter(self.views.values())))

    def __getitem__(self, index: slice | Tensor) -> Batch:
        """The samples at `index` (a slice, integer positions or a boolean mask)."""
        return self.map(lambda tensor: tensor[index])

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on a device."""
        return self.map(lambda tensor: tensor.to(device, non_blocking=True))

    def map(self, change: Callable[[Tensor], Tensor]) -> Batch:
        """The batch with `change` applied to every tensor."""

        def each(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
            return {name: change(tensor) for name, tensor in tensors.items()}

        return Batch(
            each(self.views),
            each(self.present),
            None if self.factors is None else change(self.factors),
            each(self.lengths),
            each(self.targets),
            each(self.known),
            None if self.quantities is None else change(self.quantities),
        )

    def tensors(self) -> dict[str, Tensor]:
        """All tensors of the batch in one dictionary; `from_tensors` is the inverse.

        Names: `view.<modality>`, `present.<modality>`, `length.<modality>`, `target.<target>`, `known.<target>`, `factors` and
        `quantities`.
        """
        found = {f"{part}.{name}": tensor for part, field_ in _PARTS.items() for name, tensor in getattr(self, field_).items()}
        whole = {name: getattr(self, name) for name in ("factors", "quantities")}
        return found | {name: tensor for name, tensor in whole.items() if tensor is not None}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor]) -> Batch:
        """The batch made of the dictionary that `tensors` returned."""
        parts: dict[str, dict[str, Tensor]] = {field_: {} for field_ in _PARTS.values()}
        for key, tensor in tensors.items():
            part, dot, name = key.partition(".")
            if dot and part in _PARTS:
                parts[_PARTS[part]][name] = tensor
        return cls(**parts, factors=tensors.get("factors"), quantities=tensors.get("quantities"))

    def mask(self, name: str) -> Tensor:
        """Presence of a modality, (B,) bool."""
        if name in self.present:
            return self.present[name]
        view = self.views[name]
        return torch.ones(len(view), dtype=torch.bool, device=view.device)

    def known_mask(self, target: str) -> Tensor:
        """Of which samples a target is known, (B,) bool."""
        if target in self.known:
            return self.known[target]
        values = self.targets[target]
        return torch.ones(len(values), dtype=torch.bool, device=values.device)

    def positions(self, name: str, spec: Spec) -> Tensor:
        """Which positions along the longest axis of a modality count, (B, max_length) bool, by its lengths.

        Raises:
            SpecError: samples of this kind have no lengths.
        """
        longest, view = spec.modality(name).max_length, self.views[name]
        places = torch.arange(longest, device=view.device).expand(len(view), longest)
        return places < self.lengths[name].unsqueeze(1) if name in self.lengths else torch.ones_like(places, dtype=torch.bool)

    def without_rest(self, name: str, spec: Spec, view: Tensor) -> Tensor:
        """A view of these samples (B, *shape), stored or in model form, with padding (0 for numbers) beyond its lengths."""
        modality = spec.modality(name)
        if name not in self.lengths or modality.length_axis is None:
            return view
        after = len(modality.shape) - modality.length_axis - 1
        within = self.positions(name, spec).reshape(len(view), *[1] * modality.length_axis, -1, *[1] * after)
        return view.where(within, modality.padding or 0)

    def observe(self, names: Collection[str]) -> Batch:
        """The same samples with only the modalities `names` observed; the others are masked, not removed."""
        masked = {name: torch.zeros_like(self.mask(name)) for name in self.views if name not in names}
        return replace(self, present={**self.present, **masked})

    def check(self, spec: Spec) -> Batch:
        """Return self if names, shapes and dtypes fit `spec`; raise SpecError naming both sides otherwise.

        Views beyond those of the spec are allowed: a model of fewer modalities reads those it knows. A mask or lengths of
        something that the batch does not have are refused: they are misspelt.
        """
        if not self.views:
            raise SpecError(f"expected the modalities {', '.join(spec.names)}, got a batch without any")
        size = len(self)
        for what, name, tensor, dtype, shape in self._expected(spec):
            if tensor is None:
                raise SpecError(
                    f"expected {what} {name}, got only {', '.join(self.views if what == 'modality' else self.targets)}"
                )
            if tuple(tensor.shape) != (size, *shape) or tensor.dtype != getattr(torch, dtype):
                got = f"{tensor.dtype} {tuple(tensor.shape)}"
                raise SpecError(f"{what} {name}: expected {dtype} {(size, *shape)}, got {got}")
        return self

    def check_values(self, spec: Spec, numbers: np.ndarray) -> Batch:
        """Return self if it fits `spec` and its values are in range; what is absent or beyond a length is not looked at.

        Numbers of views must be finite, ids and codes in range, lengths from 0 to the largest, quantities within their bounds or
        NaN (absent), and known targets as their task has them.

        Args:
            spec: of the source.
            numbers: (B,) the numbers of the samples, for the message.

        Raises:
            SpecError: as `check`. DataError: names what is out of range, and the sample.
        """
        self.check(spec)
        for item in _ranges(self, spec):
            if not item.sound and (problem := item.problem(numbers)):
                raise DataError(problem)
        return self

    def _expected(self, spec: Spec) -> Iterator[tuple[str, str, Tensor | None, str, tuple[int, ...]]]:
        """What each tensor is, its name, itself, and the dtype and shape of one sample that it must have."""
        for modality in spec.modalities:
            yield "modality", modality.name, self.views.get(modality.name), modality.dtype, modality.shape
        for target in spec.targets if self.targets else ():
            yield "target", target.name, self.targets.get(target.name), target.dtype, target.stored_shape
        for what, masks, known, dtype in (
            ("the presence mask of", self.present, self.views, "bool"),
            ("the lengths of", self.lengths, self.views, "int64"),
            ("the mask of target", self.known, self.targets, "bool"),
        ):
            for name, tensor in masks.items():
                if name not in known:
                    raise SpecError(f"{what} {name}: there is none of that name; {nearest(name, known)}")
                if masks is self.lengths and name in spec.names:
                    spec.modality(name).max_length  # noqa: B018 - raises for a kind without lengths
                yield what, name, tensor, dtype, ()
        if self.factors is not None:
            yield "factors", f"({len(spec.factors)} columns)", self.factors, "int64", (len(spec.factors),)
        if self.quantities is not None:
            yield "quantities", f"({len(spec.quantities)} columns)", self.quantities, "float32", (len(spec.quantities),)


_PARTS = {"view": "views", "present": "present", "length": "lengths", "target": "targets", "known": "known"}
"""The first part of a tensor's name, and the field of a Batch that holds such tensors by name."""


@dataclass(frozen=True)
class _Range:
    """Some values of a batch, and the range in which they must be.

    Args:
        what: the values in words, such as `modality image`.
        values: (B, ...).
        low, high: the range; infinite ends stand for any finite number.
        expected: the range in words.
        counted: gives the samples (B, ...) that count, broadcast against the values; called only if a value is out of range.
        advice: what to do about others.
        optional: whether NaN is allowed.
    """

    what: str
    values: Tensor
    low: float
    high: float
    expected: str
    counted: Callable[[], Tensor] | None = None
    advice: str = "correct the data"
    optional: bool = False

    @property
    def sound(self) -> bool:
        """Whether all values are in range, also those that do not count; fast."""
        if not self.values.numel():
            return True
        lowest, highest = (end.item() for end in self.values.aminmax())  # both are NaN if one value is
        return self.low <= lowest and highest <= self.high and not math.isinf(lowest) and not math.isinf(highest)

    def problem(self, numbers: np.ndarray) -> str | None:
        """The sentence about the first value out of range that counts; None if there is none."""
        values = self.values.double()
        wrong = ~((values >= self.low) & (values <= self.high) & ~values.isinf())
        wrong &= ~values.isnan() if self.optional else True
        if self.counted is not None:
            counted = self.counted()
            wrong &= counted.reshape(*counted.shape, *[1] * (wrong.ndim - counted.ndim))
        if not wrong.any():
            return None
        place = tuple(wrong.nonzero()[0].tolist())
        value = self.values[place].item()
        got = value if math.isfinite(value) or math.isfinite(self.low) else "NaN or infinity"
        return f"{self.what}: expected {self.expected}, got {got} in sample {numbers[place[0]]}: {self.advice}"


def _ranges(batch: Batch, spec: Spec) -> Iterator[_Range]:
    absent = "correct the data or mark the {} as {} in that sample"
    for modality in spec.modalities:
        count, view = len(modality.symbols), batch.views[modality.name]
        if count or view.is_floating_point():
            expected = f"ids 0..{count - 1} of its {count} symbols" if count else "finite numbers"
            low, high = (0, count - 1) if count else _OPEN
            counted = partial(_counted, batch, spec, modality.name)
            yield _Range(f"modality {modality.name}", view, low, high, expected, counted, absent.format("modality", "absent"))
    for name in (name for name in spec.names if name in batch.lengths):
        longest = spec.modality(name).max_length
        lengths, counted = batch.lengths[name], partial(batch.mask, name)
        yield _Range(f"lengths of {name}", lengths, 0, longest, f"0..{longest}", counted, "correct the lengths")
    for target in spec.targets if batch.targets else ():
        low, high, expected = _target_range(target)
        counted = partial(batch.known_mask, target.name)
        what, values = f"target {target.name}", batch.targets[target.name]
        yield _Range(what, values, low, high, expected, counted, absent.format("target", "unknown"))
    for factor, codes in _unsound_factors(batch, spec):
        last = len(factor.values) - 1
        yield _Range(f"factor {factor.name}", codes, -1, last, f"codes 0..{last}, or -1 where it is absent")
    for quantity, values in zip(spec.quantities, () if batch.quantities is None else batch.quantities.unbind(1), strict=False):
        low, high = (float(np.float32(end)) for end in quantity.bounds)  # as they are stored
        expected = f"numbers from {low:g} to {high:g}, or NaN where it is absent"
        yield _Range(f"quantity {quantity.name}", values, low, high, expected, optional=True)


def _unsound_factors(batch: Batch, spec: Spec) -> Iterator[tuple[Factor, Tensor]]:
    """The factors of which some code is out of range, and their codes (B,); all are looked at in one pass."""
    if batch.factors is None or not batch.factors.numel():
        return
    ends = zip(*(end.tolist() for end in batch.factors.aminmax(dim=0)), strict=True)
    for factor, (lowest, highest), codes in zip(spec.factors, ends, batch.factors.unbind(1), strict=False):
        if lowest < -1 or highest >= len(factor.values):
            yield factor, codes


def _target_range(target: Target) -> tuple[float, float, str]:
    """The smallest and the largest value of a target, and the range in words."""
    if target.task != "number":
        last = len(target.symbols) - 1 if target.task == "class" else 1
        return 0, last, f"codes 0..{last}"
    low, high = (end if given is None else float(np.float32(given)) for given, end in zip(target.bounds, _OPEN, strict=True))
    return low, high, "finite numbers" if (low, high) == _OPEN else f"numbers within the bounds {target.bounds}"


def _counted(batch: Batch, spec: Spec, name: str) -> Tensor:
    """Which values of a view are present and within the lengths: (B,), or (B, ...) along the axis of the lengths."""
    present = batch.mask(name)
    if name not in batch.lengths:
        return present
    axis, positions = spec.modality(name).length_axis or 0, batch.positions(name, spec)
    return (present[:, None] & positions).reshape(len(present), *[1] * axis, -1)


_OPEN = (-math.inf, math.inf)


@runtime_checkable
class Source(Protocol):
    """Anything that yields batches. Whole batches are fetched at once; there is no per-sample path."""

    @property
    def spec(self) -> Spec:
        """What a batch looks like."""
        ...

    def __len__(self) -> int:
        """Number of samples."""
        ...

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions, (B,) integers in [0, len), any order, repeats allowed."""
        ...
