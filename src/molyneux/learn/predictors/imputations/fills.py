"""Imputation by one encoding for all samples: the mean of those that have the modality, or a learned token."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from molyneux.core import Batch, Modality, Spec, SpecError, choice_problems
from molyneux.learn.checks import dropout_problems, refuse
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.encoding import Encoder, Encoding, read_view
from molyneux.learn.predictors.imputations.imputation import Imputation, Imputer, encoded_stand_in, filled

What = Literal["encoding", "view"]


class _OneForAll(Imputer):
    """An imputer with one stand-in for every sample."""

    @abstractmethod
    def stand_in(self, name: str, encoder: Encoder, like: Encoding) -> Encoding:
        """The encoding (1, ...) that stands in for a modality, in the precision of `like`."""

    def forward(
        self,
        encodings: Mapping[str, Encoding],
        encoders: ModalityDict[Encoder],
        batch: Batch | None = None,
        generator: torch.Generator | None = None,
    ) -> dict[str, Encoding]:
        """See `Imputer`."""
        found = {}
        for name, item in encodings.items():
            found[name] = item if bool(item.present.all()) else filled(item, self.stand_in(name, encoders[name], item))
        return found


@dataclass(frozen=True)
class MeanImputation(Imputation):
    """A missing modality is the mean of the training samples that have it.

    Args:
        of: "encoding": the mean of what its encoder gives, which runs along with the training; "view": what the encoder gives of
            the mean view, for modalities that are no symbols. Views beyond a length count as zeros, and the mean has full length.
            Batch normalisation takes its running statistics for the mean view, in training too.
        decay: what older batches count for in the mean of encodings, per step; views have the plain mean of all.
    """

    of: What = "encoding"
    decay: float = 0.99

    def __post_init__(self) -> None:
        refuse(choice_problems(of=(self.of, get_args(What))) + dropout_problems(decay=self.decay))

    def build(self, spec: Spec, encoders: ModalityDict[Encoder]) -> Imputer:
        """See `Imputation`; raises SpecError for a mean of symbols."""
        modalities = [spec.modality(name) for name in encoders]
        if symbols := [item.name for item in modalities if item.symbols and self.of == "view"]:
            raise SpecError(f"MeanImputation: symbols have no mean view, but {', '.join(symbols)} has: set of to encoding")
        return ViewMean(spec, modalities, encoders) if self.of == "view" else EncodingMean(self, encoders)


class RunningMean(nn.Module):
    """The mean of the rows of all batches so far, of which older ones count less with a decay below 1; 0 before the first."""

    mean: Tensor
    count: Tensor

    def __init__(self, *shape: int, decay: float = 1.0) -> None:
        super().__init__()
        self.decay = decay
        self.register_buffer("mean", torch.zeros(shape))
        self.register_buffer("count", torch.zeros(()))

    @torch.no_grad()
    def add(self, rows: Tensor) -> None:
        """Count rows (N, *shape); N may be 0."""
        if len(rows):
            self.count = self.decay * self.count + len(rows)
            self.mean = self.mean + (rows.float().mean(0) - self.mean) * (len(rows) / self.count)


class EncodingMean(_OneForAll):
    """See `MeanImputation`; parts have the mean of the samples that have this part, and none where no sample had it."""

    def __init__(self, settings: MeanImputation, encoders: ModalityDict[Encoder]) -> None:
        super().__init__({name: encoder.encoding_spec for name, encoder in encoders.items()})
        self.means = ModalityDict[nn.ModuleList]()
        for name, encoder in encoders.items():
            parts = encoder.grid[0] * encoder.grid[1]
            shapes = [(encoder.vector,), (parts, encoder.width + 1), *((width,) for width in encoder.layer_widths)]
            self.means[name] = nn.ModuleList(RunningMean(*shape, decay=settings.decay) for shape in shapes)

    def observe(self, encodings: Mapping[str, Encoding], batch: Batch) -> None:
        """See `Imputer`."""
        for name, item in encodings.items():
            masked = torch.cat([item.parts * item.mask.unsqueeze(2), item.mask.unsqueeze(2).to(item.parts)], 2)
            for mean, tensor in zip(self._of(name), (item.vector, masked, *item.layers), strict=True):
                mean.add(tensor[item.present].detach())

    def stand_in(self, name: str, encoder: Encoder, like: Encoding) -> Encoding:
        """See `_OneForAll`; the mean of a part is that of the product with its mask, divided by the share that has it."""
        vector, parts, *layers = (item.mean.unsqueeze(0) for item in self._of(name))
        share = parts[..., -1]
        some = share > 0
        shown = (parts[..., :-1] / share.clamp(min=1e-12).unsqueeze(2)).where(some.unsqueeze(2), 0)
        return Encoding(vector, shown, some, layers=tuple(layers))

    def _of(self, name: str) -> list[RunningMean]:
        """The means of a modality: of its vector, of its parts with their masks, and of its layers."""
        return [item for item in self.means[name] if isinstance(item, RunningMean)]


class ViewMean(_OneForAll):
    """See `MeanImputation`."""

    def __init__(self, spec: Spec, modalities: list[Modality], encoders: ModalityDict[Encoder]) -> None:
        super().__init__({name: encoder.encoding_spec for name, encoder in encoders.items()})
        self.spec, self.means = spec, ModalityDict[RunningMean]()
        for modality in modalities:
            self.means[modality.name] = RunningMean(*modality.shape)

    def observe(self, encodings: Mapping[str, Encoding], batch: Batch) -> None:
        """See `Imputer`."""
        for name, item in encodings.items():
            if name in batch.views:
                self.means[name].add(read_view(batch, self.spec, name)[item.present])

    def stand_in(self, name: str, encoder: Encoder, like: Encoding) -> Encoding:
        """See `_OneForAll`."""
        return encoded_stand_in(encoder, self.means[name].mean.unsqueeze(0))


@dataclass(frozen=True)
class TokenImputation(Imputation):
    """A missing modality is a learned token: a vector, layers and parts of its own, trained with the predictor by its loss.

    All its parts are the same; a fusion that reads parts sees as many of them as a view has at most.
    """

    def build(self, spec: Spec, encoders: ModalityDict[Encoder]) -> Imputer:
        """See `Imputation`."""
        return TokenFills(encoders)


class TokenFills(_OneForAll):
    """See `TokenImputation`. The numbers of a token are one parameter, of which a fusion reads what it reads of encodings."""

    def __init__(self, encoders: ModalityDict[Encoder]) -> None:
        super().__init__({name: encoder.encoding_spec for name, encoder in encoders.items()})
        self.tokens = nn.ParameterList()
        self.sizes = {name: [encoder.vector, encoder.width, *encoder.layer_widths] for name, encoder in encoders.items()}
        for sizes in self.sizes.values():
            self.tokens.append(nn.Parameter(0.02 * torch.randn(sum(sizes))))

    def stand_in(self, name: str, encoder: Encoder, like: Encoding) -> Encoding:
        """See `_OneForAll`."""
        token = self.tokens[list(self.sizes).index(name)]
        vector, part, *layers = (piece.unsqueeze(0) for piece in token.split(self.sizes[name]))
        parts = part.unsqueeze(1).expand(-1, like.parts.shape[1], -1)
        return Encoding(vector, parts, torch.ones_like(parts[..., 0], dtype=torch.bool), layers=tuple(layers))
