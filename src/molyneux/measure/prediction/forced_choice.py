"""Forced choice: which of the texts of a contrast set goes with a picture, asked with all of them in view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, final

import numpy as np
from torch import Tensor

from molyneux.core import Compares, NotApplicableError, Score, Spec, Target, about_names
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.scores import Recorder


@final
class ForcedChoice(Measure):
    """Whether a model that is shown the texts of a contrast set together chooses the one that goes with the picture.

    Scores in %, with `about` naming the source (what is observed) and the target: `forced_choice.accuracy`, the share of pictures
    for which the right text is the most probable; `forced_choice.set_accuracy`, the share of sets in which that holds for all
    pictures. Of k texts that are equally probable, each counts as the answer with probability 1/k. Chance is a guess for each
    picture. From text alone, which does not tell which picture is asked about, at most one picture of a set can be right.

    Sets of which a sample lacks a modality, or its target is unknown, are left out.

    Args:
        targets: names of targets of task agreement; all that have contrast sets of several texts by default.
        alone: also from each modality alone.
    """

    name: ClassVar[str] = "forced_choice"
    needs: ClassVar[tuple[type, ...]] = (Compares,)

    def __init__(self, *, targets: Sequence[str] = (), alone: bool = True) -> None:
        self.targets, self.alone = tuple(targets), alone

    def check(self, spec: Spec) -> None:
        """Raise SpecError for targets that do not exist."""
        for name in self.targets:
            spec.target(name)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """All targets, given what is observed."""
        spec = evaluation.spec
        chosen = [spec.target(name) for name in self.targets] or spec.targets
        targets = [target for target in chosen if target.contrast[1] > 1]
        if not targets:
            raise NotApplicableError("forced_choice needs contrast sets of several texts: choose a source that has them")
        scores: list[Score] = []
        for observed in evaluation.observed_sets if self.alone else (evaluation.available,):
            for target in targets:
                parts = list(_answered(evaluation, observed, target))
                if not parts:
                    raise NotApplicableError(f"no contrast set of {target.name} is whole in the samples: measure on more of them")
                scores += _scores(evaluation, observed, target, np.concatenate(parts))
        return Measurement(tuple(scores))


def right_shares(log_probabilities: Tensor, agrees: np.ndarray) -> np.ndarray:
    """How far the right text of each picture is the answer: 0 or 1, or 1/k where it is one of k most probable ones.

    Args:
        log_probabilities: (S, P, T) of each text.
        agrees: (S, P, T) bool, the right text of each picture.

    Returns:
        (S, min(P, T)): where there are more pictures than texts, some have no right one and are left out.
    """
    given = log_probabilities.double().cpu().numpy()
    best = given == given.max(-1, keepdims=True)
    shares, asked = (best & agrees).sum(-1) / best.sum(-1), agrees.any(-1)
    return np.asarray(shares[asked].reshape(len(given), -1))


def _answered(evaluation: Evaluation, observed: tuple[str, ...], target: Target) -> Iterator[np.ndarray]:
    """What `right_shares` gives of whole contrast sets, batch by batch."""
    pictures, texts = target.contrast
    size = pictures * texts
    whole = replace(evaluation, batch_size=max(size, evaluation.batch_size // size * size))
    for _, batch in whole.batches(evaluation.size // size * size):
        known = batch.known_mask(target.name)
        for name in observed:
            known = known & batch.mask(name)
        kept = known.reshape(-1, size).all(1).repeat_interleave(size)
        if not bool(kept.any()):
            continue
        part = batch if bool(kept.all()) else batch[kept]
        found = evaluation.model.compare(part, observed)
        if target.name not in found:
            raise NotApplicableError(f"the model does not choose for the target {target.name}: name others in `targets`")
        agrees = (part.targets[target.name] > 0).reshape(-1, pictures, texts).cpu().numpy()
        yield right_shares(found[target.name].logits, agrees)


def _scores(evaluation: Evaluation, observed: tuple[str, ...], target: Target, right: np.ndarray) -> list[Score]:
    texts = target.contrast[1]
    rng = evaluation.rng("forced_choice", *observed, target.name)
    about = {"source": about_names(observed), "target": target.name}
    recorder = Recorder("forced_choice", rng, about, evaluation.provenance())
    fields = {"unit": "%", "bounds": (0.0, 100.0)}
    return [
        recorder.mean("accuracy", 100 * right.mean(1), chance=100 / texts, **fields),
        recorder.mean("set_accuracy", 100 * right.prod(1), chance=100 / texts ** right.shape[1], **fields),
    ]
