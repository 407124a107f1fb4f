"""The models that come with the package: folders of exports, by name."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parents[2] / "models"
"""One folder for each model, as `molyneux export` writes it with half-width weights."""


@cache
def shipped_names() -> tuple[str, ...]:
    """Names of the models that come with the package, sorted."""
    if not _FOLDER.is_dir():
        return ()
    return tuple(sorted(path.name for path in _FOLDER.iterdir() if (path / "config.yaml").is_file()))


def shipped_folder(name: str) -> Path | None:
    """The folder of a model that comes with the package; None for another name."""
    return _FOLDER / name if name in shipped_names() else None


def shipped_card(name: str) -> str:
    """The card of a model, without the front matter that hubs read."""
    text = (_FOLDER / name / "README.md").read_text(encoding="utf-8")
    return text.partition("\n---\n")[2].strip()


def shipped_summary(name: str) -> str:
    """What a model is: the sentence below the title of its card."""
    return shipped_card(name).split("\n\n")[1]
