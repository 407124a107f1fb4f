"""Probes: how well factors and targets can be predicted from codes, linearly or by a small perceptron."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, final, get_args

import numpy as np

from molyneux.core import ConfigError, Encodes, NotApplicableError, Score, Spec, about_names, nearest
from molyneux.measure.code_controls import RAW, UNTRAINED
from molyneux.measure.codes import CodeTable
from molyneux.measure.coherence import majority
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import Draw, check_draw
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.prediction.classifiers import logistic_predictions, perceptron_predictions
from molyneux.measure.prediction.neighbours import raw_neighbours, untrained_neighbours
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
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Rows to fit, their labels, rows to score, and theirs."""
        return self.fit, self.labels, self.test, self.test_labels

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


Classifier = Literal["linear", "mlp"]
"""Logistic regression, or a perceptron with one hidden layer."""
JOINT = "joint"
"""The code that is made of all others."""
PERMUTED = "permuted labels"
"""Control: the same classifier fitted to labels in another order."""


def check_classifiers(names: Sequence[Classifier]) -> tuple[Classifier, ...]:
    """The setting `classifiers`; raises ConfigError for an unknown name, or none."""
    if not names:
        raise ConfigError("classifiers: expected at least one of linear and mlp, got none")
    for name in names:
        if name not in get_args(Classifier):
            raise ConfigError(f"unknown classifier {name!r}; {nearest(str(name), get_args(Classifier))}")
    return tuple(dict.fromkeys(names))


@dataclass(frozen=True)
class Probe:
    """One kind of classifier with its settings.

    Args:
        kind: which.
        regularization: inverse strength of the quadratic penalty of logistic regression (scikit-learn's C).
        seed: of the starts of a perceptron.
    """

    kind: Classifier
    regularization: float = 1.0
    seed: int = 0

    def predictions(self, fit: np.ndarray, labels: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, bool]:
        """Labels (M,) of codes `test` (M, D) by a classifier fitted to `fit` (N, D), and whether the fit converged."""
        if self.kind == "mlp":
            return perceptron_predictions(fit, labels, test, seed=self.seed)
        return logistic_predictions(fit, labels, test, regularization=self.regularization)

    def permuted(self, fit: np.ndarray, test: np.ndarray, split: Split, rng: np.random.Generator, *, draws: int) -> float:
        """The mean accuracy, 0..1, of classifiers fitted to labels in a drawn order: of codes that say nothing."""
        found = [self.predictions(fit, rng.permutation(split.labels), test)[0] == split.test_labels for _ in range(draws)]
        return float(np.mean(found))


@final
class LatentProbe(Measure):
    """Accuracy of a classifier of each factor and class target, on codes of samples that it was not fitted on.

    Logistic regression on standardised codes, fitted on training samples where the evaluation has them, else on a random half of
    the test samples, and scored on the others. `latent_probe.accuracy` %, with `about` naming the source (what is observed), the
    code (`shared`, `private.image`; `joint` for all of them together) and the factor or target; and `classifier: mlp` where it is
    a perceptron (`perceptron_predictions`). Controls: the most common value among the samples fitted on and, on request, the same
    classifier fitted to permuted labels; and what needs no training, the label of the nearest of 5,000 samples fitted on, for
    1,000 samples: `untrained net` by the codes of the same net with the weights it starts with, such as the numbers that it
    computes by formula, and `raw input` by the observed views themselves. Samples without the factor are left out. Above chance
    means that the factor can be read linearly (or by the perceptron), not that the model uses it; not above these controls, that
    it says nothing of the training.

    Args:
        draw: probe posterior means (what the code says at best) or samples (what a decoder gets).
        samples: at most so many samples, of the training samples and of the test samples.
        regularization: inverse strength of the quadratic penalty (scikit-learn's C).
        classifiers: `linear`, `mlp` or both.
        joint: whether to probe all codes together too.
        permutations: how often labels are permuted for the control; 0 leaves it out.

    Raises:
        ConfigError: unknown draw or classifiers, fewer than 20 samples, a `regularization` that is not positive, or a negative
            number of permutations.
    """

    name: ClassVar[str] = "latent_probe"
    needs: ClassVar[tuple[type, ...]] = (Encodes,)

    def __init__(
        self,
        *,
        draw: Draw = "mean",
        samples: int = 10_000,
        regularization: float = 1.0,
        classifiers: Sequence[Classifier] = ("linear",),
        joint: bool = False,
        permutations: int = 0,
    ) -> None:
        if samples < 20:
            raise ConfigError(f"samples: expected at least 20, got {samples}")
        if not regularization > 0:
            raise ConfigError(f"regularization: expected a positive number, got {regularization}")
        if permutations < 0:
            raise ConfigError(f"permutations: expected at least 0, got {permutations}")
        self.draw = check_draw(draw)
        self.samples = samples
        self.regularization = regularization
        self.classifiers = check_classifiers(classifiers)
        self.joint, self.permutations = joint, permutations

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Probe every code, given each modality alone and all together."""
        labels = find_labels(evaluation.spec)
        if not labels:
            raise NotApplicableError("latent_probe needs known factors or class targets: choose another source")
        scores: list[Score] = []
        fitted = "half of the test samples" if evaluation.training is None else "training samples"
        origin = {**evaluation.provenance(), "draw": self.draw, "fitted on": fitted}
        for observed, table, training in probed_tables(evaluation, self.samples):
            raw = raw_neighbours(evaluation, observed, table, training)
            untrained = untrained_neighbours(evaluation, observed, table, training, self._codes)
            tested = self._codes(table)
            trained = tested if training is None else self._codes(training)
            for label in labels:
                split = split_samples(evaluation, label, table, training, stream=self.name)
                for code, values in tested.items():
                    about = {"source": about_names(observed), "code": code, label.kind: label.name}
                    recorder = Recorder(self.name, evaluation.rng(self.name), about, origin)
                    pair = trained[code][split.fit], values[split.test]
                    near = {RAW: raw, **({UNTRAINED: untrained[code]} if code in untrained else {})}
                    beside = {name: percent(found.right(*split.arrays)) for name, found in near.items()} if split.usable else {}
                    scores += [self._probe(evaluation, kind, pair, split, label, recorder, beside) for kind in self.classifiers]
        return Measurement(tuple(scores))

    def _codes(self, table: CodeTable) -> Mapping[str, np.ndarray]:
        codes = table.codes(self.draw)
        return {**codes, JOINT: np.concatenate(list(codes.values()), 1)} if self.joint and len(codes) > 1 else codes

    def _probe(
        self,
        evaluation: Evaluation,
        kind: Classifier,
        codes: tuple[np.ndarray, np.ndarray],
        split: Split,
        label: Label,
        recorder: Recorder,
        beside: Mapping[str, float],
    ) -> Score:
        chance = 100 / len(label.values)
        recorder = recorder if kind == "linear" else recorder.on(classifier=kind)
        if not split.usable:
            note = f"the samples show fewer than two values of the {label.kind}"
            return recorder.score("accuracy", None, unit="%", chance=chance, note=note)
        probe = Probe(kind, self.regularization, int(evaluation.rng(self.name, kind).integers(2**31)))
        predicted, converged = probe.predictions(codes[0], split.labels, codes[1])
        controls = {"majority": percent(split.test_labels == majority(split.labels)), **beside}
        if self.permutations:
            noise = evaluation.rng(self.name, "permuted", label.name)
            controls[PERMUTED] = 100 * probe.permuted(*codes, split, noise, draws=self.permutations)
        return recorder.share(
            "accuracy",
            predicted == split.test_labels,
            chance=chance,
            controls=controls,
            note="" if converged else "the probe did not converge",
        )
