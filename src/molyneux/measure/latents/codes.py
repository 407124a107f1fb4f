"""The codes of test samples as arrays, and the words for where they come from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from molyneux.core import Codes, Decodes, NotApplicableError, Posterior
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import having
from molyneux.measure.latents.finite import require_finite

_WORDS = {"mean": "codes", "sample": "samples of the codes"}
"""By kind, what has to be finite; rates may be infinite, which their scores say."""


@dataclass(frozen=True)
class CodeTable:
    """Codes of the samples in which all observed modalities are present.

    Args:
        means: by code (`shared`, `private.image`) the posterior means, (N, D) float64.
        samples: one posterior sample each, (N, D).
        rates: log q(z | x) - log p(z) of that sample in nats, (N,): its mean estimates the divergence from the prior.
            Empty where the model has no prior, or its posterior no density.
        factors: (N, F) true factor codes, -1 = absent; (N, 0) where there are none.
    """

    means: Mapping[str, np.ndarray]
    samples: Mapping[str, np.ndarray]
    rates: Mapping[str, np.ndarray]
    factors: np.ndarray


def observed_sets(evaluation: Evaluation) -> list[tuple[str, ...]]:
    """Each modality alone, then all together."""
    names = evaluation.spec.names
    return list(dict.fromkeys([*((name,) for name in names), names]))


def code_tables(evaluation: Evaluation, samples: int | None = None) -> dict[str, CodeTable]:
    """The codes given each modality alone and given all together, by source (`image+text`), where any sample has them.

    Raises:
        NotApplicableError: no sample has any modality. DataError: see `collect_codes`.
    """
    tables = {}
    for observed in observed_sets(evaluation):
        with suppress(NotApplicableError):
            tables["+".join(observed)] = collect_codes(evaluation, observed, samples)
    if not tables:
        raise NotApplicableError("no sample has any modality: measure on another source")
    return tables


def collect_codes(evaluation: Evaluation, observed: tuple[str, ...], samples: int | None = None) -> CodeTable:
    """Encode the first `samples` samples (all by default), observing `observed`.

    Private codes of what is not observed follow the prior and are left out.

    Raises:
        NotApplicableError: no sample has all of them. DataError: a code is not finite; names code, row and dimension.
    """
    piles: dict[tuple[str, str], list[np.ndarray]] = defaultdict(list)
    factors = []
    for start, batch in evaluation.batches(samples):
        part = having(batch, observed)
        if not len(part):
            continue
        posterior = evaluation.model.encode(part, observed)
        codes = posterior.rsample(1, evaluation.generator("codes", *observed, start))[0]
        prior = _prior(evaluation, len(part))
        for (kind, name), values in _record(posterior, codes, prior, observed).items():
            piles[kind, name].append(values.double().cpu().numpy())
        factors.append(np.empty((len(part), 0), np.int64) if part.factors is None else part.factors.cpu().numpy())
    if not factors:
        raise NotApplicableError(f"no sample has {' and '.join(observed)}: measure on another source")
    tables: dict[str, dict[str, np.ndarray]] = {"mean": {}, "sample": {}, "rate": {}}
    for (kind, name), parts in piles.items():
        tables[kind][name] = np.concatenate(parts)
        if kind in _WORDS:
            require_finite(f"{_WORDS[kind]} {name} given {'+'.join(observed)}", tables[kind][name])
    return CodeTable(tables["mean"], tables["sample"], tables["rate"], np.concatenate(factors))


def prior_samples(evaluation: Evaluation, size: int, stream: str) -> dict[str, np.ndarray]:
    """Draws of the prior by code, (size, D)."""
    codes: Codes = evaluation.model.prior(size).rsample(1, evaluation.generator("prior", stream))[0]
    return {name: values.double().cpu().numpy() for name, values in _named(codes).items()}


def _prior(evaluation: Evaluation, size: int) -> Posterior | None:
    """The model's prior; None where it has none."""
    if isinstance(evaluation.model, Decodes):
        with suppress(NotApplicableError):
            return evaluation.model.prior(size)
    return None


def _record(
    posterior: Posterior, codes: Codes, prior: Posterior | None, observed: tuple[str, ...]
) -> dict[tuple[str, str], Tensor]:
    codes = Codes(codes.shared, {name: code for name, code in codes.private.items() if name in observed})
    samples = _named(codes)
    found = {("mean", name): values for name, values in _named(posterior.mean).items() if name in samples}
    found |= {("sample", name): values for name, values in samples.items()}
    if prior is None:
        return found
    with suppress(NotApplicableError):  # codes without noise have no density
        own, against = posterior.log_probs(codes), prior.log_probs(codes)
        found |= {("rate", name): value - against[name] for name, value in own.items()}
    return found


def _named(codes: Codes) -> dict[str, Tensor]:
    return {"shared": codes.shared, **{f"private.{name}": code for name, code in codes.private.items()}}
