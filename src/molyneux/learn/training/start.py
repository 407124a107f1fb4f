"""Training that starts from the weights of a trained model, of which what is fitted after a training is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from safetensors import SafetensorError, safe_open
from torch import nn

from molyneux.core import CorruptFileError, Modality, PostFitWeights, Spec, SpecError, StoreError, Target, store
from molyneux.learn.files import ROW_SCALE, assign, load_spec, load_tensors, widened

__all__ = ["start_from", "start_problems"]

_WEIGHTS = "weights.safetensors"
_FEW = 3
"""Names that a message shows."""


def start_from(model: nn.Module, folder: Path | str) -> None:
    """Give a model the weights of the trained model in `folder`, as `save_model` wrote it.

    Weights that the fit after the training sets anew (`core.PostFitWeights`) stay as they are, and need not be in the folder:
    a model may have another fitted prior than the one that it starts from.

    Raises:
        SpecError: a name or a shape differs, or modalities do; nothing is copied. StoreError: there is no such model.
        CorruptFileError: a file was truncated or altered.
    """
    folder = Path(folder)
    if problems := start_problems(model, folder):
        raise SpecError(f"{folder} is no model to start from: {'; '.join(problems)}")
    found, own = widened(load_tensors(folder / _WEIGHTS)[0]), model.state_dict()
    anew = post_fit_names(model, own)
    assign(model, {name: own[name] if name in anew else found[name] for name in own}, str(folder / _WEIGHTS))


def start_problems(model: nn.Module, folder: Path) -> list[str]:
    """Why a model cannot start from the weights in a folder, one sentence each, by names and shapes alone.

    Errors as `start_from`, but for SpecError.
    """
    theirs, own = shapes_in(folder / _WEIGHTS), {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    kept = own.keys() - post_fit_names(model, own)
    foreign = theirs.keys() - post_fit_names(model, theirs)
    problems = []
    if missing := sorted(kept - theirs.keys()):
        problems.append(f"expected the weights {_few(missing)}, which it lacks: take the model that it is of")
    if unknown := sorted(foreign - own.keys()):
        problems.append(f"expected no weights beside those of the model, got {_few(unknown)}: take the model that it is of")
    if others := sorted(name for name in kept & theirs.keys() if own[name] != theirs[name]):
        first = others[0]
        more = f" (and {len(others) - 1} others)" if len(others) > 1 else ""
        problems.append(
            f"expected {first} of the shape {own[first]}, got {theirs[first]}{more}: take the settings that it was trained with"
        )
    spec = getattr(model, "spec", None)
    return [*problems, *(_spec_problems(spec, load_spec(folder)) if isinstance(spec, Spec) else [])]


def shapes_in(path: Path) -> dict[str, tuple[int, ...]]:
    """The shapes of the weights in a safetensors file by name, as `files.widened` has them; only its head is read.

    Raises:
        StoreError: it is not there. CorruptFileError: it is no safetensors file.
    """
    if not store.is_file(path):
        raise StoreError(f"expected the file {path}, which is not there")
    try:
        with safe_open(path, framework="pt") as file:
            names = [name for name in file.keys() if not name.endswith(ROW_SCALE)]  # noqa: SIM118 - no mapping
            return {name: tuple(file.get_slice(name).get_shape()) for name in names}
    except (SafetensorError, OSError, ValueError) as error:
        raise CorruptFileError(f"{path} is no safetensors file ({error}): restore it from a copy, or make it again") from error


def post_fit_names(model: nn.Module, names: Mapping[str, object]) -> set[str]:
    """Those of the names that are of weights which the fit after a training sets anew."""
    patterns: Sequence[str] = model.post_fit_weights if isinstance(model, PostFitWeights) else ()
    return {name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)}


def _spec_problems(own: Spec, theirs: Spec) -> list[str]:
    """Modalities and targets that both have, of which a number means something else."""
    items: list[Modality | Target] = [*own.modalities, *own.targets]
    others: list[Modality | Target] = [*theirs.modalities, *theirs.targets]
    known = {item.name: item for item in others}
    return [
        f"expected {item.name} as the samples have it ({item}), got {known[item.name]}: take samples with the same symbols"
        for item in items
        if item.name in known and known[item.name] != item
    ]


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:_FEW]) + (f" and {len(names) - _FEW} more" if len(names) > _FEW else "")
