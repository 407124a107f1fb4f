"""Words of the command line: kinds of things that are listed, names that commands have elsewhere, and values of options."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Literal

KINDS = {
    "auxiliary-objectives": "what a fusion predictor learns beside its targets",
    "benchmarks": "published data sets, read from their files",
    "configs": "experiment and study files below the folder configs",
    "corruptions": "damage to pictures, texts, sounds and other data",
    "datasets": "your own data: arrays, tables, folders of images",
    "encoders": "networks from one modality to features",
    "fusions": "ways to join the features of several modalities",
    "imputations": "what stands in for a missing modality",
    "judges": "trained readers of generated views",
    "measures": "what is measured of a model",
    "metrics": "metrics of disentanglement",
    "models": "models to train",
    "nets": "encoders and decoders of VAEs",
    "objectives": "losses of VAEs",
    "pretrained": "trained models that come with the package",
    "worlds": "generators of samples whose factors are known",
}
"""What `molyneux list` lists, and what each is."""

MEANT = {
    "download": "data",
    "draw": "generate",
    "eval": "measure",
    "evaluate": "measure",
    "experiment": "run",
    "fit": "learn",
    "info": "doctor",
    "ls": "list",
    "plot": "report",
    "sample": "generate",
    "show": "report",
    "study": "sweep",
    "train": "run",
    "upload": "push",
}
"""What commands of other programs are called here."""


def path(word: str) -> Path:
    """A path; an empty word, which would be the present folder, is refused."""
    if not word:
        raise argparse.ArgumentTypeError("expected the name of a file or folder, got an empty word")
    return Path(word)


def place(word: str) -> Path | str:
    """A path, or an address with `://` as it is; errors as `path`."""
    return word if "://" in word else path(word)


def count(word: str) -> int:
    """A whole number, also written as 1e6 or 1,000,000."""
    try:
        number = float(word.replace(",", "").replace("_", ""))
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number == int(number)):
        raise argparse.ArgumentTypeError(f"expected a whole number such as 10000 or 1e6, got {word!r}")
    return int(number)


def processes(word: str) -> int | Literal["auto"]:
    """How many processes: a whole number, or auto."""
    return "auto" if word == "auto" else count(word)


def part(word: str) -> tuple[int, int]:
    """Which part of how many, such as 2/8."""
    number, slash, parts = word.partition("/")
    if not (slash and number.isdecimal() and parts.isdecimal() and 1 <= int(number) <= int(parts)):
        raise argparse.ArgumentTypeError(f"expected a part of how many, such as 2/8, got {word!r}")
    return int(number), int(parts)
