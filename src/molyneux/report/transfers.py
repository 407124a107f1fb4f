"""What records say of transfer: how samples were kept apart in training, and what was read at the end of each path."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from molyneux.core import Score
from molyneux.core.reader import read_earlier
from molyneux.report.record_lines import StudyRun
from molyneux.report.study.seeds import OverSeeds, over_seeds

_SCORE, _GROUPS = "transfer.accuracy", ("apart", "together")
_WHERE, _MISSING = "data.apart.where.", "data.missing."

Path = tuple[str, ...]
"""Modalities, each generated from the one before it."""


@dataclass(frozen=True)
class KeptApart:
    """With which modalities the samples of some factor values came in a training (`data.apart`).

    Args:
        where: by factor, the values of these samples.
        sets: the modalities that they came with, one set or the other; empty where they came as all other samples.
        missing: modalities that no sample came with.
    """

    where: Mapping[str, tuple[str, ...]]
    sets: tuple[tuple[str, ...], ...] = ()
    missing: tuple[str, ...] = ()

    def joined(self, *names: str) -> bool:
        """Whether one such sample came with all of these modalities."""
        found = not set(names) & set(self.missing)
        return found and (not self.sets or any(set(names) <= set(part) for part in self.sets))


@dataclass(frozen=True)
class TransferVariant:
    """The trainings of one variant of a study, over its seeds.

    Args:
        name: of the variant.
        model: class of the model.
        world: name and version of the world.
        kept: how samples were kept apart.
        factor: which is read.
        seeds: trainings on record.
        apart: accuracy at the end of each path, of the samples that were kept apart.
        together: the same of all other samples.
        earlier: whether an earlier, unnamed reader read them: kept as history, and not compared with others.
    """

    name: str
    model: str
    world: str
    kept: KeptApart
    factor: str
    seeds: int
    apart: Mapping[Path, OverSeeds]
    together: Mapping[Path, OverSeeds]
    earlier: bool


def kept_apart(settings: Mapping[str, Any]) -> KeptApart:
    """How samples were kept apart in a training.

    Args:
        settings: of a run, under dotted names (`flatten`).
    """
    where = {
        name.removeprefix(_WHERE): tuple(map(str, values))
        for name, values in settings.items()
        if name.startswith(_WHERE) and values
    }
    sets = tuple(tuple(map(str, part)) for part in settings.get("data.apart.sets") or ())
    missing = tuple(name.removeprefix(_MISSING) for name, share in settings.items() if name.startswith(_MISSING) and share == 1)
    return KeptApart(where, sets, missing)


def transfer_variants(runs: Sequence[StudyRun]) -> tuple[TransferVariant, ...]:
    """The variants of a study with scores of transfer, in the order of the records; none where no run has such scores.

    Variants in which nothing was kept apart, the controls, are told of the same factor values as the others.

    Args:
        runs: of one study.

    Raises:
        DataError: the scores of a variant rest on readings of different readers.
    """
    piles: dict[tuple[str, str], list[StudyRun]] = defaultdict(list)
    for run in runs:
        for factor in dict.fromkeys(str(score.about.get("factor", "")) for score in _scores(run)):
            piles[str(run.settings.get("name", "")), factor].append(run)
    asked = next((kept.where for run in runs if (kept := kept_apart(run.settings)).where), {})
    found = []
    for (name, factor), pile in piles.items():
        kept = kept_apart(pile[0].settings)
        kept = kept if kept.where else KeptApart(asked, kept.sets, kept.missing)
        scores = [score for run in pile for score in _scores(run) if score.about.get("factor") == factor]
        groups = [_by_path([score for score in scores if score.about.get("group") == group]) for group in _GROUPS]
        model = str(pile[0].settings.get("learn.model.class_path", "")).rpartition(".")[2]
        world = str(scores[0].origin.get("world", ""))
        earlier = any(map(read_earlier, scores))
        found.append(TransferVariant(name, model, world, kept, factor, len(pile), groups[0], groups[1], earlier))
    return tuple(found)


def _scores(run: StudyRun) -> list[Score]:
    return [score for score in run.scores if score.name == _SCORE and score.value is not None]


def _by_path(scores: Sequence[Score]) -> dict[Path, OverSeeds]:
    piles: dict[Path, list[Score]] = defaultdict(list)
    for score in scores:
        piles[_path(score.about)].append(score)
    return {path: over_seeds(pile) for path, pile in piles.items()}


def _path(about: Mapping[str, Any]) -> Path:
    """The path that a score is about: `via` is a name, or several."""
    via = about.get("via", ())
    between = (via,) if isinstance(via, str) else tuple(map(str, via))
    return (str(about["source"]), *between, str(about["target"]))
