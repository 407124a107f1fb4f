"""All metrics by name. A metric in this list is known to `score_codes`, to the measure and to the contract test."""

from __future__ import annotations

from molyneux.core import ConfigError, nearest
from molyneux.measure.disentanglement import dci, explicitness, higgins, irs, kim_mnih, mig, modularity, sap
from molyneux.measure.disentanglement.outcome import Metric

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
    if name not in METRICS:
        raise ConfigError(f"unknown metric {name!r}; {nearest(str(name), METRICS)}")
    return METRICS[name]
