"""NLGate: the parts of one modality ask, those of the others answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from molyneux.core import SpecError, choice_problems
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.encoding import Encoding, EncodingSpec, attention_weights
from molyneux.learn.fusion.fusion import Fusion, FusionLayer, chosen_modality

Readout = Literal["mean", "all"]


@dataclass(frozen=True)
class NLGate(Fusion):
    """Non-local gate: `q + softmax(q k^T) v`; Wang et al., What Makes Training Multi-modal Classification Hard (CVPR 2020).

    Figure 4 there; the attention is that of Wang et al., Non-local Neural Networks (CVPR 2018), equation 4. Queries `q` are the
    parts of one modality as they are. Keys `k` and values `v` are linear in the parts of the others; a modality of one part makes
    `slots` of each. Where the query's modality is missing, its parts are 0, so that features are the mean of the values.

    Args:
        query: the modality that asks; by default the one with the most parts, the first of equals.
        slots: keys and values of a modality of one part.
        linear: whether keys and values have linear layers; without, they are the parts, which need the width of the query's.
        scaled: whether scores are divided by the root of the width, as in Vaswani et al. (NeurIPS 2017); the papers do not.
        readout: features are the "mean" over the query's parts, or "all" of them side by side.
    """

    query: str = ""
    slots: int = 8
    linear: bool = True
    scaled: bool = True
    readout: Readout = "mean"

    fewest = 2

    def __post_init__(self) -> None:
        refuse(too_small(self, "slots") + choice_problems(readout=(self.readout, get_args(Readout))))

    def build(self, encodings: Mapping[str, EncodingSpec]) -> FusionLayer:
        """See `Fusion`."""
        self.check(encodings)
        query = chosen_modality("query", self.query, encodings, max(encodings, key=lambda name: encodings[name].count))
        width = encodings[query].width
        if not self.linear and (other := [spec for spec in encodings.values() if spec.width != width]):
            raise SpecError(
                f"NLGate: expected parts of {width} numbers, as {query} has, without linear layers, got {other[0].width} of "
                f"{other[0].name}: set linear to true"
            )
        return NLGateLayer(self, encodings, query)


class NLGateLayer(FusionLayer):
    """See `NLGate`."""

    def __init__(self, settings: NLGate, encodings: Mapping[str, EncodingSpec], query: str) -> None:
        asking = encodings[query]
        super().__init__(asking.width * (asking.count if settings.readout == "all" else 1))
        self.settings, self.query, self.width = settings, query, asking.width
        self.keys, self.values = ModalityDict[nn.Linear](), ModalityDict[nn.Linear]()
        for name, spec in encodings.items():
            if name != query and settings.linear:
                slots = settings.slots if spec.count == 1 else 1
                # A bias that is equal for all keys would change no weight of the softmax, but slots have one each.
                self.keys[name] = nn.Linear(spec.width, slots * asking.width, bias=slots > 1)
                self.values[name] = nn.Linear(spec.width, slots * asking.width)

    def forward(self, encodings: Mapping[str, Encoding], generator: torch.Generator | None = None) -> Tensor:
        """See `FusionLayer`."""
        asking = encodings[self.query]
        found = [self._answers(name, item) for name, item in encodings.items() if name != self.query]
        keys, values, mask = (torch.cat(parts, 1) for parts in zip(*found, strict=True))
        scores = asking.parts.to(keys.dtype) @ keys.transpose(1, 2)
        weights = attention_weights(scores / self.width**0.5 if self.settings.scaled else scores, mask)
        there = asking.asking
        gated = (asking.parts + weights.to(values.dtype) @ values) * there.unsqueeze(2)
        if self.settings.readout == "all":
            return gated.flatten(1)
        return gated.sum(1) / there.sum(1, keepdim=True).clamp(min=1)

    def _answers(self, name: str, encoding: Encoding) -> tuple[Tensor, Tensor, Tensor]:
        """Keys and values (B, K, width) of a modality, and which there are, (B, K) bool."""
        if not self.settings.linear:
            return encoding.parts, encoding.parts, encoding.mask
        keys, values = (
            layer(encoding.parts).reshape(len(encoding.parts), -1, self.width) for layer in (self.keys[name], self.values[name])
        )
        return keys, values, encoding.mask.repeat_interleave(keys.shape[1] // encoding.mask.shape[1], 1)
