"""What records say of two-way choices: how often the right thing was chosen, against how many came in both senses in training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from molyneux.core import Score
from molyneux.core.intervals import Interval, across_seeds
from molyneux.report.record_lines import StudyRun

_BRIDGED, _ASSIGNMENT = ".bridging.bridged", ".bridging.assignment"


@dataclass(frozen=True)
class ChoicePoint:
    """Right choices of the trainings with one number of bridged things.

    Args:
        bridged: how many things were seen and felt together.
        value: the mean over seeds, in %.
        interval: 95 %, for new seeds and new things; of one seed, for new things alone.
        seeds: how many trainings there are.
    """

    bridged: int
    value: float
    interval: Interval
    seeds: int


@dataclass(frozen=True)
class ChoiceCurve:
    """Right choices of one variant of a study.

    Args:
        name: of the variant.
        points: by rising number of bridged things.
    """

    name: str
    points: tuple[ChoicePoint, ...]


def choice_curves(
    runs: Sequence[StudyRun], *, source: str, target: str, role: str = "new", alike: bool = False
) -> tuple[ChoiceCurve, ...]:
    """The curves of a study's variants, in the order of the records; none of variants without such scores.

    Args:
        runs: of one study whose data have the setting `bridging`.
        source: modality of the thing that is given.
        target: modality of the things to choose from.
        role: of the things, see `data.Bridging`.
        alike: whether both things of a choice are alike, or any two.
    """
    about = {"source": source, "target": target, "role": role}
    name = f"two_way_choice.{'alike_' if alike else ''}accuracy"
    piles: dict[str, dict[int, list[tuple[object, Score]]]] = {}
    for run in runs:
        count, assignment = (_setting(run, setting) for setting in (_BRIDGED, _ASSIGNMENT))
        found = [score for score in run.scores if score.name == name and score.value is not None and dict(score.about) == about]
        if isinstance(count, int) and found:
            piles.setdefault(str(run.settings.get("name", "")), {}).setdefault(count, []).extend(
                (assignment, score) for score in found
            )
    return tuple(
        ChoiceCurve(variant, tuple(_point(count, scores) for count, scores in sorted(pile.items())))
        for variant, pile in piles.items()
    )


def _setting(run: StudyRun, end: str) -> object:
    """The setting whose name ends so; None where a run has none."""
    return next((value for setting, value in run.settings.items() if setting.endswith(end)), None)


def _point(count: int, found: Sequence[tuple[object, Score]]) -> ChoicePoint:
    """The mean of trainings; all were asked about the same things only if all have the same assignment of roles."""
    scores, mean = [score for _, score in found], float(np.mean([score.value for _, score in found]))
    shared = len({str(assignment) for assignment, _ in found}) == 1
    return ChoicePoint(count, mean, across_seeds(scores, shared=shared) or (mean, mean), len(scores))
