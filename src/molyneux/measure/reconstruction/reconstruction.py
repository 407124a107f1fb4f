"""The measure of reconstruction: is what was seen still there after the code?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from torch.distributions import Distribution

from molyneux.core import Batch, Decodes, Encodes, Score, views
from molyneux.measure.coherence import Answers
from molyneux.measure.coherence.reading import read
from molyneux.measure.coherence.scores import answer_scores
from molyneux.measure.evaluation import Evaluation, Measure, Measurement
from molyneux.measure.generation import Draw, check_draw, having, posterior_codes, stored_view
from molyneux.measure.reconstruction.baselines import Baseline, baselines
from molyneux.measure.reconstruction.comparison import FIELDS, compare
from molyneux.measure.recorder import Recorder

_FIELDS = {**FIELDS, "log_likelihood": {"unit": "nats"}}


@dataclass(frozen=True)
class _Rebuilt:
    """What became of the views of one modality: numbers by name (N,), and what was read."""

    values: dict[str, np.ndarray]
    answers: Answers | None

    @classmethod
    def join(cls, parts: Sequence[_Rebuilt]) -> _Rebuilt:
        values = {name: np.concatenate([part.values[name] for part in parts]) for name in parts[0].values}
        answers = [part.answers for part in parts if part.answers is not None]
        return cls(values, Answers.join(answers) if answers else None)


@final
class Reconstruction(Measure):
    """What becomes of a view that is encoded and decoded again, from itself alone and from all modalities together.

    Scores, with `about` naming source and target (`{"source": "image+text", "target": "image"}`):

    - `reconstruction.log_likelihood` nats per sample, log p(x | z), never scaled. Control for symbols: the best
      distribution that knows each position's frequencies and nothing else.
    - `reconstruction.mse`, `reconstruction.ssim` for pictures; `reconstruction.letters`, `reconstruction.exact` for text.
      Control: the best constant view (the mean of the samples, the most common text).
    - `reconstruction.strict`, `.features`, `.accuracy`: what the reader still reads, with the controls of coherence. What
      is lost here is lost by encoder and decoder; what only cross-generation loses is lost on the way between the senses.

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
        piles: dict[tuple[str, str], list[_Rebuilt]] = defaultdict(list)
        for start, batch in evaluation.batches():
            for observed in dict.fromkeys([*((name,) for name in evaluation.spec.names), evaluation.spec.names]):
                for name, rebuilt in self._rebuild(evaluation, batch, observed, start).items():
                    piles["+".join(observed), name].append(rebuilt)
        known = baselines(evaluation)
        scores: list[Score] = []
        for (source, target), parts in piles.items():
            recorder = Recorder(
                self.name,
                evaluation.rng(self.name, source, target),
                {"source": source, "target": target},
                {**evaluation.provenance((target,)), "draw": self.draw},
            )
            scores += _scores(_Rebuilt.join(parts), known[target], recorder)
        return Measurement(tuple(scores))

    def _rebuild(self, evaluation: Evaluation, batch: Batch, observed: tuple[str, ...], start: int) -> dict[str, _Rebuilt]:
        """Encode and decode the observed modalities; each is compared where it is present."""
        if len(observed) == 1:
            batch = having(batch, observed)
        if not len(batch):
            return {}
        noise = evaluation.generator(self.name, "+".join(observed), start)
        codes = posterior_codes(evaluation.model.encode(batch, observed), self.draw, noise)
        made = evaluation.model.decode(codes, observed)
        return {name: _compare(evaluation, batch, name, made[name]) for name in observed if bool(batch.mask(name).any())}


def _compare(evaluation: Evaluation, batch: Batch, name: str, made: Distribution) -> _Rebuilt:
    modality, keep = evaluation.spec.modality(name), batch.mask(name)
    likelihood = made.log_prob(views.to_model(modality, batch.views[name]))[keep]
    part, view = batch[keep], stored_view(modality, made)[keep.cpu()]
    values = {"log_likelihood": likelihood.double().cpu().numpy(), **compare(modality, view, part.views[name].cpu())}
    reader = evaluation.reader(name)
    if reader is None or part.factors is None:
        return _Rebuilt(values, None)
    return _Rebuilt(values, read(reader, view, part.factors, evaluation.spec))


def _scores(rebuilt: _Rebuilt, baseline: Baseline, recorder: Recorder) -> list[Score]:
    scores = []
    for name, values in rebuilt.values.items():
        controls = {"constant": baseline.constant[name]} if name in baseline.constant else {}
        scores.append(recorder.mean(name, values, controls=controls, **_FIELDS[name]))
    if rebuilt.answers is not None and baseline.ceiling is not None:
        scores += answer_scores(rebuilt.answers, baseline.ceiling, recorder)
    return scores
