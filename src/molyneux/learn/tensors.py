"""Named tensors in safetensors files that notice when they were altered. Nothing is pickled."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from molyneux.core import CorruptFileError, SpecError, StoreError, store

_CHECKSUM = "checksum"


def save_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> None:
    """Write tensors atomically, with a checksum of their content in the file's header."""
    plain = {name: tensor.detach().to("cpu", copy=True).contiguous() for name, tensor in tensors.items()}
    store.write_bytes(path, save(plain, {**(metadata or {}), _CHECKSUM: _digest(plain)}))


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors and the metadata that `save_tensors` wrote.

    Raises:
        StoreError: the file is not there.
        CorruptFileError: it was truncated or altered since it was written.
    """
    if not path.exists():
        raise StoreError(f"expected the file {path}, which is not there")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = dict(file.metadata() or {})
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping, only keys()
    except (SafetensorError, OSError, ValueError) as error:
        raise CorruptFileError(f"{path} is truncated or is no safetensors file ({error}): delete it and make it again") from error
    if metadata.pop(_CHECKSUM, None) != _digest(tensors):
        raise CorruptFileError(f"{path} was altered since it was written: delete it and make it again")
    return tensors, metadata


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


def _digest(tensors: Mapping[str, Tensor]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(tensors):
        tensor = tensors[name].contiguous()
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _few(names: list[str]) -> str:
    return "nothing" if not names else ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
