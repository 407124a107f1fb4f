"""The measure of likelihood: how probable the model finds samples it has not seen."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import ClassVar, final

import numpy as np
import torch
from torch import Tensor

from molyneux import core
from molyneux.core import Batch, ConfigError, Decodes, Encodes, Score, views
from molyneux.measure.coherence import Direction
from molyneux.measure.evaluation import Evaluation, Measure, Measurement
from molyneux.measure.generation import having
from molyneux.measure.recorder import Recorder

_ROWS = {"cpu": 160}
_MANY = 2048
"""Codes decoded at once, by device. More of them make a processor wait for memory: 160 go twice as fast as 1024."""

_Key = tuple[str, str, str]
"""Name of a score, source and target."""

_UNPAIRED = "unpaired"


@final
class Likelihood(Measure):
    """Bounds on the log-likelihood of test samples, in nats per sample; never scaled.

    - `likelihood.elbo`: the evidence lower bound, from one sample of the joint posterior.
    - `likelihood.iwae`: the importance-weighted bound with k samples (Burda, Grosse and Salakhutdinov 2016, equation 8),
      which is at least as tight. `about` has no direction: all modalities together; and for each modality alone
      (`{"target": "image"}`), from the same bound with the others absent.
    - `likelihood.conditional`, with source and target: log (1/k) sum_k p(target | z_k) with z_k from the posterior given
      the source: the predictive density of one sense after the other.

    Controls, where there is something to compare with: of the bound of all modalities, `senses apart`, the sum of the bounds of
    each alone, which a model reaches for which they have nothing to do with each other; of the conditional, `unpaired`, the
    density of the target given the source of another sample. Bounds of one modality have none: a density has no natural zero.

    Densities of pictures depend on the likelihood that a model was given, so models with different ones cannot be compared.

    Args:
        k: samples per bound.
        samples: on how many test samples at most; a bound with k samples costs k decodings each.

    Raises:
        ConfigError: k or samples below 1.
    """

    name: ClassVar[str] = "likelihood"
    needs: ClassVar[tuple[type, ...]] = (core.Likelihood, Encodes, Decodes)

    def __init__(self, *, k: int = 16, samples: int = 1000) -> None:
        for what, value in (("k", k), ("samples", samples)):
            if value < 1:
                raise ConfigError(f"{what}: expected at least 1, got {value}")
        self.k = k
        self.samples = samples

    def measure(self, evaluation: Evaluation) -> Measurement:
        """The bounds of all modalities, of each alone, and of each given each other."""
        piles: dict[_Key, list[Tensor]] = defaultdict(list)
        for start, batch in evaluation.batches(self.samples):
            for key, part in self._batch(evaluation, batch, start).items():
                piles[key].append(part)
        found = {key: torch.cat(parts).double().cpu().numpy() for key, parts in piles.items()}
        origin = {**evaluation.provenance(), "k": self.k}
        scores: list[Score] = []
        for (name, source, target), values in found.items():
            if name == _UNPAIRED:
                continue
            about = {key: value for key, value in (("source", source), ("target", target)) if value}
            recorder = Recorder(self.name, evaluation.rng(self.name, name, source, target), about, origin)
            scores.append(recorder.mean(name, values, unit="nats", controls=_controls(found, (name, source, target))))
        return Measurement(tuple(scores))

    def _batch(self, evaluation: Evaluation, batch: Batch, start: int) -> dict[_Key, Tensor]:
        names, noise = evaluation.spec.names, evaluation.generator(self.name, start)
        found = {
            ("elbo", "", ""): _bound(evaluation, batch, 1, noise),
            ("iwae", "", ""): _bound(evaluation, batch, self.k, noise),
        }
        if len(names) < 2:
            return found
        for name in names:
            part = having(batch, (name,))
            if len(part):
                found["iwae", "", name] = _bound(evaluation, part.observe((name,)), self.k, noise)
        for direction in [Direction((source,), target) for source in names for target in names if source != target]:
            part, (source,) = having(batch, (*direction.observed, direction.target)), direction.observed
            if len(part):
                found["conditional", source, direction.target] = self._conditional(evaluation, part, part, direction, noise)
            if len(part) > 1:
                others = part[torch.arange(len(part)).roll(1)]
                found[_UNPAIRED, source, direction.target] = self._conditional(evaluation, others, part, direction, noise)
        return found

    def _conditional(
        self, evaluation: Evaluation, given: Batch, batch: Batch, direction: Direction, noise: torch.Generator
    ) -> Tensor:
        """Log of (1/k) sum_k p(target of `batch` | z_k), with z_k given the source in `given`; (B,)."""
        target = evaluation.spec.modality(direction.target)
        view = views.to_model(target, batch.views[direction.target])
        found = []
        for part in _parts(evaluation, len(batch), self.k):
            posterior = evaluation.model.encode(given[part], direction.observed)
            chunk = max(1, _rows(evaluation) // len(part))
            densities = []
            for first in range(0, self.k, chunk):
                codes = posterior.rsample(min(chunk, self.k - first), noise)
                densities.append(evaluation.model.decode(codes, (direction.target,))[direction.target].log_prob(view[part]))
            found.append(torch.cat(densities).logsumexp(0) - math.log(self.k))
        return torch.cat(found)


def _bound(evaluation: Evaluation, batch: Batch, k: int, noise: torch.Generator) -> Tensor:
    """The model's bound with k samples, (B,) nats, for as many samples at a time as are decoded fast."""
    parts = _parts(evaluation, len(batch), k)
    return torch.cat([evaluation.model.log_likelihood(batch[part], k, noise) for part in parts])


def _parts(evaluation: Evaluation, size: int, k: int) -> list[Tensor]:
    """The positions of a batch in parts whose k codes are decoded at once."""
    step = max(1, _rows(evaluation) // k)
    return [torch.arange(start, min(start + step, size)) for start in range(0, size, step)]


def _rows(evaluation: Evaluation) -> int:
    return _ROWS.get(evaluation.device.type, _MANY)


def _controls(found: Mapping[_Key, np.ndarray], key: _Key) -> dict[str, float]:
    """What a score is compared with, from the same samples; nothing where that is not finite."""
    name, source, target = key
    compared: dict[str, float] = {}
    if name == "conditional" and (_UNPAIRED, source, target) in found:
        compared["unpaired"] = float(found[_UNPAIRED, source, target].mean())
    alone = [values for (other, _, one), values in found.items() if other == "iwae" and one]
    if key == ("iwae", "", "") and alone and all(len(values) == len(found[key]) for values in alone):
        compared["senses apart"] = float(sum(values.mean() for values in alone))
    return {control: value for control, value in compared.items() if math.isfinite(value)}
