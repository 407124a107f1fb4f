"""The results of a run in sentences that need no explanation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from molyneux.core import Score, Spec
from molyneux.report import wording
from molyneux.report.numbers import places, write, write_interval
from molyneux.report.page import Headline
from molyneux.report.tables import coherence_scores
from molyneux.report.tables.entries import ceiling, strip

_MAKES = {
    "audio": "makes the right sound",
    "image": "draws the right picture",
    "label": "names the right label",
    "series": "makes the right {name}",
    "text": "writes the right {text}",
}
_NOUNS = {"audio": "a sound", "image": "a picture", "label": "a label", "text": "a {text}"}


def headlines(scores: Sequence[Score], spec: Spec | None = None) -> tuple[Headline, ...]:
    """One headline for every direction whose strict coherence was measured.

    Args:
        scores: of one run.
        spec: what the samples look like; tells a picture from a caption, so that the sentence can, too.
    """
    kinds = {} if spec is None else {modality.name: str(modality.kind) for modality in spec.modalities}
    return tuple(_headline(score, kinds) for score in coherence_scores(scores) if score.name == "coherence.strict")


def _headline(score: Score, kinds: Mapping[str, str]) -> Headline:
    about = wording.direction(score)
    if score.value is None:
        return Headline(about, "n/a", f"Not measured: {score.note or 'no reason was recorded'}.")
    decimals = places(score)
    unit = " %" if score.unit == "%" else ""
    number = write(score.value, decimals) + unit
    interval = f" ({write_interval(score.interval, decimals)})" if score.interval else ""
    parts = [f"{_claim(score, kinds)} {number} of the time{interval}"]
    if score.chance is not None:
        parts.append(f"guessing gives {write(score.chance, decimals)}{unit}")
    top = ceiling(score)
    if top is not None:
        parts.append(f"true ones are read right {write(top, decimals)}{unit} of the time")
    return Headline(about, number, "; ".join(parts) + "." + _warning(score), strip(score))


def _claim(score: Score, kinds: Mapping[str, str]) -> str:
    if wording.is_joint(score.about):
        made = " and ".join(_noun(name, kinds) for name in score.about.get("target", "").split("+"))
        return f"Drawn together from the prior, {made} agree"
    source = " and ".join(_noun(name, kinds) for name in score.about.get("source", "").split("+"))
    target = score.about.get("target", "")
    makes = _MAKES.get(kinds.get(target, ""), "makes the right {name}").format(name=target, text=_text(kinds))
    return f"From {source} it {makes}"


def _noun(name: str, kinds: Mapping[str, str]) -> str:
    """`a picture` for a modality that is called by its kind, its own name for one that is not."""
    kind = kinds.get(name, "")
    return _NOUNS.get(kind, name).format(text=_text(kinds)) if kind == name else name


def _text(kinds: Mapping[str, str]) -> str:
    """A text beside pictures is a caption."""
    return "caption" if "image" in kinds.values() else "text"


def _warning(score: Score) -> str:
    if score.chance is None or score.value is None:
        return ""
    low, high = score.interval or (score.value, score.value)
    if high < score.chance:
        return " That is worse than guessing."
    return " That is no better than guessing." if low <= score.chance else ""
