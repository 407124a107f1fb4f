"""Settings of `ShapeWorld` in groups, and what may be wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from molyneux.core import nearest
from molyneux.core.errors import choice_problems
from molyneux.data.worlds.shapeworld.contrast_sets import Variant
from molyneux.data.worlds.shapeworld.kinds import KINDS
from molyneux.data.worlds.shapeworld.meaning.language.captions import LANGUAGES
from molyneux.data.worlds.shapeworld.meaning.truth.semantics import Semantics
from molyneux.data.worlds.shapeworld.scenes.setting_types import is_a, optional_problems, type_problems
from molyneux.data.worlds.shapeworld.scenes.settings import HeldOut, SceneSettings

View = Literal["image", "text", "meaning", "scene"]
LanguageName = Literal["english", "german"]


@dataclass(frozen=True)
class HeldOutSplits:
    """What validation and test samples have and training samples do not.

    Args:
        validation: of the split `validation`; by default that of the kind.
        test: of the split `test`; by default that of the kind.
    """

    validation: HeldOut | None = None
    test: HeldOut | None = None


@dataclass(frozen=True)
class CaptionSettings:
    """Captions: their language, their words, and when they are true.

    Args:
        language: of the captions.
        longest: most words of a caption, the full stop included; by default enough for all.
        vocabulary: "own": the words that captions of these kinds may have; "whole": all words of the language, paraphrases too,
            so that a model can be measured on other kinds and variants than those that it is trained on (with one `longest`).
        semantics: when a caption is true; by default the paper's for its published data sets, else `Semantics()`.
        captions: so many samples in a row have one scene and captions of it, half of them true; variant `published` only.
    """

    language: LanguageName = "english"
    longest: int | None = None
    vocabulary: Literal["own", "whole"] = "own"
    semantics: Semantics | None = None
    captions: int = 1


@dataclass(frozen=True)
class PictureSettings:
    """Pictures: their size and noise.

    Args:
        size: side of the pictures in pixels.
        noise: standard deviation of the noise of pixels, cut off at one of them as in the paper; by default that of the kind.
        pictures: so many samples in a row have one caption and scenes, of half of which it is true; variant `published` only.
    """

    size: int = 64
    noise: float | None = None
    pictures: int = 1


MOVED = {name: f"held_out.{name}" for name in ("validation", "test")}
MOVED |= {name: f"text.{name}" for name in ("language", "longest", "vocabulary", "semantics", "captions")}
MOVED |= {"image_size": "image.size", "noise": "image.noise", "pictures": "image.pictures"}
"""Where the arguments are that `ShapeWorld` had before these groups of settings; see `core.tooling.moved`."""


def world_problems(
    kinds: Sequence[str], views: Sequence[str], variant: str, text: CaptionSettings, image: PictureSettings
) -> list[str]:
    """What is wrong with settings of `ShapeWorld`, a sentence each.

    Args:
        kinds: what captions are about.
        views: the modalities.
        variant: how false captions come about.
        text: settings of captions.
        image: settings of pictures.
    """
    problems = [f"kind: unknown kind {name!r}; {nearest(str(name), KINDS)}" for name in kinds if name not in KINDS]
    problems += ["kind: expected at least one, got none"] * (not kinds)
    problems += ["kind: expected different kinds, got one twice"] * (len(set(kinds)) < len(kinds))
    choices = {
        "variant": (variant, get_args(Variant)),
        "text.language": (text.language, tuple(LANGUAGES)),
        "text.vocabulary": (text.vocabulary, ("own", "whole")),
    }
    problems += choice_problems(**choices)
    problems += [
        f"views: unknown view {name!r}; {nearest(str(name), get_args(View))}" for name in views if name not in get_args(View)
    ]
    problems += ["views: expected at least one, each once"] * (not views or len(set(views)) < len(views))
    if not 8 <= image.size <= 1024:
        problems.append(f"image.size: expected 8 to 1024 pixels, got {image.size}")
    if image.noise is not None and not 0 <= image.noise <= 1:
        problems.append(f"image.noise: expected a standard deviation of 0 to 1, got {image.noise}")
    if text.longest is not None and not 4 <= text.longest <= 1000:
        problems.append(f"text.longest: expected captions of 4 to 1000 words at most, got {text.longest}")
    return problems


def group_type_problems(
    scenes: object, held_out: object, text: object, image: object, *, kind: object, only: object, views: object
) -> list[str]:
    """Problems of the types of the settings of `ShapeWorld`, which come from code: those of files are checked before."""
    groups: dict[str, tuple[object, type]] = {
        "scenes": (scenes, SceneSettings),
        "held_out": (held_out, HeldOutSplits),
        "text": (text, CaptionSettings),
        "image": (image, PictureSettings),
    }
    problems = type_problems(
        {name: (value, group, group.__name__) for name, (value, group) in groups.items()}, kind=kind, only=only, views=views
    )
    if isinstance(held_out, HeldOutSplits):
        problems += optional_problems({f"held_out.{name}": (value, HeldOut, "HeldOut") for name, value in vars(held_out).items()})
    if isinstance(text, CaptionSettings):
        words = "a whole number of words"
        problems += optional_problems(
            {"text.semantics": (text.semantics, Semantics, "Semantics"), "text.longest": (text.longest, int, words)}
        )
    if isinstance(image, PictureSettings):
        problems += optional_problems({"image.noise": (image.noise, (int, float), "a number")})
        if not is_a(image.size, int):
            problems.append(f"image.size: expected a whole number of pixels, got {image.size!r}")
    return problems
