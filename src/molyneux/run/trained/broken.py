"""What a model still gets right when one of its senses is broken: a curve over strengths of a corruption, and without the sense."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from molyneux.core import Batch, NotApplicableError, Spec, nearest
from molyneux.core.errors import ConfigError
from molyneux.core.intervals import Interval, wilson_interval
from molyneux.data.imperfections import Corruption
from molyneux.run.trained.model import TrainedModel

STRENGTHS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class RightShare:
    """A share of samples that a model gets right.

    Args:
        share: from 0 to 1.
        samples: how many were looked at.
    """

    share: float
    samples: int

    @property
    def interval(self) -> Interval:
        """The 95 % interval (Wilson, 1927)."""
        return wilson_interval(self.share, self.samples)


@dataclass(frozen=True)
class SenseCurve:
    """What a model gets right when one modality is broken.

    Args:
        model: its name.
        modality: which is broken.
        what: what counts as right.
        strengths: of the corruption.
        shares: at each strength.
        missing: without the modality; None where it is the only one.
        alone: by modality, with it alone, whole.
        guess: the share of who always says the commonest answer.
    """

    model: str
    modality: str
    what: str
    strengths: tuple[float, ...]
    shares: tuple[RightShare, ...]
    missing: RightShare | None
    alone: Mapping[str, RightShare]
    guess: float

    def at(self, strength: float) -> RightShare:
        """The share at the strength of the curve that is nearest to one."""
        return self.shares[int(np.argmin([abs(strength - known) for known in self.strengths]))]

    def sentence(self, strength: float) -> str:
        """What is left at a strength, in one sentence."""
        now, whole = self.at(strength), self.shares[0]
        low, _ = now.interval
        beyond = "" if low > self.guess else ", which is not above guessing"
        dead = "" if self.missing is None else f" Without {self.modality}: {100 * self.missing.share:.1f} %."
        kept = f"{self.model} keeps {100 * now.share:.1f} % of {100 * whole.share:.1f} %"
        return f"With {self.modality} broken at strength {strength:g}, {kept} (guessing {100 * self.guess:.1f} %){beyond}.{dead}"


def sense_curve(
    model: TrainedModel,
    samples: Batch,
    corruption: Corruption,
    modality: str,
    *,
    strengths: Sequence[float] = STRENGTHS,
    seed: int = 0,
    told: Callable[[float], object] = lambda share: None,
) -> SenseCurve:
    """What a model gets right when a modality is broken more and more.

    Of a predictor with a class or an agreement as target, right is its most probable answer. Of a generative model, right is a
    drawn view of another modality, that with an exact reader first, in which every factor that readers read is the true one.

    Args:
        model: the model.
        samples: with targets or factors; a few hundred.
        corruption: of the modality.
        modality: which one.
        strengths: from 0 to 1.
        seed: of the corruption and of drawn views.
        told: is called with the share of the work that is done, and may raise to stop.

    Raises:
        ConfigError: no such modality, or the corruption does not fit it. NotApplicableError: nothing of this model can be counted.
    """
    if modality not in model.modalities:
        raise ConfigError(f"{model.name} has no modality {modality!r}; {nearest(modality, model.modalities)}")
    judge = _judge(model, samples, modality, seed)
    steps, numbers = len(strengths) + len(model.modalities), np.arange(len(samples))
    shares: list[RightShare] = []
    for place, strength in enumerate(strengths):
        told(place / steps)
        changed = break_sense(samples, model.spec, corruption, modality, strength, numbers, seed=seed)
        shares.append(judge.share(changed, judge.given))
    others = tuple(name for name in judge.given if name != modality)
    missing = judge.share(samples, others) if others else None
    alone = {name: judge.share(samples, (name,)) for name in judge.given} if len(judge.given) > 1 else {}
    told(1.0)
    return SenseCurve(model.name, modality, judge.what, tuple(strengths), tuple(shares), missing, alone, judge.guess)


@dataclass(frozen=True)
class _Judge:
    """Counts what is right.

    Args:
        what: what counts as right.
        given: modalities that the model gets.
        guess: the share of the commonest answer.
        right: whether each sample is right, given samples and observed modalities.
    """

    what: str
    given: tuple[str, ...]
    guess: float
    right: Callable[[Batch, tuple[str, ...]], np.ndarray]

    def share(self, samples: Batch, given: tuple[str, ...]) -> RightShare:
        found = self.right(samples, given)
        return RightShare(float(found.mean()), len(found))


def break_sense(
    samples: Batch, spec: Spec, corruption: Corruption, modality: str, strength: float, numbers: np.ndarray, *, seed: int = 0
) -> Batch:
    """Samples with one modality corrupted, and the others as they are.

    Args:
        samples: the samples.
        spec: of the samples.
        corruption: of the modality.
        modality: which one.
        strength: from 0 to 1.
        numbers: of the samples (B,); with the seed they decide what is drawn.
        seed: of the corruption.

    Raises:
        ConfigError: the corruption does not fit the modality.
    """
    lengths = {name: part for name, part in samples.lengths.items() if name == modality}
    part = Batch({modality: samples.views[modality]}, lengths=lengths)
    changed = corruption.corrupt(part, spec.restrict((modality,)), float(strength), numbers, seed)
    views = {**samples.views, modality: changed.views[modality]}
    return replace(samples, views=views, lengths={**samples.lengths, **changed.lengths})


def _judge(model: TrainedModel, samples: Batch, modality: str, seed: int) -> _Judge:
    if "predict" in model.abilities:
        return _predicts(model, samples)
    if "generate" in model.abilities and len(model.modalities) > 1:
        return _generates(model, samples, modality, seed)
    raise NotApplicableError(f"{model.name} neither predicts nor draws one modality from another: nothing can be counted")


def _predicts(model: TrainedModel, samples: Batch) -> _Judge:
    target = next((item for item in model.spec.targets if item.task in ("class", "agreement")), None)
    if target is None:
        raise NotApplicableError(f"{model.name} predicts no class and no agreement: its report has the curves of its scores")
    truth = samples.targets[target.name].numpy().astype(np.int64)
    known = np.ones(len(truth), bool) if target.name not in samples.known else samples.known[target.name].numpy()

    def right(batch: Batch, given: tuple[str, ...]) -> np.ndarray:
        answers = model.predict(inputs=_views(batch, given), raw=True).answers[target.name]
        said = answers > 0.5 if target.task == "agreement" else answers.argmax(-1)
        equal: np.ndarray = said.astype(np.int64) == truth
        return equal[known]

    counts = np.bincount(truth[known])
    return _Judge(f"{target.name} named rightly", model.modalities, float(counts.max() / counts.sum()), right)


def _generates(model: TrainedModel, samples: Batch, modality: str, seed: int) -> _Judge:
    targets = [name for name in model.modalities if name != modality and name in model.readers]
    if not targets or samples.factors is None:
        raise NotApplicableError(f"no reader reads what {model.name} draws from {modality}")
    target = targets[0]
    reader = model.readers[target][0]
    columns = [model.spec.factor_index(name) for name in reader.factors]
    truth = samples.factors.numpy()[:, columns]

    def right(batch: Batch, given: tuple[str, ...]) -> np.ndarray:
        made = model.generate(target, seed=seed, raw=True, inputs=_views(batch, given))
        codes = reader.read(made.views[target]).codes.numpy()
        found: np.ndarray = (codes == truth).all(1)
        return found

    _, counts = np.unique(truth, axis=0, return_counts=True)
    given = tuple(name for name in model.modalities if name != target)
    return _Judge(
        f"{target} drawn from {' and '.join(given)} with every factor right", given, float(counts.max() / counts.sum()), right
    )


def _views(batch: Batch, given: tuple[str, ...]) -> dict[str, np.ndarray]:
    return {name: batch.views[name].numpy() for name in given}
