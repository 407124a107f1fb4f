"""RelationNetwork: every pair of regions is looked at together with the text."""

from __future__ import annotations

from itertools import pairwise
from typing import Unpack

from torch import Tensor, nn

from molyneux.core import Spec
from molyneux.learn.checks import refuse
from molyneux.learn.encoders.encoding import Encoding, ViewEncoder
from molyneux.learn.encoders.layers import he_normal
from molyneux.learn.encoders.pictures.small import StridedCNN
from molyneux.learn.encoders.texts import RecurrentWords
from molyneux.learn.predictors.head import Head
from molyneux.learn.predictors.predictor import Inputs, PictureTextPredictor

TRUNK, WORDS, HEAD = StridedCNN((24, 32, 48, 64)), RecurrentWords("lstm", width=128), Head(256, layers=2)


class RelationNetwork(PictureTextPredictor):
    """One network looks at every pair of regions with the text, another at the sum; Santoro et al. (NeurIPS 2017), equation 1.

    A simple neural network module for relational reasoning: `f(sum_ij g(o_i, o_j, q))`, where the head is `f` and the regions
    `o` have their coordinates. The first layer of `g` is computed for regions and text apart and added for each pair, which is
    the same.

    Deviations: 4x4 regions of 64x64 pixels, so 256 pairs, where the paper has 8x8; and the mean over pairs, whose number is
    fixed, in place of the sum. A picture that is missing has pairs of regions that are 0, so that the text is heard.

    Args:
        spec: see `Predictor`.
        width: units of the layers of `g`.
        layers: layers of `g`.
        trunk: encoder of the picture; time grows with the square of its regions.
        words: encoder of the text.
        head: see `Head`.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        width: int = 96,
        layers: int = 3,
        trunk: ViewEncoder = TRUNK,
        words: ViewEncoder = WORDS,
        head: Head = HEAD,
        **inputs: Unpack[Inputs],
    ) -> None:
        sizes = {"width": width, "layers": layers}
        refuse(f"{name}: expected at least 1, got {value}" for name, value in sizes.items() if value < 1)
        super().__init__(spec, trunk, words, **inputs)
        region = self.picture.width
        self.first, self.second = nn.Linear(region, width, bias=False), nn.Linear(region, width, bias=False)
        self.question = nn.Linear(self.words.vector, width)
        rest = (part for a, b in pairwise([width] * layers) for part in (he_normal(nn.Linear(a, b)), nn.ReLU()))
        self.relation = nn.Sequential(nn.ReLU(), *rest)
        self.answer_from(width, head)

    def join_both(self, picture: Encoding, text: Encoding) -> Tensor:
        """The mean over pairs of regions, (B, width)."""
        first, second = self.first(picture.parts), self.second(picture.parts)
        pairs = first.unsqueeze(2) + second.unsqueeze(1) + self.question(text.vector)[:, None, None]
        there = picture.asking
        both = there.unsqueeze(2) & there.unsqueeze(1)
        mean: Tensor = (self.relation(pairs) * both.unsqueeze(-1)).mean((1, 2))
        return mean
