"""MulT: crossmodal transformers between every two modalities, whatever the lengths of their sequences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from molyneux.core import Modality, SpecError, choice_problems
from molyneux.learn.checks import dropout_problems, head_problems, refuse, too_small
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.encoding import Encoding, EncodingSpec, ViewEncoder
from molyneux.learn.encoders.general import Identity
from molyneux.learn.encoders.sequences import positions_of, unattended
from molyneux.learn.fusion.fusion import Fusion, FusionLayer, Projections, part_widths

Readout = Literal["last", "mean"]


@dataclass(frozen=True)
class MulT(Fusion):
    """Multimodal transformer (MulT); Tsai et al. (ACL 2019), equations 1 to 5.

    The parts of each modality are mapped to one width and get sinusoidal positions. For every two modalities a crossmodal
    transformer lets the parts of one attend to those of the other (equations 3, 4); what a modality so gets of all others goes
    through a transformer of its own; its state at the last part, or the mean, is read; then follows a residual layer. Series that
    have no encoder enter as they are. Padding is never attended to, and sequences may have different lengths. A missing modality
    is attended to by none, and asks the others by its positions alone, so that what is present reaches the features.

    Deviations: layers add what they were given, not its normalised form, as the authors' code; `own` adds MultiBench's block of
    each modality with itself.

    Args:
        width: of the crossmodal layers; a multiple of `heads`.
        heads: attention heads.
        layers: of each crossmodal transformer.
        self_layers: of the transformer of each modality; by default as many, and at least 3.
        dropout: share of units dropped in training.
        causal: whether a part attends to no later one, as MultiBench's default. The first and the last parts of two sequences of
            full length stand at the same times and those between at equal distances: part i of N attends to the parts j of K,
            counted from 0, with j / (K - 1) <= i / (N - 1). A single part is attended to by all, and attends to all.
        own: whether each modality attends to itself too.
        readout: "mean" over the parts, or the "last" part.
        steps: whether features are the states at each step, for a target with a value for each; sequences then need as many.
    """

    width: int = 40
    heads: int = 8
    layers: int = 2
    self_layers: int | None = None
    dropout: float = 0.1
    causal: bool = False
    own: bool = False
    readout: Readout = "mean"
    steps: bool = False

    fewest = 2

    def __post_init__(self) -> None:
        problems = too_small(self, "width", "heads", "layers") + dropout_problems(dropout=self.dropout)
        problems += choice_problems(readout=(self.readout, get_args(Readout)))
        problems += [] if self.self_layers is None else too_small(self, "self_layers")
        refuse(problems or head_problems(width=self.width, heads=self.heads))

    def encoder(self, modality: Modality) -> ViewEncoder:
        """Series as they are."""
        return Identity() if modality.kind == "series" else super().encoder(modality)

    def build(self, encodings: Mapping[str, EncodingSpec]) -> FusionLayer:
        """See `Fusion`."""
        self.check(encodings)
        counts = {name: spec.count for name, spec in encodings.items()}
        if self.steps and len(set(counts.values())) > 1:
            shown = ", ".join(f"{name} {count}" for name, count in counts.items())
            raise SpecError(
                f"MulT: expected as many parts of each modality for features of steps, got {shown}: set steps to false"
            )
        return MulTLayer(self, encodings, max(counts.values()) if self.steps else None)


class MulTLayer(FusionLayer):
    """See `MulT`."""

    def __init__(self, settings: MulT, encodings: Mapping[str, EncodingSpec], steps: int | None) -> None:
        sources = {name: [other for other in encodings if settings.own or other != name] for name in encodings}
        width = settings.width * len(next(iter(sources.values())))
        super().__init__(width * len(encodings), steps)
        self.settings, self.sources = settings, sources
        self.entry = Projections(part_widths(encodings), settings.width, bias=False)
        deep = settings.self_layers or max(3, settings.layers)
        self.crossmodal, self.memories = ModalityDict[ModalityDict[Attending]](), ModalityDict[Attending]()
        for name, others in sources.items():
            self.crossmodal[name] = ModalityDict[Attending]()
            for other in others:
                self.crossmodal[name][other] = Attending(settings, settings.width, settings.layers)
            self.memories[name] = Attending(settings, width, deep)
        self.residual = nn.Sequential(
            nn.Linear(self.features, self.features),
            nn.ReLU(),
            nn.Dropout(settings.dropout),
            nn.Linear(self.features, self.features),
        )

    def forward(self, encodings: Mapping[str, Encoding], generator: torch.Generator | None = None) -> Tensor:
        """See `FusionLayer`."""
        tokens = self.entry.parts(encodings)
        masks = {name: item.mask for name, item in encodings.items()}
        asking = {name: item.asking for name, item in encodings.items()}
        found = []
        for name, others in self.sources.items():
            heard = [
                self.crossmodal[name][other](tokens[name], tokens[other], masks[other]) * masks[other].any(1).reshape(-1, 1, 1)
                for other in others
            ]
            joint = torch.cat(heard, 2) * asking[name].unsqueeze(2)
            found.append(self._read(self.memories[name](joint, joint, asking[name]), asking[name]))
        features = torch.cat(found, -1)
        result: Tensor = features + self.residual(features)
        return result

    def _read(self, states: Tensor, mask: Tensor) -> Tensor:
        states = states * mask.unsqueeze(2)
        if self.steps is not None:
            return states
        if self.settings.readout == "mean":
            return states.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
        last = (torch.arange(mask.shape[1], device=mask.device) * mask).amax(1)
        return states[torch.arange(len(states), device=mask.device), last]


class Attending(nn.Module):
    """Transformer layers in which a sequence attends to another one, or to itself where it is the same."""

    def __init__(self, settings: MulT, width: int, layers: int) -> None:
        super().__init__()
        self.causal, self.width = settings.causal, width
        self.layers = nn.ModuleList(CrossmodalLayer(width, settings.heads, settings.dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, asking: Tensor, heard: Tensor, mask: Tensor) -> Tensor:
        """Sequences (B, N, W) that attend to sequences (B, K, W) where these are by their mask (B, K) bool."""
        own = asking is heard
        hidden, source = (self._placed(sequence) for sequence in (asking, heard))
        ahead = _later(asking.shape[1], heard.shape[1], asking.device) if self.causal else None
        for layer in self.layers:
            hidden = layer(hidden, hidden if own else source, unattended(mask), ahead)
        result: Tensor = self.norm(hidden)
        return result

    def _placed(self, sequence: Tensor) -> Tensor:
        positions = positions_of(sequence.shape[1], self.width).to(sequence)
        placed: Tensor = sequence * self.width**0.5 + positions
        return placed


def _later(asking: int, heard: int, device: torch.device) -> Tensor:
    """Which parts of a sequence stand at a later time than each part of another one, (asking, heard) bool; see `MulT.causal`."""
    asked, told = torch.arange(asking, device=device), torch.arange(heard, device=device)
    return told * (asking - 1) > asked.unsqueeze(1) * (heard - 1)


class CrossmodalLayer(nn.Module):
    """One layer, equation 4: attention to the other sequence and a feed-forward layer, each after a normalisation."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.attention = nn.MultiheadAttention(width, heads, dropout, batch_first=True)
        self.feedforward = nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Dropout(dropout), nn.Linear(4 * width, width))
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden: Tensor, source: Tensor, hides: Tensor, ahead: Tensor | None) -> Tensor:
        """Hidden states (B, N, W) after the layer, given the source (B, K, W) and which of it nothing attends to."""
        asked, told = self.norms[0](hidden), self.norms[0](source)
        seen, _ = self.attention(asked, told, told, key_padding_mask=hides, attn_mask=ahead, need_weights=False)
        hidden = hidden + self.dropout(seen)
        result: Tensor = hidden + self.dropout(self.feedforward(self.norms[1](hidden)))
        return result
