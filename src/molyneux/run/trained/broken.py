"""What a model still gets right when one of its senses is broken: a curve over strengths, and without the sense."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from molyneux.core import Batch, ConfigError, Spec, nearest
from molyneux.data.imperfections import Corruption
from molyneux.run.trained.judged import RightShare, sample_judge
from molyneux.run.trained.model import TrainedModel

STRENGTHS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.35, 0.5, 0.75, 1.0)
"""Of a curve; closer where most is lost."""


@dataclass(frozen=True)
class SenseCurve:
    """What a model gets right when one modality is broken.

    Args:
        model: its name.
        modality: which is broken.
        what: what counts as right.
        strengths: of the corruption; the first is 0.
        shares: at each strength.
        missing: without the modality; None where it is the only one.
        alone: by modality, with it alone, whole.
        guess: the share of who guesses among all answers alike.
        constant: the share of who always says the commonest answer.
    """

    model: str
    modality: str
    what: str
    strengths: tuple[float, ...]
    shares: tuple[RightShare, ...]
    missing: RightShare | None
    alone: Mapping[str, RightShare]
    guess: float
    constant: float

    def at(self, strength: float) -> RightShare:
        """The share at the strength of the curve that is nearest to one."""
        return self.shares[self._place(strength)]

    def _place(self, strength: float) -> int:
        return int(np.argmin([abs(strength - known) for known in self.strengths]))

    def sentence(self, strength: float) -> str:
        """What is left at a strength, in one sentence; at the nearest of the curve where it has no such strength."""
        place, whole = self._place(strength), self.shares[0]
        now, known = self.shares[place], self.strengths[place]
        at = f"{known:g}" if abs(known - strength) < 1e-6 else f"{known:g} (the measured one nearest to {strength:g})"
        low, _ = now.interval
        beyond = "" if low > max(self.guess, self.constant) else ", which is not above guessing"
        dead = "" if self.missing is None else f" Without {self.modality}: {100 * self.missing.share:.1f} %."
        kept = f"{self.model} keeps {100 * now.share:.1f} % of {100 * whole.share:.1f} %"
        return f"With {self.modality} broken at strength {at}, {kept} (guessing {100 * self.guess:.1f} %){beyond}.{dead}"


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
        strengths: from 0 to 1; 0, which is whole, is measured first in any case.
        seed: of the corruption and of drawn views.
        told: is called with the share of the work that is done, and may raise to stop.

    Raises:
        ConfigError: no such modality, or the corruption does not fit it.
        NotApplicableError: nothing of this model can be counted.
    """
    if modality not in model.modalities:
        raise ConfigError(f"{model.name} has no modality {modality!r}; {nearest(modality, model.modalities)}")
    judge = sample_judge(model, samples, source=modality, with_others=True, seed=seed)
    strengths = (0.0, *(strength for strength in strengths if strength != 0))
    steps, numbers = len(strengths) + len(model.modalities), np.arange(len(samples))
    shares: list[RightShare] = []
    for place, strength in enumerate(strengths):
        told(place / steps)
        changed = break_sense(samples, model.spec, corruption, modality, strength, numbers, seed=seed)
        shares.append(judge.judge(changed, judge.given).share)
    others = tuple(name for name in judge.given if name != modality)
    missing = judge.judge(samples, others).share if others else None
    alone = {name: judge.judge(samples, (name,)).share for name in judge.given} if len(judge.given) > 1 else {}
    told(1.0)
    curve, floors = (tuple(strengths), tuple(shares)), (judge.guess, judge.constant)
    return SenseCurve(model.name, modality, judge.what, *curve, missing, alone, *floors)


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
