"""Baselines of reconstruction: what the true views, and the best view that is the same for every sample, score."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Modality, views
from molyneux.measure.coherence import Answers, ConstantText
from molyneux.measure.coherence.answers import read
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import having
from molyneux.measure.reconstruction.comparison import FIELDS, compare


@dataclass(frozen=True)
class Baseline:
    """The baselines of one modality, on the very samples that are measured on.

    Args:
        constant: by comparison, the mean of the best constant view; with `log_likelihood`, for symbols, the nats per sample of
            the best distribution that depends on the position of a symbol and on nothing else.
        ceiling: what the reader reads in the true views; None without a reader.
    """

    constant: Mapping[str, float]
    ceiling: Answers | None


def baselines(evaluation: Evaluation) -> dict[str, Baseline]:
    """The baselines of every modality that some sample has: two passes over the samples."""
    constants = {name: ConstantViews(evaluation.spec.modality(name)) for name in evaluation.available}
    for _, batch in evaluation.batches():
        for name, constant in constants.items():
            part = having(batch, (name,)).to("cpu")
            constant.add(part.views[name], part.lengths.get(name))
    compared: dict[tuple[str, str, int], list[np.ndarray]] = defaultdict(list)
    read_true: dict[str, list[Answers]] = defaultdict(list)
    for _, batch in evaluation.batches():
        for name, constant in constants.items():
            part, reader = having(batch, (name,)).to("cpu"), evaluation.reader(name)
            truth = part.views[name]
            for place, view in enumerate(constant.views):
                made = view.expand_as(truth)
                for what, values in compare(constant.modality, made, truth, part.lengths.get(name)).items():
                    compared[name, what, place].append(values)
            if reader is not None and part.factors is not None:
                read_true[name].append(read(reader, truth, part.factors, evaluation.spec))
    return {
        name: Baseline(
            {**_best(name, compared), **_likelihood(constant)}, Answers.join(read_true[name]) if read_true[name] else None
        )
        for name, constant in constants.items()
    }


class ConstantViews:
    """Finds the constant views that score best; memory does not grow with the number of samples, but with different texts.

    Args:
        modality: of what.
    """

    def __init__(self, modality: Modality) -> None:
        self.modality = modality
        self._count = 0
        self._total = torch.zeros(modality.shape, dtype=torch.float64)
        self._whole: Counter[bytes] = Counter()
        self._letters = ConstantText(modality) if modality.kind == "text" else None
        self._frequencies = SymbolFrequencies(modality)

    def add(self, truth: Tensor, lengths: Tensor | None = None) -> None:
        """Count true stored views (N, *shape) of the given lengths (N,)."""
        self._count += len(truth)
        if not self.modality.symbols:
            self._total += views.to_model(self.modality, truth).sum(0, dtype=torch.float64)
            return
        ids = truth.reshape(len(truth), -1).long()
        self._whole.update(row.tobytes() for row in ids.numpy())
        self._frequencies.add(truth, lengths)
        if self._letters is not None:
            self._letters.add(truth, lengths)

    @property
    def views(self) -> list[Tensor]:
        """Constant stored views (*shape): the mean; or the most common whole view, and the text of the best letters."""
        if not self.modality.symbols:
            return [views.to_stored(self.modality, self._total / max(1, self._count))]
        whole = torch.frombuffer(bytearray(self._whole.most_common(1)[0][0]), dtype=torch.int64)
        found = [whole] if self._letters is None else [whole, torch.from_numpy(self._letters.ids)]
        return [views.to_stored(self.modality, view.reshape(self.modality.shape)) for view in found]

    @property
    def log_likelihood(self) -> float | None:
        """See `SymbolFrequencies`."""
        return self._frequencies.log_likelihood


class SymbolFrequencies:
    """Counts how often each symbol occurs at each position; memory does not grow with the number of samples.

    Only what a likelihood counts is counted: of texts that have an `end`, the symbols up to it, not the padding after it.

    Args:
        modality: one of symbols; of numbers nothing is counted.
    """

    def __init__(self, modality: Modality) -> None:
        self.modality = modality
        self._count = 0
        self._symbols = torch.zeros(modality.size, len(modality.symbols), dtype=torch.float64)

    def add(self, truth: Tensor, lengths: Tensor | None = None) -> None:
        """Count true stored views (N, *shape) of the given lengths (N,)."""
        size, symbols = self._symbols.shape
        if symbols:
            ids = truth.reshape(len(truth), -1).long()
            place = (torch.arange(size) * symbols + ids)[views.counted_positions(self.modality, ids, lengths)]
            self._symbols += torch.bincount(place, minlength=size * symbols).reshape(size, symbols)
        self._count += len(truth)

    @property
    def log_likelihood(self) -> float | None:
        """Nats per sample that these samples have under their own frequencies; None for numbers.

        No distribution whose symbols depend on their positions and on nothing else has more on these samples.
        """
        if not self.modality.symbols:
            return None
        shares = self._symbols / self._symbols.sum(-1, keepdim=True).clamp(min=1)
        return float(torch.xlogy(self._symbols, shares).sum()) / max(1, self._count)


def _best(modality: str, compared: Mapping[tuple[str, str, int], list[np.ndarray]]) -> dict[str, float]:
    """The mean of each comparison, of the constant view that is best in it."""
    means: dict[str, list[float]] = defaultdict(list)
    for (name, what, _), parts in compared.items():
        if name == modality:
            means[what].append(float(np.concatenate(parts).mean()))
    return {what: max(found) if FIELDS[what].get("higher_is_better", True) else min(found) for what, found in means.items()}


def _likelihood(constant: ConstantViews) -> dict[str, float]:
    value = constant.log_likelihood
    return {} if value is None else {"log_likelihood": value}
