"""The measure of the gap: do posteriors, taken over all samples, cover the prior and each other?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, final

import numpy as np

from molyneux.core import Cell, Decodes, Encodes, Gallery, Score
from molyneux.measure.evaluation import Evaluation, Measure, Measurement
from molyneux.measure.intervals import statistic_interval
from molyneux.measure.latents.codes import CodeTable, code_tables, prior_samples
from molyneux.measure.latents.distances import active_units, gaussian_kl, marginal_kl, sliced_wasserstein
from molyneux.measure.recorder import Recorder


@final
class PosteriorGap(Measure):
    """How far aggregated posteriors are from the prior and from each other.

    A code drawn from the prior, or from the posterior of one sense, is decoded well only where decoding was trained: where the
    posterior of all senses puts its mass. With `about` naming the source (what is observed) and the code:

    - `posterior_gap.rate` nats: mean of log q(z | x) - log p(z), what a code tells of its sample.
    - `posterior_gap.marginal_kl` nats: divergence of each dimension's matched normal from the prior's, summed;
      `posterior_gap.gaussian_kl`: the same with full covariances. Both see first and second moments only.
    - `posterior_gap.sliced_wasserstein`: distance from the prior and, with `reference`, from the posterior of all
      modalities.
    - `posterior_gap.active_units`: dimensions that say anything.

    Control of every distance: `same distribution`, the same number for as many independent draws of the prior. The sliced
    distance has no interval, because a bootstrap adds the very noise that this control shows. Rate and active units have no
    control.

    The gallery lists each dimension.

    Args:
        projections: directions of the sliced distance.
    """

    name: ClassVar[str] = "posterior_gap"
    needs: ClassVar[tuple[type, ...]] = (Encodes, Decodes)

    def __init__(self, *, projections: int = 128) -> None:
        self.projections = projections

    def measure(self, evaluation: Evaluation) -> Measurement:
        """The gap of every modality alone and of all together."""
        tables = code_tables(evaluation)
        prior, other = (prior_samples(evaluation, evaluation.size, stream) for stream in ("first", "second"))
        everything = "+".join(evaluation.spec.names)
        scores: list[Score] = []
        for source, table in tables.items():
            for code in table.samples:
                rng = evaluation.rng(self.name, source, code)
                recorder = Recorder(self.name, rng, {"source": source, "code": code}, evaluation.provenance())
                references: dict[str, Mapping[str, np.ndarray]] = {"prior": prior}
                if source != everything and code in tables.get(everything, table).samples:
                    references[everything] = tables.get(everything, table).samples
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
        return Measurement(tuple(scores), (_dimensions(tables, prior),))


def _moments(table: CodeTable, code: str, prior: np.ndarray, other: np.ndarray, recorder: Recorder) -> list[Score]:
    samples = table.samples[code]
    n, dimensions = samples.shape
    statistics: dict[str, Callable[[np.ndarray], float]] = {
        "marginal_kl": lambda rows: float(marginal_kl(rows, prior).sum()),
        "gaussian_kl": lambda rows: gaussian_kl(rows, prior),
    }
    rates = [table.rates[code]] if code in table.rates else []
    scores = [recorder.mean("rate", values, unit="nats", higher_is_better=None) for values in rates]
    for name, statistic in statistics.items():
        value = statistic(samples)
        finite = bool(np.isfinite(value))
        scores.append(
            recorder.score(
                name,
                value if finite else None,
                interval=statistic_interval(statistic, samples, recorder.rng) if finite else None,
                n=n,
                unit="nats",
                higher_is_better=False,
                bounds=(0.0, None),
                controls={"same distribution": statistic(other[:n])},
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


def _dimensions(tables: Mapping[str, CodeTable], prior: Mapping[str, np.ndarray]) -> Gallery:
    rows = []
    for code in dict.fromkeys(code for table in tables.values() for code in table.samples):
        for dimension in range(prior[code].shape[1]):
            told = [_summary(table, code, dimension, prior) for table in tables.values()]
            rows.append((Cell(text=f"{code} {dimension + 1}"), *(Cell(text=text) for text in told)))
    return Gallery(
        name="posterior_gap",
        title="Codes, dimension by dimension",
        note="Mean and standard deviation of the codes of all samples given each source, and their divergence from the prior.",
        columns=("dimension", *tables),
        rows=tuple(rows),
    )


def _summary(table: CodeTable, code: str, dimension: int, prior: Mapping[str, np.ndarray]) -> str:
    if code not in table.samples:
        return ""
    values = table.samples[code][:, dimension]
    divergence = float(marginal_kl(values[:, None], prior[code][:, dimension, None])[0])
    return f"{values.mean():+.2f} ± {values.std():.2f}, {divergence:.2f} nats"
