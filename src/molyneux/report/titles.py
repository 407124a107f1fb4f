"""What models and data are called in titles: as people say it, and not as classes and files are named."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from molyneux.core import Score
from molyneux.report.settings import model_of, short, world_of

_WORLDS = {"ag-news": "AG News", "av-mnist": "AV-MNIST", "gebid": "GeBiD", "pos": "POS", "ynoc": "YNOC"}
"""Names of data sets whose class or origin is spelled in another way."""
_WORDS = re.compile(r"(?:[A-Z][a-z]{2,})+")
"""A class that is made of words, such as `FusionPredictor`, and not of letters, such as `MoPoE`."""
_OWN = ("arrays", "table", "folder", "files")
"""Sections of settings that name the user's own data by a path."""


def run_title(settings: Mapping[str, Any], scores: Sequence[Score]) -> str:
    """Model and data of a run, such as `MVAE on CdSprites level 2`; empty where neither is recorded.

    Args:
        settings: flat settings.
        scores: of the run.
    """
    return " on ".join(part for part in (model_title(settings, scores), data_title(settings, scores)) if part)


def model_title(settings: Mapping[str, Any], scores: Sequence[Score] = ()) -> str:
    """The name of a model: of one from outside that of its folder, of one that fuses modalities with how it does.

    >>> model_title({"learn.model.class_path": "molyneux.learn.ConceptModules"})
    'Concept modules'
    """
    loaded = str(scores[0].origin.get("loaded_by") or "") if scores else ""
    if loaded:
        return "Your model" if ":" in loaded else loaded
    fusion = settings.get("learn.model.init_args.fusion.class_path") or settings.get("learn.model.init_args.fusion")
    how = f" ({_words(short(fusion))})" if isinstance(fusion, str) else ""
    title = _words(model_of(settings, scores)) + how
    return title[:1].upper() + title[1:]


def data_title(settings: Mapping[str, Any], scores: Sequence[Score] = ()) -> str:
    """The name of the data, and the level where it has one: of the user's own data that of the file or folder."""
    for name in _OWN:
        path = settings.get(f"data.{name}.path") or settings.get(f"data.{name}")
        if isinstance(path, str):
            return PurePath(path).stem
    world, level = world_of(settings, scores)
    name = next((short(value) for path, value in settings.items() if path.endswith("world.class_path")), world)
    title = _WORLDS.get(world) or _WORLDS.get(name.lower()) or (_words(name) if name != world else name)
    return f"{title} level {level}" if level else title


def _words(name: str) -> str:
    """The words of a class in lower case; a name that is not made of words stays as it is.

    >>> _words("LatePrediction"), _words("MoPoE"), _words("CdSprites"), _words("VAE")
    ('late prediction', 'MoPoE', 'CdSprites', 'VAE')
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower() if _WORDS.fullmatch(name) and name != "ShapeWorld" else name
