"""Reconstruction: how much of a view is left after encoding and decoding it, beside the best constant view."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, final

import numpy as np
import torch
from torch import Tensor
from torch.distributions import Distribution

from molyneux.core import Batch, Decodes, Encodes, Modality, Score, Spec, SpecError, about_names, views
from molyneux.measure.coherence import ConstantText, LetterAccuracy, ReadCodes
from molyneux.measure.coherence.answers import read, true_answers
from molyneux.measure.coherence.controls import view_controls
from molyneux.measure.coherence.scores import answer_scores
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import Draw, check_draw, having, stored_view, within_lengths
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.scores import Recorder

_Key = tuple[tuple[str, ...], str, str]
"""Source, target and name of a comparison."""


@final
class Reconstruction(Measure):
    """How well views are reconstructed, from their own modality alone and from all modalities together.

    Scores, with `about` naming source and target (`{"source": ("image", "text"), "target": "image"}`), of the samples that have
    the modalities of the source:

    - `reconstruction.log_likelihood` nats per sample, log p(x | z), never scaled. Control for symbols: the best
      distribution that depends on the position of a symbol and on nothing else.
    - `reconstruction.mse`, `reconstruction.ssim` for images; `reconstruction.letters`, `reconstruction.exact` for text.
      Control: the best constant view (the mean of the samples, the most common text).
    - `reconstruction.strict`, `.features`, `.accuracy`: what the reader reads, with the controls of coherence. What is
      lost here is lost by encoder and decoder; what cross-generation loses beyond it is lost between the modalities.

    Args:
        draw: codes from one posterior sample or from its mean.

    Raises:
        ConfigError: unknown draw.
    """

    name: ClassVar[str] = "reconstruction"
    needs: ClassVar[tuple[type, ...]] = (Encodes, Decodes)

    def __init__(self, *, draw: Draw = "sample") -> None:
        self.draw = check_draw(draw)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Reconstruct every modality from itself and from all."""
        values, answers = (
            defaultdict[_Key, list[np.ndarray]](list),
            defaultdict[tuple[tuple[str, ...], str], list[ReadCodes]](list),
        )
        for part in evaluation.by_batch(partial(_reconstruct, evaluation.observed_sets, self.draw)):
            for (observed, target), (compared, found) in part.items():
                for name, numbers in compared.items():
                    values[observed, target, name].append(numbers)
                answers[observed, target] += found
        constants, ceilings, scores = constant_controls(evaluation), true_answers(evaluation), list[Score]()
        for observed, target in dict.fromkeys(key[:2] for key in values):
            recorder = Recorder(
                self.name,
                evaluation.rng(self.name, *observed, target),
                {"source": about_names(observed), "target": target},
                {**evaluation.provenance(), "draw": self.draw},
            )
            for name in (key[2] for key in values if key[:2] == (observed, target)):
                controls = {"constant": constants[target][name]} if name in constants[target] else {}
                numbers = np.concatenate(values[observed, target, name])
                scores.append(recorder.mean(name, numbers, controls=controls, **FIELDS[name]))
            if answers[observed, target] and target in ceilings:
                reading = replace(recorder, origin={**evaluation.provenance((target,)), "draw": self.draw})
                reader, ceiling = evaluation.reader(target), ceilings[target]
                beside = {} if reader is None else view_controls(evaluation, target, reader, ceiling)
                scores += answer_scores(ReadCodes.join(answers[observed, target]), ceiling, reading, beside)
        return Measurement(tuple(scores))


def _reconstruct(
    observed_sets: Sequence[tuple[str, ...]], draw: Draw, evaluation: Evaluation, start: int, end: int
) -> dict[tuple[tuple[str, ...], str], tuple[dict[str, np.ndarray], list[ReadCodes]]]:
    """The reconstructions of a batch beside its true views, by what is observed and the target; see `_compared`."""
    batch, found = evaluation.batch(start, end), {}
    for observed in observed_sets:
        if (generated := evaluation.generated_from(observed, start, batch, draw=draw)) is None:
            continue
        made = evaluation.model.decode(generated[1], tuple(observed))
        for target in observed:
            found[observed, target] = _compared(evaluation, generated[0], target, made[target])
    return found


def _compared(
    evaluation: Evaluation, batch: Batch, name: str, made: Distribution
) -> tuple[dict[str, np.ndarray], list[ReadCodes]]:
    """A decoded modality beside its true views: numbers by name (N,), and what was read, if it can be."""
    modality, reader = evaluation.spec.modality(name), evaluation.reader(name)
    likelihood = within_lengths(made, batch.lengths.get(name)).log_prob(views.to_model(modality, batch.views[name]))
    view, part = stored_view(modality, made), batch.to("cpu")
    compared = compare(modality, view, part.views[name], part.lengths.get(name))
    answers = [] if reader is None or part.factors is None else [read(reader, view, evaluation.spec, part.factors)]
    return {"log_likelihood": likelihood.double().cpu().numpy(), **compared}, answers


FIELDS: dict[str, dict[str, Any]] = {
    "exact": {"unit": "%", "bounds": (0.0, 100.0)},
    "letters": {"unit": "%", "bounds": (0.0, 100.0)},
    "mse": {"unit": "1", "bounds": (0.0, None), "higher_is_better": False},
    "ssim": {"unit": "1", "bounds": (-1.0, 1.0)},
    "log_likelihood": {"unit": "nats"},
}
"""Unit, bounds and direction of what is compared."""


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
        found = {"exact": 100.0 * equal.reshape(len(equal), -1).all(1).double().numpy()}
        if modality.kind == "text":
            found["letters"] = 100.0 * LetterAccuracy.of(modality, made, truth, lengths).published
        return found
    first, second = views.to_model(modality, made), views.to_model(modality, truth)
    wrong = (first - second).square().flatten(1)
    if lengths is None:
        mean = wrong.mean(1)
    else:
        inside = _inside(modality, truth, lengths).flatten(1)
        mean = (wrong * inside).sum(1) / inside.sum(1).clamp(min=1)
    similar = {"ssim": ssim(first, second).double().numpy()} if modality.kind == "image" else {}
    return {"mse": mean.double().numpy(), **similar}


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


def constant_controls(evaluation: Evaluation) -> dict[str, dict[str, float]]:
    """By modality that some sample has, the mean of each comparison for the best constant view: two passes over the samples.

    With `log_likelihood`, for symbols: nats per sample of the best distribution that depends on the position of a symbol alone.
    """
    constants = {name: ConstantViews(evaluation.spec.modality(name)) for name in evaluation.available}
    for _, batch in evaluation.true_batches():
        for name, constant in constants.items():
            part = having(batch, (name,)).to("cpu")
            constant.add(part.views[name], part.lengths.get(name))
    compared = defaultdict[tuple[str, str], dict[int, list[np.ndarray]]](lambda: defaultdict(list))
    for _, batch in evaluation.true_batches():
        for name, constant in constants.items():
            part = having(batch, (name,)).to("cpu")
            truth, lengths = part.views[name], part.lengths.get(name)
            for place, view in enumerate(constant.views):
                for what, values in compare(constant.modality, view.expand_as(truth), truth, lengths).items():
                    compared[name, what][place].append(values)
    found = defaultdict[str, dict[str, float]](dict)
    for (name, what), parts in compared.items():
        best = max if FIELDS[what].get("higher_is_better", True) else min
        found[name][what] = best(float(np.concatenate(part).mean()) for part in parts.values())
    for name, constant in constants.items():
        if (likelihood := constant.frequencies.log_likelihood) is not None:
            found[name]["log_likelihood"] = likelihood
    return found


class ConstantViews:
    """Finds the constant views that score best; memory does not grow with the number of samples, but with different texts.

    Args:
        modality: of what.
    """

    def __init__(self, modality: Modality) -> None:
        self.modality = modality
        self._count = torch.zeros(modality.shape, dtype=torch.int64)
        self._total = torch.zeros(modality.shape, dtype=torch.float64)
        self._whole: Counter[bytes] = Counter()
        self._letters = ConstantText(modality) if modality.kind == "text" else None
        self.frequencies = SymbolFrequencies(modality)

    def add(self, truth: Tensor, lengths: Tensor | None = None) -> None:
        """Count true stored views (N, *shape) of the given lengths (N,); numbers beyond them do not count."""
        if not self.modality.symbols:
            name, spec = self.modality.name, Spec((self.modality,))
            batch = Batch({name: truth}, lengths={} if lengths is None else {name: lengths})
            self._count += batch.without_rest(name, spec, torch.ones(truth.shape, dtype=torch.int64)).sum(0)
            numbers = batch.without_rest(name, spec, views.to_model(self.modality, truth))
            self._total += numbers.sum(0, dtype=torch.float64)
            return
        ids = truth.reshape(len(truth), -1).long()
        self._whole.update(row.tobytes() for row in ids.numpy())
        self.frequencies.add(truth, lengths)
        if self._letters is not None:
            self._letters.add(truth, lengths)

    @property
    def views(self) -> list[Tensor]:
        """Constant stored views (*shape): the mean; or the most common whole view, and the text of the best letters."""
        if not self.modality.symbols:
            return [views.to_stored(self.modality, self._total / self._count.clamp_min(1))]
        whole = torch.frombuffer(bytearray(self._whole.most_common(1)[0][0]), dtype=torch.int64)
        found = [whole] if self._letters is None else [whole, torch.from_numpy(self._letters.ids)]
        return [views.to_stored(self.modality, view.reshape(self.modality.shape)) for view in found]


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
