"""Algorithm 1 of MultiBench: performance, complexity and robustness of a trained model by one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from molyneux.core import Condition, ConfigError, Dataset, Exhibit, History, Score, Source, Spec
from molyneux.data.imperfections import Dropout, GaussianNoise, Typos
from molyneux.data.imperfections.corruption import Corruption
from molyneux.measure import Complexity, Evaluation, Measure, Prediction, Robustness, evaluate
from molyneux.run.run.readers import find_controls
from molyneux.run.run.samples import imperfect
from molyneux.run.run.sections import ConditionSettings

STRENGTHS = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Of each imperfection where nothing else is asked for; the samples as they are count as strength 0."""

_NOISES: tuple[type[Corruption], ...] = (GaussianNoise, Typos, Dropout)
"""What damages a modality where nothing else is asked for: the first that fits it."""

MEASURES: tuple[Measure, ...] = (Prediction(), Complexity(repeats=1))
"""What models are measured by where nothing else is asked for."""


@dataclass(frozen=True)
class ModelReport:
    """What `evaluate_model` finds; `print` shows the three tables in Markdown.

    Args:
        scores: all scores, those at every strength among them.
        exhibits: what measures give beside scores.
    """

    scores: tuple[Score, ...]
    exhibits: tuple[Exhibit, ...] = ()

    @property
    def performance(self) -> tuple[Score, ...]:
        """The scores of the samples as they are, but for complexity."""
        others = ("complexity", "robustness")
        return tuple(score for score in self.scores if "strength" not in score.about and _family(score) not in others)

    @property
    def complexity(self) -> tuple[Score, ...]:
        """What the model costs; see `measure.Complexity`."""
        return tuple(score for score in self.scores if _family(score) == "complexity")

    @property
    def robustness(self) -> tuple[Score, ...]:
        """The areas under the curves over the strengths; see `measure.Robustness`."""
        return tuple(score for score in self.scores if _family(score) == "robustness")

    def __str__(self) -> str:
        from molyneux.report.tables import score_table, to_markdown  # not needed by those who only read the scores

        parts = {"Performance": self.performance, "Complexity": self.complexity, "Robustness": self.robustness}
        return "\n".join(to_markdown(score_table(name.lower(), name, scores)) for name, scores in parts.items() if scores)


def evaluate_model(
    model: Any,
    data: Source | Dataset,
    history: History | None = None,
    *,
    measures: Sequence[Measure] = MEASURES,
    conditions: Sequence[ConditionSettings] | None = None,
    samples: int = 10_000,
    batch_size: int = 500,
    seed: int = 0,
) -> ModelReport:
    """Performance, complexity and robustness of a model; Liang et al., MultiBench (NeurIPS 2021), algorithm 1.

    Args:
        model: a trained model, or any object that has what the measures need.
        data: the samples to measure on; of a data set its split `test`, beside which the training samples serve measures
            that need some.
        history: of the training, as `fit` returns it: its seconds become the time of training, and its steps are what is timed.
        measures: of performance and complexity; `Robustness` of all their scores comes last, unless it is among them.
        conditions: the imperfections, by the settings of an experiment file: corruptions at strengths, and missing modalities
            at rates. By default those of `usual_imperfections`; an empty list leaves robustness out.
        samples: at most so many are measured on.
        batch_size: samples per call of the model.
        seed: of what imperfections and measures draw, and of the order of a data set's samples.

    Raises:
        ConfigError: a condition with another split or world, an imperfection that fits no modality, or a data set without end.
    """
    test = data.source("test", seed=seed) if isinstance(data, Dataset) else data
    train = data.source("train", seed=seed) if isinstance(data, Dataset) else None
    chosen = usual_imperfections(test.spec) if conditions is None else tuple(conditions)
    if any(item.split is not None or item.world is not None for item in chosen):
        raise ConfigError(
            "conditions: expected corruptions and missing modalities, got another split or world: evaluate it alone"
        )
    under = chain.from_iterable(imperfect(item, test, seed) for item in chosen)
    asked = [*measures, *([Robustness()] if chosen and not any(isinstance(item, Robustness) for item in measures) else [])]
    seconds = history.rows[-1].get("seconds") if history is not None and history.rows else None
    plain = Evaluation(
        model,
        test,
        train=train,
        controls=find_controls(data, seed=seed) if isinstance(data, Dataset) else {},
        seed=seed,
        samples=samples,
        batch_size=batch_size,
        trained={} if seconds is None or history is None else {"seconds": seconds, "samples": history.samples},
        step=None if history is None else history.step,
    )
    found = evaluate(asked, [plain, *(_under(plain, condition) for condition in under)])
    return ModelReport(found.scores, found.exhibits)


def usual_imperfections(spec: Spec, strengths: Sequence[float] = STRENGTHS) -> tuple[ConditionSettings, ...]:
    """Noise on each modality alone, and where there are several, all of them missing at rates.

    Texts have typing errors or lost words. A modality that neither fits, such as a label, has none of its own.
    """
    alone = [_noise(spec, name, strengths) for name in spec.names]
    rates = tuple(strength for strength in strengths if strength < 1.0)
    several = [ConditionSettings(missing=spec.names, strengths=rates)] if len(spec.names) > 1 and rates else []
    return (*(item for item in alone if item is not None), *several)


def _noise(spec: Spec, name: str, strengths: Sequence[float]) -> ConditionSettings | None:
    for kind in _NOISES:
        corruption = kind(modalities=(name,))
        if corruption.fits(spec.modality(name)):
            return ConditionSettings(corruption=corruption, strengths=tuple(strengths))
    return None


def _under(plain: Evaluation, condition: Condition) -> Evaluation:
    return replace(plain, source=condition.source, reference=condition.reference, about=condition.about)


def _family(score: Score) -> str:
    return score.name.partition(".")[0]
