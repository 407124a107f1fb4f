"""Comparisons of generated with true views, and the baselines of reconstruction: constant views and true views."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Modality, SpecError, views
from molyneux.measure.coherence import Answers, ConstantText, Letters
from molyneux.measure.coherence.answers import true_answers
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import having

FIELDS: dict[str, dict[str, Any]] = {
    "exact": {"unit": "%", "bounds": (0.0, 100.0)},
    "letters": {"unit": "%", "bounds": (0.0, 100.0)},
    "mse": {"unit": "1", "bounds": (0.0, None), "higher_is_better": False},
    "ssim": {"unit": "1", "bounds": (-1.0, 1.0)},
}
"""Unit, bounds and direction of each comparison."""


def compare(modality: Modality, made: Tensor, truth: Tensor, lengths: Tensor | None = None) -> dict[str, np.ndarray]:
    """One number per sample for each comparison that the kind of modality allows.

    - `mse`: mean squared difference of the values as models compute with them (images 0..1), within the true length.
    - `ssim` for images.
    - `letters` %, for text: equal characters at equal positions over the true length.
    - `exact` %, for text and labels: 100 where every symbol is equal, else 0.

    Args:
        modality: what is compared.
        made: (N, *shape) stored views.
        truth: (N, *shape) stored views.
        lengths: (N,) true lengths along `Modality.length_axis`, where samples have them; what lies beyond is not compared.
    """
    if modality.symbols:
        equal = made == truth if lengths is None else (made == truth) | ~_inside(modality, truth, lengths)
        found = {"exact": 100.0 * equal.flatten(1).all(1).double().numpy() if equal.ndim > 1 else 100.0 * equal.double().numpy()}
        if modality.kind == "text":
            found["letters"] = 100.0 * Letters.of(modality, made, truth, lengths).published
        return found
    first, second = views.to_model(modality, made), views.to_model(modality, truth)
    wrong = (first - second).square()
    if lengths is None:
        found = {"mse": wrong.flatten(1).mean(1).double().numpy()}
    else:
        inside = _inside(modality, truth, lengths)
        found = {"mse": ((wrong * inside).flatten(1).sum(1) / inside.flatten(1).sum(1).clamp(min=1)).double().numpy()}
    return {**found, "ssim": ssim(first, second).double().numpy()} if modality.kind == "image" else found


_WINDOW, _SIGMA = 11, 1.5
_C1, _C2 = 0.01**2, 0.03**2
_AT_ONCE = 64  # images: what a processor's cache holds, and twice as fast as all of them


def _inside(modality: Modality, truth: Tensor, lengths: Tensor) -> Tensor:
    """Which values of views (N, *shape) lie within their lengths (N,)."""
    shape = [len(truth), *(size if axis == modality.length_axis else 1 for axis, size in enumerate(modality.shape))]
    return (torch.arange(modality.max_length) < lengths[:, None]).reshape(shape).expand_as(truth)


def ssim(first: Tensor, second: Tensor) -> Tensor:
    """Mean structural similarity, (B,) from images (B, C, H, W) of values 0..1; 1 for equal images.

    Wang, Bovik, Sheikh and Simoncelli, "Image quality assessment: from error visibility to structural similarity", IEEE
    Transactions on Image Processing 13(4), 2004: equation 13 with their constants, averaged over positions and channels.

    Each statistic is weighted by a Gaussian window of 11 pixels (or as many as fit) with standard deviation 1.5 that
    lies wholly inside the image.

    Raises:
        SpecError: the shapes differ or are not those of images.
    """
    if first.shape != second.shape or first.ndim != 4:
        raise SpecError(f"expected two batches of images of one shape, got {tuple(first.shape)} and {tuple(second.shape)}")
    rows, columns = (_windows(size).to(first) for size in first.shape[-2:])
    parts = zip(torch.split(first, _AT_ONCE), torch.split(second, _AT_ONCE), strict=True)
    return torch.cat([_ssim(one, other, rows, columns) for one, other in parts])


def _ssim(first: Tensor, second: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    def smooth(image: Tensor) -> Tensor:
        return rows @ image @ columns.T

    mean_a, mean_b = smooth(first), smooth(second)
    var_a, var_b = smooth(first.square()) - mean_a.square(), smooth(second.square()) - mean_b.square()
    covariance = smooth(first * second) - mean_a * mean_b
    luminance = (2 * mean_a * mean_b + _C1) / (mean_a.square() + mean_b.square() + _C1)
    structure = (2 * covariance + _C2) / (var_a + var_b + _C2)
    return (luminance * structure).flatten(1).mean(1)


def _windows(size: int) -> Tensor:
    """The window at every place it fits, as a band matrix (size - window + 1, size): a convolution by multiplication."""
    window = min(_WINDOW, size - 1 + size % 2)
    offset = torch.arange(window, dtype=torch.float64) - (window - 1) / 2
    weights = torch.exp(-0.5 * (offset / _SIGMA) ** 2)
    band = torch.zeros(size - window + 1, size, dtype=torch.float64)
    for row in range(len(band)):
        band[row, row : row + window] = weights / weights.sum()
    return band


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
    for _, batch in evaluation.true_batches():
        for name, constant in constants.items():
            part = having(batch, (name,)).to("cpu")
            constant.add(part.views[name], part.lengths.get(name))
    compared: dict[tuple[str, str, int], list[np.ndarray]] = defaultdict(list)
    for _, batch in evaluation.true_batches():
        for name, constant in constants.items():
            part = having(batch, (name,)).to("cpu")
            truth = part.views[name]
            for place, view in enumerate(constant.views):
                made = view.expand_as(truth)
                for what, values in compare(constant.modality, made, truth, part.lengths.get(name)).items():
                    compared[name, what, place].append(values)
    read = true_answers(evaluation)
    return {
        name: Baseline({**_best(name, compared), **_likelihood(constant)}, read.get(name)) for name, constant in constants.items()
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
