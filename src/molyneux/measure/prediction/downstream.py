"""The measure of what frozen codes are good for: predicting a label that was not used in training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from molyneux.core import ConfigError, Encodes, Factor, NotApplicableError, Score, seeds
from molyneux.measure.coherence import majority
from molyneux.measure.evaluation import Evaluation, Measure, Measurement
from molyneux.measure.latents.codes import code_tables
from molyneux.measure.logistic import logistic_predictions
from molyneux.measure.prediction.classifier import net_predictions
from molyneux.measure.prediction.controls import PROJECTION, control_features
from molyneux.measure.prediction.shots import FewShot, few_shot
from molyneux.measure.recorder import Recorder, percent


@final
class Downstream(Measure):
    """How well labels are predicted from frozen posterior means: by the published classifier, and from a few samples a class.

    As `latent_probe` does, it takes the samples of one split, fits on a random half of them and scores on the other. Nothing is
    chosen by the scores, so there is no third part. (The text study fits on 10,000 sentences of each class.) Scores, with `about`
    naming source, code and factor:

    - `downstream.accuracy` %, of two classifiers: `published` (see `net_predictions`), and `logistic` regression on standardised
      codes.
    - `downstream.few_shot` %, of logistic regression on `per_class` samples of each class: the mean over draws.

    Controls: the most common class; the same regression on which words occur (`bag of words`: how much the labels are in the
    words, whatever the model) and on a random projection of what was observed to as many dimensions as the code has. Samples
    where the factor is absent are left out.

    Args:
        factors: what is predicted; all factors by default.
        shots: samples of each class.
        draws: how often these are drawn.
        samples: at most so many samples.
        regularization: inverse strength of the quadratic penalty of logistic regression (scikit-learn's C).

    Raises:
        ConfigError: settings that cannot be used; all problems at once.
    """

    name: ClassVar[str] = "downstream"
    needs: ClassVar[tuple[type, ...]] = (Encodes,)

    def __init__(
        self,
        *,
        factors: Sequence[str] = (),
        shots: Sequence[int] = (1, 10, 100),
        draws: int = 5,
        samples: int = 10_000,
        regularization: float = 1.0,
    ) -> None:
        problems = [f"shots: expected at least 1, got {count}" for count in shots if count < 1]
        problems += [f"draws: expected at least 1, got {draws}"] if draws < 1 else []
        problems += [f"samples: expected at least 20, got {samples}"] if samples < 20 else []
        problems += [] if regularization > 0 else [f"regularization: expected a positive number, got {regularization}"]
        if problems:
            raise ConfigError(problems)
        self.factors = tuple(factors)
        self.shots = tuple(shots)
        self.draws = draws
        self.samples = samples
        self.regularization = regularization

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Predict every factor from every code, given each modality alone and all together."""
        factors = [evaluation.spec.factor(name) for name in self.factors] or list(evaluation.spec.factors)
        if not factors:
            raise NotApplicableError("downstream needs known factors or labels: choose another source")
        scores: list[Score] = []
        for source, table in code_tables(evaluation, self.samples).items():
            observed = tuple(source.split("+"))
            widest = max(values.shape[1] for values in table.means.values())
            raw = control_features(evaluation, observed, samples=self.samples, dimensions=widest)
            order = evaluation.rng(self.name, "split").permutation(len(table.factors))
            for factor in factors:
                truth = table.factors[:, evaluation.spec.factor_index(factor.name)]
                halves = np.array_split(order[truth[order] >= 0], 2)
                about = {"source": source, "factor": factor.name}
                task = _Task(self, evaluation, factor, truth, halves[0], halves[1])
                recorder = Recorder(self.name, evaluation.rng(self.name), about, evaluation.provenance())
                scores += task.scores(table.means, raw, recorder)
        return Measurement(tuple(scores))


@dataclass(frozen=True)
class _Task:
    """One factor to predict: the samples to fit and to test on."""

    settings: Downstream
    evaluation: Evaluation
    factor: Factor
    truth: np.ndarray
    fit: np.ndarray
    test: np.ndarray

    @property
    def chance(self) -> float:
        return 100 / len(self.factor.values)

    def scores(self, codes: Mapping[str, np.ndarray], raw: Mapping[str, Any], recorder: Recorder) -> list[Score]:
        """The scores of all codes."""
        if len(np.unique(self.truth[self.fit])) < 2 or not len(self.test):
            note = "the samples show fewer than two values of the factor"
            return [recorder.on(code=code).score("accuracy", None, unit="%", chance=self.chance, note=note) for code in codes]
        words = {name: self.results(features) for name, features in raw.items() if name != PROJECTION}
        found = []
        for code, values in codes.items():
            thrown = {PROJECTION: self.results(raw[PROJECTION][:, : values.shape[1]])}
            found += self._of_code(values, {**words, **thrown}, recorder.on(code=code))
        return found

    def results(self, features: Any) -> _Results:
        """Logistic regression on all samples to fit, and on a few."""
        scale, truth = self.settings.regularization, self.truth
        said, settled = logistic_predictions(features[self.fit], truth[self.fit], features[self.test], regularization=scale)
        points = few_shot(
            features[self.fit],
            truth[self.fit],
            test_codes=features[self.test],
            test_labels=truth[self.test],
            rng=self.evaluation.rng("downstream", "shots", self.factor.name),
            shots=self.settings.shots,
            draws=self.settings.draws,
            regularization=scale,
        )
        return _Results(said == truth[self.test], settled, points)

    def _of_code(self, values: np.ndarray, controls: Mapping[str, _Results], recorder: Recorder) -> list[Score]:
        own = self.results(values)
        noise = seeds.torch_generator(self.evaluation.seed, "measure", "downstream", *recorder.about.values())
        said = net_predictions(values[self.fit], self.truth[self.fit], values[self.test], generator=noise)
        beside = {"majority": percent(self.truth[self.test] == majority(self.truth[self.fit]))}
        whole = {"chance": self.chance, "controls": {**beside, **{name: percent(one.right) for name, one in controls.items()}}}
        note = "" if own.settled else "the regression had not settled"
        found = [
            recorder.on(classifier="published").share("accuracy", said == self.truth[self.test], **whole),
            recorder.on(classifier="logistic").share("accuracy", own.right, note=note, **whole),
        ]
        for number, point in enumerate(own.points):
            few = {name: 100 * one.points[number].mean for name, one in controls.items() if len(point.accuracies)}
            found.append(self._point(point, {**beside, **few}, recorder.on(per_class=str(point.per_class))))
        return found

    def _point(self, point: FewShot, controls: Mapping[str, float], recorder: Recorder) -> Score:
        fields = {"unit": "%", "bounds": (0.0, 100.0), "chance": self.chance, "n": point.tests}
        if not len(point.accuracies):
            note = f"fewer than {point.per_class} samples of some value to fit"
            return recorder.score("few_shot", None, **{**fields, "note": note})
        low, high = point.interval
        return recorder.score("few_shot", 100 * point.mean, interval=(100 * low, 100 * high), controls=controls, **fields)


@dataclass(frozen=True)
class _Results:
    """What one representation gives: (tests,) whether it is right, whether the fit settled, and the points of its curve."""

    right: np.ndarray
    settled: bool
    points: Sequence[FewShot]
