"""All metrics of disentanglement by name, and their scores with chance level, control and interval."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from molyneux.core import ConfigError, NotApplicableError, Score, nearest, seeds
from molyneux.core.intervals import CONFIDENCE, Interval
from molyneux.measure.disentanglement import dci, explicitness, fixed_factor, irs, mig, sap
from molyneux.measure.disentanglement.metric import Metric, MetricResult, Variant
from molyneux.measure.disentanglement.table import DEAD, CheckedCodes, tabulate
from molyneux.measure.scores import Recorder

CHANCE_BELOW_ZERO = (-1.0, 1.0)


_ALL = (
    Metric(
        "dci",
        "Each dimension predicts one factor (D), each factor needs one dimension (C), forests predict it (I).",
        {"published": dci.published, "paper": dci.paper, "dlib": dci.dlib, "recommended": dci.recommended},
        parts=dci.NAMES,
        trains=True,
    ),
    Metric(
        "explicitness",
        "A linear classifier predicts every value from the whole code.",
        {
            "published": explicitness.published,
            "paper": explicitness.paper,
            "dlib": explicitness.dlib,
            "recommended": explicitness.recommended,
        },
        bounds=CHANCE_BELOW_ZERO,
    ),
    Metric(
        "higgins",
        "Which factor two samples share can be predicted from how much each dimension differs.",
        {
            "published": fixed_factor.higgins_published,
            "dlib": fixed_factor.higgins_dlib,
            "recommended": fixed_factor.higgins_recommended,
        },
        bounds=CHANCE_BELOW_ZERO,
    ),
    Metric(
        "irs",
        "A dimension does not change while all factors but one change.",
        {"paper": irs.paper, "dlib": irs.dlib, "recommended": irs.recommended},
        bounds=CHANCE_BELOW_ZERO,
    ),
    Metric(
        "kim_mnih",
        "Which factor is fixed can be predicted from the dimension that varies least.",
        {
            "published": fixed_factor.kim_mnih_published,
            "paper": fixed_factor.kim_mnih_paper,
            "dlib": fixed_factor.kim_mnih_dlib,
            "recommended": fixed_factor.kim_mnih_recommended,
        },
        bounds=CHANCE_BELOW_ZERO,
    ),
    Metric(
        "mig",
        "One dimension has more information about a factor than any other.",
        {"published": mig.mig_published, "dlib": mig.mig_dlib, "recommended": mig.mig_recommended},
    ),
    Metric(
        "modularity",
        "Each dimension has information about one factor only.",
        {"published": mig.modularity_published, "dlib": mig.modularity_dlib, "recommended": mig.modularity_recommended},
    ),
    Metric(
        "sap",
        "One dimension alone predicts a factor better than any other alone.",
        {"published": sap.published, "dlib": sap.dlib, "recommended": sap.recommended},
    ),
)

METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}


def find_metric(name: str) -> Metric:
    """A metric by name; raises ConfigError where there is none."""
    if not isinstance(name, str) or name not in METRICS:
        raise ConfigError(f"unknown metric {name!r}; {nearest(str(name), METRICS)}")
    return METRICS[name]


def find_metrics(names: Sequence[str] | None) -> list[Metric]:
    """Metrics by name, all where none are named; raises ConfigError where there is none of a name."""
    if isinstance(names, str):
        raise ConfigError(f"metrics: expected a list of names, got the text {names!r}: write [{names!r}]")
    return [find_metric(name) for name in (METRICS if names is None else names)]


def check_variants(variants: Sequence[Variant]) -> tuple[Variant, ...]:
    """The variants; raises ConfigError for one that no metric has."""
    if isinstance(variants, str):
        raise ConfigError(f"variants: expected a list of names, got the text {variants!r}: write [{variants!r}]")
    known = {variant for metric in METRICS.values() for variant in metric.variants}
    for variant in variants:
        if variant not in known:
            raise ConfigError(f"unknown variant {variant!r}; {nearest(str(variant), known)}")
    return tuple(variants)


Values = dict[tuple[str, str], float]
"""Values by score and factor; the factor is empty for the mean over all."""

FAMILY = "disentanglement"


@dataclass(frozen=True)
class Repeats:
    """How often a metric is computed again: for its chance level and for its interval.

    Args:
        permutations: of the codes; their mean is the chance level.
        resamples: random halves of the samples for the interval, 0 for none.
        trained: as many at most of both for metrics that train forests.
    """

    permutations: int = 3
    resamples: int = 10
    trained: int = 3

    def __post_init__(self) -> None:
        least = {"permutations": 1, "resamples": 0, "trained": 1}
        for name, lowest in least.items():
            if getattr(self, name) < lowest:
                raise ConfigError(f"{name}: expected at least {lowest}, got {getattr(self, name)}")

    def of(self, metric: Metric) -> tuple[int, int]:
        """Permutations and resamples of a metric."""
        most = self.trained if metric.trains else max(self.permutations, self.resamples)
        return min(self.permutations, most), min(self.resamples, most)


def outcomes(
    codes: Any,
    factors: Any,
    metric: str,
    *,
    variant: Variant = "recommended",
    names: Sequence[str] | None = None,
    presence: bool = False,
    dead: float = DEAD,
    seed: int = 0,
) -> Mapping[str, MetricResult]:
    """One metric of codes and factors, without chance and interval; by the name of the score.

    Codes, factors, names, presence and dead are those of `tabulate`; recommended variants leave dead dimensions out. `metric` is
    a name of `METRICS`; everything that is drawn depends on `seed`.

    Raises:
        DataError: see `tabulate`. NotApplicableError: the metric needs more or other samples, and says which.
        ConfigError: unknown metric or variant.
    """
    function = find_metric(metric).function(variant)
    return function(
        tabulate(codes, factors, names=names, presence=presence, dead=dead), seeds.generator(seed, FAMILY, metric, variant)
    )


def score_codes(
    codes: Any,
    factors: Any,
    *,
    names: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    variants: Sequence[Variant] = ("recommended",),
    presence: bool = False,
    dead: float = DEAD,
    repeats: Repeats | None = None,
    seed: int = 0,
) -> tuple[Score, ...]:
    """Scores `disentanglement.NAME` of codes and factors, with `about` naming the variant and, for parts of a mean, the factor.

    Chance is the same metric on permuted codes, the control `true factors` on the factors themselves as codes: what an ideal code
    of these samples gets, which is below 1 where factors depend on each other. Intervals: see `interval_of`. A metric that does
    not apply gives a score without a value whose note says why; of other variants than the recommended one also where they are
    NaN.

    Arguments are as of `outcomes`: all metrics by default; variants that a metric does not have are left out. A note says which
    dimensions the recommended variants leave out as dead. `repeats` says how often chance and interval are computed.

    Raises:
        DataError, NotApplicableError: see `tabulate`. ConfigError: unknown metric or variant.
    """
    chosen, variants = find_metrics(metrics), check_variants(variants)
    table = tabulate(codes, factors, names=names, presence=presence, dead=dead)
    recorder = Recorder(FAMILY, seeds.generator(seed, FAMILY), {}, {"seed": seed, "presence": presence, "dead": dead})
    return tuple(
        score
        for metric in chosen
        for variant in variants
        if variant in metric.variants
        for score in score_table(table, metric, variant, repeats=repeats or Repeats(), recorder=recorder, seed=seed)
    )


def score_table(
    table: CheckedCodes,
    metric: Metric,
    variant: Variant,
    *,
    repeats: Repeats,
    recorder: Recorder,
    seed: int,
    controls: Mapping[str, CheckedCodes] | None = None,
) -> Iterator[Score]:
    """The scores of one variant of a metric, see `score_codes`; with what other codes of the same samples get, as `controls`."""
    recorder = recorder.on(variant=variant)

    def stream(*names: str | int) -> np.random.Generator:
        return seeds.generator(seed, FAMILY, metric.name, variant, *names)

    try:
        found = metric.function(variant)(table, stream("value"))
    except NotApplicableError as error:
        yield from (recorder.score(name, None, note=f"not applicable: {error}") for name in metric.scores)
        return
    permutations, resamples = repeats.of(metric)
    values = _values(found, table.names)
    left_out = _left_out(table) if variant == "recommended" else ""
    bounds = metric.bounds if variant == "recommended" else (None, None)
    chance = [_again(table.permuted(stream("permuted", k)), metric, variant, stream("chance", k)) for k in range(permutations)]
    ideal = tabulate(table.factors, table.factors, names=table.names, dead=0.0)  # the factors as codes, -1 included
    beside = {"true factors": _again(ideal, metric, variant, stream("ceiling"))}
    beside |= {name: _again(codes, metric, variant, stream("control", name)) for name, codes in (controls or {}).items()}
    drawn = list[Values]()
    for rng in (stream("half", k) for k in range(resamples)):
        rows = rng.permutation(len(table))[: len(table) // 2]
        drawn.append(_again(table, metric, variant, rng, rows=rows))
    for (name, factor), value in values.items():
        about = recorder.on(factor=factor) if factor else recorder
        known = {control: values.get((name, factor), math.nan) for control, values in beside.items()}
        note = found[name].note or ("" if factor else left_out)
        yield about.score(
            name,
            value if math.isfinite(value) else None,
            interval=interval_of(value, [part.get((name, factor), math.nan) for part in drawn], bounds),
            n=len(table) if not factor else len(table.carriers(table.names.index(factor))),
            bounds=bounds,
            chance=_mean([part.get((name, factor), math.nan) for part in chance]),
            controls={control: number for control, number in known.items() if math.isfinite(number)},
            note=note or ("" if math.isfinite(value) else "the formula gives no number here"),
        )


def interval_of(value: float, drawn: Sequence[float], bounds: tuple[float | None, float | None]) -> Interval | None:
    """The 95 % interval of a metric from its values on random halves of the samples, drawn without replacement.

    value ± t(R - 1) x their standard deviation. The mean of m of N samples drawn without replacement varies by s^2 (1 - m/N) / m:
    of half of them as much as the mean of N does, like a bootstrap (Politis, Romano and Wolf, "Subsampling", 1999). But no sample
    comes twice, which every estimate of information would take for information. What metrics draw and train at random varies too
    and is in it.

    Returns:
        None for fewer than three finite values, a value that is not finite, or halves that all have one value, which is no sign
        that other samples have it too.
    """
    if len(drawn) < 3 or not np.isfinite([value, *drawn]).all():
        return None
    from scipy.special import stdtrit  # takes a third of a second to import, which nothing else here needs

    half = float(stdtrit(len(drawn) - 1, (1 + CONFIDENCE) / 2)) * float(np.std(drawn, ddof=1))
    if half <= 1e-12 * abs(value):
        return None
    low, high = bounds
    return max(value - half, -math.inf if low is None else low), min(value + half, math.inf if high is None else high)


def _left_out(table: CheckedCodes) -> str:
    """What a recommended variant does not look at; empty where it looks at everything."""
    dead = int(np.count_nonzero(~table.alive))
    return f"{dead} of {table.dimensions} dimensions left out as dead" if dead else ""


def _again(
    table: CheckedCodes, metric: Metric, variant: Variant, rng: np.random.Generator, *, rows: np.ndarray | None = None
) -> Values:
    """Values on other codes, or on some of the samples; none where the metric does not apply there."""
    try:
        part = table if rows is None else table.rows(rows)
        return _values(metric.function(variant)(part, rng), table.names)
    except NotApplicableError:
        return {}


def _values(found: Mapping[str, MetricResult], names: Sequence[str]) -> Values:
    values: Values = {}
    for score, outcome in found.items():
        values[score, ""] = outcome.value
        if outcome.factors is not None:
            values |= {(score, name): float(part) for name, part in zip(names, outcome.factors, strict=True)}
    return values


def _mean(values: Sequence[float]) -> float | None:
    known = [value for value in values if math.isfinite(value)]
    return float(np.mean(known)) if known else None
