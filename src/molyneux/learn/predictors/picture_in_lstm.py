"""PictureInLSTM: an LSTM reads the picture with every word."""

from __future__ import annotations

from typing import Any, Unpack, get_args

import torch
from torch import Tensor
from torch.nn import functional

from molyneux.core import Spec, choice_problems
from molyneux.learn.checks import refuse
from molyneux.learn.encoders.encoding import Encoding, ViewEncoder
from molyneux.learn.encoders.nets.recurrent import RecurrentLayers
from molyneux.learn.encoders.texts import BagOfWords, Readout, states_at
from molyneux.learn.predictors.head import PAPER_HEAD, Head
from molyneux.learn.predictors.predictor import Inputs, PictureTextPredictor
from molyneux.learn.predictors.published import Initialisation, initialise
from molyneux.learn.predictors.unimodal import PAPER_CNN

WORDS = BagOfWords(32)


class PictureInLSTM(PictureTextPredictor):
    """An LSTM that reads the vector of the picture beside each word; Kuhnle & Copestake (2017), CNN:LSTM.

    ShapeWorld, figure 5. The state at the last word goes to the head. With 64x64 pixels, 23 symbols and one agreement target it
    has the paper's 21,657,088 weights. The part of the gates that comes from the picture is the same for all words, so it is
    computed once (`ConstantInputLSTM`).

    Deviations: the published code takes the state at the last position of the longest text, which is 0 for shorter ones. Beside a
    text that is missing or has no words, the picture is read once with a word that is 0.

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
        words = text.mask.sum(1)
        counts = words.clamp(min=1)
        last = states_at(self.states(picture.vector, text.parts, counts), counts)
        read = (words == text.mask.shape[1]) | ~text.present
        return last * read.unsqueeze(1) if self.readout == "published" else last

    def states(self, picture: Tensor, words: Tensor, counts: Tensor) -> Tensor:
        """Hidden states (B, L, width) of the LSTM that reads pictures (B, D) beside words (B, L, P), `counts` (B,) of each text.

        0 beyond.
        """
        layer = self.recurrent
        kernel, recurrent, bias = layer.kernels[0], layer.recurrent_kernels[0], layer.biases[0]
        half = torch.is_autocast_enabled(picture.device.type)
        dtype = torch.get_autocast_dtype(picture.device.type) if half else torch.float32
        lengths, order = counts.sort(descending=True, stable=True)
        sizes = (lengths > torch.arange(words.shape[1], device=words.device).unsqueeze(1)).sum(1).tolist()
        tensors = [tensor.to(dtype) for tensor in (picture[order], words[order], kernel, recurrent, bias)]
        states: Tensor = ConstantInputLSTM.apply(*tensors, [size for size in sizes if size])  # type: ignore[no-untyped-call]
        return states[order.argsort()]


class ConstantInputLSTM(torch.autograd.Function):
    """An LSTM that reads the same vector beside every word; Hochreiter & Schmidhuber (1997), Gers et al. (2000).

    What the vector adds to the gates is computed once, each position only for the texts that reach it, and the gradients of the
    weights in one product over all positions. Products are in the precision of the inputs, cells and gates in 32 bits.
    """

    @staticmethod
    def forward(
        ctx: Any, constant: Tensor, words: Tensor, kernel: Tensor, recurrent: Tensor, bias: Tensor, sizes: list[int]
    ) -> Tensor:
        """Hidden states (B, L, W), 0 beyond the end of a text.

        Args:
            ctx: holds what the gradient needs.
            constant: what is read at every position, (B, D).
            words: (B, L, P), the longest texts first.
            kernel: of constant and word side by side, (4 W, D + P): input gates, forget gates, candidates, output gates.
            recurrent: of the state before, (4 W, W).
            bias: (4 W,).
            sizes: how many texts reach each position, as far as one does.
        """
        split, width = constant.shape[1], recurrent.shape[1]
        beside = torch.cat([kernel[:, split:], recurrent], 1)
        always = functional.linear(constant, kernel[:, :split], bias)
        hidden = words.new_zeros(len(words), width)
        cell = hidden.float()
        states = words.new_zeros(*words.shape[:2], width)
        read, kept = list[Tensor](), list[tuple[Tensor, ...]]()
        for position, size in enumerate(sizes):
            read.append(torch.cat([words[:size, position], hidden[:size]], 1))
            gates = functional.linear(read[-1], beside).float() + always[:size]
            outer, candidate = gates.sigmoid(), gates[:, 2 * width : 3 * width].tanh()
            entry, forget, _, out = outer.chunk(4, -1)
            before, cell = cell[:size], forget * cell[:size] + entry * candidate
            bent = cell.tanh()
            hidden = (out * bent).to(words.dtype)
            states[:size, position] = hidden
            kept.append((outer, candidate, before, bent))
        ctx.save_for_backward(constant, words, kernel, beside)
        ctx.read, ctx.kept, ctx.sizes = read, kept, sizes
        return states

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of all but the sizes."""
        constant, words, kernel, beside = ctx.saved_tensors
        split, width = constant.shape[1], gradient.shape[2]
        inputs = words.shape[2]
        of_hidden = gradient.new_zeros(len(words), width, dtype=torch.float32)
        of_cell = torch.zeros_like(of_hidden)
        of_words = torch.zeros_like(words)
        total = torch.zeros(len(words), 4 * width, device=words.device)
        changes = list[Tensor]()
        for position, size in reversed(list(enumerate(ctx.sizes))):
            outer, candidate, before, bent = ctx.kept[position]
            entry, forget, _, out = outer.chunk(4, -1)
            after = of_hidden[:size] + gradient[:size, position]
            through = of_cell[:size] + after * out * (1 - bent.square())
            slopes = outer * (1 - outer)
            change = torch.cat([through * candidate, through * before, through * entry, after * bent], 1)
            slopes[:, 2 * width : 3 * width] = 1 - candidate.square()
            change = change * slopes
            total[:size] += change
            changes.append(change.to(words.dtype))
            found = changes[-1] @ beside
            of_words[:size, position] = found[:, :inputs]
            of_hidden[:size], of_cell[:size] = found[:, inputs:].float(), through * forget
        joined, total = torch.cat(changes), total.to(words.dtype)
        of_beside = (torch.cat(ctx.read[::-1]).t() @ joined).t()  # faster than the product the other way round
        of_kernel = torch.empty_like(kernel)
        of_kernel[:, :split] = total.t() @ constant
        of_kernel[:, split:] = of_beside[:, :inputs]
        return total @ kernel[:, :split], of_words, of_kernel, of_beside[:, inputs:], total.sum(0), None
