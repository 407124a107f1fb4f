"""Numbers of records as words in sentences: what `answers.py` and `compared.py` write comes from here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from molyneux.core import Score
from molyneux.core.intervals import across_seeds
from molyneux.report import StudyRun
from molyneux.report.study.seeds import OverSeeds, over_seeds
from molyneux.report.wording import write, write_interval
from molyneux.run.run.report import read_scores
from molyneux.run.trained.shipped import shipped_folder

Runs = Callable[[str], Sequence[StudyRun]]
"""The runs of studies on record, by their names."""


@dataclass(frozen=True)
class Pick:
    """A score of a variant of a study, over the seeds on record.

    Args:
        study: names of studies, such as `ynoc+ynoc-best`.
        name: the variant.
        score: the name of the score.
        about: what it is about, as far as it has to be said.
        where: settings of the run, by their path.
        decimals: how many are written; None for what the interval asks for.
        shared: whether all runs were asked about the same values, see `core.intervals.across_seeds`.
    """

    study: str
    name: str
    score: str
    about: Mapping[str, Any] = field(default_factory=dict)
    where: Mapping[str, Any] = field(default_factory=dict)
    decimals: int | None = None
    shared: bool = True


@dataclass(frozen=True)
class OfModel:
    """A score of a model that comes with the package, from the scores in its folder.

    Args:
        model: the name of the model.
        score: the name of the score.
        about: what it is about, as far as it has to be said.
        decimals: how many are written; None for what the interval asks for.
    """

    model: str
    score: str
    about: Mapping[str, Any] = field(default_factory=dict)
    decimals: int | None = None


def picked(pick: Pick | OfModel, runs_of: Runs) -> OverSeeds:
    """The score over its seeds; stops where the records have none, or several that differ in what they are about."""
    found: dict[str, list[Score]] = {}
    for score in _shipped_scores(pick.model) if isinstance(pick, OfModel) else _scores(pick, runs_of):
        if score.name == pick.score and all(score.about.get(key) == value for key, value in pick.about.items()):
            found.setdefault(repr(sorted(score.about.items())), []).append(score)
    exact = [scores for key, scores in found.items() if key == repr(sorted(pick.about.items()))] or [*found.values()]
    if len(exact) != 1:
        raise SystemExit(f"expected one score for {pick}, got {len(exact)}: {', '.join(found)}")
    over = over_seeds(exact[0])
    if isinstance(pick, Pick) and not pick.shared:
        return replace(over, interval=across_seeds(exact[0], shared=False))
    return over


def _scores(pick: Pick, runs_of: Runs) -> Iterator[Score]:
    for run in runs_of(pick.study):
        if str(run.settings["name"]) == pick.name and all(run.settings.get(path) == value for path, value in pick.where.items()):
            yield from run.scores


def _shipped_scores(name: str) -> Sequence[Score]:
    folder = shipped_folder(name)
    if folder is None:
        raise SystemExit(f"expected the name of a model that comes with the package, got {name!r}")
    return read_scores(folder)


def filled(sentence: str, picks: Mapping[str, Pick | OfModel], runs_of: Runs, claims: Sequence[tuple[str, str]] = ()) -> str:
    """A sentence with the numbers of its picks; `NAME_chance` is what guessing gives, and `NAME_interval` the interval.

    Args:
        sentence: with `{NAME}` where the number of a pick stands.
        picks: by their names.
        runs_of: the records.
        claims: pairs of names of which the first is the larger; the sentence is refused where it is not.
    """
    values = {name: picked(pick, runs_of) for name, pick in picks.items()}
    for more, less in claims:
        if (values[more].mean or 0.0) <= (values[less].mean or 0.0):
            raise SystemExit(f"the records do not say any more that {more} is above {less}: write the sentence anew: {sentence}")
    words = {name: _words(over, picks[name].decimals) for name, over in values.items()}
    words |= {
        f"{name}_chance": write(over.chance, picks[name].decimals or 1)
        for name, over in values.items()
        if over.chance is not None
    }
    words |= {
        f"{name}_interval": write_interval(over.interval, _decimals(over, picks[name].decimals))
        for name, over in values.items()
        if over.interval is not None
    }
    return sentence.format(**words)


def _words(over: OverSeeds, decimals: int | None) -> str:
    return write(over.mean, _decimals(over, decimals))


def _decimals(over: OverSeeds, decimals: int | None) -> int:
    return over.decimals if decimals is None else decimals
