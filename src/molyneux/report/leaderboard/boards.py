"""Records become ranked rows: one board for each task, one row for each model with its settings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from molyneux.core import ConfigError, DataError, Score, store
from molyneux.core.intervals import Interval
from molyneux.core.reader import EARLIER, read_earlier
from molyneux.report.leaderboard.foreign import ForeignRecord, unplaced
from molyneux.report.leaderboard.protocol import LeaderboardTask, ranked_scores, superseded, task_of
from molyneux.report.published import PublishedResults, published
from molyneux.report.record_lines import StudyRun
from molyneux.report.records import seed_order
from molyneux.report.settings import model_of, world_of
from molyneux.report.study.groups import SeedGroup, find_axes, group_runs, label
from molyneux.report.study.seeds import OverSeeds, over_seeds, published_interval
from molyneux.report.study.significance import cost_of

RECORD, PUBLISHED, FOREIGN = "record", "published", "elsewhere"
"""Where a row comes from: our records, a paper's table, or a record that somebody added."""

_NOT_OF_THE_MODEL = ("name", "seed", "data.keep", "data.test", "measure.", "report.", "learn.threads", "learn.tensorboard")
_NOR = ("learn.checkpoint_seconds", "learn.device", "learn.memory", "learn.mlflow", "learn.prefetch", "learn.wandb")
"""Settings, or what they begin with, that do not tell models apart."""
_LONG = re.compile(r"\d+\.\d{5,}")
"""Numbers with more digits than a label needs, as a search draws them."""


_READ_EARLIER = f": what {EARLIER} read is not ranked, so measure again"


@dataclass(frozen=True)
class BoardRow:
    """A line of a board.

    Args:
        label: the model.
        kind: `record`, `published` or `elsewhere`.
        mean: over seeds.
        interval: 95 % interval of the mean; None where it is not known.
        seeds: number of trainings.
        values: one for each seed, in the order of the seeds; none where only their mean is known.
        rank: 1 for the best, and for those that are not apart from it; None of what is not ours, which has another protocol.
        cost: means of `steps`, `seconds` and `processor_seconds` of a training, as far as they are known.
        source: who published or measured it; empty for our records.
    """

    label: str
    kind: str
    mean: float
    interval: Interval | None
    seeds: int
    values: tuple[float, ...] = ()
    rank: int | None = None
    cost: Mapping[str, float] = field(default_factory=dict)
    source: str = ""

    @property
    def ends(self) -> Interval:
        """The interval, or the mean alone."""
        return self.interval or (self.mean, self.mean)


@dataclass(frozen=True)
class Board:
    """The rows of a task, best rank first, and the score over all runs with its chance, controls, unit and bounds."""

    task: LeaderboardTask
    rows: tuple[BoardRow, ...]
    over: OverSeeds
    published: PublishedResults | None = None


def make_boards(
    runs: Sequence[StudyRun], foreign: Sequence[ForeignRecord] = (), scores: Sequence[str] = ()
) -> tuple[list[Board], list[StudyRun]]:
    """Rank the runs, and return the boards and the runs that are on none.

    Nothing that an earlier reader read is ranked: what was read before readers had names, or by a lower version of an exact
    reader that read other records of the same score. Two values are on one board only if the whole protocol is the same: world
    with version and settings, split, number of samples, readers and judges, version of the package. The order of the runs does
    not matter.

    Args:
        runs: records, with settings under the names of one version.
        foreign: records from elsewhere; each is on every board whose protocol it does not contradict.
        scores: names of the scores to rank; by default the headlines of each run.

    Raises:
        ConfigError: a record from elsewhere fits no table or lies outside the bounds of its score, or no run has one of the
            scores.
        DataError: two records of the same model and seed under the same protocol have different values, or a value lies
            outside its bounds: one of them was altered.
    """
    tasks: dict[LeaderboardTask, list[tuple[StudyRun, Score]]] = {}
    given = sorted(runs, key=_order)
    for run in given:
        for score in ranked_scores(run, scores):
            if (task := task_of(run, score)) is not None:
                _require_bounds(run, score)
                tasks.setdefault(task, []).append((run, score))
    tasks = {task: found for task, found in tasks.items() if not superseded(task, tasks)}
    shown = {id(run) for found in tasks.values() for run, _ in found}
    left = [run for run in given if id(run) not in shown]
    ordered = sorted(tasks, key=lambda task: task.order)
    problems = unplaced(foreign, ordered) if ordered or not scores else []
    problems += [problem for task in ordered for problem in _out_of_bounds(foreign, task, tasks[task][0][1].bounds)]
    known = {task.key[0] for task in tasks}
    problems += [
        f"no record has a score {name} that can be ranked{_READ_EARLIER if any(map(_is_history, runs)) else ''}"
        for name in scores
        if name not in known
    ]
    if problems:
        raise ConfigError(problems)
    return [_board(task, tasks[task], foreign) for task in ordered], left


def ranked(rows: Iterable[BoardRow], *, higher_is_better: bool) -> tuple[BoardRow, ...]:
    """Rows with their ranks, best rank first, equal ranks by their means; rows that are not ours stand where their mean is.

    The rank is one more than the number of rows whose interval lies wholly on the better side, so models that are not apart from
    the best share its rank. Rows of a single seed, whose intervals do not hold for other seeds, count only where all are such.
    """
    sign = 1.0 if higher_is_better else -1.0
    given = sorted(rows, key=lambda row: (-sign * row.mean, row.label, row.kind, row.source))
    ours = [row for row in given if row.kind == RECORD]
    counted = [row for row in ours if row.seeds > 1] or ours

    def better(row: BoardRow) -> int:
        best = max(sign * end for end in row.ends)
        return sum(min(sign * end for end in other.ends) > best for other in counted)

    order = sorted((replace(row, rank=1 + better(row)) for row in ours), key=lambda row: row.rank or 0)
    for row in (row for row in given if row.kind != RECORD):
        above = [place for place, other in enumerate(order, start=1) if sign * other.mean >= sign * row.mean]
        order.insert(max(above, default=0), row)
    return tuple(order)


def _is_history(run: StudyRun) -> bool:
    """Whether an earlier, unnamed reader read some of a run."""
    return any(map(read_earlier, run.scores))


def _board(task: LeaderboardTask, found: Sequence[tuple[StudyRun, Score]], foreign: Sequence[ForeignRecord]) -> Board:
    groups: dict[str, dict[str, tuple[StudyRun, Score]]] = {}
    for run, score in found:
        own = groups.setdefault(_model_key(run), {})
        _require_equal(own.get(run.seed), (run, score), task)
        own.setdefault(run.seed, (run, score))
    labels = _labels([[run for run, _ in own.values()] for own in groups.values()])
    rows = [_row(name, list(own.values())) for name, own in zip(labels, groups.values(), strict=True)]
    over = over_seeds([score for _, score in found])
    results = _published(task, found)
    rows += _published_rows(results, over.first)
    rows += [_foreign_row(record) for record in foreign if record.fits(task)]
    return Board(task, ranked(rows, higher_is_better=task.higher_is_better), over, results)


def _row(name: str, own: Sequence[tuple[StudyRun, Score]]) -> BoardRow:
    over = over_seeds([score for _, score in own])
    cost = cost_of(SeedGroup({}, tuple(run for run, _ in own)))
    return BoardRow(name, RECORD, over.mean or 0.0, over.interval, len(own), over.values, cost=cost)


def _published(task: LeaderboardTask, found: Sequence[tuple[StudyRun, Score]]) -> PublishedResults | None:
    """The published table of the same task; only for worlds with their own settings, on the test split."""
    if task.split != "test" or task.details.get("changed") != []:
        return None
    return published(world_of({}, [found[0][1]])[0], task.level)


def _published_rows(results: PublishedResults | None, score: Score) -> list[BoardRow]:
    if results is None:
        return []
    figures = [(model, figure) for model in results.models if (figure := results.figure(model, score)) is not None]
    return [
        BoardRow(
            model,
            PUBLISHED,
            figure.mean,
            published_interval(figure, results.seeds, score) if figure.sd is not None else None,
            results.seeds,
            source=results.title,
        )
        for model, figure in figures
    ]


def _foreign_row(record: ForeignRecord) -> BoardRow:
    cost = {"seconds": record.seconds, "processor_seconds": record.processor_seconds}
    known = {name: number for name, number in cost.items() if number is not None}
    return BoardRow(record.name, FOREIGN, record.value, record.interval, record.seeds, cost=known, source=record.source)


def _labels(groups: Sequence[Sequence[StudyRun]]) -> list[str]:
    """A label for each group of runs that differ by their seeds alone: its name, and what tells it from others of that name."""
    names = [min(str(run.settings.get("name") or model_of(run.settings, run.scores)) for run in runs) for runs in groups]
    labels = list(names)
    for name in set(names):
        same = [place for place, other in enumerate(names) if other == name]
        if len(same) < 2:
            continue
        firsts = [StudyRun({"name": name, **_model_settings(groups[place][0])}, ()) for place in same]
        axes = find_axes(firsts)
        for place, run in zip(same, firsts, strict=True):
            (group,) = group_runs([run], axes) if axes else (SeedGroup({}, (run,)),)
            labels[place] = f"{name}: {_LONG.sub(_shorter, label(group, axes))}" if axes else name
    doubled = {text for text in labels if labels.count(text) > 1}
    keys = [_model_key(runs[0]) for runs in groups]
    return [f"{text} ({key[:6]})" if text in doubled else text for text, key in zip(labels, keys, strict=True)]


def _shorter(number: re.Match[str]) -> str:
    return f"{float(number[0]):.4g}"


def _model_settings(run: StudyRun) -> dict[str, Any]:
    return {path: value for path, value in run.settings.items() if not path.startswith((*_NOT_OF_THE_MODEL, *_NOR))}


def _model_key(run: StudyRun) -> str:
    return store.fingerprint(_model_settings(run))


def _order(run: StudyRun) -> tuple[tuple[bool, int, str], str]:
    """The same order of the same runs, however they are given: by the numbers of their seeds."""
    whole = json.dumps([dict(run.settings), [score.to_json() for score in run.scores]], sort_keys=True, default=str)
    return seed_order(run.seed), whole


def _out_of_bounds(
    foreign: Sequence[ForeignRecord], task: LeaderboardTask, bounds: tuple[float | None, float | None]
) -> list[str]:
    """A sentence for each record of a task whose value the score cannot have."""
    low, high = bounds
    return [
        f"{record.name!r} from {record.source}: value: expected {record.score} from {low} to {high}, got {record.value}"
        for record in foreign
        if record.fits(task) and ((low is not None and record.value < low) or (high is not None and record.value > high))
    ]


def _require_bounds(run: StudyRun, score: Score) -> None:
    low, high = score.bounds
    value = score.value or 0.0
    slack = 1e-9 * max(1.0, abs(value))  # of the last digits
    if (low is not None and value < low - slack) or (high is not None and value > high + slack):
        name = run.settings.get("name") or model_of(run.settings, run.scores)
        raise DataError(
            f"{score.name} of {name}, seed {run.seed}: expected {low} to {high}, got {value}: the record was altered; "
            "restore it from a copy"
        )


def _require_equal(known: tuple[StudyRun, Score] | None, other: tuple[StudyRun, Score], task: LeaderboardTask) -> None:
    """Refuse two different values of one model and seed under one protocol."""
    if known is not None and known[1].value != other[1].value:
        run = other[0]
        name = run.settings.get("name") or model_of(run.settings, run.scores)
        raise DataError(
            f"two records of {name}, seed {run.seed}, on {task.world} differ in {task.key[0]} ({known[1].value} and "
            f"{other[1].value}): one of them was altered, or made on another kind of processor; leave one out"
        )
