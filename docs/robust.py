"""Robustness of the runs of studies against their baselines, methods over data sets, and differences of variants, as tables.

Used by `tables.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from shown import SEEN_AND_HEARD

from molyneux.core import Score
from molyneux.core.score import About
from molyneux.report import StudyRun, to_markdown, variant_difference
from molyneux.report.aggregation import aggregate_table, comparisons
from molyneux.report.robustness import with_robustness
from molyneux.report.settings import baseline_of, chosen_of
from molyneux.report.study.seeds import over_seeds
from molyneux.report.tables import Column, Entry, Table, pipe_table
from molyneux.report.tables.table import DASH
from molyneux.report.wording import value_text, write

_COMPARED = ("robustness.relative", "robustness.effective")
PAIRS: Mapping[str, tuple[tuple[str, About], tuple[tuple[str, str], ...]]] = {
    "av-mnist": (
        ("prediction.accuracy", SEEN_AND_HEARD),
        (("GradBlend", "LF-SGD"), ("OGM-GE", "LF-SGD"), ("LF-SGD", "LF"), ("image-SGD", "image"), ("GradBlend", "LF")),
    )
}
"""By study, a score and the pairs of variants whose difference in it is tested."""


def robustness_table(runs: Sequence[StudyRun]) -> str:
    """Relative and effective robustness of every method over the seeds, by the imperfection; empty without a baseline."""
    values: dict[tuple[str, str], dict[tuple[str, str], list[Score]]] = {}
    for run in _chosen(runs):
        found = [score for score in run.scores if score.name in _COMPARED]
        most = max((_width(score) for score in found), default=0)
        for score in found:
            if score.value is None or _width(score) < most:
                continue
            subject = value_text(score.about.get("target")) if _several_targets(runs) else ""
            under = ", ".join(part for part in (subject, value_text(score.about.get("under"))) if part)
            row = values.setdefault((str(run.settings["name"]), _group(run)), {})
            row.setdefault((under, score.name.partition(".")[2]), []).append(score)
    if not values:
        return ""
    columns = list(dict.fromkeys(column for row in values.values() for column in row))
    grouped = any(group for _, group in values)
    heads = [Column("method", "left"), *([Column("group", "left")] if grouped else [])]
    heads += [Column(f"{what}, {under}") for under, what in columns]
    rows = []
    for (name, group), row in values.items():
        cells = [_cell(row[column]) if column in row else DASH for column in columns]
        rows.append((Entry(name), *([Entry(group)] if grouped else []), *cells))
    baseline = next(name for name in (baseline_of(run.settings) for run in runs) if name)
    notes = (
        f"Above 0 is more robust than {baseline}, which has 0. Integrals over the strengths from 0 to the largest, in the unit "
        "of the score; means over seeds, in brackets each seed.",
    )
    return to_markdown(Table("robustness", "Relative and effective robustness", tuple(heads), tuple(rows), notes))


def over_data_sets(runs: Sequence[StudyRun], in_domain: Mapping[str, tuple[str, ...]]) -> str:
    """Every method over the data sets of studies: performance, speed and robustness on one scale (appendix D.4)."""
    return to_markdown(aggregate_table(comparisons(_chosen(runs), in_domain=in_domain)))


def differences(runs: Sequence[StudyRun], study: str) -> str:
    """The differences of pairs of variants with Welch's interval and test over the seeds of each."""
    (name, about), pairs = PAIRS[study]
    rows = []
    for one, other in pairs:
        if (found := variant_difference(runs, one, other, name, about)) is None:
            continue
        ends = [write(end, 1) for end in found.interval or ()]
        p = DASH.text if found.p is None else f"{found.p:.2g}"
        interval = " to ".join(ends) or DASH.text
        rows.append([f"{one} less {other}", write(found.mean, 1), interval, p, ", ".join(map(str, found.runs))])
    table = pipe_table(["variants", "difference, points", "95 % interval", "p", "seeds"], rows)
    return f"{table}\n- Welch's t-test over seeds; one seed of a variant tests nothing.\n"


def _chosen(runs: Sequence[StudyRun]) -> list[StudyRun]:
    """The runs with relative and effective robustness, by the scores that their studies choose for it."""
    found = []
    for run in with_robustness(runs):
        wanted = chosen_of(run.settings)
        kept = [one for one in run.scores if one.name not in _COMPARED or not wanted or one.about.get("measure") in wanted]
        found.append(replace(run, scores=tuple(kept)))
    return found


def _width(score: Score) -> int:
    source = score.about.get("source", ())
    return 1 if isinstance(source, str) else len(source)


def _group(run: StudyRun) -> str:
    return str(run.settings.get("data.benchmark.init_args.group", ""))


def _several_targets(runs: Sequence[StudyRun]) -> bool:
    return len({score.about["target"] for run in runs for score in run.scores if "target" in score.about}) > 1


def _cell(scores: Sequence[Score]) -> Entry:
    over = over_seeds(scores)
    each = f" ({' '.join(write(value, over.decimals) for value in over.values)})" if len(over.values) > 1 else ""
    return Entry(f"{over.written}{each}", value=over.mean)
