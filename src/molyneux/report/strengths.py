"""What a strength of an imperfection is, in the units of the samples, and curves of missing modalities up to their absence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from molyneux.core import Score
from molyneux.core.curves import Curve
from molyneux.report import wording
from molyneux.report.wording import listed, names_of, with_unit

MISSING = "missing"
"""The imperfection of modalities that are missing at rates."""

_EACH = "{share} of {what}"
_WHAT = {
    "brightness": "images are made brighter or darker",
    "channel-isolation": "images keep one channel",
    "contrast": "images lose contrast",
    "correlated": "samples are hit in all modalities at once",
    "crop": "images are cropped",
    "dropout": "steps, symbols or values are lost",
    "flip": "images are flipped",
    "grayscale": "images lose their colours",
    "inversion": "images are inverted",
    "letter-shuffle": "words have their inner letters shuffled",
    "letter-swap": "words have two letters swapped",
    MISSING: "samples lack it, unless it is their last modality",
    "omission": "words lose letters",
    "periodic-noise": "images have a pattern of waves over them",
    "rotation": "images are rotated",
    "salt-and-pepper": "pixels are black or white",
    "sticky-keys": "words have letters written twice",
    "structured-dropout": "blocks of steps are lost",
    "substitution": "symbols are replaced by others",
    "temporal-dropout": "moments are lost in all modalities",
    "tint": "images are tinted",
    "translation": "images are moved",
    "typos": "letters are replaced by neighbours on a keyboard",
    "value-swap": "values stand in wrong columns",
    "white-balance": "images have another white balance",
    "word-dropout": "words are left out",
    "word-swap": "words change places with the next",
}
"""What happens with the strength as its probability, by the name of a corruption."""
_SIZES = {
    "blur": "sides of images are shrunk by {share} and enlarged again",
    "erasing": "{share} of the area of images is painted over",
    "gaussian-noise": "noise of standard deviation {size} (values of images go from 0 to 1)",
}
"""What has the strength as its size."""


def strength_words(corruption: str, strength: float, scale: float | None = 1.0) -> str:
    """What a strength of a corruption is; empty for one that is made of others, or the user's own.

    Args:
        corruption: its name, as in `Score.about`.
        strength: from 0 to 1.
        scale: of `gaussian-noise`, the standard deviation at strength 1; None where it is not known.

    >>> strength_words("gaussian-noise", 0.5)
    'noise of standard deviation 0.5 (values of images go from 0 to 1)'
    >>> strength_words("typos", 0.2)
    '20 % of letters are replaced by neighbours on a keyboard'
    """
    share, size = f"{100 * strength:g} %", "unknown" if scale is None else f"{scale * strength:g}"
    if corruption in _SIZES:
        return _SIZES[corruption].format(share=share, size=size)
    return _EACH.format(share=share, what=_WHAT[corruption]) if corruption in _WHAT else ""


def noise_scale(settings: Mapping[str, Any]) -> float | None:
    """The standard deviation of `gaussian-noise` at strength 1 in flat settings of a run; None where they have several.

    It is 1 where the settings say nothing, as of a corruption that is used without an experiment file.
    """
    scales = set()
    for condition in settings.get("measure.conditions") or ():
        corruption = condition.get("corruption") if isinstance(condition, Mapping) else None
        if isinstance(corruption, Mapping) and str(corruption.get("class_path")).endswith("GaussianNoise"):
            scales.add(float((corruption.get("init_args") or {}).get("scale", 1.0)))
    return scales.pop() if len(scales) == 1 else None if scales else 1.0


def to_absence(curves: Sequence[Curve], scores: Sequence[Score]) -> list[Curve]:
    """The curves; those of a modality that is missing at rates end with the score without it, at strength 1.

    That is the score from the other modalities alone, of the samples as they are or of a condition in which no sample has it.
    Curves that have a strength of 1, or of which that score is not known, stay as they are.
    """
    known: dict[tuple[object, ...], Score] = {}
    for score in scores:
        source, conditions = names_of(score.about.get("source")), set(wording.CONDITIONS) & set(score.about)
        apart = not set(names_of(score.about.get(MISSING))) & set(source)
        if score.value is not None and apart and conditions <= {MISSING}:
            known.setdefault(_key(score, source), score)
    return [_ended(curve, known) for curve in curves]


def _key(score: Score, source: Sequence[str]) -> tuple[object, ...]:
    left = {"source", *wording.CONDITIONS}
    return score.name, tuple(source), tuple(sorted((name, value) for name, value in score.about.items() if name not in left))


def _ended(curve: Curve, known: Mapping[tuple[object, ...], Score]) -> Curve:
    last = curve.scores[-1]
    if last.about.get("corruption") != MISSING or curve.strengths[-1] >= 1.0:
        return curve
    lost = set(names_of(last.about.get("corrupted")))
    rest = [name for name in names_of(last.about.get("source")) if name not in lost]
    end = known.get(_key(last, rest)) if rest and lost & set(names_of(last.about.get("source"))) else None
    if end is None:
        return curve
    return replace(curve, strengths=(*curve.strengths, 1.0), scores=(*curve.scores, replace(end, about=last.about)))


def curve_sentence(curve: Curve, scale: float | None = 1.0) -> str:
    """What is left at the end of a curve, beside guessing and the samples as they are, with what that strength is."""
    first, last, strength = curve.scores[0], curve.scores[-1], curve.strengths[-1]
    corruption, names = str(last.about.get("corruption", "")), names_of(last.about.get("corrupted"))
    guessing = "" if last.chance is None else f", guessing {with_unit(last, last.chance)}"
    kept = f"it keeps {with_unit(last, last.value)}{guessing}, of {with_unit(first, first.value)} on samples as they are."
    if corruption == MISSING and strength >= 1.0:
        return f"With {listed(names)} missing in every sample (a dead sensor) {kept}"
    words = strength_words(corruption, strength, scale)
    of = f" of {listed(names)}" if names else ""
    return f"At strength {strength:g}{of}{f' ({words})' if words else ''} {kept}"
