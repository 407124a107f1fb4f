"""StackedAttention: the text looks at the picture several times."""

from __future__ import annotations

from typing import Unpack

from torch import Tensor, nn

from molyneux.core import Spec
from molyneux.learn.checks import refuse
from molyneux.learn.encoders.encoding import Encoding, ViewEncoder, attended, attention_weights
from molyneux.learn.encoders.pictures.small import StridedCNN
from molyneux.learn.encoders.texts import RecurrentWords
from molyneux.learn.predictors.head import Head
from molyneux.learn.predictors.predictor import Inputs, PictureTextPredictor

TRUNK, WORDS, HEAD = StridedCNN(), RecurrentWords("gru", width=128), Head(256)


class StackedAttention(PictureTextPredictor):
    """The text attends to regions several times, each time with what it saw before; Yang et al., SAN (CVPR 2016), eq. 15-20.

    Stacked Attention Networks for Image Question Answering. `v_I = tanh(W f_I + b)` (equation 2) are the regions and `u^0` the
    text; `h = tanh(W_I v_I + W_Q u + b)`, `p = softmax(W_P h)`, `u = sum_i p_i v_i + u`.

    Deviations: no bias `b_P`, which a softmax ignores; the text goes through a linear layer to the width of the regions.

    Args:
        spec: see `Predictor`.
        width: of regions, text and attention.
        hops: how often the text looks.
        trunk: encoder of the picture.
        words: encoder of the text.
        head: see `Head`.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        width: int = 128,
        hops: int = 2,
        trunk: ViewEncoder = TRUNK,
        words: ViewEncoder = WORDS,
        head: Head = HEAD,
        **inputs: Unpack[Inputs],
    ) -> None:
        refuse(f"{name}: expected at least 1, got {value}" for name, value in {"width": width, "hops": hops}.items() if value < 1)
        super().__init__(spec, trunk, words, **inputs)
        self.regions, self.question = nn.Linear(self.picture.width, width), nn.Linear(self.words.vector, width)
        self.hops = nn.ModuleList(Hop(width) for _ in range(hops))
        self.answer_from(width, head)

    def join_both(self, picture: Encoding, text: Encoding) -> Tensor:
        """The text with what it saw, `u` after the last hop, (B, width)."""
        regions, query = self.regions(picture.parts).tanh(), self.question(text.vector)
        for hop in self.hops:
            query = hop(regions, picture.mask, query) + query
        result: Tensor = query
        return result


class Hop(nn.Module):
    """One layer of attention, equations 15 to 17."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.region, self.query = nn.Linear(width, width, bias=False), nn.Linear(width, width)
        self.score = nn.Linear(width, 1, bias=False)

    def forward(self, regions: Tensor, mask: Tensor, query: Tensor) -> Tensor:
        """The regions (B, N, width) that a query (B, width) attends to, (B, width)."""
        hidden = (self.region(regions) + self.query(query).unsqueeze(1)).tanh()
        return attended(attention_weights(self.score(hidden).squeeze(-1), mask), regions)
