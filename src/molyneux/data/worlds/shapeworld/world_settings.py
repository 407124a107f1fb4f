"""Settings of `ShapeWorld` that are words and single numbers, and what may be wrong with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from molyneux.core import nearest
from molyneux.core.errors import choice_problems
from molyneux.data.worlds.shapeworld.contrast_sets import Variant
from molyneux.data.worlds.shapeworld.kinds import KINDS
from molyneux.data.worlds.shapeworld.meaning.captions import LANGUAGES

View = Literal["image", "text", "meaning", "scene"]
LanguageName = Literal["english", "german"]


def world_problems(
    kinds: Sequence[str],
    views: Sequence[str],
    words: Mapping[str, str],
    *,
    image_size: int,
    noise: float | None,
    longest: int | None,
) -> list[str]:
    """What is wrong with settings of `ShapeWorld`, a sentence each.

    Args:
        kinds: what captions are about.
        views: the modalities.
        words: `variant`, `language` and `vocabulary`.
        image_size: side of the pictures in pixels.
        noise: standard deviation of the noise of pixels; None for that of the kind.
        longest: most words of a caption; None for enough.
    """
    problems = [f"kind: unknown kind {name!r}; {nearest(str(name), KINDS)}" for name in kinds if name not in KINDS]
    problems += ["kind: expected at least one, got none"] * (not kinds)
    problems += ["kind: expected different kinds, got one twice"] * (len(set(kinds)) < len(kinds))
    problems += choice_problems(
        variant=(words["variant"], get_args(Variant)),
        language=(words["language"], tuple(LANGUAGES)),
        vocabulary=(words["vocabulary"], ("own", "whole")),
    )
    problems += [
        f"views: unknown view {name!r}; {nearest(str(name), get_args(View))}" for name in views if name not in get_args(View)
    ]
    problems += ["views: expected at least one, each once"] * (not views or len(set(views)) < len(views))
    if not 8 <= image_size <= 1024:
        problems.append(f"image_size: expected 8 to 1024 pixels, got {image_size}")
    if noise is not None and not 0 <= noise <= 1:
        problems.append(f"noise: expected a standard deviation of 0 to 1, got {noise}")
    if longest is not None and not 4 <= longest <= 1000:
        problems.append(f"longest: expected captions of 4 to 1000 words at most, got {longest}")
    return problems
