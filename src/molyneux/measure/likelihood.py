"""The measure of likelihood: how probable the model finds samples it has not seen."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import ClassVar, final

import torch
from torch import Tensor

from molyneux import core
from molyneux.core import Batch, ConfigError, Decodes, Encodes, Score, views
from molyneux.measure.coherence import Direction
from molyneux.measure.evaluation import Evaluation, Measure, Measurement
from molyneux.measure.generation import having
from molyneux.measure.recorder import Recorder

_ROWS = 2048


@final
class Likelihood(Measure):
    """Bounds on the log-likelihood of test samples, in nats per sample; never scaled.

    - `likelihood.elbo`: the evidence lower bound, from one sample of the joint posterior.
    - `likelihood.iwae`: the importance-weighted bound with k samples (Burda, Grosse and Salakhutdinov 2016, equation 8),
      which is at least as tight. `about` has no direction: all modalities together; and for each modality alone
      (`{"target": "image"}`), from the same bound with the others absent.
    - `likelihood.conditional`, with source and target: log (1/k) sum_k p(target | z_k) with z_k from the posterior given
      the source: the predictive density of one sense after the other.

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
        piles: dict[tuple[str, str, str], list[Tensor]] = defaultdict(list)
        for start, batch in evaluation.batches(self.samples):
            for key, values in self._batch(evaluation, batch, start).items():
                piles[key].append(values)
        origin = {**evaluation.provenance(), "k": self.k}
        scores: list[Score] = []
        for (name, source, target), parts in piles.items():
            about = {key: value for key, value in (("source", source), ("target", target)) if value}
            recorder = Recorder(self.name, evaluation.rng(self.name, name, source, target), about, origin)
            scores.append(recorder.mean(name, torch.cat(parts).double().cpu().numpy(), unit="nats"))
        return Measurement(tuple(scores))

    def _batch(self, evaluation: Evaluation, batch: Batch, start: int) -> dict[tuple[str, str, str], Tensor]:
        model, names = evaluation.model, evaluation.spec.names
        noise = evaluation.generator(self.name, start)
        found = {
            ("elbo", "", ""): model.log_likelihood(batch, 1, noise),
            ("iwae", "", ""): model.log_likelihood(batch, self.k, noise),
        }
        if len(names) < 2:
            return found
        for name in names:
            part = having(batch, (name,))
            if len(part):
                found["iwae", "", name] = model.log_likelihood(part.observe((name,)), self.k, noise)
        for direction in [Direction((source,), target) for source in names for target in names if source != target]:
            part = having(batch, (*direction.observed, direction.target))
            if len(part):
                key = ("conditional", direction.observed[0], direction.target)
                found[key] = self._conditional(evaluation, part, direction, noise)
        return found

    def _conditional(self, evaluation: Evaluation, batch: Batch, direction: Direction, noise: torch.Generator) -> Tensor:
        """Log of (1/k) sum_k p(target | z_k), (B,); decoded in chunks, so that memory does not grow with k."""
        target = evaluation.spec.modality(direction.target)
        view = views.to_model(target, batch.views[direction.target])
        posterior = evaluation.model.encode(batch, direction.observed)
        chunk = max(1, _ROWS // len(batch))
        parts = []
        for first in range(0, self.k, chunk):
            codes = posterior.rsample(min(chunk, self.k - first), noise)
            parts.append(evaluation.model.decode(codes, (direction.target,))[direction.target].log_prob(view))
        return torch.cat(parts).logsumexp(0) - math.log(self.k)
