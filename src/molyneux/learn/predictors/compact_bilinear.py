"""CompactBilinear: the outer product of picture and text, sketched in fewer numbers."""

from __future__ import annotations

from typing import Unpack

import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import Spec, seeds
from molyneux.learn.checks import refuse
from molyneux.learn.encoders.encoding import Encoding, ViewEncoder
from molyneux.learn.predictors.head import PAPER_HEAD, Head
from molyneux.learn.predictors.predictor import Inputs, PictureTextPredictor
from molyneux.learn.predictors.published import Initialisation, initialise
from molyneux.learn.predictors.unimodal import PAPER_CNN, PAPER_LSTM

SMALLEST = 1e-6
"""Added below the signed square root, whose slope at 0 would be infinite."""


class CompactBilinear(PictureTextPredictor):
    """A count sketch of the outer product of the vectors of picture and text; Fukui et al. (EMNLP 2016), algorithm 1.

    Multimodal Compact Bilinear Pooling for Visual Question Answering and Visual Grounding: both vectors are sketched, and the
    circular convolution of the sketches, computed by Fourier transforms, is the sketch of their outer product (Pham & Pagh, KDD
    2013). A signed square root and a normalisation to length 1 follow (section 3.1). The size is ShapeWorld's (2017).

    Deviation: one vector of the whole picture, without the attention of section 3.2. Where picture or text is missing, the sketch
    is that of the other.

    Args:
        spec: see `Predictor`.
        size: numbers of the sketch.
        seed: of the hash functions; they are stored with the weights.
        trunk: encoder of the picture.
        words: encoder of the text.
        head: see `Head`.
        initialisation: "he", or "published" for the weights that ShapeWorld's published code starts with.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        size: int = 8192,
        seed: int = 0,
        trunk: ViewEncoder = PAPER_CNN,
        words: ViewEncoder = PAPER_LSTM,
        head: Head = PAPER_HEAD,
        initialisation: Initialisation = "he",
        **inputs: Unpack[Inputs],
    ) -> None:
        refuse([] if size >= 1 else [f"size: expected at least 1, got {size}"])
        super().__init__(spec, trunk, words, **inputs)
        self.of_picture = CountSketch(self.picture.vector, size, seed, "picture")
        self.of_text = CountSketch(self.words.vector, size, seed, "text")
        self.answer_from(size, head)
        initialise(self, initialisation)

    def join_both(self, picture: Encoding, text: Encoding) -> Tensor:
        """The sketch of the outer product after the square root and the normalisation, (B, size)."""
        sketches = (
            impulse(sketch(item.vector), item.present) for sketch, item in ((self.of_picture, picture), (self.of_text, text))
        )
        product = circular_convolution(*sketches)
        rooted = product * (product.abs() + SMALLEST).rsqrt()
        return functional.normalize(rooted, dim=-1)


class CountSketch(nn.Module):
    """Adds each number, with a random sign, to a random place of a shorter vector; Charikar et al. (ICALP 2002).

    Args:
        inputs: numbers of a vector.
        size: numbers of its sketch.
        seed, name: of the stream of random numbers that places and signs are drawn from.
    """

    places: Tensor
    signs: Tensor

    def __init__(self, inputs: int, size: int, seed: int, name: str) -> None:
        super().__init__()
        rng = seeds.generator(seed, "learn", "count sketch", name)
        self.size = size
        self.register_buffer("places", torch.from_numpy(rng.integers(0, size, inputs)))
        self.register_buffer("signs", torch.from_numpy(rng.integers(0, 2, inputs) * 2 - 1).float())

    def forward(self, vector: Tensor) -> Tensor:
        """Vectors (B, inputs) to sketches (B, size), in 32 bits."""
        zeros = torch.zeros(len(vector), self.size, device=vector.device)
        return zeros.index_add(1, self.places, vector.float() * self.signs)


def impulse(sketch: Tensor, present: Tensor) -> Tensor:
    """Sketches (B, n), 1, 0, ..., 0 where there is no vector by `present` (B,), whose convolution with another is the other."""
    first = torch.arange(sketch.shape[1], device=sketch.device) == 0
    return sketch.where(present.unsqueeze(1), first.to(sketch))


def circular_convolution(first: Tensor, second: Tensor) -> Tensor:
    """`c_k = sum_i a_i b_(k - i mod n)` of vectors (..., n), by Fourier transforms."""
    found: Tensor = torch.fft.irfft(torch.fft.rfft(first) * torch.fft.rfft(second), n=first.shape[-1])
    return found
