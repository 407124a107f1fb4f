"""Linear probes: how well factors and targets can be predicted linearly from codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, final

import numpy as np

from molyneux.core import ConfigError, Encodes, NotApplicableError, Score, Spec, about_names, nearest
from molyneux.measure.codes import CodeTable
from molyneux.measure.coherence import majority
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import Draw, check_draw
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.prediction.classifiers import logistic_predictions
from molyneux.measure.scores import Recorder, percent


@dataclass(frozen=True)
class Label:
    """A factor, or a target of the task `class` or `agreement`: what a classifier predicts from codes.

    Args:
        kind: `factor` or `target`.
        name: of the factor or target.
        values: names of its values.
    """

    kind: Literal["factor", "target"]
    name: str
    values: tuple[str, ...]

    def of(self, table: CodeTable, spec: Spec) -> np.ndarray:
        """The value of each sample as a number, (N,) int64; -1 where it is absent or unknown."""
        if self.kind == "factor":
            return np.asarray(table.factors[:, spec.factor_index(self.name)])
        return np.where(table.known[self.name], table.targets[self.name], -1)


@dataclass(frozen=True)
class Split:
    """The samples that a classifier is fitted on and those that it is scored on.

    Args:
        fit: rows of the codes to fit.
        labels: their labels.
        test: rows of the codes to score.
        test_labels: their labels.
    """

    fit: np.ndarray
    labels: np.ndarray
    test: np.ndarray
    test_labels: np.ndarray

    @property
    def usable(self) -> bool:
        """Whether there are two values to tell apart and a sample to score."""
        return len(np.unique(self.labels)) > 1 and len(self.test) > 0


def find_labels(spec: Spec, names: Sequence[str] = ()) -> list[Label]:
    """The factors and targets of these names; by default all factors, and all targets that are classes or agreement.

    A target is preferred to a factor of the same name.

    Raises:
        ConfigError: there is no factor and no such target of a name.
    """
    factors = {item.name: Label("factor", item.name, item.values) for item in spec.factors}
    symbols = {item.name: item.symbols or ("no", "yes") for item in spec.targets if item.task in ("class", "agreement")}
    known = factors | {name: Label("target", name, values) for name, values in symbols.items()}
    for name in names:
        if name not in known:
            raise ConfigError(f"no factor and no class target {name!r}; {nearest(name, known)}")
    return [known[name] for name in names or known]


def probed_tables(evaluation: Evaluation, samples: int) -> Iterator[tuple[tuple[str, ...], CodeTable, CodeTable | None]]:
    """What is observed, the codes to score and, where there are training samples, the codes to fit."""
    for observed, table in evaluation.tables(samples).items():
        yield observed, table, None if evaluation.training is None else evaluation.training.table(observed, samples)


def split_samples(evaluation: Evaluation, label: Label, table: CodeTable, training: CodeTable | None, *, stream: str) -> Split:
    """Training samples to fit and test samples to score; without training samples, random halves of the test samples.

    Samples whose label is absent are left out.

    Args:
        evaluation: names the stream that draws the halves.
        label: what is predicted.
        table: codes of the test samples.
        training: codes of the training samples.
        stream: part of the stream's name.
    """
    truth = label.of(table, evaluation.spec)
    if training is None:
        order = evaluation.rng(stream, "split").permutation(len(table))
        fit, test = np.array_split(order[truth[order] >= 0], 2)
        return Split(fit, truth[fit], test, truth[test])
    labels = label.of(training, evaluation.spec)
    fit, test = np.flatnonzero(labels >= 0), np.flatnonzero(truth >= 0)
    return Split(fit, labels[fit], test, truth[test])


@final
class LatentProbe(Measure):
    """Accuracy of a linear classifier of each factor and class target, on codes of samples that it was not fitted on.

    Logistic regression on standardised codes, fitted on training samples where the evaluation has them, else on a random half of
    the test samples, and scored on the others. `latent_probe.accuracy` %, with `about` naming the source (what is observed), the
    code (`shared`, `private.image`) and the factor or target. Control: the most common value among the samples fitted on. Samples
    without the factor are left out. Above chance means that the factor can be read linearly, not that the model uses it.

    Args:
        draw: probe posterior means (what the code says at best) or samples (what a decoder gets).
        samples: at most so many samples, of the training samples and of the test samples.
        regularization: inverse strength of the quadratic penalty (scikit-learn's C).

    Raises:
        ConfigError: unknown draw, fewer than 20 samples, or a regularization that is not positive.
    """

    name: ClassVar[str] = "latent_probe"
    needs: ClassVar[tuple[type, ...]] = (Encodes,)

    def __init__(self, *, draw: Draw = "mean", samples: int = 10_000, regularization: float = 1.0) -> None:
        if samples < 20:
            raise ConfigError(f"samples: expected at least 20, got {samples}")
        if not regularization > 0:
            raise ConfigError(f"regularization: expected a positive number, got {regularization}")
        self.draw = check_draw(draw)
        self.samples = samples
        self.regularization = regularization

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Probe every code, given each modality alone and all together."""
        labels = find_labels(evaluation.spec)
        if not labels:
            raise NotApplicableError("latent_probe needs known factors or class targets: choose another source")
        scores: list[Score] = []
        fitted = "half of the test samples" if evaluation.training is None else "training samples"
        origin = {**evaluation.provenance(), "draw": self.draw, "fitted on": fitted}
        for observed, table, training in probed_tables(evaluation, self.samples):
            for label in labels:
                split = split_samples(evaluation, label, table, training, stream=self.name)
                for code, values in table.codes(self.draw).items():
                    about = {"source": about_names(observed), "code": code, label.kind: label.name}
                    recorder = Recorder(self.name, evaluation.rng(self.name), about, origin)
                    fit = values if training is None else training.codes(self.draw)[code]
                    scores.append(self._probe(fit[split.fit], values[split.test], split, label, recorder))
        return Measurement(tuple(scores))

    def _probe(self, fit: np.ndarray, test: np.ndarray, split: Split, label: Label, recorder: Recorder) -> Score:
        chance = 100 / len(label.values)
        if not split.usable:
            note = f"the samples show fewer than two values of the {label.kind}"
            return recorder.score("accuracy", None, unit="%", chance=chance, note=note)
        predicted, converged = logistic_predictions(fit, split.labels, test, regularization=self.regularization)
        return recorder.share(
            "accuracy",
            predicted == split.test_labels,
            chance=chance,
            controls={"majority": percent(split.test_labels == majority(split.labels))},
            note="" if converged else "the probe did not converge",
        )
