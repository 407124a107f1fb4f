"""Read facts from resolved settings and score origins: dotted names, world, level, model, split and train overlap; and titles.

In titles models and data are called as people say it, and not as classes and files are named.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from molyneux.core import Score

_WORLDS = {"ag-news": "AG News", "av-mnist": "AV-MNIST", "gebid": "GeBiD", "pos": "POS", "ynoc": "YNOC"}
"""Names of data sets whose class or origin is spelled in another way."""
_WORDS = re.compile(r"(?:[A-Z][a-z]{2,})+")
"""A class that is made of words, such as `FusionPredictor`, and not of letters, such as `MoPoE`."""
_NUMBERS = (int, float, bool, type(None))
_OWN = ("arrays", "table", "folder", "files")
"""Sections of settings that name the user's own data by a path."""


def flatten(settings: Mapping[str, Any], at: str = "") -> dict[str, Any]:
    """Nested settings under dotted names; lists stay whole.

    >>> flatten({"learn": {"epochs": 3, "model": {"class_path": "MVAE"}}})
    {'learn.epochs': 3, 'learn.model.class_path': 'MVAE'}
    """
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        path = f"{at}.{name}" if at else str(name)
        flat.update(flatten(value, path) if isinstance(value, Mapping) and value else {path: value})
    return flat


def portable(value: Any) -> Any:
    """Plain data in which every absolute path is cut to its last part, so that records do not depend on a machine's folders.

    >>> portable({"folder": "/home/me/samples", "sizes": [1, 2]})
    {'folder': 'samples', 'sizes': [1, 2]}
    """
    if isinstance(value, str):
        return PurePath(value).name or value if value.startswith("/") else value
    if isinstance(value, Mapping):
        return {name: item if type(item) in _NUMBERS else portable(item) for name, item in value.items()}
    return [portable(item) for item in value] if isinstance(value, list | tuple) else value


def world_of(settings: Mapping[str, Any], scores: Sequence[Score] = ()) -> tuple[str, str]:
    """Name of the world in lower case and its level as text, from the origin of the scores or else from flat settings.

    Each is empty where it is not recorded; the level also where image and caption have different ones.
    """
    origin = flatten(scores[0].origin) if scores else {}
    name = origin.get("world") or _named(settings, "world.class_path") or ""
    level = _named(settings, "world.init_args.level") or _named(origin, "level") or ""
    caption = _named(settings, "world.init_args.caption_level") or _named(origin, "caption_level") or level
    short = str(name).rpartition(".")[2].lower().partition("-v")[0]
    return short, str(level) if str(caption) == str(level) else ""


def split_of(scores: Sequence[Score]) -> str:
    """The split that scores were measured on; `test` where it is not recorded."""
    return str(scores[0].origin.get("split") or "test") if scores else "test"


def train_overlap_of(scores: Sequence[Score]) -> str:
    """A sentence with the shares of measured views that also occur in training: `image 24.1 %, text 100 %`.

    A share is a range where runs differ. Empty where it is not recorded, or is zero for all modalities.
    """
    shares: dict[str, list[float]] = {}
    for origin in {id(score.origin): score.origin for score in scores}.values():  # the scores of a run share it
        recorded = origin.get("train_overlap") or origin.get("seen") or {}
        for name, share in recorded.items():
            shares.setdefault(name, []).append(share)
    ranges = {name: tuple(dict.fromkeys(f"{end:.1f}" for end in (min(each), max(each)))) for name, each in shares.items()}
    overlap = ", ".join(f"{name} {' to '.join(ends)} %" for name, ends in ranges.items() if ends != ("0.0",))
    return f"Measured views that also occur in training: {overlap}." if overlap else ""


def precision_of(runs: Iterable[tuple[Mapping[str, Any], Sequence[Score]]]) -> str:
    """A sentence where runs of one setting of `learn.precision` were trained in different arithmetic; empty elsewhere.

    Args:
        runs: flat settings and scores of each run.
    """
    used: dict[Any, Counter[str]] = {}
    for settings, scores in runs:
        for found in set(map(_arithmetic, {id(score.origin): score.origin for score in scores}.values())) - {""}:
            asked = settings.get("learn.precision"), settings.get(_AFTER)
            used.setdefault(asked, Counter())[found] += 1
    mixed = Counter[str]()
    for counts in used.values():
        mixed += counts if len(counts) > 1 else Counter()
    if not mixed:
        return ""
    told = " and ".join(f"{count} in {arithmetic}" for arithmetic, count in sorted(mixed.items()))
    return f"Runs were trained in different arithmetic, as their devices had it: {told}; their losses are rounded differently."


_AFTER = "learn.model.init_args.diffusion.after.precision"
"""The setting of the fit after training."""


def _arithmetic(origin: Mapping[str, Any]) -> str:
    """In which arithmetic the model of a score was trained, and fitted after that; empty where it is not recorded."""
    names = {"32": "32 bits"}
    used, after = (names.get(origin.get(key, ""), origin.get(key, "")) for key in ("precision", "post_fit_precision"))
    return f"{used} and fitted after that in {after}" if used and after else str(used)


def steps_of(settings: Mapping[str, Any]) -> int | None:
    """Number of optimiser steps that flat settings of a run ask for; None where they do not say, or ask for several stages.

    >>> steps_of({"learn.epochs": 3, "data.train": 1000, "learn.batch_size": 128})
    21
    """
    names = ("learn.steps", "learn.epochs", "data.train", "learn.batch_size")
    steps, epochs, samples, size = (number if isinstance(number := settings.get(name), int) else 0 for name in names)
    if settings.get("learn.stages"):
        return None
    return steps or (epochs * (samples // size) if epochs and samples and size else None)


def has_fitted_prior(settings: Mapping[str, Any]) -> bool:
    """Whether the prior of the model is a mixture that is fitted to its codes after training."""
    return _named(settings, "model.init_args.prior.components") is not None


def model_of(settings: Mapping[str, Any], scores: Sequence[Score] = ()) -> str:
    """Short name of the model's class; empty where it is not recorded."""
    name = _named(settings, "model.class_path") or (scores[0].origin.get("model") if scores else "") or ""
    return str(name).rpartition(".")[2]


def short(value: Any) -> str:
    """The value of a setting as short text: the class of a dotted path, `yes` and `no` for booleans.

    >>> short("molyneux.learn.vaes.mvae.MVAE"), short(True), short(0.5), short(None)
    ('MVAE', 'yes', '0.5', 'none')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "none"
    if isinstance(value, str):
        parts = value.split(".")
        return parts[-1] if len(parts) > 1 and all(part.isidentifier() for part in parts) else value
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {short(item)}" for name, item in value.items()) or "none"
    return ", ".join(short(item) for item in value) if isinstance(value, list | tuple) else str(value)


def _named(settings: Mapping[str, Any], ending: str) -> Any:
    return next((value for path, value in settings.items() if path == ending or path.endswith(f".{ending}")), None)


def baseline_of(settings: Mapping[str, Any]) -> str:
    """The baseline that the settings of a run name; empty where they name none."""
    return str(_robustness(settings).get("baseline") or "")


def chosen_of(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the scores whose robustness the settings of a run ask for; none where they ask for all."""
    return tuple(_robustness(settings).get("of") or ())


def _robustness(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """The settings of the measure in flat settings of a run; none where it has none."""
    for measure in settings.get("measure.measures") or ():
        named = str(measure.get("class_path", "")) if isinstance(measure, Mapping) else ""
        if named.rpartition(".")[2] == "Robustness":
            return measure.get("init_args") or {}
    return {}


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
