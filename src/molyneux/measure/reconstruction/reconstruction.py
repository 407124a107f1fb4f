"""Reconstruction: how much of a view is left after encoding and decoding it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from torch.distributions import Distribution

from molyneux.core import Batch, Codes, Decodes, Encodes, Score, about_names, views
from molyneux.measure.coherence import Answers
from molyneux.measure.coherence.answers import read
from molyneux.measure.coherence.scores import answer_scores
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import Draw, check_draw, stored_view
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.reconstruction.comparison import FIELDS, Baseline, baselines, compare
from molyneux.measure.scores import Recorder

_FIELDS = {**FIELDS, "log_likelihood": {"unit": "nats"}}


@dataclass(frozen=True)
class _Reconstructed:
    """Reconstructed views of one modality: numbers by name (N,), and what was read in them."""

    values: dict[str, np.ndarray]
    answers: Answers | None

    @classmethod
    def join(cls, parts: Sequence[_Reconstructed]) -> _Reconstructed:
        values = {name: np.concatenate([part.values[name] for part in parts]) for name in parts[0].values}
        answers = [part.answers for part in parts if part.answers is not None]
        return cls(values, Answers.join(answers) if answers else None)


@final
class Reconstruction(Measure):
    """How well views are reconstructed, from their own modality alone and from all modalities together.

    Scores, with `about` naming source and target (`{"source": ("image", "text"), "target": "image"}`), of the samples that have
    the modalities of the source:

    - `reconstruction.log_likelihood` nats per sample, log p(x | z), never scaled. Control for symbols: the best
      distribution that depends on the position of a symbol and on nothing else.
    - `reconstruction.mse`, `reconstruction.ssim` for images; `reconstruction.letters`, `reconstruction.exact` for text.
      Control: the best constant view (the mean of the samples, the most common text).
    - `reconstruction.strict`, `.features`, `.accuracy`: what the reader reads, with the controls of coherence. What is
      lost here is lost by encoder and decoder; what cross-generation loses beyond it is lost between the modalities.

    Args:
        draw: codes from one posterior sample or from its mean.

    Raises:
        ConfigError: unknown draw.
    """

    name: ClassVar[str] = "reconstruction"
    needs: ClassVar[tuple[type, ...]] = (Encodes, Decodes)

    def __init__(self, *, draw: Draw = "sample") -> None:
        self.draw = check_draw(draw)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Reconstruct every modality from itself and from all."""
        piles: dict[tuple[tuple[str, ...], str], list[_Reconstructed]] = defaultdict(list)
        for start, batch in evaluation.batches():
            for observed in evaluation.observed_sets:
                found = evaluation.generated_from(observed, start, batch, draw=self.draw)
                if found is not None:
                    for name, part in _reconstruct(evaluation, *found, observed).items():
                        piles[observed, name].append(part)
        known = baselines(evaluation)
        scores: list[Score] = []
        for (observed, target), parts in piles.items():
            recorder = Recorder(
                self.name,
                evaluation.rng(self.name, *observed, target),
                {"source": about_names(observed), "target": target},
                {**evaluation.provenance((target,)), "draw": self.draw},
            )
            scores += _scores(_Reconstructed.join(parts), known[target], recorder)
        return Measurement(tuple(scores))


def _reconstruct(evaluation: Evaluation, batch: Batch, codes: Codes, observed: Sequence[str]) -> dict[str, _Reconstructed]:
    """Decode the observed modalities of samples that have them all, and compare them with the true views."""
    made = evaluation.model.decode(codes, tuple(observed))
    return {name: _compare(evaluation, batch, name, made[name]) for name in observed}


def _compare(evaluation: Evaluation, batch: Batch, name: str, made: Distribution) -> _Reconstructed:
    modality, reader = evaluation.spec.modality(name), evaluation.reader(name)
    likelihood = made.log_prob(views.to_model(modality, batch.views[name]))
    view, part = stored_view(modality, made), batch.to("cpu")
    compared = compare(modality, view, part.views[name], part.lengths.get(name))
    values = {"log_likelihood": likelihood.double().cpu().numpy(), **compared}
    if reader is None or part.factors is None:
        return _Reconstructed(values, None)
    return _Reconstructed(values, read(reader, view, evaluation.spec, part.factors))


def _scores(found: _Reconstructed, baseline: Baseline, recorder: Recorder) -> list[Score]:
    scores = []
    for name, values in found.values.items():
        controls = {"constant": baseline.constant[name]} if name in baseline.constant else {}
        scores.append(recorder.mean(name, values, controls=controls, **_FIELDS[name]))
    if found.answers is not None and baseline.ceiling is not None:
        scores += answer_scores(found.answers, baseline.ceiling, recorder)
    return scores
