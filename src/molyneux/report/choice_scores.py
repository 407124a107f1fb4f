"""Two-way choices among the scores of a run or of a study: which of them tell most, and what they are about in words."""

from __future__ import annotations

from collections.abc import Sequence

from molyneux.core import Score
from molyneux.report.wording import value_text

_ANY, _ALIKE = "two_way_choice.accuracy", "two_way_choice.alike_accuracy"


def choice_scores(scores: Sequence[Score]) -> list[Score]:
    """The two-way choices by codes from each sense to each other one: of several groups, that which tells most.

    Things that are new tell most, then those that are known to one sense.
    """
    found: dict[tuple[str, str], Score] = {}
    for score in scores:
        if score.name != _ANY or score.value is None or not _across(score):
            continue
        if _ends(score) not in found or _unseen(score) > _unseen(found[_ends(score)]):
            found[_ends(score)] = score
    return list(found.values())


def alike_score(scores: Sequence[Score], chosen: Score) -> Score | None:
    """The same choices between things that are alike; None where they were not asked."""
    same = (score for score in scores if score.name == _ALIKE and score.about == chosen.about)
    return next((score for score in same if score.value is not None), None)


def leading_choices(scores: Sequence[Score]) -> list[Score]:
    """The `choice_scores`, in the place of each that between things that are alike where these were asked about."""
    return [alike_score(scores, score) or score for score in choice_scores(scores)]


def choices_in_order(scores: Sequence[Score]) -> list[Score]:
    """All two-way choices by codes from one sense to another, those that tell most first.

    First those of `choice_scores`, then by direction, and in each direction the groups that tell most; of each group first the
    choices between things that are alike.
    """
    known = [score for score in scores if score.name in (_ANY, _ALIKE) and _across(score)]
    leads = [(_ends(score), score.about) for score in choice_scores(known)]
    ways = list(dict.fromkeys(map(_ends, known)))

    def place(score: Score) -> tuple[bool, int, bool, bool]:
        leads_its_way = (_ends(score), score.about) in leads
        new, one_sense = _unseen(score)
        return not leads_its_way, ways.index(_ends(score)), not new, not one_sense

    groups: dict[str, list[Score]] = {}
    for score in sorted(known, key=place):
        groups.setdefault(repr(sorted(score.about.items())), []).append(score)
    return [score for group in groups.values() for score in sorted(group, key=lambda score: score.name != _ALIKE)]


def of_two(score: Score, *, alike: bool | None = None) -> str:
    """Of what two things the right one is chosen, after a space: ` of two new ones that are alike`; empty of any two.

    Args:
        score: of two-way choices.
        alike: whether both are alike, by default as the name of the score has it.
    """
    alike = score.name == _ALIKE if alike is None else alike
    group = [value_text(value) for name, value in score.about.items() if name not in ("source", "target")]
    of = f" of two {' '.join(group)} ones" if group else " of two" * alike
    return of + " that are alike" * alike


def is_choice(score: Score) -> bool:
    """Whether a score is the share of right two-way choices by codes from one sense to another."""
    return score.name in (_ANY, _ALIKE) and _across(score)


def _across(score: Score) -> bool:
    source, target = _ends(score)
    return source != target and "way" not in score.about


def _ends(score: Score) -> tuple[str, str]:
    return value_text(score.about.get("source")), value_text(score.about.get("target"))


def _unseen(score: Score) -> tuple[bool, bool]:
    values = {value_text(value) for value in score.about.values()}
    return "new" in values, bool(values & {"felt", "seen"})
