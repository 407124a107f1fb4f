"""What readers say of views that are and are not of their world, as tables of the records of `studies/judges.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from molyneux.report import StudyRun
from molyneux.report.tables import pipe_table

_TRUE = ("true", "soft", "jpeg", "blocks", "plain")
"""Kinds of views that show figures of the world: as it draws them, a little blurred and noisy, as JPEG, with an error for each
block of 8 pixels, and without texture."""

_EARLIER = (1, 2, 3)
"""Levels of which studies have records that an earlier reader read."""


def accepted(runs: Sequence[StudyRun], before: Sequence[StudyRun], *, world: str, modality: str) -> str:
    """Share of views of each kind of which every factor was read, by reader and level; `before` with earlier readers."""
    runs = [run for run in of(runs, world, modality) if ":" not in run.settings["kind"]]
    if not runs:
        return ""
    earlier = {_place(run): run for run in before if (run.settings["world"], run.settings["modality"]) == (world, modality)}
    shown = [("exact", level) for level in _EARLIER if any(place[:2] == ("exact", level) for place in earlier)]
    table = _by_level(runs, {run.settings["kind"]: run.settings["kind"] for run in runs}, earlier, shown)
    notes = [f"- Views accepted (every factor read), %, of {runs[0].scores[0].n:,} of each kind and level."]
    if shown:
        count = next(iter(earlier.values())).scores[0].n
        notes.append(
            f"- *Exact before*: the reader that read the records of the studies of CdSprites+, of {count:,} of each kind."
        )
    return "\n".join([table, *notes, ""])


_MOST, _LEAST = {"exact": 1.0, "judge": 2.0}, 98.0
"""Largest share in % of each kind of wrong views that a reader should accept, and smallest share of true ones."""


def beyond(runs: Sequence[StudyRun], *, world: str, modality: str) -> str:
    """One line for each reader: the kinds of wrong views of which it accepts more than it should, and true views that it refuses.

    The share of a kind is that of the level at which the reader does worst.
    """
    lines = []
    for reader, most in _MOST.items():
        shares: dict[str, list[float]] = {}
        for run in of(runs, world, modality):
            kind = run.settings["kind"]
            if run.settings["reader"] == reader and kind != "near" and ":" not in kind:
                shares.setdefault(kind, []).append(run.scores[0].value or 0.0)
        wrong = {kind: max(found) for kind, found in shares.items() if kind not in _TRUE and max(found) > most}
        true = {kind: 100 - min(found) for kind, found in shares.items() if kind in _TRUE and min(found) < _LEAST}
        parts = [
            f"accepts more than {most:g} % of {_ranked(wrong)}" if wrong else f"accepts at most {most:g} % of every kind",
            f"refuses more than {100 - _LEAST:g} % of {_ranked(true)}"
            if true
            else f"reads at least {_LEAST:g} % of all true views",
        ]
        if shares:
            lines.append(f"- **{reader.capitalize()}**: {'; '.join(parts)}.")
    return "\n".join([*lines, ""]) if lines else ""


def _ranked(shares: Mapping[str, float]) -> str:
    return ", ".join(f"{kind} ({shares[kind]:.1f})" for kind in sorted(shares, key=lambda kind: -shares[kind]))


def close(runs: Sequence[StudyRun], *, world: str, modality: str, prefix: str) -> str:
    """Share of pictures of kinds `prefix: NAME` that were accepted, by reader and level; and which shape most were read as."""
    runs = [run for run in of(runs, world, modality) if run.settings["kind"].startswith(f"{prefix}: ")]
    if not runs:
        return ""
    kinds = {run.settings["kind"]: run.settings["kind"].partition(": ")[2] for run in runs}
    most = {kind: _most([run for run in runs if run.settings["kind"] == kind]) for kind in kinds}
    table = _by_level(runs, kinds, {}, [], last=("accepted as", most) if any(most.values()) else None)
    return f"{table}\n- Pictures accepted (every factor read), %, of at least {_least(runs):,} each.\n"


def of(runs: Sequence[StudyRun], world: str, modality: str) -> list[StudyRun]:
    """The runs of a modality of a world."""
    return [run for run in runs if (run.settings["world"], run.settings["modality"]) == (world, modality)]


def _by_level(
    runs: Sequence[StudyRun],
    kinds: Mapping[str, str],
    earlier: Mapping[tuple[str, int, str], StudyRun],
    shown: Sequence[tuple[str, int]],
    *,
    last: tuple[str, Mapping[str, str]] | None = None,
) -> str:
    """Kinds in rows, readers and levels in columns; then earlier readers, and a column of words."""
    found = {_place(run): run for run in runs}
    readers = sorted({run.settings["reader"] for run in runs}, reverse=True, key=lambda reader: reader == "exact")
    columns = [(reader, level) for reader in readers for level in range(1, 6)]
    heads = [*(f"{reader}, level {level}" for reader, level in columns), *(f"{name} before, level {lv}" for name, lv in shown)]
    rows = []
    for kind, name in kinds.items():
        cells = [_accepted(found.get((*column, kind))) for column in columns]
        cells += [_accepted(earlier.get((*column, kind))) for column in shown]
        rows.append([name, *cells, last[1][kind] if last else ""])
    titles = ["kind of view", *heads, last[0] if last else ""]
    kept = [column for column in range(len(titles)) if any(row[column] for row in rows)]
    return pipe_table([titles[column] for column in kept], ([row[column] for column in kept] for row in rows))


def _accepted(run: StudyRun | None) -> str:
    return _percent(run, "reading.accepted", {}) if run else ""


def _least(runs: Sequence[StudyRun]) -> int:
    return min(run.scores[0].n or 0 for run in runs)


def _most(runs: Sequence[StudyRun]) -> str:
    """The shapes as which at least one in 50 of some level and reader were accepted, the most frequent first."""
    shares: dict[str, float] = {}
    for score in (score for run in runs for score in run.scores if score.name == "reading.accepted_as"):
        shares[score.about["shape"]] = max(shares.get(score.about["shape"], 0.0), score.value or 0.0)
    return ", ".join(sorted((shape for shape, share in shares.items() if share >= 2), key=lambda shape: -shares[shape]))


def right(runs: Sequence[StudyRun], *, world: str, modality: str) -> str:
    """Share of true views of each factor that were read correctly, by reader, kind and level."""
    runs = [run for run in of(runs, world, modality) if run.settings["kind"] in _TRUE]
    scores = [score for run in runs for score in run.scores if score.name == "reading.correct"]
    factors = list(dict.fromkeys(score.about["factor"] for score in scores))
    rows = []
    for reader, kind, run in sorted(((run.settings["reader"], run.settings["kind"], run) for run in runs), key=_order):
        cells = [_percent(run, "reading.correct", {"factor": factor}) for factor in factors]
        rows.append([reader, kind, run.settings["level"], *cells])
    return (
        pipe_table(["reader", "kind of view", "level", *factors], rows, words=range(2))
        + "\n- Read correctly, %; abstaining counts as wrong.\n"
    )


def _order(row: tuple[str, str, StudyRun]) -> tuple[str, int, int]:
    """The exact reader before the judge, kinds as in `_TRUE`, then levels."""
    reader, kind, run = row
    return reader, _TRUE.index(kind), run.settings["level"]


def _place(run: StudyRun) -> tuple[str, int, str]:
    return run.settings["reader"], run.settings["level"], run.settings["kind"]


def _percent(run: StudyRun, name: str, about: Mapping[str, str]) -> str:
    for score in run.scores:
        if score.name == name and dict(score.about) == dict(about) and score.value is not None:
            return f"{score.value:.1f}"
    return ""


def of_benchmark(runs: Sequence[StudyRun], world: str) -> str:
    """What the judges of a benchmark say of each kind of view: how many they accept, and read correctly."""
    rows = sorted((run for run in runs if run.settings["world"] == world), key=lambda run: run.settings["modality"])
    cells = []
    for run in rows:
        found = {score.name: f"{score.value:.1f}" for score in run.scores if score.value is not None}
        words = [run.settings[name] for name in ("modality", "reader", "kind")]
        numbers = [found.get(f"reading.{name}", "") for name in ("accepted", "correct", "correct_forced")]
        cells.append([*words, *numbers])
    heads = ["modality", "reader", "views", "accepted, %", "read correctly, %", "with forced choice, %"]
    most = max((run.scores[0].n for run in rows), default=0)
    return f"{pipe_table(heads, cells, words=range(3))}\n- Of up to {most:,} views of each kind.\n" if rows else ""
