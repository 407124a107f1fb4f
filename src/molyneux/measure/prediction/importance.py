"""How much each modality, and their interaction, contribute to predictions: Shapley values and the additive projection EMAP."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import combinations
from math import comb
from typing import Any, ClassVar, final

import numpy as np
import torch

from molyneux.core import Batch, ConfigError, NotApplicableError, Predicts, Score, Spec, Target, about_names
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.prediction.answers import numbers_from, predicted_of
from molyneux.measure.prediction.class_scores import PERCENT
from molyneux.measure.scores import Recorder

_MOST = 6
"""Modalities whose subsets are all tried."""


@final
class Shapley(Measure):
    """What each modality contributes to the predictions, as its Shapley value over all subsets of modalities (Shapley, 1953).

    `shapley.value` with `about` naming the target and the `modality`: the mean, over the orders in which modalities may be added,
    of what adding it changes. Of classes and agreement in % of right answers, of labels in % of right labels, and of numbers as
    the squared error that it takes away. The values of all modalities add up to what the model gains over the best constant
    answer of the test samples, which stands for no modality at all. A model is asked with the other modalities missing, so one
    that was not trained with missing modalities is told how much it depends on them, not how much they hold.

    Exact over all subsets, for six modalities at most. Only samples that have all modalities count.

    Args:
        targets: names of targets; all by default.
        samples: how many test samples at most.
    """

    name: ClassVar[str] = "shapley"
    needs: ClassVar[tuple[type, ...]] = (Predicts,)

    def __init__(self, *, targets: Sequence[str] = (), samples: int = 10_000) -> None:
        self.targets, self.samples = tuple(targets), samples
        if samples < 1:
            raise ConfigError(f"samples: expected at least 1, got {samples}")

    def check(self, spec: Spec) -> None:
        """Raise SpecError for targets that do not exist."""
        for name in self.targets:
            spec.target(name)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """All targets."""
        names, targets = evaluation.available, _chosen(evaluation.spec, self.targets, self.name)
        if not 2 <= len(names) <= _MOST:
            raise NotApplicableError(f"shapley needs 2 to {_MOST} modalities, got {len(names)}: choose some of them")
        subsets = [subset for size in range(1, len(names) + 1) for subset in combinations(names, size)]
        scores: list[Score] = []
        for target in targets:
            gains = _gains(evaluation, target, subsets, self.samples)
            for name, values in shapley_values(names, gains).items():
                rng = evaluation.rng(self.name, target.name, name)
                recorder = Recorder(self.name, rng, {"modality": name, "target": target.name}, evaluation.provenance())
                unit: dict[str, Any] = {} if target.task == "number" else {"unit": "%", "bounds": (-100.0, 100.0)}
                scores.append(recorder.mean("value", values, chance=0.0, **unit))
        return Measurement(tuple(scores))


def shapley_values(names: Sequence[str], gains: dict[tuple[str, ...], np.ndarray]) -> dict[str, np.ndarray]:
    """The Shapley value of each player from the value of every coalition, in the order of `names` and none being 0.

    >>> {name: float(one) for name, one in shapley_values("ab", {("a",): 1.0, ("b",): 2.0, ("a", "b"): 5.0}).items()}
    {'a': 2.0, 'b': 3.0}
    """
    found = {}
    for name in names:
        others, total = [other for other in names if other != name], np.zeros(())
        for size in range(len(names)):
            for subset in combinations(others, size):
                joined = tuple(other for other in names if other in (*subset, name))
                total = total + (gains[joined] - gains.get(subset, 0.0)) / (len(names) * comb(len(others), size))
        found[name] = np.asarray(total)
    return found


def _gains(evaluation: Evaluation, target: Target, subsets: Sequence[tuple[str, ...]], samples: int) -> dict[Any, np.ndarray]:
    """By subset of modalities, how much better each sample is predicted from it than by the best constant, (N,)."""
    piles: dict[tuple[str, ...], list[np.ndarray]] = {subset: [] for subset in subsets}
    truths = []
    for _, batch in evaluation.batches(samples):
        part = _complete(batch, evaluation.available, target)
        if not len(part):
            continue
        truth = part.targets[target.name].cpu().numpy()
        truths.append(truth)
        for subset in subsets:
            piles[subset].append(_goodness(target, _said(evaluation, target, part, subset), truth))
    if not truths:
        raise NotApplicableError(f"no sample has all modalities and the target {target.name}")
    truth = np.concatenate(truths)
    constant = _constant(target, truth)
    return {subset: np.concatenate(parts) - constant for subset, parts in piles.items()}


def _complete(batch: Batch, names: Sequence[str], target: Target) -> Batch:
    """The samples that have all modalities and the target."""
    present = torch.stack([batch.mask(name) for name in names]).all(0)
    if target.name not in batch.targets:
        return batch[torch.zeros_like(present)]
    return batch[present & batch.known_mask(target.name)]


def _said(evaluation: Evaluation, target: Target, batch: Batch, observed: Collection[str]) -> np.ndarray:
    """Log-probabilities of classes (B, K), logits of agreement and labels (B, L), or means of numbers (B, V)."""
    found: Any = predicted_of(evaluation, target, batch, tuple(observed))
    if target.task == "class":
        return np.asarray(found.logits.double().log_softmax(-1).cpu().numpy())
    values = numbers_from(target, found)
    if target.task == "agreement":
        values = values[:, 1]
    if target.task != "number":
        values = torch.logit(torch.from_numpy(values), eps=1e-12).numpy()
    return np.asarray(values.reshape(len(batch), -1))


def _goodness(target: Target, said: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """How right what is said of each sample is, (N,): 100 for a right answer, the share of right labels in %, minus the error."""
    if target.task == "class":
        return np.asarray(100.0 * (said.argmax(1) == truth))
    flat = truth.reshape(len(truth), -1)
    if target.task == "number":
        return np.asarray(-((said - flat) ** 2).mean(1))
    return np.asarray(100.0 * ((said > 0) == (flat > 0)).mean(1))


def _constant(target: Target, truth: np.ndarray) -> np.ndarray:
    """How right the best constant answer is of each sample."""
    if target.task == "class":
        return np.asarray(100.0 * (truth == np.bincount(truth.astype(np.int64)).argmax()))
    flat = truth.reshape(len(truth), -1).astype(np.float64)
    best = flat.mean(0) if target.task == "number" else flat.mean(0) - 0.5
    return _goodness(target, np.broadcast_to(best, flat.shape), truth)


def _chosen(spec: Spec, names: Sequence[str], measure: str) -> list[Target]:
    targets = [spec.target(name) for name in names] or list(spec.targets)
    if not targets:
        raise NotApplicableError(f"{measure} needs targets: choose a source that has some")
    return targets


@final
class Emap(Measure):
    """How well the best additive part of a model predicts: EMAP, the empirical multimodally-additive projection.

    The projection of Hessel and Lee (EMNLP 2020, equation 5) is the sum of functions of one modality each that is closest to the
    model's outputs on all combinations of the samples' views: for N samples of M modalities, all N^M of them. Outputs are
    logits of classes, which have mean 0 over the classes, logits of agreement and of labels, and numbers. Scores with `about`
    naming the target:

    - `emap.accuracy` % of classes and agreement, `emap.label_accuracy` % of labels, or `emap.mse` of numbers, of the projection;
      the control `whole model` is that of the model on the same samples, `constant` that of their best constant answer. Where
      projection and model are alike, the model makes no use of interactions between modalities, or has no use for them.
    - `emap.interaction`: the share of the outputs' variance over all combinations that is no part of the projection, 0..1.

    Args:
        targets: names of targets; all by default.
        combinations: at most so many are predicted: of 250,000, two modalities have those of 500 samples, three of 62.

    Raises:
        ConfigError: fewer than 4 combinations.
    """

    name: ClassVar[str] = "emap"
    needs: ClassVar[tuple[type, ...]] = (Predicts,)

    def __init__(self, *, targets: Sequence[str] = (), combinations: int = 250_000) -> None:
        self.targets, self.combinations = tuple(targets), combinations
        if combinations < 4:
            raise ConfigError(f"combinations: expected at least 4, got {combinations}")

    def check(self, spec: Spec) -> None:
        """Raise SpecError for targets that do not exist."""
        for name in self.targets:
            spec.target(name)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """All targets."""
        names, scores = evaluation.available, list[Score]()
        targets = _chosen(evaluation.spec, self.targets, self.name)
        if len(names) < 2:
            raise NotApplicableError("emap needs at least two modalities")
        count = int(self.combinations ** (1 / len(names)) + 1e-9)
        for target in targets:
            batch = self._samples(evaluation, target, count)
            truth = batch.targets[target.name].cpu().numpy()
            said = partial(_said, evaluation, target, observed=names)
            whole = all_combinations(said, batch, names, evaluation.batch_size)
            if target.task == "class":  # the normaliser of log-probabilities is no sum over modalities, even where logits are
                whole = whole - whole.mean(-1, keepdims=True)
            rng = evaluation.rng(self.name, target.name)
            recorder = Recorder(self.name, rng, {"source": about_names(names), "target": target.name}, evaluation.provenance())
            scores += _projected_scores(target, whole, truth, recorder)
        return Measurement(tuple(scores))

    def _samples(self, evaluation: Evaluation, target: Target, count: int) -> Batch:
        """The first samples that have all modalities and the target, in one batch."""
        parts: list[dict[str, torch.Tensor]] = []
        for _, batch in evaluation.batches():
            part = _complete(batch, evaluation.available, target)[:count]
            parts.append(part.tensors())
            count -= len(part)
            if not count:
                break
        batch = Batch.from_tensors({name: torch.cat([part[name] for part in parts]) for name in parts[0]})
        if len(batch) < 2:
            raise NotApplicableError(f"fewer than two samples have all modalities and the target {target.name}")
        return batch


def all_combinations(said: Callable[[Batch], np.ndarray], batch: Batch, names: Sequence[str], batch_size: int) -> np.ndarray:
    """What is said of every combination of the samples' views: (N, ..., N, K), one axis for each modality of `names`."""
    n = len(batch)
    places = np.arange(n ** len(names))
    parts = []
    for start in range(0, len(places), batch_size):
        rows = np.unravel_index(places[start : start + batch_size], (n,) * len(names))
        chosen = {name: torch.from_numpy(np.ascontiguousarray(row)) for name, row in zip(names, rows, strict=True)}
        views = {name: batch.views[name][row] for name, row in chosen.items()}
        lengths = {name: batch.lengths[name][row] for name, row in chosen.items() if name in batch.lengths}
        parts.append(said(Batch(views, lengths=lengths)))
    found = np.concatenate(parts)
    return found.reshape(*(n,) * len(names), -1)


def additive_projection(whole: np.ndarray, axes: int) -> np.ndarray:
    """The sum of functions of one axis each that is closest to an array (N, ..., N, K) of so many `axes`: the same shape.

    It is the sum of the means over all other axes, less the mean over all axes once for each axis but one.
    """
    mean = whole.mean(tuple(range(axes)), keepdims=True)
    parts = [whole.mean(tuple(other for other in range(axes) if other != axis), keepdims=True) for axis in range(axes)]
    total = np.broadcast_to(-(axes - 1) * mean, whole.shape)
    for part in parts:
        total = total + part
    return np.asarray(total)


def _projected_scores(target: Target, whole: np.ndarray, truth: np.ndarray, recorder: Recorder) -> list[Score]:
    axes = whole.ndim - 1
    projected = additive_projection(whole, axes)
    diagonal = (np.arange(len(truth)),) * axes
    good = [_goodness(target, array[diagonal], truth) for array in (projected, whole)]
    spread = ((whole - whole.mean(tuple(range(axes)), keepdims=True)) ** 2).sum()
    share = float(((whole - projected) ** 2).sum() / spread) if spread > 0 else 0.0
    controls = {"whole model": float(abs(good[1].mean())), "constant": float(abs(_constant(target, truth).mean()))}
    if target.task == "number":
        first = recorder.mean("mse", -good[0], higher_is_better=False, bounds=(0.0, None), controls=controls)
    elif target.task == "multilabel":
        first = recorder.mean("label_accuracy", good[0], controls=controls, **PERCENT)
    else:
        first = recorder.share("accuracy", good[0] > 50, controls=controls)
    bounded = min(1.0, share)
    return [first, recorder.score("interaction", bounded, n=len(truth), bounds=(0.0, 1.0), higher_is_better=None)]
