"""Attention: the text looks at the picture once."""

from __future__ import annotations

from typing import Literal, Unpack, get_args

import torch
from torch import Tensor, nn

from molyneux.core import Spec, choice_problems
from molyneux.learn.checks import refuse
from molyneux.learn.encoders.encoding import Encoding, ViewEncoder, attended, attention_weights
from molyneux.learn.encoders.pictures.small import StridedCNN
from molyneux.learn.encoders.texts import RecurrentWords
from molyneux.learn.predictors.head import Head
from molyneux.learn.predictors.predictor import Inputs, PictureTextPredictor

Score = Literal["dot", "mlp"]
TRUNK, WORDS, HEAD = StridedCNN(), RecurrentWords("gru", width=128), Head(256)


class Attention(PictureTextPredictor):
    """The text attends to the regions of the picture once; ShapeWorld's att1 ("dot") and att2 ("mlp") of 2018.

    "dot" is scaled dot-product attention (Vaswani et al., NeurIPS 2017, equation 1): keys and values of the regions, a query of
    the text. "mlp" scores each region by two hidden layers of region and text (compare Bahdanau et al., ICLR 2015). The attended
    value and the query go to the head side by side.

    Args:
        spec: see `Predictor`.
        score: "dot" or "mlp".
        width: of query, keys, values and hidden layers.
        trunk: encoder of the picture.
        words: encoder of the text.
        head: see `Head`.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        score: Score = "dot",
        width: int = 128,
        trunk: ViewEncoder = TRUNK,
        words: ViewEncoder = WORDS,
        head: Head = HEAD,
        **inputs: Unpack[Inputs],
    ) -> None:
        problems = choice_problems(score=(score, get_args(Score)))
        refuse(problems + ([] if width >= 1 else [f"width: expected at least 1, got {width}"]))
        super().__init__(spec, trunk, words, **inputs)
        # A bias of a key adds the same to the scores of all regions, which a softmax ignores; the scorer's first layer has one.
        self.query, self.key = nn.Linear(self.words.vector, width), nn.Linear(self.picture.width, width, bias=False)
        self.value = nn.Linear(self.picture.width, width)
        hidden = (nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1, bias=False))
        self.scorer = nn.Sequential(*hidden) if score == "mlp" else None
        self.answer_from(2 * width, head)

    def join_both(self, picture: Encoding, text: Encoding) -> Tensor:
        """The attended value and the query, (B, 2 width)."""
        query, keys = self.query(text.vector), self.key(picture.parts)
        if self.scorer is None:
            scores = torch.bmm(keys, query.unsqueeze(-1)).squeeze(-1) / keys.shape[-1] ** 0.5
        else:
            scores = self.scorer(keys + query.unsqueeze(1)).squeeze(-1)
        seen = attended(attention_weights(scores, picture.mask), self.value(picture.parts))
        return torch.cat([seen, query.to(seen.dtype)], -1)
