"""Downstream classification: how well frozen codes predict labels, beside features that need no model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
import torch
from torch import Tensor

from molyneux.core import ConfigError, Encodes, Modality, NotApplicableError, Score, Spec, about_names, seeds, views
from molyneux.measure.code_controls import UNTRAINED, untrained_pair
from molyneux.measure.codes import CodeTable
from molyneux.measure.coherence import majority
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import having
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.prediction.classifiers import FewShot, few_shot, logistic_predictions, net_predictions
from molyneux.measure.prediction.probe import Label, Split, find_labels, probed_tables, split_samples
from molyneux.measure.scores import Recorder, percent

PROJECTION = "random projection"


@final
class Downstream(Measure):
    """How well labels are predicted from frozen posterior means: by the published classifier, and from a few samples a class.

    Labels are factors, and targets of the tasks `class` and `agreement`. Classifiers are fitted on training samples where the
    evaluation has them, else on a random half of the test samples, and scored on the others. Nothing is chosen by the scores, so
    there is no third part. (The text study fits on 10,000 sentences of each class.) Scores, with `about` naming source, code and
    factor or target:

    - `downstream.accuracy` %, of two classifiers: `published` (see `net_predictions`), and `logistic` regression on standardised
      codes.
    - `downstream.few_shot` %, of logistic regression on `per_class` samples of each class: the mean over draws.

    Controls: the most common class; the same regression on which words occur (`bag of words`: how well the words alone predict
    the label, whatever the model), on a random projection of what was observed to as many dimensions as the code has, and, on the
    samples as they are, on the same code of the `untrained net`. Samples whose label is absent are left out.

    Args:
        labels: factors and targets that are predicted; all by default.
        shots: samples of each class.
        draws: how often these are drawn.
        samples: at most so many samples, of the training samples and of the test samples.
        regularization: inverse strength of the quadratic penalty of logistic regression (scikit-learn's C).

    Raises:
        ConfigError: settings that cannot be used; all problems at once.
    """

    name: ClassVar[str] = "downstream"
    needs: ClassVar[tuple[type, ...]] = (Encodes,)

    def __init__(
        self,
        *,
        labels: Sequence[str] = (),
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
        self.labels = tuple(labels)
        self.shots = tuple(shots)
        self.draws = draws
        self.samples = samples
        self.regularization = regularization

    def check(self, spec: Spec) -> None:
        """Raise ConfigError for labels that do not exist."""
        find_labels(spec, self.labels)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Predict every label from every code, given each modality alone and all together."""
        labels = find_labels(evaluation.spec, self.labels)
        if not labels:
            raise NotApplicableError("downstream needs known factors or class targets: choose another source")
        scores: list[Score] = []
        fitted = "half of the test samples" if evaluation.training is None else "training samples"
        origin = {**evaluation.provenance(), "fitted on": fitted}
        for observed, table, training in probed_tables(evaluation, self.samples):
            pools = (table, table if training is None else training)
            raw = self._raw(evaluation, observed, table, training)
            untrained = untrained_pair(evaluation, observed, table, training)
            for label in labels:
                split = split_samples(evaluation, label, table, training, stream=self.name)
                about = {"source": about_names(observed), label.kind: label.name}
                recorder = Recorder(self.name, evaluation.rng(self.name), about, origin)
                scores += _Task(self, evaluation, label, split, untrained).scores(pools, raw, recorder)
        return Measurement(tuple(scores))

    def _raw(
        self, evaluation: Evaluation, observed: tuple[str, ...], table: CodeTable, training: CodeTable | None
    ) -> dict[str, tuple[Any, Any]]:
        """By control, its features of the samples to score and of those to fit."""
        widest = max(values.shape[1] for values in table.means.values())
        matrices = projection_matrices(evaluation, observed, widest)
        places = np.searchsorted(np.sort(table.rows), table.rows)  # features are in the order of the source
        made = control_features(evaluation, observed, matrices, samples=self.samples)
        tested = {name: features[places] for name, features in made.items()}
        if training is None or evaluation.training is None:
            return {name: (features, features) for name, features in tested.items()}
        fitted = control_features(evaluation.training, observed, matrices, samples=self.samples)
        return {name: (features, fitted[name]) for name, features in tested.items()}


@dataclass(frozen=True)
class _Task:
    """One label to predict: the samples to fit and to score."""

    settings: Downstream
    evaluation: Evaluation
    label: Label
    split: Split
    untrained: Mapping[str, tuple[np.ndarray, np.ndarray]]

    @property
    def chance(self) -> float:
        return 100 / len(self.label.values)

    def scores(self, pools: tuple[CodeTable, CodeTable], raw: Mapping[str, tuple[Any, Any]], recorder: Recorder) -> list[Score]:
        """The scores of all codes, whose samples to score and to fit come from two pools."""
        if not self.split.usable:
            note = f"the samples show fewer than two values of the {self.label.kind}"
            codes = pools[0].means
            return [recorder.on(code=code).score("accuracy", None, unit="%", chance=self.chance, note=note) for code in codes]
        bags = {name: self.results(*features) for name, features in raw.items() if name != PROJECTION}
        found = []
        for code, values in pools[0].means.items():
            projected = (features[:, : values.shape[1]] for features in raw[PROJECTION])
            before = {UNTRAINED: self.results(*self.untrained[code])} if code in self.untrained else {}
            controls = {**bags, PROJECTION: self.results(*projected), **before}
            found += self._of_code((values, pools[1].means[code]), controls, recorder.on(code=code))
        return found

    def results(self, tested: Any, fitted: Any) -> _Results:
        """Logistic regression on all samples to fit, and on a few."""
        split, scale = self.split, self.settings.regularization
        train, test = fitted[split.fit], tested[split.test]
        predicted, converged = logistic_predictions(train, split.labels, test, regularization=scale)
        points = few_shot(
            train,
            split.labels,
            test_codes=test,
            test_labels=split.test_labels,
            rng=self.evaluation.rng("downstream", "shots", self.label.name),
            shots=self.settings.shots,
            draws=self.settings.draws,
            regularization=scale,
        )
        return _Results(predicted == split.test_labels, converged, points)

    def _of_code(
        self, values: tuple[np.ndarray, np.ndarray], controls: Mapping[str, _Results], recorder: Recorder
    ) -> list[Score]:
        own, split = self.results(*values), self.split
        noise = seeds.torch_generator(self.evaluation.seed, "measure", "downstream", *_flat(recorder.about.values()))
        predicted = net_predictions(values[1][split.fit], split.labels, values[0][split.test], generator=noise)
        beside = {"majority": percent(split.test_labels == majority(split.labels))}
        whole = {"chance": self.chance, "controls": {**beside, **{name: percent(one.right) for name, one in controls.items()}}}
        note = "" if own.converged else "the regression did not converge"
        found = [
            recorder.on(classifier="published").share("accuracy", predicted == split.test_labels, **whole),
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
    """What one representation gives: (tests,) whether it is right, whether the fit converged, and the points of its curve."""

    right: np.ndarray
    converged: bool
    points: Sequence[FewShot]


def projection_matrices(evaluation: Evaluation, observed: Sequence[str], dimensions: int) -> dict[str, np.ndarray]:
    """For each modality random normal numbers (values or symbols, dimensions), by which it is projected."""
    found = {}
    for modality in (evaluation.spec.modality(name) for name in observed):
        size = len(modality.symbols) or modality.size
        rng = evaluation.rng("downstream", "projection", modality.name)
        found[modality.name] = rng.normal(size=(size, dimensions)) / np.sqrt(size)
    return found


def control_features(
    evaluation: Evaluation, observed: Sequence[str], matrices: Mapping[str, np.ndarray], *, samples: int
) -> Mapping[str, Any]:
    """By control, features of the samples that have all observed modalities, in the order of `Evaluation.table`.

    - `random projection`: (N, dimensions): what is observed, multiplied by `projection_matrices`; nothing is learned.
    - `bag of words` (`bag of letters` where symbols are letters): which symbols occur, a sparse (N, symbols); only where texts
      are observed.
    """
    from scipy import sparse

    modalities = [evaluation.spec.modality(name) for name in observed]
    texts = [modality for modality in modalities if modality.kind == "text"]
    projected, bags = list[np.ndarray](), list[Any]()
    for _, batch in evaluation.batches(samples):
        part = having(batch, observed).to("cpu")
        features = {item.name: _features(item, part.views[item.name], part.lengths.get(item.name)) for item in modalities}
        projected.append(sum(features[name] @ matrix for name, matrix in matrices.items()))
        if texts:
            bags.append(sparse.hstack([features[modality.name] for modality in texts], format="csr"))
    whole = any(len(symbol) > 1 for modality in texts for symbol in modality.symbols)
    bag = {"bag of words" if whole else "bag of letters": sparse.vstack(bags, format="csr")} if texts else {}
    return {PROJECTION: np.concatenate(projected), **bag}


def _features(modality: Modality, view: Tensor, lengths: Tensor | None) -> Any:
    """Views as rows of numbers; which symbols occur, as a sparse matrix, where they have symbols."""
    from scipy import sparse

    if not modality.symbols:
        return views.to_model(modality, view).flatten(1).double().numpy()
    ids = view.long().reshape(len(view), -1)
    inside = torch.ones_like(ids, dtype=torch.bool)
    if modality.kind == "text":
        inside = torch.arange(ids.shape[1]) < views.text_lengths(modality, ids, lengths)[:, None]
    rows, places = (found.numpy() for found in torch.nonzero(inside, as_tuple=True))
    counts = sparse.csr_array((np.ones(len(rows)), (rows, ids.numpy()[rows, places])), shape=(len(ids), len(modality.symbols)))
    counts.sum_duplicates()
    counts.data[:] = 1.0
    return counts


def _flat(values: Iterable[str | tuple[str, ...]]) -> list[str]:
    return [name for value in values for name in ((value,) if isinstance(value, str) else value)]
