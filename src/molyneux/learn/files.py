"""A trained model on disk: `config.yaml` (how to build it), `spec.json` (for what), `weights.safetensors`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from torch import nn

from molyneux.core import Batch, CorruptFileError, Spec, SpecError, StoreError, store
from molyneux.learn.tensors import assign, load_tensors, save_tensors

_CONFIG, _SPEC, _WEIGHTS = "config.yaml", "spec.json", "weights.safetensors"


def save_model(model: nn.Module, folder: Path, config: Mapping[str, Any]) -> None:
    """Write a model into `folder`.

    Args:
        model: has the attribute `spec`, the Spec it was built for.
        folder: made where it is not there.
        config: how to build the model again, as plain data.

    Raises:
        SpecError: the model has no `spec`.
        StoreError: the folder cannot be written.
    """
    spec = getattr(model, "spec", None)
    if not isinstance(spec, Spec):
        raise SpecError(f"expected a model with the Spec it was built for in `spec`, got a {type(model).__name__} without")
    save_tensors(folder / _WEIGHTS, model.state_dict())
    store.write_json(folder / _SPEC, spec.to_json())
    store.write_text(folder / _CONFIG, yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True))


def load_config(folder: Path) -> dict[str, Any]:
    """How to build the model of `folder` again.

    Raises:
        StoreError: there is none. CorruptFileError: it cannot be read.
    """
    path = folder / _CONFIG
    try:
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise StoreError(f"expected the file {path}, which is not there") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise CorruptFileError(f"{path} is damaged ({error}): delete its folder and train again") from error
    if not isinstance(config, dict):
        raise CorruptFileError(f"{path} is damaged (it holds no settings): delete its folder and train again")
    return config


def load_spec(folder: Path) -> Spec:
    """The Spec that the model of `folder` was built for; errors as `store.read_json`, and SpecError."""
    return Spec.from_json(store.read_json(folder / _SPEC))


def load_weights(model: nn.Module, folder: Path) -> None:
    """Copy the weights in `folder` into a model built by its settings.

    Raises:
        SpecError: names or shapes differ; the message names both sides.
        CorruptFileError: the file was truncated or altered.
        StoreError: there is none.
    """
    path = folder / _WEIGHTS
    assign(model, load_tensors(path)[0], str(path))


def save_batch(batch: Batch, path: Path) -> None:
    """Write a batch into one safetensors file, by the names of `Batch.tensors`."""
    save_tensors(path, batch.tensors())


def load_batch(path: Path) -> Batch:
    """Read what `save_batch` wrote; errors as `load_tensors`."""
    return Batch.from_tensors(load_tensors(path)[0])
