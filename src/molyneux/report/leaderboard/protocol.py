"""The protocol of a score: everything in its origin that must be the same for two values to be compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from molyneux.core import Score, store
from molyneux.core.reader import read_by, read_earlier
from molyneux.core.tooling.documents import differences as where_different
from molyneux.report import wording
from molyneux.report.aggregation import headline_predictions
from molyneux.report.headlines import mig_scores
from molyneux.report.record_lines import StudyRun
from molyneux.report.settings import world_of
from molyneux.report.study.groups import Key, key_of
from molyneux.report.tables import base_scores

_OF_THE_RUN = frozenset({"experiment", "model", "seed", "seen", "train_overlap"})
"""Parts of an origin that tell runs of one protocol apart."""
_PLACE = ("world", "split")
_MOST = 8
"""Scores of a run that are ranked where it has no headline."""


@dataclass(frozen=True)
class LeaderboardTask:
    """A score under one protocol; a table of the leaderboard.

    Args:
        world: name of the data set with its version.
        level: of the world; empty where it has none.
        split: that the score was measured on.
        key: name and `about` of the score.
        unit: of the score.
        higher_is_better: its direction.
        protocol: the rest of the origin as JSON: settings and samples of the world, readers and judges, version of the package.
    """

    world: str
    level: str
    split: str
    key: Key
    unit: str
    higher_is_better: bool
    protocol: str

    @property
    def about(self) -> dict[str, wording.Value]:
        """What the score is about."""
        return dict(self.key[1])

    @property
    def details(self) -> dict[str, Any]:
        """The rest of the origin."""
        return dict(json.loads(self.protocol))

    @property
    def place(self) -> tuple[str, str, str]:
        """World, level and split."""
        return self.world, self.level, self.split

    @property
    def order(self) -> tuple[str, ...]:
        """Tables come in this order, whatever that of the records."""
        return (*self.place, self.key[0], json.dumps(self.about, sort_keys=True), self.unit, self.protocol)


def task_of(run: StudyRun, score: Score) -> LeaderboardTask | None:
    """The task that a score belongs to.

    None where it has no value, no better direction or no data set in its origin, and where an earlier, unnamed reader read it.
    """
    origin = score.origin
    if score.value is None or score.higher_is_better is None or not origin.get("world") or read_earlier(score):
        return None
    rest = {name: value for name, value in origin.items() if name not in _OF_THE_RUN and name not in _PLACE}
    if "samples" not in rest:
        rest["samples"] = score.n
    level = world_of({}, [score])[1] or world_of(run.settings)[1]
    split = str(origin.get("split") or "test")
    protocol = json.dumps(rest, sort_keys=True, ensure_ascii=False)
    return LeaderboardTask(str(origin["world"]), level, split, key_of(score), score.unit, score.higher_is_better, protocol)


def ranked_scores(run: StudyRun, names: Sequence[str]) -> Iterator[Score]:
    """The scores of a run that are ranked: those of the given names, or else its headlines.

    Headlines are strict coherence in every direction; without it, the first prediction of every target from the most modalities;
    without it, the recommended mutual information gap of every code from the most modalities; without it, the first scores that
    have a better direction and are not of a single factor. All on the samples as they are.
    """
    whole = [score for score in base_scores(run.scores) if "factor" not in score.about and "label" not in score.about]
    if names:
        yield from (score for score in whole if score.name in names)
        return
    strict = [score for score in whole if score.name == "coherence.strict"]
    predicted = headline_predictions(run) if not strict else []
    directed = [score for score in whole if score.higher_is_better is not None]
    yield from strict or predicted or mig_scores(whole) or directed[:_MOST]


def superseded(task: LeaderboardTask, others: Iterable[LeaderboardTask]) -> bool:
    """Whether a later version of one of the readers of a task read another task of the same place and score.

    Versions of exact readers are numbers that are raised; judges, whose versions are digests, supersede none.
    """
    own = _versions(task)
    same = [_versions(other) for other in others if (other.place, other.key) == (task.place, task.key)]
    return any(version > own[reader] for versions in same for reader, version in versions.items() if reader in own)


def _versions(task: LeaderboardTask) -> dict[tuple[str, str], int]:
    """The versions that are numbers, by modality and name of the reader."""
    readers = task.details.get("readers") or {}
    return {
        (modality, str(reader["name"])): int(reader["version"])
        for modality, reader in readers.items()
        if isinstance(reader, Mapping) and str(reader.get("version", "")).isdecimal() and reader.get("exact")
    }


def differences(task: LeaderboardTask, other: LeaderboardTask) -> str:
    """The first few places where the protocols of two tasks differ."""
    return where_different(task.details, other.details)


def protocol_words(details: Mapping[str, Any]) -> str:
    """The main parts of a protocol in a sentence."""
    parts = []
    if "samples" in details:
        parts.append(f"{details['samples']:,} samples")
    if details.get("package"):
        parts.append(f"package {details['package']}")
    if details.get("changed"):
        parts.append(f"other settings than the world's own: {', '.join(map(str, details['changed']))}")
    if details.get("readers"):
        parts.append(f"read by {', '.join(f'{reader} ({name})' for name, reader in read_by(details).items())}")
    fingerprint = store.fingerprint(dict(details))
    return f"Protocol {fingerprint[:8]}: {'; '.join(parts) or 'as in the origin of the records'}."
