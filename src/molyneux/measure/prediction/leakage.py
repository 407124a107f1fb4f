"""Leakage: what private codes know that belongs into the shared code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, final

import numpy as np

from molyneux.core import ConfigError, Encodes, NotApplicableError, Score
from molyneux.measure.codes import CodeTable
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.prediction.probe import (
    PERMUTED,
    Classifier,
    Label,
    Probe,
    check_classifiers,
    find_labels,
    split_samples,
)
from molyneux.measure.scores import Recorder, statistic_interval


@final
class Leakage(Measure):
    """What the private code of a modality knows of the factors that it shares with others, and of the other modalities.

    A private code should hold what its modality alone shows. Codes are posterior means given that modality alone. Classifiers and
    regressions are fitted on training samples where the evaluation has them, else on a random half of the test samples, and
    scored on the others. With `about` naming the private code:

    - `leakage.factor` %, for each factor that this modality and another one show, as far as their readers tell (a modality that
      nobody reads is taken to show every factor), and for each classifier: the accuracy above that of permuted labels, as a share
      of what is left, 100 (a - p) / (100 - p). 0: the code knows nothing of the factor; 100: everything. Its note has both
      accuracies. (Published leakage is the plain accuracy, whose zero is the share of the most common value.)
    - `leakage.modality` %, for each other modality: the variance of the shared code given that modality which ridge regression
      explains by this private code (R², over all dimensions together, negative where the mean is better).

    Controls: `shared code`, the same number for the shared code given this modality, which ought to know it, and `permuted
    labels` (of factors) and `other sample` (of modalities): the same where nothing can be known.

    Args:
        samples: at most so many samples, of the training samples and of the test samples.
        classifiers: `linear`, `mlp` or both; see `LatentProbe`.
        permutations: how often labels are permuted.

    Raises:
        ConfigError: unknown classifiers, fewer than 20 samples, or no permutations.
    """

    name: ClassVar[str] = "leakage"
    needs: ClassVar[tuple[type, ...]] = (Encodes,)

    def __init__(
        self, *, samples: int = 10_000, classifiers: Sequence[Classifier] = ("linear", "mlp"), permutations: int = 1
    ) -> None:
        problems = [f"samples: expected at least 20, got {samples}"] if samples < 20 else []
        problems += [f"permutations: expected at least 1, got {permutations}"] if permutations < 1 else []
        if problems:
            raise ConfigError(problems)
        self.samples, self.permutations, self.classifiers = samples, permutations, check_classifiers(classifiers)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Every private code, given its modality alone."""
        if len(evaluation.available) < 2:
            raise NotApplicableError("leakage needs at least two modalities: choose another source")
        tables = {name: evaluation.table((name,), self.samples).by_content() for name in evaluation.available}
        private = [name for name, table in tables.items() if f"private.{name}" in table.means]
        if not private:
            raise NotApplicableError("leakage needs a model with private codes")
        trained = None if evaluation.training is None else evaluation.training
        fits = tables if trained is None else {name: trained.table((name,), self.samples) for name in evaluation.available}
        scores: list[Score] = []
        for name in private:
            recorder = Recorder(self.name, evaluation.rng(self.name, name), {"code": f"private.{name}"}, self._origin(evaluation))
            for label in find_labels(evaluation.spec, shared_factors(evaluation, name)):
                scores += self._factor(evaluation, name, tables[name], fits[name], label, recorder)
            others = [other for other in evaluation.available if other != name]
            scores += [_modality(evaluation, name, other, tables, fits, recorder) for other in others]
        return Measurement(tuple(scores))

    def _origin(self, evaluation: Evaluation) -> dict[str, object]:
        fitted = "half of the test samples" if evaluation.training is None else "training samples"
        return {**evaluation.provenance(), "fitted on": fitted}

    def _factor(
        self, evaluation: Evaluation, name: str, table: CodeTable, fit: CodeTable, label: Label, recorder: Recorder
    ) -> list[Score]:
        split = split_samples(evaluation, label, table, None if fit is table else fit, stream=self.name)
        found = []
        for kind in self.classifiers:
            write = recorder.on(factor=label.name, classifier=kind)
            if not split.usable:
                note = f"the samples show fewer than two values of the {label.kind}"
                found.append(write.score("factor", None, unit="%", note=note))
                continue
            probe, parts = Probe(kind, seed=int(evaluation.rng(self.name, kind).integers(2**31))), dict[str, np.ndarray]()
            for code in (f"private.{name}", "shared"):
                predicted = probe.predictions(fit.means[code][split.fit], split.labels, table.means[code][split.test])[0]
                parts[code] = predicted == split.test_labels
            codes, noise = f"private.{name}", evaluation.rng(self.name, "permuted", name, label.name)
            pair = fit.means[codes][split.fit], table.means[codes][split.test]
            base = probe.permuted(*pair, split, noise, draws=self.permutations)
            found.append(_share_above(parts[codes], parts["shared"], base, write))
        return found


def shared_factors(evaluation: Evaluation, name: str) -> tuple[str, ...]:
    """The factors that a modality and at least one other available one show, as far as their readers tell."""

    def shown(modality: str) -> set[str]:
        reader = evaluation.reader(modality)
        return {factor.name for factor in evaluation.spec.factors} if reader is None else set(reader.factors)

    others = set().union(*(shown(other) for other in evaluation.available if other != name))
    return tuple(factor.name for factor in evaluation.spec.factors if factor.name in shown(name) & others)


def _share_above(right: np.ndarray, shared: np.ndarray, base: float, recorder: Recorder) -> Score:
    """Accuracy above that of permuted labels, `base` in 0..1, as a share of what is left."""
    left = 1 - base
    if left <= 0:
        return recorder.score("factor", None, unit="%", note="permuted labels are predicted without an error")
    plain = recorder.share("factor", right)
    low, high = plain.interval or (0.0, 0.0)
    return recorder.score(
        "factor",
        (100 * float(right.mean()) - 100 * base) / left,
        interval=((low - 100 * base) / left, (high - 100 * base) / left),
        n=len(right),
        unit="%",
        higher_is_better=False,
        bounds=(None, 100.0),
        chance=0.0,
        controls={"shared code": 100 * (float(shared.mean()) - base) / left, PERMUTED: 0.0},
        note=f"accuracy {100 * float(right.mean()):.1f} %, of permuted labels {100 * base:.1f} %",
    )


def _modality(
    evaluation: Evaluation,
    name: str,
    other: str,
    tables: Mapping[str, CodeTable],
    fits: Mapping[str, CodeTable],
    recorder: Recorder,
) -> Score:
    """How much of the shared code given another modality a private code explains."""
    write = recorder.on(modality=other)
    sets = [_aligned(one[name], one[other]) for one in (fits, tables)]
    if fits is tables:
        order = evaluation.rng("leakage", "split").permutation(len(sets[0][0]))
        sets = [(sets[0][0][half], sets[0][1][half]) for half in np.array_split(order, 2)]
    if min(len(rows[0]) for rows in sets) < 10:
        return write.score("modality", None, unit="%", note="fewer than ten samples have both modalities")
    (first, first_other), (second, second_other) = sets
    targets = first_other.means["shared"], second_other.means["shared"]
    noise = evaluation.rng("leakage", "other sample", name, other)
    found = {
        code: _residuals(first.means[code], targets[0], second.means[code], targets[1]) for code in (f"private.{name}", "shared")
    }
    control = _residuals(
        first.means[f"private.{name}"], noise.permutation(targets[0]), second.means[f"private.{name}"], targets[1]
    )
    rows = found[f"private.{name}"]
    return write.score(
        "modality",
        explained(rows),
        interval=statistic_interval(explained, rows, write.rng),
        n=len(rows),
        unit="%",
        higher_is_better=False,
        bounds=(None, 100.0),
        chance=0.0,
        controls={"shared code": explained(found["shared"]), "other sample": explained(control)},
    )


def _aligned(first: CodeTable, second: CodeTable) -> tuple[CodeTable, CodeTable]:
    """The samples that two tables share, in the same order, which is that of the content of the first."""
    _, one, two = np.intersect1d(first.rows, second.rows, return_indices=True)
    places = np.argsort(one)
    return first[one[places]], second[two[places]]


def _residuals(fit: np.ndarray, fit_targets: np.ndarray, codes: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Squared errors of ridge regression and of the mean of the targets that it was fitted to, (N, 2), over all dimensions."""
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), Ridge(alpha=1.0)).fit(fit, fit_targets)
    predicted = np.asarray(model.predict(codes)).reshape(targets.shape)
    return np.stack([np.square(targets - predicted).sum(1), np.square(targets - fit_targets.mean(0)).sum(1)], 1)


def explained(residuals: np.ndarray) -> float:
    """The variance that is explained, %, from squared errors of the model and of the mean, (N, 2); 0 where nothing varies.

    >>> explained(np.array([[1.0, 4.0], [1.0, 4.0]]))
    75.0
    """
    error, total = residuals.sum(0)
    return 100 * (1 - float(error / total)) if total > 0 else 0.0
