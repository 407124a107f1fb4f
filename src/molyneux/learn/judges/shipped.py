"""The judges that come with the package."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from molyneux.core import StoreError, nearest
from molyneux.learn.judges.judge import Judge


def judge_file(world: str, modality: str) -> str:
    """The file name of a world's judge for a modality."""
    return f"{world}.{modality}.safetensors"


def shipped_judges() -> tuple[tuple[str, str], ...]:
    """World and modality of every judge that comes with the package, sorted."""
    found = (
        path.name.removesuffix(".safetensors").rsplit(".", 1) for path in _folder().iterdir() if path.suffix == ".safetensors"
    )
    return tuple(sorted((world, modality) for world, modality in found))


def load_judge(world: str, modality: str) -> Judge:
    """The judge that comes with the package for a world (name with version) and a modality.

    Raises:
        StoreError: there is none; says how to train one.
    """
    path = shipped_file(world, modality)
    if not path.exists():
        known = nearest(f"{world} {modality}", (" ".join(pair) for pair in shipped_judges()))
        raise StoreError(
            f"expected a judge for {modality} of {world}, there is none ({known}): "
            f"train one with `molyneux judge {world} {modality} --out FILE`, and read it with `Judge.load`"
        )
    return Judge.load(path)


def shipped_file(world: str, modality: str) -> Path:
    """Where the judge for a world and a modality is, if there is one."""
    return _folder() / judge_file(world, modality)


def _folder() -> Path:
    return Path(str(resources.files("molyneux.learn.judges"))) / "weights"
