"""Networks in files whose features of views are compared."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from molyneux.core import CorruptFileError, Features, Modality, Spec, SpecError, StoreError, store, views
from molyneux.learn.features.inception import WIDTH, Inception
from molyneux.learn.judges import Judge, file_digest

_BATCH = 50
_KNOWN = "Mixed_7c.branch_pool.conv.weight"


class InceptionFeatures:
    """The features of FID of pictures; satisfies `core.Features`.

    Args:
        net: with its weights.
        modality: of kind image.
        digest: SHA-256 of the file of the weights.

    Raises:
        SpecError: the modality has no pictures of one or three channels.
    """

    def __init__(self, net: Inception, modality: Modality, digest: str) -> None:
        if modality.kind != "image" or modality.shape[0] not in (1, 3):
            got = f"{modality.kind} {modality.shape}"
            raise SpecError(f"modality {modality.name}: Inception takes pictures of one or three channels, got {got}")
        self._net, self._modality, self._digest = net, modality, digest

    @property
    def modality(self) -> str:
        """Name of the modality whose views it takes."""
        return self._modality.name

    @property
    def origin(self) -> Mapping[str, Any]:
        """The name of the network and the digest of its file."""
        return {"network": "Inception of FID", "digest": self._digest}

    @torch.inference_mode()
    def features(self, view: Tensor) -> Tensor:
        """Features (B, 2048) of stored pictures (B, *shape)."""
        parts = [self._net(views.to_model(self._modality, part)) for part in torch.split(view, _BATCH)]
        return torch.cat(parts) if parts else torch.empty(0, WIDTH)


def load_features(path: Path, spec: Spec, modality: str) -> Features:
    """The features of the network in a safetensors file: a judge, or the Inception network of FID with torchvision's names.

    Args:
        path: the file.
        spec: of the samples.
        modality: name of the modality whose views are compared.

    Raises:
        StoreError: there is no such file. CorruptFileError: it is no safetensors file, or an altered judge.
        SpecError: it holds another network, or one that does not take these views.
    """
    tensors, judge = _read(path)
    if judge:
        return Judge.load(path).reader(spec, modality, (), abstain=False)
    if _KNOWN not in tensors:
        raise SpecError(
            f"{path}: expected a judge, or the weights of Inception v3 under torchvision's names, got neither: "
            "give features of your own to `Evaluation(features=...)`"
        )
    return InceptionFeatures(Inception.of(tensors), spec.modality(modality), file_digest(path))


def _read(path: Path) -> tuple[dict[str, Tensor], bool]:
    """The tensors of a file, which may have no checksum, and whether they are those of a judge, which are not read here."""
    if not store.is_file(path):
        raise StoreError(f"expected the file {path}, which is not there")
    try:
        with safe_open(path, framework="pt") as file:
            judge = "judge" in (file.metadata() or {})
            names = () if judge else file.keys()
            return {name: file.get_tensor(name) for name in names}, judge
    except (SafetensorError, OSError, ValueError) as error:
        raise CorruptFileError(f"{path} is truncated or is no safetensors file ({error}): restore it from a copy") from error
