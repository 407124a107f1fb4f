"""Conversion between stored views and the tensors that models compute with.

Images and videos are stored as uint8 0..255 and computed with as floats 0..1; text and labels are ids in both;
everything else is float32 in both.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_module
from molyneux.core.spec import Modality

if TYPE_CHECKING:
    import torch
    from torch import Tensor
else:
    torch = lazy_module("torch")


def to_model(modality: Modality, view: Tensor) -> Tensor:
    """The floats (images and videos 0..1) or int64 ids a model computes with, from a stored view (..., *shape)."""
    if modality.kind in ("image", "video"):
        return view.float() / 255.0 if view.dtype == torch.uint8 else view
    return view.long() if modality.symbols else view.float()


def to_stored(modality: Modality, view: Tensor) -> Tensor:
    """The stored form of a generated view: images and videos are clamped to 0..1 and rounded to 0..255."""
    if modality.kind in ("image", "video") and modality.dtype == "uint8":
        return view if view.dtype == torch.uint8 else (view.clamp(0, 1) * 255.0).round().to(torch.uint8)
    return view.to({"uint8": torch.uint8, "int64": torch.int64, "float32": torch.float32}[modality.dtype])


def text_lengths(modality: Modality, ids: Tensor, lengths: Tensor | None = None) -> Tensor:
    """Number of symbols of texts without `end` and padding, (...,) from ids (..., L).

    Symbols before the first `end` count; without an `end`, symbols up to the last one that is not padding.

    Args:
        modality: a text.
        ids: the texts.
        lengths: what the batch says of their lengths (`Batch.lengths`); symbols beyond them never count.
    """
    position = torch.arange(1, ids.shape[-1] + 1, device=ids.device)
    padding = -1 if modality.padding is None else modality.padding
    inside = ids != padding if lengths is None else (ids != padding) & (position <= lengths.unsqueeze(-1))
    found = (position * inside).amax(-1)
    if modality.end is None:
        return found if lengths is None else lengths
    closing = (ids == modality.end) & (position <= (ids.shape[-1] if lengths is None else lengths.unsqueeze(-1)))
    return torch.where(closing.any(-1), closing.int().argmax(-1), found)


def counted_positions(modality: Modality, ids: Tensor, lengths: Tensor | None = None) -> Tensor:
    """Mask of the positions of texts that a likelihood counts, (..., L) bool from ids (..., L).

    With `lengths`, the positions within them. Without, the positions up to the first `end` symbol, which is counted; all
    positions of a text without an `end`, its padding too, because only the padding then says where the text ends.
    """
    within = torch.ones_like(ids, dtype=torch.bool)
    if lengths is not None:
        within = torch.arange(ids.shape[-1], device=ids.device) < lengths.unsqueeze(-1)
    if modality.end is None:
        return within
    closed = (ids == modality.end).int()
    return within & (closed.cumsum(-1) - closed == 0)


def padded(modality: Modality, ids: Tensor) -> Tensor:
    """Texts (..., L) with padding after the first `end`; with more of `end` where the modality has no padding."""
    if modality.end is None:
        return ids
    return ids.where(counted_positions(modality, ids), modality.end if modality.padding is None else modality.padding)


def text_strings(modality: Modality, ids: Tensor, lengths: Tensor | None = None) -> list[str]:
    """The strings of text ids (B, L), without `end` and trailing padding.

    Symbols longer than one character are words and get spaces.

    Args:
        modality: a text.
        ids: the texts.
        lengths: what the batch says of their lengths (`Batch.lengths`).
    """
    joint = "" if all(len(symbol) == 1 for symbol in modality.symbols) else " "
    rows, ends = ids.tolist(), text_lengths(modality, ids, lengths).tolist()
    return [joint.join(modality.symbols[i] for i in row[:length]) for row, length in zip(rows, ends, strict=True)]


def text_sentences(modality: Modality, ids: Tensor, lengths: Tensor | None = None) -> list[str]:
    """The texts of `text_strings` as sentences, for models that read ordinary writing.

    They begin with a capital letter and have single spaces, none of them before punctuation. Nothing else is changed; a text
    without a full stop gets none, and an empty text stays empty.
    """
    return [_sentence(text) for text in text_strings(modality, ids, lengths)]


def _sentence(text: str) -> str:
    """A text as a sentence.

    >>> _sentence("there is a red square , or not .")
    'There is a red square, or not.'
    """
    closed = _BEFORE_CLOSING.sub("", _AFTER_OPENING.sub("", " ".join(text.split())))
    return closed[:1].upper() + closed[1:]


_BEFORE_CLOSING = re.compile(r" (?=[.,;:!?%)\]}]|n't\b|'(?:s|re|ve|ll|d|m)\b)")
_AFTER_OPENING = re.compile(r"(?<=[(\[{]) ")
