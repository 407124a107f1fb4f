"""Ways to choose with a model that decodes: by the likelihood of what there is to choose from, and by drawing it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import cast

import numpy as np
import torch
from torch import Tensor
from torch.distributions import Distribution

from molyneux.core import Batch, Codes, views
from molyneux.measure.code_arrays import require_finite
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import codes_at_once, generated_batch, within_lengths


def log_ratios(
    evaluation: Evaluation,
    given: np.ndarray,
    choices: np.ndarray,
    *,
    source: str,
    target: str,
    draws: int,
    generator: torch.Generator,
    relative: bool = True,
) -> np.ndarray:
    """How much more likely each thing to choose from is given a thing in another sense, (n, m) nats.

    `log 1/K sum_k p(x_j | z_k)`, z_k drawn from the posterior of the thing i that is given, and private codes of the target from
    the prior; with `relative`, less the same of K codes of the prior, which all things share: an estimate of
    `log p(x_j | given i) - log p(x_j)`.

    Args:
        evaluation: has the model, which encodes and decodes, and the samples.
        given: (n,) numbers of the samples that are given in the modality `source`.
        choices: (m,) of those to choose from in the modality `target`.
        source: modality that is encoded.
        target: modality whose likelihood is compared.
        draws: K.
        generator: draws the codes.
        relative: whether the likelihood given the prior is taken away.

    Raises:
        NotApplicableError: the model does not decode the target, or has no prior. DataError: a log-density is not finite.
    """
    asked = evaluation.source.batch(choices).to(evaluation.device)
    modality = evaluation.spec.modality(target)
    view, lengths = views.to_model(modality, asked.views[target]), asked.lengths.get(target)
    least: Tensor | float = 0.0
    if relative:
        prior = evaluation.model.prior(1).rsample(draws, generator)
        least = _mean_density(evaluation, prior, target, view, lengths)[0]
    found = [
        _mean_density(evaluation, part, target, view, lengths) - least
        for _, codes in _drawn(evaluation, given, source, draws, generator)
        for part in _samples_of(codes, max(1, codes_at_once(evaluation.device) // draws))
    ]
    ratios = torch.cat(found).cpu().numpy()
    require_finite(f"log-densities of {target} given {source}", ratios)
    return np.asarray(ratios)


def drawn_codes(
    evaluation: Evaluation, given: np.ndarray, *, source: str, target: str, draws: int, generator: torch.Generator
) -> np.ndarray:
    """The shared codes (n, D) of things as they are drawn in another sense: means over drawings.

    A thing is encoded in the modality `source`, K views of the modality `target` are generated from samples of its posterior,
    with private codes of the prior, and the means of their posteriors are averaged.

    Args:
        evaluation: has the model, which encodes and decodes, and the samples.
        given: (n,) numbers of the samples.
        source: modality that is encoded.
        target: modality that is drawn, and encoded again.
        draws: K.
        generator: draws the codes.

    Raises:
        NotApplicableError: the model does not decode the target. DataError: a code is not finite.
    """
    together, found = codes_at_once(evaluation.device), list[Tensor]()
    for batch, codes in _drawn(evaluation, given, source, draws, generator):
        flat, made = codes.flatten(), list[Tensor]()
        for start in range(0, len(flat.shared), together):
            part = flat[start : start + together]
            drawn = generated_batch(evaluation.model, part, evaluation.spec, target, lengths=target in batch.lengths)
            made.append(evaluation.model.encode(drawn.to(evaluation.device), (target,)).mean.shared.double())
        found.append(torch.cat(made).reshape(draws, len(batch), -1).mean(0).cpu())
    codes_of = torch.cat(found).numpy()
    require_finite(f"codes of {target} drawn from {source}", codes_of)
    return np.asarray(codes_of)


def _drawn(
    evaluation: Evaluation, given: np.ndarray, source: str, draws: int, generator: torch.Generator
) -> Iterator[tuple[Batch, Codes]]:
    """Some samples at a time, and codes (K, B, D) of their posteriors given the modality `source`."""
    for start in range(0, len(given), evaluation.batch_size):
        batch = evaluation.source.batch(given[start : start + evaluation.batch_size]).to(evaluation.device)
        yield batch, evaluation.model.encode(batch, (source,)).rsample(draws, generator)


def _samples_of(codes: Codes, size: int) -> Iterator[Codes]:
    """The codes (K, B, D) of `size` samples at a time."""
    for start in range(0, codes.shared.shape[1], size):
        part = slice(start, start + size)
        yield Codes(codes.shared[:, part], {name: code[:, part] for name, code in codes.private.items()})


def _mean_density(evaluation: Evaluation, codes: Codes, target: str, view: Tensor, lengths: Tensor | None) -> Tensor:
    """The logarithm of the mean density over K of each view (m, ...) given codes (K, B, D), (B, m) nats in double precision."""
    draws, size = codes.shared.shape[:2]
    flat, together, found = codes.flatten(), codes_at_once(evaluation.device), list[Tensor]()
    for start in range(0, draws * size, together):
        part = flat[start : start + together]
        found.append(_densities(evaluation.model.decode(part, (target,))[target], len(part.shared), view, lengths))
    return torch.cat(found).reshape(draws, size, len(view)).logsumexp(0) - math.log(draws)


def _densities(made: Distribution, count: int, view: Tensor, lengths: Tensor | None) -> Tensor:
    """Log-densities (B, m) of each view (m, ...) under each of B distributions, nats in double precision."""
    at_once = getattr(made, "log_prob_of_each", None)
    if at_once is not None and lengths is None:
        return cast(Tensor, at_once(view))
    columns = list[Tensor]()
    for row in range(len(view)):  # a distribution of B codes takes B views
        counted = within_lengths(made, None if lengths is None else lengths[row].expand(count))
        columns.append(counted.log_prob(view[row].expand(count, *view.shape[1:])).double())
    return torch.stack(columns, -1)
