"""Agreement of samples that stand in rows: contrast sets, and texts that mean the same or the opposite of each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from molyneux.core import Batch, DataError, Factor, NotApplicableError, Score, Spec, Target
from molyneux.measure.evaluation import Evaluation

Observed = tuple[str, ...]
"""Names of the modalities that a model is given."""

_LARGEST = 1e9
"""Logits are cut here, so that sums and differences of infinite ones are numbers."""


@dataclass(frozen=True)
class Rows:
    """What a model says of the agreement of samples in rows of K.

    Args:
        logits: by what is observed, (N, K) log-odds of agreement.
        truth: (N, K) bool, whether they agree.
        known: (N, K) bool, where the target is known and the sample has both modalities.
        codes: (N, F) the code of each factor that the samples of a row share; -1 where they do not.
        controls: by name, (N, K) log-odds of trained controls.
    """

    logits: Mapping[Observed, np.ndarray]
    truth: np.ndarray
    known: np.ndarray
    codes: np.ndarray
    controls: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.truth)

    def __getitem__(self, chosen: np.ndarray) -> Rows:
        """The rows at these places (a boolean mask or numbers)."""
        logits = {observed: values[chosen] for observed, values in self.logits.items()}
        controls = {name: values[chosen] for name, values in self.controls.items()}
        return Rows(logits, self.truth[chosen], self.known[chosen], self.codes[chosen], controls)


def read_rows(evaluation: Evaluation, target: Target, factors: Sequence[Factor], blind: bool = False) -> Rows:
    """What a model says of the samples of an evaluation, from all modalities; samples that fill no row are left out.

    Args:
        evaluation: model and samples.
        target: of the task agreement, whose samples stand in rows of `row_size`.
        factors: whose codes are kept.
        blind: also from the first and from the second modality of the Spec alone; not where the model cannot.

    Raises:
        NotApplicableError: a modality is in no sample, the model does not predict the target, or no row is complete.
        DataError: a logit is NaN.
    """
    pair = evaluation.spec.names[:2]
    if missing := [name for name in pair if name not in evaluation.available]:
        raise NotApplicableError(f"the target {target.name} is about {' and '.join(pair)}, and no sample has {missing[0]}")
    columns = [evaluation.spec.factor_index(factor.name) for factor in factors]
    views = [evaluation.available, *([(name,) for name in pair] if blind and len(pair) > 1 else [])]
    trained = evaluation.controls_of(target.name)
    told: dict[str, list[np.ndarray]] = {name: [] for name in trained}
    piles: dict[Observed, list[np.ndarray]] = {observed: [] for observed in views}
    facts = []
    for start, batch in evaluation.batches():
        for observed in list(piles):
            found = _logits(evaluation, batch, target, observed, start)
            if found is None:
                del piles[observed]
            else:
                piles[observed].append(found)
        for name, control in trained.items():
            told[name].append(control.logits(evaluation.true_batch(start, batch)))
        facts.append(_facts(batch, target, pair, columns))
    truth, known, codes = (np.concatenate(side) for side in zip(*facts, strict=True))
    size = target.row_size
    logits = {observed: _in_rows(np.concatenate(parts), size) for observed, parts in piles.items()}
    controls = {name: _in_rows(np.concatenate(parts), size) for name, parts in told.items()}
    rows = Rows(logits, _in_rows(truth, size), _in_rows(known, size), _shared(_in_rows(codes, size)), controls)
    if not len(rows):
        raise NotApplicableError(f"the target {target.name} has rows of {size} samples, and there are only {len(truth)}")
    return rows


def check_names(spec: Spec, factors: Sequence[str], targets: Sequence[str]) -> None:
    """Raise SpecError for factors or targets that do not exist."""
    for name in factors:
        spec.factor(name)
    for name in targets:
        spec.target(name)


def agreement_targets(spec: Spec, names: Sequence[str], wanted: Callable[[Target], bool], what: str) -> list[Target]:
    """The targets of agreement that are `wanted`, of those named or of all; raises NotApplicableError if there are none."""
    found = [target for target in ([spec.target(name) for name in names] or spec.targets) if wanted(target)]
    if not found:
        raise NotApplicableError(f"expected a target of agreement with {what}, got none: choose a source that has one")
    return found


def by_value(rows: Rows, factors: Sequence[Factor], least: int) -> Iterator[tuple[dict[str, str], Rows]]:
    """The rows of each value of each factor that has at least `least`, with what tells them: the factor and the value."""
    for column, factor in enumerate(factors):
        for code, value in enumerate(factor.values):
            chosen = rows.codes[:, column] == code
            if chosen.sum() >= max(1, least):
                yield {"factor": factor.name, "value": value}, rows[chosen]


def lowest(found: Sequence[Score], name: str) -> list[Score]:
    """The worst of the scores of several values of one factor, under another name; none if there are fewer than two."""
    known = [score for score in found if score.value is not None]
    if len(known) < 2:
        return []
    sign = -1.0 if known[0].higher_is_better is False else 1.0
    worst = min(known, key=lambda score: sign * (score.value or 0.0))
    about = {key: word for key, word in worst.about.items() if key != "value"}
    value = worst.about["value"]
    words = value if isinstance(value, str) else ", ".join(value)
    return [replace(worst, name=name, about=about, note=f"of the value {words}")]


def lowest_of_factors(scores: Sequence[Score]) -> list[Score]:
    """For every score that is given for the values of factors, the worst value of each factor, named `<name>_lowest`."""
    groups: dict[tuple[str, Any], list[Score]] = {}
    for score in (score for score in scores if "value" in score.about):
        groups.setdefault((score.name, score.about["factor"]), []).append(score)
    return [worst for (name, _), group in groups.items() for worst in lowest(group, f"{name}_lowest")]


def _logits(evaluation: Evaluation, batch: Batch, target: Target, observed: Observed, start: int) -> np.ndarray | None:
    """Log-odds of agreement (B,); None where the model cannot say from one modality alone."""
    try:
        found: Any = evaluation.model.predict(batch, observed).get(target.name)
    except NotApplicableError:
        if len(observed) > 1:
            raise
        return None
    if found is None:
        raise NotApplicableError(f"the model does not predict the target {target.name}: name others in `targets`")
    values = found.logits.double().cpu().numpy()
    if np.isnan(values).any():
        sample = start + int(np.isnan(values).argmax())
        raise DataError(
            f"target {target.name}: expected a probability of agreement, got NaN for sample {sample} given "
            f"{' and '.join(observed)}: look at what the model does with it"
        )
    return np.asarray(np.clip(values, -_LARGEST, _LARGEST))


def _facts(
    batch: Batch, target: Target, pair: Sequence[str], columns: Sequence[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each sample, whether its views agree, whether that is known and it has both, and its factor codes."""
    known = torch.stack([batch.mask(name) for name in pair]).all(0)
    if target.name in batch.targets:
        truth = batch.targets[target.name] > 0
        known &= batch.known_mask(target.name)
    else:
        truth, known = torch.zeros_like(known), torch.zeros_like(known)
    codes = np.full((len(batch), len(columns)), -1) if batch.factors is None else batch.factors.cpu().numpy()[:, list(columns)]
    return truth.cpu().numpy(), known.cpu().numpy(), codes


def _in_rows(values: np.ndarray, size: int) -> np.ndarray:
    """Samples (N, ...) in rows (N // size, size, ...); an incomplete last row is left out."""
    count = len(values) // size
    return values[: count * size].reshape(count, size, *values.shape[1:])


def _shared(codes: np.ndarray) -> np.ndarray:
    """The code (N, F) that all samples of a row (N, K, F) share, absent ones left out; -1 if they differ or all are absent."""
    highest = codes.max(1)
    differ = (codes >= 0) & (codes != highest[:, None])
    return np.where(differ.any(1), -1, highest)
