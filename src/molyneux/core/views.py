"""Between the stored form of a view and the form models compute with.

Images are stored as uint8 0..255 and computed with as floats 0..1; text and labels are ids in both; everything else is
float32 in both.
"""

from __future__ import annotations

import torch
from torch import Tensor

from molyneux.core.spec import Modality


def to_model(modality: Modality, view: Tensor) -> Tensor:
    """The floats (images 0..1) or int64 ids a model computes with, from a stored view (..., *shape)."""
    if modality.kind == "image":
        return view.float() / 255.0 if view.dtype == torch.uint8 else view
    return view.long() if modality.symbols else view.float()


def to_stored(modality: Modality, view: Tensor) -> Tensor:
    """The stored form of what a model made: images are clamped to 0..1 and rounded to 0..255."""
    if modality.kind == "image" and modality.dtype == "uint8":
        return view if view.dtype == torch.uint8 else (view.clamp(0, 1) * 255.0).round().to(torch.uint8)
    return view.to({"uint8": torch.uint8, "int64": torch.int64, "float32": torch.float32}[modality.dtype])


def text_lengths(ids: Tensor, padding: int) -> Tensor:
    """Number of symbols up to the last that is not padding, (...,) from ids (..., L)."""
    position = torch.arange(1, ids.shape[-1] + 1, device=ids.device)
    return (position * (ids != padding)).amax(-1)


def text_strings(modality: Modality, ids: Tensor) -> list[str]:
    """The strings of text ids (B, L), without trailing padding. Symbols longer than one character are words and get spaces."""
    joint = "" if all(len(symbol) == 1 for symbol in modality.symbols) else " "
    padding = -1 if modality.padding is None else modality.padding
    lengths = text_lengths(ids, padding).tolist()
    rows = ids.tolist()
    return [joint.join(modality.symbols[i] for i in row[:length]) for row, length in zip(rows, lengths, strict=True)]
