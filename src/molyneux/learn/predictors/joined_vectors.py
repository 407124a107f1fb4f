"""JoinedVectors: the vectors of picture and text are multiplied, added or put side by side."""

from __future__ import annotations

from typing import Literal, Unpack, get_args

import torch
from torch import Tensor, nn

from molyneux.core import Spec, choice_problems
from molyneux.learn.checks import refuse
from molyneux.learn.encoders.encoding import Encoding, ViewEncoder
from molyneux.learn.predictors.head import PAPER_HEAD, Head
from molyneux.learn.predictors.predictor import Inputs, PictureTextPredictor
from molyneux.learn.predictors.published import Initialisation, initialise
from molyneux.learn.predictors.unimodal import PAPER_CNN, PAPER_LSTM

Joining = Literal["mult", "add", "concat"]


class JoinedVectors(PictureTextPredictor):
    """Product, sum or concatenation of the vectors of picture and text; Kuhnle & Copestake (2017), CNN+LSTM:Mult and its like.

    ShapeWorld, figure 5. For "mult" and "add" the vector of the text goes through a linear map without bias to as many numbers
    as the vector of the picture has (4,096 with 64x64 pixels). With the defaults, 23 symbols and one agreement target it has
    the paper's 2,410,240 weights; with RecurrentWords(cell="gru") 2,404,032, with BagOfWords(64) 2,386,144.

    Deviations: the vector of a text is the state at its last word. The published code takes the state at the last position of the
    longest text, which is 0 for shorter ones: RecurrentWords(readout="published"). Where one of the two is missing, "mult" gives
    the vector of the other.

    Args:
        spec: see `Predictor`.
        joining: "mult", "add" or "concat".
        trunk: encoder of the picture.
        words: encoder of the text.
        head: see `Head`.
        initialisation: "he", or "published" for the weights that the published code starts with.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        joining: Joining = "mult",
        trunk: ViewEncoder = PAPER_CNN,
        words: ViewEncoder = PAPER_LSTM,
        head: Head = PAPER_HEAD,
        initialisation: Initialisation = "he",
        **inputs: Unpack[Inputs],
    ) -> None:
        refuse(choice_problems(joining=(joining, get_args(Joining))))
        super().__init__(spec, trunk, words, **inputs)
        self.joining = joining
        picture, text = self.picture.vector, self.words.vector
        self.map = None if joining == "concat" else nn.Linear(text, picture, bias=False)
        self.answer_from(picture + text if joining == "concat" else picture, head)
        initialise(self, initialisation)

    def join_both(self, picture: Encoding, text: Encoding) -> Tensor:
        """The joint vector."""
        if self.map is None:
            return torch.cat([picture.vector, text.vector.to(picture.vector.dtype)], -1)
        mapped: Tensor = self.map(text.vector)
        if self.joining == "add":
            return picture.vector + mapped
        return neutral(picture.vector, picture.present) * neutral(mapped, text.present)


def neutral(vector: Tensor, present: Tensor) -> Tensor:
    """Vectors (B, F), 1 where there is none by `present` (B,): a factor that leaves the others of a product as they are."""
    return vector.where(present.unsqueeze(1), 1.0)
