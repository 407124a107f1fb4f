"""Use of codes: rate, distortion, active units, sparsity and total correlation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import ClassVar, final

import numpy as np

from molyneux.core import ConfigError, DataError, Decodes, Encodes, Score, about_names, views
from molyneux.measure.code_controls import UNTRAINED, untrained_codes
from molyneux.measure.codes import CodeTable
from molyneux.measure.disentanglement.unsupervised import gaussian_total_correlation, hoyer
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import within_lengths
from molyneux.measure.measures import Measure, Measurement, not_applicable
from molyneux.measure.posterior_gap import active_units
from molyneux.measure.reconstruction import SymbolFrequencies
from molyneux.measure.scores import Recorder, grouped_interval, statistic_interval

_FEW = "spreads of codes need at least two samples that have them"


@final
class CodeUse(Measure):
    """Statistics of codes that need no factors, as tables of text VAEs have them.

    With `about` naming source and code, of posterior means given each modality alone and all together:

    - `code_use.rate` nats: mean of log q(z | x) - log p(z) of one posterior sample each, an unbiased estimate of the
      divergence from the prior of the model ("KL"). None for models without a prior.
    - `code_use.active_units`: dimensions whose mean varies by more than 0.01 over samples (Burda et al., 2016).
    - `code_use.hoyer`: mean sparsity of means divided by their standard deviations, not centred, as the text study has it;
      with `variant: centred`, of centred ones, which a dimension with a mean other than 0 cannot dominate.
      Control: `normal codes`, as many independent standard normal ones.
    - `code_use.total_correlation` nats, of a normal with the covariance of the means. Control: `independent dimensions`, the same
      codes with every dimension permuted by itself.

    With source and target:

    - `code_use.distortion` nats: mean of -log p(x | z), unscaled, z one posterior sample ("Rec"); rate and distortion add up to
      the negative evidence lower bound. Control for symbols: `constant`, the frequencies of symbols at each position of the
      samples themselves: no distribution that depends on positions alone does better.

    Args:
        samples: at most so many samples; null takes all that are measured on.

    Raises:
        ConfigError: fewer than two samples.
    """

    name: ClassVar[str] = "code_use"
    needs: ClassVar[tuple[type, ...]] = (Encodes,)

    def __init__(self, *, samples: int | None = None) -> None:
        if samples is not None and samples < 2:
            raise ConfigError(f"samples: expected at least 2, got {samples}")
        self.samples = samples

    def measure(self, evaluation: Evaluation) -> Measurement:
        """The statistics of every code, and the distortion of every modality."""
        scores: list[Score] = []
        for observed, table in evaluation.tables(self.samples).items():
            if len(table) < 2:
                what = {"source": about_names(observed)}
                scores.append(not_applicable(self, _FEW, origin=evaluation.provenance(), about=what))
                continue
            untrained = untrained_codes(evaluation, observed, table)
            for code in table.means:
                about = {"source": about_names(observed), "code": code}
                recorder = Recorder(self.name, evaluation.rng(self.name, *observed, code), about, evaluation.provenance())
                scores += _scores(table, code, recorder, untrained.get(code))
        if isinstance(evaluation.model, Decodes):
            scores += self._distortions(evaluation)
        return Measurement(tuple(scores))

    def _distortions(self, evaluation: Evaluation) -> Iterator[Score]:
        """The distortion of each modality given all modalities."""
        names, piles = evaluation.available, defaultdict[str, list[np.ndarray]](list)
        frequencies = {name: SymbolFrequencies(evaluation.spec.modality(name)) for name in names}
        for start, batch in evaluation.batches(self.samples):
            found = evaluation.generated_from(names, start, batch)
            if found is None:
                continue
            part, codes = found
            made = evaluation.model.decode(codes, names)
            for name in names:
                view = views.to_model(evaluation.spec.modality(name), part.views[name])
                lengths = part.lengths.get(name)
                piles[name].append(-within_lengths(made[name], lengths).log_prob(view).double().cpu().numpy())
                frequencies[name].add(part.views[name].cpu(), None if lengths is None else lengths.cpu())
        for name, parts in piles.items():
            about = {"source": about_names(names), "target": name}
            recorder = Recorder(self.name, evaluation.rng(self.name, name), about, evaluation.provenance())
            known = frequencies[name].log_likelihood
            controls = {} if known is None else {"constant": -known}
            bounds = (0.0 if evaluation.spec.modality(name).symbols else None, None)  # densities have no highest value
            yield recorder.mean(
                "distortion", np.concatenate(parts), unit="nats", bounds=bounds, higher_is_better=False, controls=controls
            )


def _scores(table: CodeTable, code: str, recorder: Recorder, untrained: np.ndarray | None) -> Iterator[Score]:
    """The statistics of a code, and what the same code has before training."""
    before = {} if untrained is None else {UNTRAINED: untrained}
    means, dimensions = table.means[code], float(table.means[code].shape[1])
    if code in table.rates:
        yield recorder.mean("rate", table.rates[code], unit="nats", bounds=(0.0, None), higher_is_better=None)
    yield recorder.score(
        "active_units",
        float(active_units(means)),
        interval=statistic_interval(lambda rows: float(active_units(rows)), means, recorder.rng),
        n=len(means),
        bounds=(0.0, dimensions),
        controls={name: float(active_units(codes)) for name, codes in before.items()},
        higher_is_better=None,
    )
    for part, centred in ((recorder, False), (recorder.on(variant="centred"), True)):
        yield _sparsity(means, part, before, centred=centred)
    correlation = gaussian_total_correlation(means)
    finite = bool(np.isfinite(correlation))
    yield recorder.score(
        "total_correlation",
        correlation if finite else None,
        interval=grouped_interval(gaussian_total_correlation, means, bounds=(0.0, None)) if finite else None,
        n=len(means),
        unit="nats",
        bounds=(0.0, None),
        controls={
            "independent dimensions": gaussian_total_correlation(recorder.rng.permuted(means, axis=0)),
            **_known(gaussian_total_correlation, before),
        },
        higher_is_better=False,
        note="" if finite else "some dimensions depend on others",
    )


def _known(statistic: Callable[[np.ndarray], float], codes: Mapping[str, np.ndarray]) -> dict[str, float]:
    """A statistic of other codes, where it has a finite value."""
    found = {name: _or_nan(statistic, values) for name, values in codes.items()}
    return {name: value for name, value in found.items() if np.isfinite(value)}


def _or_nan(statistic: Callable[[np.ndarray], float], rows: np.ndarray) -> float:
    """A statistic; NaN where it has no value, as where all rows that made a dimension vary were left out by chance."""
    try:
        return statistic(rows)
    except DataError:
        return float("nan")


def _sparsity(means: np.ndarray, recorder: Recorder, before: Mapping[str, np.ndarray], *, centred: bool) -> Score:
    fields = {"n": len(means), "bounds": (0.0, 1.0), "higher_is_better": None}
    statistic = partial(hoyer, centred=centred)
    try:
        value = statistic(means)
    except DataError as error:
        return recorder.score("hoyer", None, **fields, note=str(error))
    controls = {"normal codes": statistic(recorder.rng.standard_normal(means.shape)), **_known(statistic, before)}
    interval = statistic_interval(lambda rows: _or_nan(statistic, rows), means, recorder.rng)
    return recorder.score("hoyer", value, interval=interval, controls=controls, **fields)
