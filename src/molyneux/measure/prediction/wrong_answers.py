"""The samples that a predictor answers wrongly with the greatest confidence, as a gallery."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, final

import numpy as np

from molyneux.core import Batch, Cell, ConfigError, Gallery, NotApplicableError, Predicts, Spec, Target
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.galleries import plain_cells
from molyneux.measure.measures import Measure, Measurement, exhibit_name
from molyneux.measure.prediction.breakdown import probabilities_of, targets_with_classes

_AGREEMENT = ("does not agree", "agrees")


@final
class WrongAnswers(Measure):
    """Exhibits only: for each target, the samples that are answered wrongly with the greatest probability, given all modalities.

    A row has the views of the sample, what is true, what was answered with its probability, and the factors. They show what a
    model does not see; `breakdown` says how often.

    Args:
        rows: most samples of a gallery.
        targets: names of targets of task class or agreement; all of them by default.

    Raises:
        ConfigError: rows below 1.
    """

    name: ClassVar[str] = "wrong_answers"
    needs: ClassVar[tuple[type, ...]] = (Predicts,)
    scored = False

    def __init__(self, *, rows: int = 12, targets: Sequence[str] = ()) -> None:
        if rows < 1:
            raise ConfigError(f"expected rows of at least 1, got {rows}")
        self.rows, self.targets = rows, tuple(targets)

    def check(self, spec: Spec) -> None:
        """Raise SpecError for targets that do not exist."""
        for name in self.targets:
            spec.target(name)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """One gallery for each target that has wrong answers."""
        found = (self._gallery(evaluation, target) for target in targets_with_classes(evaluation.spec, self.targets))
        return Measurement(exhibits=tuple(gallery for gallery in found if gallery is not None))

    def _gallery(self, evaluation: Evaluation, target: Target) -> Gallery | None:
        parts = list(probabilities_of(evaluation, target))
        if not parts:
            raise NotApplicableError(f"the target {target.name} is known of no sample")
        given, truth = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
        answer = given.argmax(1)
        wrong = np.flatnonzero(answer != truth)
        worst = wrong[np.argsort(-given[wrong, answer[wrong]], kind="stable")][: self.rows]
        if not len(worst):
            return None
        batch = _samples(evaluation, target, worst)
        names = target.symbols or _AGREEMENT
        columns = {name: plain_cells(evaluation.spec.modality(name), batch.views[name]) for name in evaluation.available}
        columns["true"] = [Cell(text=names[truth[row]]) for row in worst]
        columns["answered"] = [
            Cell(text=f"{names[answer[row]]}, {100 * given[row, answer[row]]:.1f} %", correct=False) for row in worst
        ]
        if evaluation.spec.factors:
            columns["factors"] = [Cell(reading=_factors(evaluation.spec, batch, row)) for row in range(len(worst))]
        share = f"{100 * len(wrong) / len(truth):.1f} % of {len(truth):,} samples are answered wrongly"
        note = f"{share}; these are the {len(worst)} of them with the greatest probability of the answer."
        title, rows = f"Wrong answers with the greatest confidence: {target.name}", tuple(zip(*columns.values(), strict=True))
        return Gallery(exhibit_name("wrong", target.name), title, note, tuple(columns), rows)


def _samples(evaluation: Evaluation, target: Target, places: np.ndarray) -> Batch:
    """The samples at some places among those whose target is known, in that order."""
    known = [start + batch.known_mask(target.name).cpu().numpy().nonzero()[0] for start, batch in evaluation.batches()]
    return evaluation.source.batch(np.concatenate(known)[places])


def _factors(spec: Spec, batch: Batch, row: int) -> str:
    """The factors of a sample in words, without those that are absent or have one value only."""
    if batch.factors is None:
        return ""
    pairs = zip(spec.factors, batch.factors[row].tolist(), strict=True)
    return ", ".join(f"{factor.name} {factor.values[code]}" for factor, code in pairs if code >= 0 and len(factor.values) > 1)
