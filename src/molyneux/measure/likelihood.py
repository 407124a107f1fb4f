"""Likelihood: bounds on the log-likelihood of test samples."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, Literal, final

import numpy as np
import torch
from torch import Tensor

from molyneux import core
from molyneux.core import (
    Batch,
    Codes,
    ConfigError,
    Decodes,
    Encodes,
    ImportanceWeights,
    Score,
    Spec,
    about_names,
    choice_problems,
    views,
)
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import (
    MOST_DIRECTIONS,
    Direction,
    Directions,
    check_directions,
    codes_at_once,
    directions,
    having,
    subsets,
    within_lengths,
)
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.scores import Recorder

_WEIGHTS = 1 << 24
"""Importance weights in memory at once."""

_Names = tuple[str, ...]
_Key = tuple[str, _Names, _Names]
"""Name of a score, source and target."""

_UNPAIRED = "unpaired"
_DIFFERENCE = "conditional_difference"
_ERROR = "sampling_error"

_FIELDS: Mapping[str, Mapping[str, object]] = {
    "effective_samples": {"unit": "1"},
    "weight_variance": {"unit": "nats²", "higher_is_better": False, "bounds": (0.0, None)},
}
"""Unit, direction and bounds of what is no log-likelihood."""

Marginals = Literal["all", "singles"]
Conditionals = Literal["both", "difference", "predictive"]


@final
class Likelihood(Measure):
    """Bounds on the log-likelihood of test samples, in nats per sample; never scaled.

    - `likelihood.elbo`: the evidence lower bound, from one sample of the joint posterior.
    - `likelihood.iwae`: the importance-weighted bound with k samples (Burda, Grosse and Salakhutdinov 2016, equation 8),
      which is at least as tight. `about` has no direction: all modalities together; and for each modality alone
      (`{"target": "image"}`), or for every subset, from the same bound with the others absent.
    - `likelihood.conditional`, with source and target: log (1/k) sum_k p(target | z_k) with z_k from the posterior given
      the source: the predictive density of one modality given others, as the field estimates conditional likelihoods. It
      tends to the log-density of the model whose code has that posterior, not to log p(target | source) of the generative model.
    - `likelihood.conditional_difference`: log p(target, source) - log p(source), as the difference of the bounds `iwae` of both.
      It estimates the conditional likelihood of the generative model, but is no bound: where the bound of the source is less
      tight than that of both, it is too large.

    With `diagnostics`, what can be said of each bound `iwae` from the weights w_k = p(x, z_k) / q(z_k | x) of its samples:

    - `likelihood.effective_samples`: (sum w)² / sum w², from 1 to k (Kong 1992): near 1, a single sample makes the bound.
    - `likelihood.weight_variance` nats²: the variance of log w over the samples; 0 for the exact posterior.
    - `likelihood.sampling_error` nats: the standard error of the mean bound that comes of drawing k samples, by the delta method
      (the interval of the bound itself is over test samples). It says too little where few samples are effective.

    Controls, where there is something to compare with: of the bound of all modalities, `modalities apart`, the sum of the bounds
    of each alone, which a model reaches for which they are independent; of the conditional, `unpaired`, the density of the target
    given the source of another sample; of differences `marginal`, the bound of the target alone. Bounds of one modality have
    none: a density has no natural zero.

    Densities of images depend on the likelihood that a model was given, so models with different ones cannot be compared.

    Args:
        k: samples per bound.
        samples: on how many test samples at most; a bound with k samples costs k decodings each.
        directions: of the conditionals, see `Coherence`.
        marginals: bounds of each modality alone (`singles`), or of every proper subset of the modalities (`all`).
        conditionals: which estimates of conditionals: `predictive`, `difference` or `both`.
        diagnostics: whether to score the importance weights.

    Raises:
        ConfigError: k or samples below 1, diagnostics with k below 2, or unknown directions, marginals or conditionals.
    """

    name: ClassVar[str] = "likelihood"
    needs: ClassVar[tuple[type, ...]] = (core.EstimatesLikelihood, Encodes, Decodes)

    def __init__(
        self,
        *,
        k: int = 16,
        samples: int = 1000,
        directions: Directions = "singles",
        marginals: Marginals = "singles",
        conditionals: Conditionals = "predictive",
        diagnostics: bool = False,
    ) -> None:
        problems = [f"{what}: expected at least 1, got {value}" for what, value in (("k", k), ("samples", samples)) if value < 1]
        problems += [f"diagnostics: expected k of at least 2, got {k}"] if diagnostics and k < 2 else []
        problems += choice_problems(
            marginals=(marginals, ("all", "singles")), conditionals=(conditionals, ("both", "difference", "predictive"))
        )
        if problems:
            raise ConfigError(problems)
        self.k, self.samples, self.diagnostics = k, samples, diagnostics
        self.directions = check_directions(directions)
        self.marginals, self.conditionals = marginals, conditionals

    def check(self, spec: Spec) -> None:
        """Raise ConfigError for too many directions or subsets, or unknown modalities."""
        directions(spec, self.directions)
        count = 2 ** len(spec.names) - 2
        if self.marginals == "all" and count > MOST_DIRECTIONS:
            raise ConfigError(
                f"marginals: expected at most {MOST_DIRECTIONS} subsets of the modalities, got {count:,}: use singles"
            )

    def measure(self, evaluation: Evaluation) -> Measurement:
        """The bounds of all modalities, of some of them, and of targets given sources."""
        piles: dict[_Key, list[Tensor]] = defaultdict(list)
        chosen = directions(evaluation.spec, self.directions, available=evaluation.available)
        for found_there in evaluation.by_batch(partial(self._batch, chosen), self.samples):
            for key, part in found_there.items():
                piles[key].append(part)
        found = {key: torch.cat(parts).double().numpy() for key, parts in piles.items()}
        origin = {**evaluation.provenance(), "k": self.k}
        scores: list[Score] = []
        for key, values in found.items():
            name, source, target = key
            if name == _UNPAIRED:
                continue
            about = {
                **({"source": about_names(source)} if source else {}),
                **({"target": about_names(target)} if target else {}),
            }
            recorder = Recorder(self.name, evaluation.rng(self.name, name, *source, *(target or ("",))), about, origin)
            if name == _ERROR:
                scores.append(_sampling_error(values, recorder))
                continue
            fields = {"unit": "nats", **_FIELDS.get(name, {}), "controls": _controls(found, key)}
            if name == "effective_samples":
                fields["bounds"] = (1.0, float(self.k))
            scores.append(recorder.mean(name, values, **fields))
        return Measurement(tuple(scores))

    def _batch(self, chosen: Sequence[Direction], evaluation: Evaluation, start: int, end: int) -> dict[_Key, Tensor]:
        """The bounds of the samples of a batch, on the CPU."""
        found = self._bounds(evaluation, evaluation.batch(start, end), chosen, start)
        return {key: values.cpu() for key, values in found.items()}

    def _bounds(self, evaluation: Evaluation, batch: Batch, chosen: Sequence[Direction], start: int) -> dict[_Key, Tensor]:
        noise = evaluation.generator(self.name, start)
        whole, bounds = having(batch, evaluation.available), _Bounds(evaluation, batch, self.k, diagnostics=self.diagnostics)
        found: dict[_Key, Tensor] = {}
        if len(whole):
            found["elbo", (), ()] = _log_likelihoods(evaluation, whole, 1, noise)
            found |= bounds.scored((), evaluation.available, noise)
        if len(evaluation.spec.names) < 2:
            return found
        for name in evaluation.available:
            found |= bounds.scored((name,), (name,), noise)
        if self.conditionals != "difference":
            for observed in dict.fromkeys(direction.observed for direction in chosen):
                targets = [direction.target for direction in chosen if direction.observed == observed]
                part, true = having(batch, observed), having(evaluation.true_batch(start, batch), observed)
                if len(part):
                    found |= self._conditionals(evaluation, part, true, observed, targets, noise)
        more = evaluation.generator(self.name, "subsets", start)  # other noise: what is asked for changes no other score
        if self.marginals == "all":
            for names in subsets(evaluation.available, range(2, len(evaluation.available))):
                found |= bounds.scored(names, names, more)
        if self.conditionals != "predictive":
            for direction in chosen:
                found |= bounds.difference(direction, evaluation.true_batch(start, batch), more)
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
        together = max(1, codes_at_once(evaluation.device) // len(batch))
        for first in range(0, self.k, together):
            codes = posterior.rsample(min(together, self.k - first), noise)
            for target in targets:
                rows = batch.mask(target).nonzero().flatten()
                view = views.to_model(evaluation.spec.modality(target), true.views[target][rows])
                lengths = true.lengths[target][rows] if target in true.lengths else None
                for name, densities in _densities(evaluation, _of_samples(codes, rows), view, target, lengths).items():
                    parts[name, observed, (target,)].append(densities)
        return {key: torch.cat(found).logsumexp(0) - math.log(self.k) for key, found in parts.items()}


@dataclass
class _Bounds:
    """The bounds of subsets of the modalities of one batch, each made once."""

    evaluation: Evaluation
    batch: Batch
    k: int
    diagnostics: bool
    made: dict[tuple[_Names, str], dict[str, Tensor]] = field(default_factory=dict)

    def scored(self, target: _Names, names: _Names, noise: torch.Generator) -> dict[_Key, Tensor]:
        """The scores of samples that have all modalities `names`, under the name of a target; none without such samples."""
        found = self._of(names, noise)
        rows = _all_present(self.batch, names)
        return {(what, (), target): values[rows] for what, values in found.items()} if bool(rows.any()) else {}

    def difference(self, direction: Direction, true: Batch, noise: torch.Generator) -> dict[_Key, Tensor]:
        """The bound of target and source minus that of the source, of samples that have both, with the targets of `true`."""
        names = tuple(name for name in self.evaluation.spec.names if name in (*direction.observed, direction.target))
        rows = _all_present(self.batch, names)
        if not bool(rows.any()):
            return {}
        both = self._of(names, noise, true=None if self.evaluation.reference is None else (direction.target, true))
        part = self._of(direction.observed, noise)
        return {(_DIFFERENCE, direction.observed, (direction.target,)): (both["iwae"] - part["iwae"])[rows]}

    def _of(self, names: _Names, noise: torch.Generator, *, true: tuple[str, Batch] | None = None) -> dict[str, Tensor]:
        """The bound `iwae` of each sample given modalities, (B,), and its diagnostics; NaN for samples that lack any of them."""
        key = (names, "" if true is None else true[0])
        if key not in self.made:
            batch = self.batch
            if true is not None:
                name, lengths = true[0], {key: value for key, value in true[1].lengths.items() if key == true[0]}
                batch = replace(batch, views={**batch.views, name: true[1].views[name]}, lengths={**batch.lengths, **lengths})
            rows, part = _all_present(batch, names), having(batch, names)
            part = part if len(names) == len(part.views) else part.observe(names)
            found = (
                importance_bounds(self.evaluation, part, self.k, noise)
                if self.diagnostics
                else {"iwae": _log_likelihoods(self.evaluation, part, self.k, noise)}
            )
            self.made[key] = {
                what: torch.full((len(batch),), math.nan).to(values).index_put((rows.nonzero().flatten(),), values)
                for what, values in found.items()
            }
        return self.made[key]


def importance_bounds(evaluation: Evaluation, batch: Batch, k: int, noise: torch.Generator) -> dict[str, Tensor]:
    """The bound `iwae` of each sample with k draws and, where the model gives its weights, their statistics, (B,) each."""
    if not isinstance(evaluation.model, ImportanceWeights):
        return {"iwae": _log_likelihoods(evaluation, batch, k, noise)}
    found = defaultdict[str, list[Tensor]](list)
    for rows in _parts(evaluation, len(batch), k):
        for name, values in weight_statistics(evaluation.model.log_weights(batch[rows], k, noise)).items():
            found[name].append(values)
    return {name: torch.cat(parts) for name, parts in found.items()}


def weight_statistics(log_weights: Tensor) -> dict[str, Tensor]:
    """What log-weights (K, B) of importance samples, in nats, say of each sample: `iwae` and its diagnostics, (B,) each.

    See `Likelihood`; here `sampling_error` is the variance of the estimate, (1 / effective samples - 1 / K) K / (K - 1) nats².
    """
    k = len(log_weights)
    total = log_weights.logsumexp(0)
    effective = (2 * total - (2 * log_weights).logsumexp(0)).exp().clamp(1.0, float(k))
    return {
        "iwae": total - math.log(k),
        "effective_samples": effective,
        "weight_variance": log_weights.var(0),
        _ERROR: (1 / effective - 1 / k) * k / (k - 1),
    }


def _sampling_error(variances: np.ndarray, recorder: Recorder) -> Score:
    """The standard error of a mean of independent estimates, from their variances."""
    value = float(np.sqrt(variances.sum())) / max(1, len(variances))
    fields = {"unit": "nats", "n": len(variances), "higher_is_better": False, "bounds": (0.0, None)}
    if not math.isfinite(value):
        return recorder.score(_ERROR, None, **fields, note="some weights are not finite")
    return recorder.score(_ERROR, value, **fields)


def _densities(evaluation: Evaluation, codes: Codes, view: Tensor, target: str, lengths: Tensor | None) -> dict[str, Tensor]:
    """Log-densities (m, B) of views (B, ...) given their own codes (m, B, D), and given those of another sample, if any."""
    own, others, count = list[Tensor](), list[Tensor](), len(view)
    for rows in torch.split(torch.arange(count, device=view.device), codes_at_once(evaluation.device)) if count else ():
        made = evaluation.model.decode(_of_samples(codes, rows), (target,))[target]
        for found, chosen in ((own, rows), (others, (rows + 1) % count)):
            counted = within_lengths(made, None if lengths is None else lengths[chosen])
            found.append(counted.log_prob(view[chosen]))
    if not own:
        return {}
    return {"conditional": torch.cat(own, -1), **({_UNPAIRED: torch.cat(others, -1)} if count > 1 else {})}


def _of_samples(codes: Codes, rows: Tensor) -> Codes:
    """The codes (m, B, D) of some samples."""
    return Codes(codes.shared[:, rows], {name: code[:, rows] for name, code in codes.private.items()})


def _all_present(batch: Batch, names: _Names) -> Tensor:
    return torch.stack([batch.mask(name) for name in names]).all(0)


def _log_likelihoods(evaluation: Evaluation, batch: Batch, k: int, noise: torch.Generator) -> Tensor:
    """The model's bound with k samples, (B,) nats, for as many samples at a time as are decoded fast."""
    parts = _parts(evaluation, len(batch), k)
    found = [evaluation.model.log_likelihood(batch[part], k, noise) for part in parts]
    return torch.cat(found) if found else torch.empty(0)


def _parts(evaluation: Evaluation, size: int, k: int) -> list[Tensor]:
    """The positions of a batch in parts whose k codes are decoded at once; of many codes, the model decodes some at a time."""
    rows = codes_at_once(evaluation.device)
    step = rows // k if 2 * k <= rows else max(1, min(rows, _WEIGHTS // k))
    return [torch.arange(start, min(start + step, size)) for start in range(0, size, step)]


def _controls(found: Mapping[_Key, np.ndarray], key: _Key) -> dict[str, float]:
    """The controls of a score, from the same samples; those that are not finite are left out."""
    name, source, target = key
    compared: dict[str, float] = {}
    if name == "conditional" and (_UNPAIRED, source, target) in found:
        compared["unpaired"] = float(found[_UNPAIRED, source, target].mean())
    if name == _DIFFERENCE and ("iwae", (), target) in found:
        compared["marginal"] = float(found["iwae", (), target].mean())
    alone = [values for (other, _, one), values in found.items() if other == "iwae" and len(one) == 1]
    if key == ("iwae", (), ()) and alone and all(len(values) == len(found[key]) for values in alone):
        compared["modalities apart"] = float(sum(values.mean() for values in alone))
    return {control: value for control, value in compared.items() if math.isfinite(value)}
