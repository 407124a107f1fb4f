"""Likelihood: bounds on the log-likelihood of test samples."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import ClassVar, final

import numpy as np
import torch
from torch import Tensor

from molyneux import core
from molyneux.core import Batch, Codes, ConfigError, Decodes, Encodes, Score, Spec, about_names, views
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import Direction, Directions, check_directions, directions, having
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.scores import Recorder

_ROWS = {"cpu": 160}
_MANY = 2048
"""Codes decoded at once, by device. More of them make a processor wait for memory: 160 go twice as fast as 1024."""

_Key = tuple[str, tuple[str, ...], str]
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
      the source: the predictive density of one modality given others.

    Controls, where there is something to compare with: of the bound of all modalities, `modalities apart`, the sum of the bounds
    of each alone, which a model reaches for which they are independent; of the conditional, `unpaired`, the density of the target
    given the source of another sample. Bounds of one modality have none: a density has no natural zero.

    Densities of images depend on the likelihood that a model was given, so models with different ones cannot be compared.

    Args:
        k: samples per bound.
        samples: on how many test samples at most; a bound with k samples costs k decodings each.
        directions: of the conditionals, see `Coherence`.

    Raises:
        ConfigError: k or samples below 1, or unknown directions.
    """

    name: ClassVar[str] = "likelihood"
    needs: ClassVar[tuple[type, ...]] = (core.Likelihood, Encodes, Decodes)

    def __init__(self, *, k: int = 16, samples: int = 1000, directions: Directions = "singles") -> None:
        for what, value in (("k", k), ("samples", samples)):
            if value < 1:
                raise ConfigError(f"{what}: expected at least 1, got {value}")
        self.k = k
        self.samples = samples
        self.directions = check_directions(directions)

    def check(self, spec: Spec) -> None:
        """Raise ConfigError for too many directions or unknown modalities."""
        directions(spec, self.directions)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """The bounds of all modalities, of each alone, and of targets given sources."""
        piles: dict[_Key, list[Tensor]] = defaultdict(list)
        chosen = directions(evaluation.spec, self.directions, available=evaluation.available)
        for start, batch in evaluation.batches(self.samples):
            for key, part in self._batch(evaluation, batch, chosen, start).items():
                piles[key].append(part)
        found = {key: torch.cat(parts).double().cpu().numpy() for key, parts in piles.items()}
        origin = {**evaluation.provenance(), "k": self.k}
        scores: list[Score] = []
        for (name, source, target), values in found.items():
            if name == _UNPAIRED:
                continue
            about = {**({"source": about_names(source)} if source else {}), **({"target": target} if target else {})}
            recorder = Recorder(self.name, evaluation.rng(self.name, name, *source, target), about, origin)
            scores.append(recorder.mean(name, values, unit="nats", controls=_controls(found, (name, source, target))))
        return Measurement(tuple(scores))

    def _batch(self, evaluation: Evaluation, batch: Batch, chosen: Sequence[Direction], start: int) -> dict[_Key, Tensor]:
        noise = evaluation.generator(self.name, start)
        whole = having(batch, evaluation.available)
        found: dict[_Key, Tensor] = {}
        if len(whole):
            found["elbo", (), ""] = _bound(evaluation, whole, 1, noise)
            found["iwae", (), ""] = _bound(evaluation, whole, self.k, noise)
        if len(evaluation.spec.names) < 2:
            return found
        for name in evaluation.available:
            part = having(batch, (name,))
            if len(part):
                found["iwae", (), name] = _bound(evaluation, part.observe((name,)), self.k, noise)
        for observed in dict.fromkeys(direction.observed for direction in chosen):
            targets = [direction.target for direction in chosen if direction.observed == observed]
            part, true = having(batch, observed), having(evaluation.true_batch(start, batch), observed)
            if len(part):
                found |= self._conditionals(evaluation, part, true, observed, targets, noise)
        return found

    def _conditionals(
        self,
        evaluation: Evaluation,
        batch: Batch,
        true: Batch,
        observed: tuple[str, ...],
        targets: Sequence[str],
        noise: torch.Generator,
    ) -> dict[_Key, Tensor]:
        """Log of (1/k) sum_k p(target | z_k), z_k given the source, for each target; of its own and of another sample, (B,).

        The source is encoded once. What is decoded from the codes of a sample is compared with its own target in
        `true`, and with that of the next sample that has one.
        """
        posterior = evaluation.model.encode(batch, observed)
        parts: dict[_Key, list[Tensor]] = defaultdict(list)
        together = max(1, _rows(evaluation) // len(batch))
        for first in range(0, self.k, together):
            codes = posterior.rsample(min(together, self.k - first), noise)
            for target in targets:
                rows = batch.mask(target).nonzero().flatten()
                view = views.to_model(evaluation.spec.modality(target), true.views[target][rows])
                for key, densities in _densities(evaluation, _of_samples(codes, rows), view, target).items():
                    parts[key, observed, target].append(densities)
        return {key: torch.cat(found).logsumexp(0) - math.log(self.k) for key, found in parts.items()}


def _densities(evaluation: Evaluation, codes: Codes, view: Tensor, target: str) -> dict[str, Tensor]:
    """Log-densities (m, B) of views (B, ...) given their own codes (m, B, D) and, of several samples, given those of another."""
    own, others, count = list[Tensor](), list[Tensor](), len(view)
    for rows in torch.split(torch.arange(count, device=view.device), _rows(evaluation)) if count else ():
        made = evaluation.model.decode(_of_samples(codes, rows), (target,))[target]
        own.append(made.log_prob(view[rows]))
        others.append(made.log_prob(view[(rows + 1) % count]))
    if not own:
        return {}
    return {"conditional": torch.cat(own, -1), **({_UNPAIRED: torch.cat(others, -1)} if count > 1 else {})}


def _of_samples(codes: Codes, rows: Tensor) -> Codes:
    """The codes (m, B, D) of some samples."""
    return Codes(codes.shared[:, rows], {name: code[:, rows] for name, code in codes.private.items()})


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
    if key == ("iwae", (), "") and alone and all(len(values) == len(found[key]) for values in alone):
        compared["modalities apart"] = float(sum(values.mean() for values in alone))
    return {control: value for control, value in compared.items() if math.isfinite(value)}
