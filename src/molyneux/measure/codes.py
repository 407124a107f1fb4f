"""Codes of samples: a batch is encoded once for each set of observed modalities, and all measures share the result."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Batch, Codes, Decodes, NotApplicableError, Posterior
from molyneux.measure.code_arrays import content_order, require_finite
from molyneux.measure.generation import Draw, having

LIMIT = 1 << 30
"""Bytes of codes that are kept; of more, those used longest ago are encoded again when they are needed."""

_CHECKED = {"mean": "codes", "sample": "samples of the codes"}
"""By kind, what has to be finite; rates may be infinite, which their scores say."""


@dataclass(frozen=True)
class EncodedBatch:
    """What a model encodes of the samples of a batch in which all observed modalities are present, n of them, on the CPU.

    Args:
        rows: (n,) positions of these samples in the batch.
        mean: posterior means, (n, D).
        sample: one posterior sample each, (n, D). Private codes of modalities that are not observed follow the prior.
        rates: by code, log q(z | x) - log p(z) of that sample in nats, (n,).
        factors: (n, F) true factor codes, -1 = absent; (n, 0) where there are none.
        targets: by target (n, ...) the true values.
        known: by target (n,) whether it is known.
    """

    rows: Tensor
    mean: Codes
    sample: Codes
    rates: Mapping[str, Tensor]
    factors: Tensor
    targets: Mapping[str, Tensor]
    known: Mapping[str, Tensor]

    def codes(self, draw: Draw, device: torch.device) -> Codes:
        """The codes that a decoder gets, on a device."""
        codes = self.mean if draw == "mean" else self.sample
        return Codes(codes.shared.to(device), {name: code.to(device) for name, code in codes.private.items()})

    @property
    def size(self) -> int:
        """Bytes."""
        codes = [code for part in (self.mean, self.sample) for code in named(part).values()]
        tensors = [*codes, *self.rates.values(), *self.targets.values(), self.factors, self.rows]
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


class CodeStore:
    """Encodes batches and keeps the codes.

    Noise is drawn batch by batch from a stream of its own for each set of observed modalities, so codes depend neither on what is
    asked for first nor on what was dropped.

    Args:
        model: the model; encodes.
        generator: the stream of some names and a position.
        limit: bytes that are kept at most.
    """

    def __init__(self, model: Any, generator: Callable[..., torch.Generator], *, limit: int = LIMIT) -> None:
        self._model, self._generator, self._limit = model, generator, limit
        self._kept: OrderedDict[tuple[tuple[str, ...], int], EncodedBatch | None] = OrderedDict()
        self._size = 0

    def get(self, observed: Sequence[str], start: int, batch: Callable[[], Batch]) -> EncodedBatch | None:
        """The codes of a batch given the modalities `observed`; None where no sample has all of them.

        Args:
            observed: names, in the order of the Spec.
            start: position of the first sample.
            batch: gives the whole batch; called only if it is not encoded yet.
        """
        key = (tuple(observed), start)
        if key not in self._kept:
            self._keep(key, self._encode(key[0], start, batch()))
        self._kept.move_to_end(key)
        return self._kept[key]

    def has(self, observed: Sequence[str], start: int) -> bool:
        """Whether the codes of a batch are kept."""
        return (tuple(observed), start) in self._kept

    def put(self, observed: Sequence[str], start: int, encoded: EncodedBatch | None) -> None:
        """Keep the codes of a batch that another process has encoded."""
        self._keep((tuple(observed), start), encoded)

    def _encode(self, observed: tuple[str, ...], start: int, batch: Batch) -> EncodedBatch | None:
        part = having(batch, observed)
        if not len(part):
            return None
        posterior = self._model.encode(part, observed)
        sample = posterior.rsample(1, self._generator("codes", *observed, start))[0]
        rates = _rates(posterior, sample, _prior(self._model, len(part)), observed)
        none = torch.empty((len(part), 0), dtype=torch.int64)
        return EncodedBatch(
            torch.stack([batch.mask(name) for name in observed]).all(0).nonzero().flatten().cpu(),
            _on_cpu(posterior.mean),
            _on_cpu(sample),
            {name: rate.cpu() for name, rate in rates.items()},
            none if part.factors is None else part.factors.cpu(),
            {name: values.cpu() for name, values in part.targets.items()},
            {name: part.known_mask(name).cpu() for name in part.targets},
        )

    def _keep(self, key: tuple[tuple[str, ...], int], encoded: EncodedBatch | None) -> None:
        self._kept[key] = encoded
        self._size += 0 if encoded is None else encoded.size
        while self._size > self._limit and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._size -= 0 if dropped is None else dropped.size


@dataclass(frozen=True)
class CodeTable:
    """Codes of the N samples in which all observed modalities are present, as arrays.

    Args:
        means: by code (`shared`, `private.image`) the posterior means, (N, D) float64. Private codes of what is not observed
            follow the prior and are left out.
        samples: one posterior sample each, (N, D).
        rates: log q(z | x) - log p(z) of that sample in nats, (N,): its mean estimates the divergence from the prior.
            Empty where the model has no prior, or its posterior no density.
        factors: (N, F) true factor codes, -1 = absent; (N, 0) where there are none.
        targets: by target (N, ...) the true values.
        known: by target (N,) whether it is known.
        rows: (N,) positions of the samples in their source.
    """

    means: Mapping[str, np.ndarray]
    samples: Mapping[str, np.ndarray]
    rates: Mapping[str, np.ndarray]
    factors: np.ndarray
    targets: Mapping[str, np.ndarray]
    known: Mapping[str, np.ndarray]
    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)

    def codes(self, draw: Draw) -> Mapping[str, np.ndarray]:
        """Means or samples, by code."""
        return self.means if draw == "mean" else self.samples

    def by_content(self) -> CodeTable:
        """The samples in an order that depends on what is known of them and not on how they stand in their source.

        Halves, subsamples, resamples and starts that are drawn by the places of samples are then the same for every order of the
        source.
        """
        parts = [*self.means.values(), self.factors, *self.targets.values(), *self.known.values()]
        flat = [np.asarray(part, np.float64).reshape(len(self), -1) for part in parts]
        return self[content_order(np.concatenate(flat, 1))]

    def __getitem__(self, index: np.ndarray) -> CodeTable:
        """The samples at `index`."""
        parts = (self.means, self.samples, self.rates, self.targets, self.known)
        means, samples, rates, targets, known = ({name: values[index] for name, values in part.items()} for part in parts)
        return CodeTable(means, samples, rates, self.factors[index], targets, known, self.rows[index])


def tabulate_codes(encoded: Sequence[tuple[int, EncodedBatch]], observed: Sequence[str], samples: int) -> CodeTable:
    """The codes of several batches, given by the position of their first sample, as one table.

    Args:
        encoded: at least one batch.
        observed: the modalities that were observed.
        samples: samples from this position on are left out.

    Raises:
        DataError: a code is not finite; names code, row and dimension.
    """
    piles: dict[tuple[str, str], list[np.ndarray]] = defaultdict(list)
    for start, part in encoded:
        rows = (part.rows + start).numpy()
        keep = rows < samples
        piles["rows", ""].append(rows[keep])
        piles["factors", ""].append(part.factors.numpy()[keep])
        arrays = {"mean": _observed(part.mean, observed), "sample": _observed(part.sample, observed), "rate": part.rates}
        for kind, tensors in (*arrays.items(), ("target", part.targets), ("known", part.known)):
            for name, tensor in tensors.items():
                values = tensor.double() if kind in arrays else tensor
                piles[kind, name].append(values.numpy()[keep])
    tables: dict[str, dict[str, np.ndarray]] = defaultdict(dict)
    for (kind, name), parts in piles.items():
        tables[kind][name] = np.concatenate(parts)
        if kind in _CHECKED:
            require_finite(f"{_CHECKED[kind]} {name} given {' and '.join(observed)}", tables[kind][name])
    return CodeTable(
        means=tables["mean"],
        samples=tables["sample"],
        rates=tables["rate"],
        factors=tables["factors"][""],
        targets=tables["target"],
        known=tables["known"],
        rows=tables["rows"][""],
    )


def named(codes: Codes) -> dict[str, Tensor]:
    """The parts of codes by name: `shared`, and `private.<modality>`."""
    return {"shared": codes.shared, **{f"private.{name}": code for name, code in codes.private.items()}}


def from_named(parts: Mapping[str, Tensor]) -> Codes:
    """The codes whose parts `named` gave."""
    private = {name.removeprefix("private."): code for name, code in parts.items() if name != "shared"}
    return Codes(parts["shared"], private)


def _prior(model: Any, size: int) -> Posterior | None:
    """The model's prior; None where it has none."""
    if isinstance(model, Decodes):
        with suppress(NotApplicableError):
            return model.prior(size)
    return None


def _rates(posterior: Posterior, sample: Codes, prior: Posterior | None, observed: Sequence[str]) -> dict[str, Tensor]:
    """By code, log q(z | x) - log p(z); nothing without a prior, or where codes without noise have no density."""
    if prior is None:
        return {}
    codes = Codes(sample.shared, {name: code for name, code in sample.private.items() if name in observed})
    with suppress(NotApplicableError):
        own, against = posterior.log_probs(codes), prior.log_probs(codes)
        return {name: value - against[name] for name, value in own.items()}
    return {}


def _observed(codes: Codes, observed: Sequence[str]) -> dict[str, Tensor]:
    return named(Codes(codes.shared, {name: code for name, code in codes.private.items() if name in observed}))


def _on_cpu(codes: Codes) -> Codes:
    return Codes(codes.shared.cpu(), {name: code.cpu() for name, code in codes.private.items()})
