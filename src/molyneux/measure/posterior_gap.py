"""The gap between posterior and prior: do the codes of all samples together cover the prior, and each other?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, final

import numpy as np

from molyneux.core import Cell, Decodes, Encodes, Gallery, Score, SpecError, about_names
from molyneux.measure.codes import CodeTable, named
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.measures import Measure, Measurement, not_applicable
from molyneux.measure.scores import Recorder, grouped_interval, statistic_interval

_FEW = "spreads of codes need at least two samples that have them"

_ACTIVE = 0.01
"""Variance of the posterior mean above which a dimension is active."""


@final
class PosteriorGap(Measure):
    """How far aggregated posteriors are from the prior and from each other.

    A code drawn from the prior, or from the posterior of one modality, is decoded well only where the decoder was trained: where
    the posterior of all modalities has its mass. With `about` naming the source (what is observed) and the code:

    - `posterior_gap.rate` nats: mean of log q(z | x) - log p(z), the information that the code holds about its sample.
    - `posterior_gap.marginal_kl` nats: Kullback-Leibler divergence of a normal distribution fitted to each dimension from that of
      the prior, summed; `posterior_gap.gaussian_kl`: the same with full covariances. Both depend on means and covariances only.
    - `posterior_gap.sliced_wasserstein`: distance from the prior and, with `reference`, from the posterior of all
      modalities.
    - `posterior_gap.active_units`: dimensions whose posterior mean varies by more than 0.01.

    Control of every distance: `same distribution`, the same number for as many independent draws of the prior. The sliced
    distance has no interval, because a bootstrap adds the very noise that this control shows; those of the divergences are the
    jackknife's. Rate and active units have no control. The gallery lists every dimension.

    Args:
        projections: directions of the sliced distance.
    """

    name: ClassVar[str] = "posterior_gap"
    needs: ClassVar[tuple[type, ...]] = (Encodes, Decodes)

    def __init__(self, *, projections: int = 128) -> None:
        self.projections = projections

    def measure(self, evaluation: Evaluation) -> Measurement:
        """The gap of every modality alone and of all together."""
        tables = evaluation.tables()
        prior, other = (_prior_samples(evaluation, stream) for stream in ("first", "second"))
        everything = evaluation.available
        known = {observed: table for observed, table in tables.items() if len(table) > 1}
        scores: list[Score] = []
        for observed, table in tables.items():
            if observed not in known:
                what = {"source": about_names(observed)}
                scores.append(not_applicable(self, _FEW, origin=evaluation.provenance(), about=what))
                continue
            for code in table.samples:
                rng = evaluation.rng(self.name, *observed, code)
                about = {"source": about_names(observed), "code": code}
                recorder = Recorder(self.name, rng, about, evaluation.provenance())
                references: dict[str | tuple[str, ...], Mapping[str, np.ndarray]] = {"prior": prior}
                if observed != everything and code in known.get(everything, table).samples:
                    references[about_names(everything)] = known.get(everything, table).samples
                floor = sliced_wasserstein(other[code], prior[code], rng, projections=self.projections)
                scores += _moments(table, code, prior[code], other[code], recorder)
                scores += [
                    recorder.on(reference=name).score(
                        "sliced_wasserstein",
                        sliced_wasserstein(table.samples[code], clouds[code], rng, projections=self.projections),
                        n=len(table.samples[code]),
                        higher_is_better=False,
                        bounds=(0.0, None),
                        controls={"same distribution": floor},
                    )
                    for name, clouds in references.items()
                ]
        return Measurement(tuple(scores), (_dimensions(known, prior),) if known else ())


def _moments(table: CodeTable, code: str, prior: np.ndarray, other: np.ndarray, recorder: Recorder) -> list[Score]:
    samples = table.samples[code]
    n, dimensions = samples.shape
    statistics: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
        "marginal_kl": lambda rows, draws: float(marginal_kl(rows, draws).sum()),
        "gaussian_kl": gaussian_kl,
    }
    rates = [table.rates[code]] if code in table.rates else []
    scores = [recorder.mean("rate", values, unit="nats", higher_is_better=None) for values in rates]
    for name, statistic in statistics.items():
        value = statistic(samples, prior)
        finite = bool(np.isfinite(value))
        scores.append(
            recorder.score(
                name,
                value if finite else None,
                interval=grouped_interval(statistic, samples, prior, bounds=(0.0, None)) if finite else None,
                n=n,
                unit="nats",
                higher_is_better=False,
                bounds=(0.0, None),
                controls={"same distribution": statistic(other[:n], prior)},
                note="" if finite else "the codes fill no space: some dimensions are constant or depend on others",
            )
        )
    active = recorder.score(
        "active_units",
        float(active_units(table.means[code])),
        interval=statistic_interval(lambda rows: float(active_units(rows)), table.means[code], recorder.rng),
        n=n,
        bounds=(0.0, float(dimensions)),
        higher_is_better=None,
    )
    return [*scores, active]


def _prior_samples(evaluation: Evaluation, stream: str) -> dict[str, np.ndarray]:
    """As many draws of the prior as there are samples, by code, (N, D)."""
    codes = evaluation.model.prior(evaluation.size).rsample(1, evaluation.generator("prior", stream))[0]
    return {name: values.double().cpu().numpy() for name, values in named(codes).items()}


def _dimensions(tables: Mapping[tuple[str, ...], CodeTable], prior: Mapping[str, np.ndarray]) -> Gallery:
    rows = []
    for code in dict.fromkeys(code for table in tables.values() for code in table.samples):
        for dimension in range(prior[code].shape[1]):
            cells = [Cell(text=_summary(table, code, dimension, prior)) for table in tables.values()]
            rows.append((Cell(text=f"{code} {dimension + 1}"), *cells))
    return Gallery(
        name="posterior_gap",
        title="Codes, dimension by dimension",
        note="Mean and standard deviation of the codes of all samples given each source, and their divergence from the prior.",
        columns=("dimension", *(" and ".join(observed) for observed in tables)),
        rows=tuple(rows),
    )


def _summary(table: CodeTable, code: str, dimension: int, prior: Mapping[str, np.ndarray]) -> str:
    if code not in table.samples:
        return ""
    values = table.samples[code][:, dimension]
    divergence = float(marginal_kl(values[:, None], prior[code][:, dimension, None])[0])
    return f"{values.mean():+.2f} ± {values.std():.2f}, {divergence:.2f} nats"


def marginal_kl(codes: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Divergence in nats of normal distributions matched to each dimension, KL(codes || prior), (D,).

    Args:
        codes: (N, D) draws.
        prior: (K, D) draws.
    """
    _check(codes, prior)
    variance, prior_variance = codes.var(0), prior.var(0)
    shift = (codes.mean(0) - prior.mean(0)) ** 2
    ratio = np.maximum(variance, np.finfo(np.float64).tiny) / prior_variance
    return np.asarray(0.5 * (ratio - 1 - np.log(ratio) + shift / prior_variance))


def gaussian_kl(codes: np.ndarray, prior: np.ndarray) -> float:
    """Divergence in nats of normal distributions matched with full covariances; infinite where codes are degenerate."""
    _check(codes, prior)
    dimensions = codes.shape[1]
    covariance, prior_covariance = (np.cov(draws, rowvar=False).reshape(dimensions, -1) for draws in (codes, prior))
    shift = codes.mean(0) - prior.mean(0)
    sign, log_determinant = np.linalg.slogdet(covariance)
    if sign <= 0:
        return float("inf")
    spread = float(np.trace(np.linalg.solve(prior_covariance, covariance)))
    distance = float(shift @ np.linalg.solve(prior_covariance, shift))
    log_ratio = float(np.linalg.slogdet(prior_covariance)[1]) - float(log_determinant)
    return 0.5 * (spread - float(dimensions) + distance + log_ratio)


def sliced_wasserstein(first: np.ndarray, second: np.ndarray, rng: np.random.Generator, *, projections: int = 128) -> float:
    """Sliced 2-Wasserstein distance (Bonneel et al. 2015): the root of the mean squared distance over random directions.

    In the units of the codes. Two samples of one distribution do not give 0 but a floor that falls with their size. Of the
    larger sample only as many rows as the smaller one has are used.

    Args:
        first: (N, D) draws.
        second: (K, D) draws.
        rng: the stream of directions.
        projections: number of directions.
    """
    _check(first, second)
    size = min(len(first), len(second))
    directions = rng.normal(size=(first.shape[1], projections))
    directions /= np.linalg.norm(directions, axis=0)
    gap = np.sort(first[:size] @ directions, axis=0) - np.sort(second[:size] @ directions, axis=0)
    return float(np.sqrt(np.mean(gap**2)))


def active_units(means: np.ndarray) -> int:
    """Number of dimensions whose posterior mean varies over samples by more than 0.01.

    Burda, Grosse and Salakhutdinov, "Importance weighted autoencoders" (ICLR 2016), section 5.2.
    """
    return int(np.count_nonzero(means.var(0) > _ACTIVE))


def _check(first: np.ndarray, second: np.ndarray) -> None:
    if first.ndim != 2 or second.ndim != 2 or first.shape[1] != second.shape[1] or min(len(first), len(second)) < 2:
        raise SpecError(f"expected two clouds (N, D) of at least 2 codes, got {first.shape} and {second.shape}")
