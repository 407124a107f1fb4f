"""What a model gets right, sample by sample: the wrong ones, and which values of factors they have."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Batch, ConfigError, DataError, NotApplicableError, Spec, nearest
from molyneux.core.intervals import Interval, wilson_interval
from molyneux.measure.coherence import ReadCodes, strict_chance
from molyneux.run.trained.given import given_of
from molyneux.run.trained.model import TrainedModel

_FEW, _LEVEL = 5, 0.05
"""Samples that a slice has at least, and the level of its test."""


@dataclass(frozen=True)
class RightShare:
    """A share of samples that a model gets right.

    Args:
        share: from 0 to 1.
        samples: how many were looked at.
        ends: of the 95 % interval, where samples are not independent; None where they are.
    """

    share: float
    samples: int
    ends: Interval | None = None

    @property
    def interval(self) -> Interval:
        """The 95 % interval: `ends`, or Wilson's (1927) where samples are independent."""
        return wilson_interval(self.share, self.samples) if self.ends is None else self.ends


@dataclass(frozen=True)
class JudgedSamples:
    """What a model said of samples, and whether it was right.

    Args:
        numbers: places of the samples that were judged, (N,).
        right: whether each is right, (N,) bool.
        said: what the model said of each, or what was read in what it drew.
        truth: what is true of each.
        drawn: views (N, *shape) that a generative model drew, by modality; none of a predictor.
    """

    numbers: np.ndarray
    right: np.ndarray
    said: tuple[str, ...]
    truth: tuple[str, ...]
    drawn: Mapping[str, Tensor] = field(default_factory=dict)

    @property
    def share(self) -> RightShare:
        """The share that is right."""
        return RightShare(float(self.right.mean()), len(self.right))


@dataclass(frozen=True)
class SampleJudge:
    """Tells what a model gets right.

    Args:
        what: what counts as right.
        given: modalities that the model is given.
        guess: the share of who guesses among all answers alike, as in reports and cards.
        constant: the share of who always says the commonest answer here.
        judge: what the model says, given the samples of which the judge knows the truth, whole or broken, and the observed
            modalities. DataError for another number of samples.
        factors: that what is right can depend on, since what is given shows them; None where that is not known.
    """

    what: str
    given: tuple[str, ...]
    guess: float
    constant: float
    judge: Callable[[Batch, tuple[str, ...]], JudgedSamples]
    factors: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Slice:
    """The samples that have one value of a factor.

    Args:
        factor: the factor.
        value: the value.
        right: what is right of them.
        others: what is right of all others.
        p: of Fisher's exact test that both shares are the same, times the number of slices (Bonferroni), at most 1.
    """

    factor: str
    value: str
    right: RightShare
    others: RightShare
    p: float = 1.0

    @property
    def differs(self) -> bool:
        """Whether the two shares are apart, however many slices were looked at: `p` is below 0.05."""
        return self.p < _LEVEL


def slices(judged: JudgedSamples, samples: Batch, spec: Spec, *, factors: Collection[str] | None = None) -> tuple[Slice, ...]:
    """What a model gets right of the samples of each value of each factor, the worst first.

    Values of fewer than five samples are left out, and factors of one value.

    Args:
        judged: the samples.
        samples: with factors.
        spec: of the samples.
        factors: names of those that are looked at, such as `SampleJudge.factors`; all by default.
    """
    from scipy.stats import fisher_exact  # takes a second to import

    if samples.factors is None:
        return ()
    codes, found = samples.factors.numpy()[judged.numbers], []
    for column, factor in enumerate(spec.factors):
        if factors is not None and factor.name not in factors:
            continue
        for code, value in enumerate(factor.values):
            inside = codes[:, column] == code
            if _FEW <= inside.sum() <= len(inside) - _FEW:
                both = [RightShare(float(judged.right[part].mean()), int(part.sum())) for part in (inside, ~inside)]
                counts = [[int(judged.right[part].sum()), int((~judged.right[part]).sum())] for part in (inside, ~inside)]
                found.append(Slice(factor.name, value, both[0], both[1], float(fisher_exact(counts).pvalue)))
    corrected = (replace(item, p=min(1.0, item.p * len(found))) for item in found)
    return tuple(sorted(corrected, key=lambda item: item.right.share))


def sample_judge(
    model: TrainedModel, samples: Batch, *, source: str = "", with_others: bool = False, seed: int = 0
) -> SampleJudge:
    """What tells what a model gets right.

    Of a predictor with a class or an agreement as target, right is its most probable answer. Of a generative model, right is a
    drawn view in which every factor that its reader reads is the true one.

    Args:
        model: the model.
        samples: with targets or factors.
        source: of a generative model, the modality that others are drawn from; by default the first from which one with a reader
            can be drawn, with all the others that are not drawn.
        with_others: whether the other modalities that are not drawn are given beside the source.
        seed: of drawn views.

    Raises:
        ConfigError: `source` is no modality of the model.
        NotApplicableError: nothing of this model can be counted, or no sample has a known target.
    """
    if source and source not in model.modalities:
        raise ConfigError(f"{model.name} has no modality {source!r}; {nearest(source, model.modalities)}")
    if not len(samples):
        raise NotApplicableError("expected samples to count, got none")
    if "predict" in model.abilities:
        return _predicts(model, samples)
    if "generate" in model.abilities and len(model.modalities) > 1:
        return _generates(model, samples, source, seed, with_others=with_others)
    raise NotApplicableError(f"{model.name} neither predicts nor draws one modality from another: nothing can be counted")


def _predicts(model: TrainedModel, samples: Batch) -> SampleJudge:
    target = next((item for item in model.spec.targets if item.task in ("class", "agreement")), None)
    if target is None:
        raise NotApplicableError(f"{model.name} predicts no class and no agreement: its report has the curves of its scores")
    names = target.symbols or ("disagree", "agree")
    if target.name not in samples.targets:
        raise NotApplicableError(f"the samples do not say what is true of {target.name}")
    truth = samples.targets[target.name].numpy().astype(np.int64)
    known = samples.known[target.name].numpy() if target.name in samples.known else np.ones(len(truth), bool)
    numbers = np.flatnonzero(known)
    if not len(numbers):
        raise NotApplicableError(f"{target.name} is known of none of the {len(known):,} samples")

    def judge(batch: Batch, given: tuple[str, ...]) -> JudgedSamples:
        rows = _judged_rows(batch, samples, given, numbers)
        answers = model.predict(inputs=given_of(batch[torch.from_numpy(rows)], model.spec, given), raw=True).answers[target.name]
        said = (answers > 0.5).astype(np.int64) if target.task == "agreement" else answers.argmax(-1)
        true = truth[rows]
        return JudgedSamples(rows, said == true, tuple(names[code] for code in said), tuple(names[code] for code in true))

    counts = np.bincount(truth[numbers])
    guess, constant = 1.0 / max(len(names), 1), float(counts.max() / counts.sum())
    return SampleJudge(f"{target.name} named rightly", model.modalities, guess, constant, judge)


def _generates(model: TrainedModel, samples: Batch, source: str, seed: int, *, with_others: bool) -> SampleJudge:
    readable = [name for name in model.modalities if name in model.readers]
    sources = (source,) if source else model.modalities
    target = next((name for first in sources for name in readable if name != first), "")
    if not target or samples.factors is None:
        raise NotApplicableError(f"no reader reads what {model.name} draws")
    reader = model.readers[target][0]
    factors = [model.spec.factor(name) for name in reader.factors]
    truth = samples.factors.numpy()[:, [model.spec.factor_index(name) for name in reader.factors]]

    def words(codes: np.ndarray) -> str:
        parts = (factor.values[code] if code >= 0 else "not read" for factor, code in zip(factors, codes.tolist(), strict=True))
        return ", ".join(f"{factor.name} {part}" for factor, part in zip(factors, parts, strict=True))

    def judge(batch: Batch, given: tuple[str, ...]) -> JudgedSamples:
        rows = _judged_rows(batch, samples, given, np.arange(len(truth)))
        made = model.generate(target, seed=seed, raw=True, inputs=given_of(batch[torch.from_numpy(rows)], model.spec, given))
        codes = reader.read(made.views[target]).codes.numpy()
        said, true = tuple(map(words, codes)), tuple(map(words, truth[rows]))
        right = ((codes == truth[rows]) & (codes >= 0)).all(1)  # what is not read is not right, also of an absent factor
        return JudgedSamples(rows, right, said, true, {target: made.views[target]})

    _, counts = np.unique(truth, axis=0, return_counts=True)
    others = tuple(name for name in model.modalities if name != target)
    given = (source,) if source and not with_others else others
    what = f"{target} drawn from {' and '.join(given)} with every factor right"
    guess = strict_chance(ReadCodes(tuple(factors), truth, truth))
    return SampleJudge(what, given, guess, float(counts.max() / counts.sum()), judge, _shown(model, given))


def _shown(model: TrainedModel, given: tuple[str, ...]) -> tuple[str, ...] | None:
    """The factors that some modalities show; None of data sets that do not say it."""
    visible = getattr(model.dataset(), "visible", None)
    if visible is None:
        return None
    shown = {factor for name in given for factor in visible(name)}
    return tuple(factor.name for factor in model.spec.factors if factor.name in shown)


def _judged_rows(batch: Batch, samples: Batch, given: tuple[str, ...], numbers: np.ndarray) -> np.ndarray:
    """Places of the samples that can be judged: of those in `numbers`, the ones that have a given modality."""
    if len(batch) != len(samples):
        raise DataError(f"expected the {len(samples):,} samples of the judge, whole or broken, got {len(batch):,}")
    here = np.zeros(len(batch), bool)
    for name in given:
        here |= batch.present[name].numpy() if name in batch.present else True
    rows: np.ndarray = numbers[here[numbers]]
    if not len(rows):
        raise NotApplicableError(f"no sample has any of {', '.join(given) or 'no modality'}, and nothing can be counted")
    return rows
