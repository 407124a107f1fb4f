"""All metrics by name. A metric in this list is known to `score_codes`, to the measure and to the contract test."""

from __future__ import annotations

from collections.abc import Sequence

from molyneux.core import ConfigError, nearest
from molyneux.measure.disentanglement import dci, explicitness, higgins, irs, kim_mnih, mig, modularity, sap
from molyneux.measure.disentanglement.outcome import Metric, Variant

CHANCE_BELOW_ZERO = (-1.0, 1.0)


_ALL = (
    Metric(
        "dci",
        "Each dimension serves one factor (D), each factor needs one dimension (C), forests read it (I).",
        {"published": dci.published, "paper": dci.paper, "dlib": dci.dlib, "recommended": dci.recommended},
        parts=dci.NAMES,
        trains=True,
    ),
    Metric(
        "explicitness",
        "A linear classifier reads every value in the whole code.",
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
        "Which factor two samples share can be told from how much each dimension differs.",
        {"published": higgins.published, "dlib": higgins.dlib, "recommended": higgins.recommended},
        bounds=CHANCE_BELOW_ZERO,
    ),
    Metric(
        "irs",
        "A dimension stays where it is while all factors but one change.",
        {"paper": irs.paper, "dlib": irs.dlib, "recommended": irs.recommended},
        bounds=CHANCE_BELOW_ZERO,
    ),
    Metric(
        "kim_mnih",
        "Which factor is fixed can be told from the dimension that varies least.",
        {"published": kim_mnih.published, "paper": kim_mnih.paper, "dlib": kim_mnih.dlib, "recommended": kim_mnih.recommended},
        bounds=CHANCE_BELOW_ZERO,
    ),
    Metric(
        "mig",
        "One dimension knows more of a factor than any other.",
        {"published": mig.published, "dlib": mig.dlib, "recommended": mig.recommended},
    ),
    Metric(
        "modularity",
        "Each dimension knows one factor only.",
        {"published": modularity.published, "dlib": modularity.dlib, "recommended": modularity.recommended},
    ),
    Metric(
        "sap",
        "One dimension alone predicts a factor better than any other alone.",
        {"published": sap.published, "dlib": sap.dlib, "recommended": sap.recommended},
    ),
)

METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}


def find_metric(name: str) -> Metric:
    """A metric by name.

    Raises:
        ConfigError: there is none.
    """
    if not isinstance(name, str) or name not in METRICS:
        raise ConfigError(f"unknown metric {name!r}; {nearest(str(name), METRICS)}")
    return METRICS[name]


def find_metrics(names: Sequence[str] | None) -> list[Metric]:
    """Metrics by name, all where none are named.

    Raises:
        ConfigError: there is none of that name.
    """
    if isinstance(names, str):
        raise ConfigError(f"metrics: expected a list of names, got the text {names!r}: write [{names!r}]")
    return [find_metric(name) for name in (METRICS if names is None else names)]


def check_variants(variants: Sequence[Variant]) -> tuple[Variant, ...]:
    """The variants, each of them one that some metric has.

    Raises:
        ConfigError: no metric has it.
    """
    if isinstance(variants, str):
        raise ConfigError(f"variants: expected a list of names, got the text {variants!r}: write [{variants!r}]")
    known = {variant for metric in METRICS.values() for variant in metric.ways}
    for variant in variants:
        if variant not in known:
            raise ConfigError(f"unknown variant {variant!r}; {nearest(str(variant), known)}")
    return tuple(variants)
