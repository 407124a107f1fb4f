"""PictureInLSTM: an LSTM reads the picture with every word."""

from __future__ import annotations

from typing import Unpack, get_args

import torch
from torch import Tensor
from torch.nn import functional

from molyneux.core import Spec, choice_problems
from molyneux.learn.checks import refuse
from molyneux.learn.nets.recurrent import RecurrentLayers
from molyneux.learn.predictors.encoding import Encoding, ViewEncoder
from molyneux.learn.predictors.head import PAPER_HEAD, Head
from molyneux.learn.predictors.predictor import Inputs, PictureTextPredictor
from molyneux.learn.predictors.published import Initialisation, initialise
from molyneux.learn.predictors.texts import BagOfWords, Readout, states_at
from molyneux.learn.predictors.unimodal import PAPER_CNN

WORDS = BagOfWords(32)


class PictureInLSTM(PictureTextPredictor):
    """An LSTM that reads the vector of the picture beside each word; Kuhnle & Copestake (2017), CNN:LSTM.

    ShapeWorld, figure 5. The state at the last word goes to the head. With 64x64 pixels, 23 symbols and one agreement target it
    has the paper's 21,657,088 weights. The part of the gates that comes from the picture is the same for all words, so it is
    computed once.

    Deviation: the published code takes the state at the last position of the longest text, which is 0 for shorter ones.

    Args:
        spec: see `Predictor`.
        width: units of the LSTM.
        trunk: encoder of the picture.
        words: encoder of the text, of which the parts are read.
        head: see `Head`.
        readout: "last" or "published", see `RecurrentWords`.
        initialisation: "he", or "published" for the weights that the published code starts with.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        width: int = 1024,
        trunk: ViewEncoder = PAPER_CNN,
        words: ViewEncoder = WORDS,
        head: Head = PAPER_HEAD,
        readout: Readout = "last",
        initialisation: Initialisation = "he",
        **inputs: Unpack[Inputs],
    ) -> None:
        problems = [] if width >= 1 else [f"width: expected at least 1, got {width}"]
        refuse(problems + choice_problems(readout=(readout, get_args(Readout))))
        super().__init__(spec, trunk, words, **inputs)
        self.readout = readout
        self.recurrent = RecurrentLayers("lstm", self.picture.vector + self.words.width, width=width, layers=1)
        self.answer_from(width, head)
        initialise(self, initialisation)

    def join_both(self, picture: Encoding, text: Encoding) -> Tensor:
        """The state at the last word."""
        states, counts = self.states(picture.vector, text.parts), text.mask.sum(1)
        last = states_at(states, counts)
        return last * (counts == states.shape[1]).unsqueeze(1) if self.readout == "published" else last

    def states(self, picture: Tensor, words: Tensor) -> Tensor:
        """Hidden states (B, L, width) of the LSTM that reads pictures (B, D) beside words (B, L, P)."""
        layer = self.recurrent
        kernel, recurrent, bias = layer.kernels[0], layer.recurrent_kernels[0], layer.biases[0]
        for_picture, for_word = kernel.split([picture.shape[1], words.shape[2]], 1)
        same = functional.linear(picture, for_picture, bias)
        gates = functional.linear(words, for_word) + same.unsqueeze(1)
        hidden = cell = torch.zeros_like(gates[:, 0, : recurrent.shape[1]], dtype=torch.float32)
        states = []
        for position in range(words.shape[1]):
            entry, forget, new, out = (gates[:, position] + functional.linear(hidden, recurrent)).float().chunk(4, -1)
            cell = forget.sigmoid() * cell + entry.sigmoid() * new.tanh()
            hidden = out.sigmoid() * cell.tanh()
            states.append(hidden)
        return torch.stack(states, 1)
