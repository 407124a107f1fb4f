"""What an encoder makes of views, the contract of the encoders of predictors, and attention over parts.

An encoder gives a vector of each whole view and vectors of its parts (regions of a picture, words of a text), so that any joining
can be built on any encoder. Shapes: B samples, N parts, D numbers of a whole view, P numbers of a part.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from molyneux.core import Batch, Kind, Modality, Spec, SpecError
from molyneux.core.views import to_model


@dataclass(frozen=True)
class Encoding:
    """Views of one modality, encoded.

    Args:
        vector: of each whole view, (B, D); 0 where the view is absent.
        parts: of each view, (B, N, P); 0 where `mask` is False.
        mask: which parts there are, (B, N) bool: words of a text up to its length; none of a view that is absent.
        present: which samples have the view, (B,) bool; all of them by default.
        layers: what the hidden layers of the encoder made of the whole view, each (B, D_l), from the first to the vector; 0
            where the view is absent. An encoder that does not tell has none.
    """

    vector: Tensor
    parts: Tensor
    mask: Tensor
    present: Tensor = field(default=None, kw_only=True)  # type: ignore[assignment]
    layers: tuple[Tensor, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if self.present is None:
            here = torch.ones(len(self.vector), dtype=torch.bool, device=self.vector.device)
            object.__setattr__(self, "present", here)

    @property
    def hidden(self) -> tuple[Tensor, ...]:
        """The hidden layers; the vector alone where the encoder has none."""
        return self.layers or (self.vector,)

    @property
    def asking(self) -> Tensor:
        """Which parts ask other modalities, (B, N) bool: those that there are; all of a view that is absent, by their places."""
        return self.mask | ~self.present.unsqueeze(1)

    def map(self, change: Callable[..., Tensor], *others: Encoding) -> Self:
        """The encoding with `change` applied to each of its tensors, and to the same tensors of the `others`."""

        def changed(name: str) -> Any:
            values = [getattr(encoding, name) for encoding in (self, *others)]
            return tuple(map(change, *values)) if isinstance(values[0], tuple) else change(*values)

        return replace(self, **{item.name: changed(item.name) for item in fields(self)})

    def scattered(self, rows: Tensor, blank: Encoding) -> Self:
        """This encoding of some samples, at their positions `rows` (B,) bool in a blank one of all samples."""
        return self.map(lambda some, none: none.to(some).index_put((rows,), some), blank)


@dataclass(frozen=True)
class EncodingSpec:
    """What the encodings of one modality look like; enough to build a fusion without seeing the encoder.

    Args:
        name: of the modality.
        kind: of the modality.
        vector: numbers of a whole view, D.
        count: parts of a view at most, N.
        width: numbers of a part, P.
        layers: numbers of each hidden layer, the vector last.
        sequence: whether the parts are steps, one after the other, and not regions of a picture or a single part.
    """

    name: str
    kind: Kind
    vector: int
    count: int
    width: int
    layers: tuple[int, ...]
    sequence: bool


class Encoder(nn.Module, ABC):
    """Views of one modality to an `Encoding`; what lies beyond the length of a view changes neither it nor any gradient.

    Args:
        modality: of the views.
        vector: numbers of a whole view.
        width: numbers of a part.
        grid: rows and columns of the parts of a picture, which stand row by row; one row for the words of a text.
        layers: numbers of each hidden layer that the encodings tell, the vector last; none for an encoder that tells none.
    """

    def __init__(
        self, modality: Modality, *, vector: int, width: int, grid: tuple[int, int], layers: tuple[int, ...] = ()
    ) -> None:
        super().__init__()
        self.modality, self.vector, self.width, self.grid, self.layer_widths = modality, vector, width, grid, layers
        self.streams: tuple[int, ...] = (width,)
        """The numbers of a part in groups that were computed apart, one after the other; one group in most encoders."""

    @property
    def encoding_spec(self) -> EncodingSpec:
        """What its encodings look like."""
        name, kind, count = self.modality.name, self.modality.kind, self.grid[0] * self.grid[1]
        sequence = kind != "image" and self.grid[0] == 1 < count
        return EncodingSpec(name, kind, self.vector, count, self.width, self.layer_widths or (self.vector,), sequence)

    @abstractmethod
    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Encoding:
        """Views in model form (B, *shape), and their lengths (B,) as in `Batch.lengths` where there are any."""

    def blank(self, size: int, like: Tensor) -> Encoding:
        """The encoding of `size` samples of which none has the view."""

        def zeros(*shape: int, dtype: torch.dtype | None = None) -> Tensor:
            return torch.zeros(size, *shape, device=like.device, dtype=dtype)

        count = self.grid[0] * self.grid[1]
        return Encoding(
            zeros(self.vector),
            zeros(count, self.width),
            zeros(count, dtype=torch.bool),
            present=zeros(dtype=torch.bool),
            layers=tuple(zeros(width) for width in self.layer_widths),
        )


class ViewEncoder(ABC):
    """Settings of an encoder; a frozen dataclass, checked at construction."""

    kinds: ClassVar[frozenset[Kind]]
    """Kinds of modality that it fits."""

    def check(self, modality: Modality) -> None:
        """Raise SpecError if this encoder cannot serve the modality."""
        if modality.kind not in self.kinds:
            known = ", ".join(sorted(self.kinds))
            raise SpecError(f"{type(self).__name__} encodes {known}, but modality {modality.name} is {modality.kind}")

    @abstractmethod
    def build(self, modality: Modality) -> Encoder:
        """The encoder of a modality; raises SpecError if it does not fit."""


def unfit(setting: str, encoder: ViewEncoder, kind: Kind) -> str:
    """The sentence about a setting whose encoder does not fit a kind of modality."""
    return f"{setting}: expected an encoder of modalities of kind {kind}, got {type(encoder).__name__}"


def attention_weights(scores: Tensor, mask: Tensor) -> Tensor:
    """The softmax of scores (..., N) over the parts that there are by `mask` (B, N) bool; all 0 where there are none."""
    while mask.dim() < scores.dim():
        mask = mask.unsqueeze(1)
    scores = scores.float().masked_fill(~mask, torch.finfo(torch.float32).min)
    return scores.softmax(-1) * mask


def attended(weights: Tensor, parts: Tensor) -> Tensor:
    """The sum of parts (B, N, P) by weights (B, N), giving (B, P)."""
    return torch.bmm(weights.unsqueeze(1).to(parts.dtype), parts).squeeze(1)


def read_view(batch: Batch, spec: Spec, name: str) -> Tensor:
    """A view in model form; what is absent is 0 and what lies beyond a length is padding, so that it reaches no gradient."""
    view = batch.without_rest(name, spec, to_model(spec.modality(name), batch.views[name]))
    if name in batch.present:
        view = view.where(batch.present[name].reshape(-1, *[1] * (view.dim() - 1)), 0)
    return view
