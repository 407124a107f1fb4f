"""The one picture at the top of the page of a run: what it generates, or its main scores as dots on a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from molyneux.core import Score
from molyneux.report import wording
from molyneux.report.headlines import group_scores, mig_parts, mig_scores, probe_scores, strict_scores
from molyneux.report.page import Block, Drawings, DrawnGallery
from molyneux.report.tables import prediction_scores, whole_predictions
from molyneux.report.wording import value_text

_ROWS = 3
_MOST = 8
"""Dots of a drawing; further ones are in the tables."""


def first_picture(generated: Sequence[DrawnGallery], scores: Sequence[Score]) -> Block | None:
    """The first rows of the first gallery of what is generated, or else a drawing of the main scores; None without either.

    Args:
        generated: galleries of what the model generates.
        scores: of the run on the samples as they are.
    """
    shown = next((gallery for gallery in generated if not gallery.text_only), generated[0] if generated else None)
    if shown is not None:
        return replace(shown, name=f"first-{shown.name}", title="", note=shown.note, rows=shown.rows[:_ROWS])
    for title, rows in (_directions(scores), _predicted(scores), _compared(scores), _codes(scores), _probed(scores)):
        if len(rows) > 1:
            return _dots(title, rows[:_MOST])
    return None


_Rows = list[tuple[str, Score]]


def _directions(scores: Sequence[Score]) -> tuple[str, _Rows]:
    """Strict coherence of each direction, of a run without galleries."""
    known = [score for score in strict_scores(scores) if score.value is not None]
    return "Right of what is generated, %", [(wording.direction(score), score) for score in known]


def _predicted(scores: Sequence[Score]) -> tuple[str, _Rows]:
    """The first measure of the first target from all inputs and from each alone, or that of all targets."""
    wholes = [score for score in whole_predictions(scores) if score.value is not None]
    if not wholes:
        return "", []
    first, target = wholes[0], value_text(wholes[0].about.get("target"))
    same = [score for score in prediction_scores(scores) if score.name == first.name and score.value is not None]
    own = [
        score for score in same if set(score.about) <= {"source", "target"} and value_text(score.about.get("target")) == target
    ]
    own.sort(key=lambda score: -len(wording.names_of(score.about.get("source"))))
    if len(own) > 1:
        return f"{wording.measure(first)}, of {target}, by what is given", [
            (value_text(one.about.get("source")), one) for one in own
        ]
    alike = [score for score in wholes if score.name == first.name]
    return wording.measure(first), [(value_text(one.about.get("target")), one) for one in alike]


def _given(score: Score) -> str:
    """What a score is from, in few words."""
    names = wording.names_of(score.about.get("source"))
    return f"{len(names)} inputs" if len(names) > 2 else value_text(names).replace("_", " ")


def _compared(scores: Sequence[Score]) -> tuple[str, _Rows]:
    if not group_scores(scores):
        return "", []
    names = ("contrasts.text", "contrasts.image", "contrasts.group")
    found = [score for score in scores if score.name in names and set(score.about) <= {"target"} and score.value is not None]
    return "Contrast sets that are told apart, %", [(score.name.partition(".")[2], score) for score in found]


def _codes(scores: Sequence[Score]) -> tuple[str, _Rows]:
    known = [score for score in mig_scores(scores) if score.value is not None]
    if not known:
        return "", []
    whole = max(known, key=lambda score: score.value or 0.0)
    parts = [part for part in mig_parts(scores, whole) if part.value is not None]
    rows = [("all factors", whole), *((value_text(part.about.get("factor")), part) for part in parts)]
    return f"MIG of the {value_text(whole.about.get('code')).replace('.', ' ')} code", rows


def _probed(scores: Sequence[Score]) -> tuple[str, _Rows]:
    rows = [(value_text(one.about.get("factor") or one.about.get("target")), one) for one in probe_scores(scores)]
    return "Read from the codes by a linear probe, %", rows


def _dots(title: str, rows: _Rows) -> Drawings:
    """Each score as a dot with its interval; chance as a line where all have the same."""
    from molyneux.report.plots import DotRow, Scale, dot_panel

    ends = [end for _, score in rows for end in (*(score.interval or ()), score.value or 0.0, score.chance) if end is not None]
    low, high = rows[0][1].bounds
    chances = {score.chance for _, score in rows}
    chance = chances.pop() if len(chances) == 1 else None
    scale = Scale(min(ends) if low is None else min(low, *ends), max(ends) if high is None else max(high, *ends), chance)
    drawn = [DotRow(label, (), score.value, score.interval) for label, score in rows]
    keys = (("dot", "measured"), ("interval", "95 % interval"), *((("chance", "guessing"),) if chance is not None else ()))
    return Drawings("", (dot_panel("first", title, drawn, scale),), keys)
