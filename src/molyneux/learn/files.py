"""Tensors, batches and trained models on disk.

Named tensors are stored in safetensors files with a checksum of their content; nothing is pickled. The folder of a trained model
holds `config.yaml` (how to build it), `spec.json` (for which samples) and `weights.safetensors`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from molyneux.core import Batch, ConfigError, CorruptFileError, Spec, SpecError, StoreError, store
from molyneux.core.tooling.documents import dump_document, read_document

_CONFIG, _SPEC, _WEIGHTS, _CHECKSUM = "config.yaml", "spec.json", "weights.safetensors", "checksum"
ROW_SCALE, _LARGE = ".row_scale", 4096
"""The end of the name of factors of rows; numbers of a matrix from which on they are worth it."""


def save_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> str:
    """Write tensors atomically, with a checksum of their content in the file's header.

    Returns:
        The checksum of the file, as `store.checksum` gives it; the file is not read for it.
    """
    plain = {name: tensor.detach().to("cpu", copy=True).contiguous() for name, tensor in tensors.items()}
    content = save(plain, {**(metadata or {}), _CHECKSUM: tensors_digest(plain)})
    store.write_bytes(path, content)
    return store.content_checksum(content)


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors and the metadata that `save_tensors` wrote.

    Raises:
        StoreError: the file is not there.
        CorruptFileError: it was truncated or altered since it was written.
    """
    if not store.is_file(path):
        raise StoreError(f"expected the file {path}, which is not there")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = dict(file.metadata() or {})
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping, only keys()
    except (SafetensorError, OSError, ValueError) as error:
        raise CorruptFileError(
            f"{path} is truncated or is no safetensors file ({error}): restore it from a copy, or make it again"
        ) from error
    if metadata.pop(_CHECKSUM, None) != tensors_digest(tensors):
        raise CorruptFileError(f"{path} was altered since it was written: restore it from a copy, or make it again")
    return tensors, metadata


def stored_values(folder: Path | str) -> int:
    """How many numbers the weights in `folder` are, by the header of their file: nothing else of it is read.

    Raises:
        StoreError: there are none. CorruptFileError: the header cannot be read.
    """
    path = Path(folder) / _WEIGHTS
    if not store.is_file(path):
        raise StoreError(f"expected the file {path}, which is not there")
    try:
        with safe_open(path, framework="pt") as file:
            names = [name for name in file.keys() if not name.endswith(ROW_SCALE)]  # noqa: SIM118 - no mapping, only keys()
            return sum(math.prod(file.get_slice(name).get_shape()) for name in names)
    except (SafetensorError, OSError, ValueError) as error:
        raise CorruptFileError(
            f"{path} is truncated or is no safetensors file ({error}): restore it from a copy, or make it again"
        ) from error


def assign(module: nn.Module, tensors: Mapping[str, Tensor], origin: str) -> None:
    """Copy tensors into the parameters and buffers of those names.

    Raises:
        SpecError: names or shapes differ; names both sides.
    """
    own = module.state_dict()
    missing, unknown = sorted(own.keys() - tensors.keys()), sorted(tensors.keys() - own.keys())
    if missing or unknown:
        raise SpecError(
            f"{origin} does not fit this model: the model has {_few(missing)} that the file lacks, "
            f"the file has {_few(unknown)} that the model lacks; build the model with the settings it was saved with"
        )
    for name, tensor in tensors.items():
        if own[name].shape != tensor.shape:
            raise SpecError(
                f"{origin} does not fit this model: {name} is {tuple(own[name].shape)} in the model and {tuple(tensor.shape)} "
                "in the file; build the model with the settings it was saved with"
            )
    with torch.no_grad():
        for name, tensor in tensors.items():
            own[name].copy_(tensor)


def save_model(model: nn.Module, folder: Path | str, config: Mapping[str, Any]) -> None:
    """Write a model into `folder`.

    Args:
        model: has the attribute `spec`, the Spec it was built for.
        folder: made where it is not there.
        config: how to build the model again, as plain data.

    Raises:
        SpecError: the model has no `spec`.
        StoreError: the folder cannot be written.
    """
    folder = Path(folder)
    spec = getattr(model, "spec", None)
    if not isinstance(spec, Spec):
        raise SpecError(f"expected a model with the Spec it was built for in `spec`, got a {type(model).__name__} without")
    save_tensors(folder / _WEIGHTS, model.state_dict())
    store.write_json(folder / _SPEC, spec.to_json())
    store.write_text(folder / _CONFIG, dump_document(config))


def load_config(folder: Path | str) -> dict[str, Any]:
    """How to build the model of `folder` again.

    Raises:
        StoreError: there is none. CorruptFileError: it cannot be read.
    """
    folder = Path(folder)
    path = folder / _CONFIG
    if not store.is_file(path):
        raise StoreError(f"expected the file {path}, which is not there")
    try:
        return read_document(path)
    except ConfigError as error:
        raise CorruptFileError(f"{path} is damaged ({error}): restore it from a copy, or train again") from error


def load_spec(folder: Path | str) -> Spec:
    """The Spec that the model of `folder` was built for; errors as `store.read_json`, and SpecError."""
    folder = Path(folder)
    return Spec.from_json(store.read_json(folder / _SPEC))


def narrowed(tensors: Mapping[str, Tensor], bits: int) -> dict[str, Tensor]:
    """The matrices among tensors in fewer bits; `widened` is the inverse, but for rounding.

    With 8 bits, large matrices become integers with one factor for each row, `NAME.row_scale`; all other matrices have 16 bits.
    Vectors, and matrices that 16 bits cannot hold, stay as they are.

    Args:
        tensors: by name.
        bits: 8 or 16.
    """
    found = dict(tensors)
    for name, tensor in tensors.items():
        if tensor.dtype != torch.float32 or tensor.ndim < 2 or not torch.isfinite(tensor).all():
            continue
        if bits == 8 and tensor.numel() >= _LARGE and name.endswith("weight"):
            scale = tensor.flatten(1).abs().amax(1).clamp_min(1e-12) / 127
            found[name] = (tensor / scale.reshape(-1, *[1] * (tensor.ndim - 1))).round().to(torch.int8)
            found[name + ROW_SCALE] = scale
        elif torch.allclose((half := tensor.half()).float(), tensor, rtol=1e-2, atol=1e-4):
            found[name] = half
    return found


def widened(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What `narrowed` was given, as floats: matrices of integers with a factor for each row become what they stand for."""
    found = {name: tensor for name, tensor in tensors.items() if not name.endswith(ROW_SCALE)}
    for name, scale in tensors.items():
        whole = name.removesuffix(ROW_SCALE)
        if whole != name and whole in found:
            found[whole] = found[whole].float() * scale.reshape(-1, *[1] * (found[whole].ndim - 1))
    return found


def load_weights(model: nn.Module, folder: Path | str) -> None:
    """Copy the weights in `folder` into a model built by its settings.

    Raises:
        SpecError: names or shapes differ; the message names both sides.
        CorruptFileError: the file was truncated or altered.
        StoreError: there is none.
    """
    folder = Path(folder)
    path = folder / _WEIGHTS
    assign(model, widened(load_tensors(path)[0]), str(path))


def save_batch(batch: Batch, path: Path | str) -> None:
    """Write a batch into one safetensors file, by the names of `Batch.tensors`."""
    path = Path(path)
    save_tensors(path, batch.tensors())


def load_batch(path: Path | str) -> Batch:
    """Read what `save_batch` wrote; errors as `load_tensors`."""
    path = Path(path)
    return Batch.from_tensors(load_tensors(path)[0])


def tensors_digest(tensors: Mapping[str, Tensor]) -> str:
    """A checksum of names, types, shapes and content."""
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _few(names: list[str]) -> str:
    return "nothing" if not names else ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
