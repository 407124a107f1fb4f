"""CoAttention: hierarchical co-attention, parallel or alternating, on the levels of words, phrases and the sentence."""

from __future__ import annotations

from typing import Literal, Unpack, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import Spec, SpecError, choice_problems
from molyneux.learn.checks import refuse
from molyneux.learn.encoders.encoding import Encoding, ViewEncoder, attended, attention_weights
from molyneux.learn.encoders.nets.recurrent import RecurrentLayers
from molyneux.learn.encoders.pictures.small import PaperCNN
from molyneux.learn.encoders.texts import BagOfWords
from molyneux.learn.predictors.head import PAPER_HEAD, Head
from molyneux.learn.predictors.predictor import Inputs, PictureTextPredictor
from molyneux.learn.predictors.published import Initialisation, initialise

Order = Literal["parallel", "alternating"]
TRUNK, WORDS = PaperCNN((16, 32, 32)), BagOfWords(32)


class CoAttention(PictureTextPredictor):
    """Hierarchical co-attention: picture and text attend to each other; Lu et al. (NeurIPS 2016), as sized in ShapeWorld (2017).

    Lu et al., Hierarchical Question-Image Co-Attention, sections 3.2 to 3.4, with the sizes of CNN+CNN:HCA-par and HCA-alt of
    Kuhnle & Copestake (2017): with 64x64 pixels, 23 symbols and one agreement target 68,576 weights (parallel) and 84,128
    (alternating). Linear maps have no bias. The head stands in place of equation 7's softmax.

    Deviations from ShapeWorld's published code: padding is not attended to (its behaviour: `words` of BagOfWords(32, masked=
    False)); and in the alternating order each attention is guided by the one before, as Lu et al. say. There the guidance is
    overwritten by what it should guide, which is then added to itself (its behaviour: `guided=False`). The 12,288 weights of the
    guidance then do nothing, and this model does not have them; nor do the 6,336 of the first attention, which only guides.

    Args:
        spec: see `Predictor`.
        order: "parallel" (equations 3 to 5) or "alternating" (equation 6).
        attention: units of each attention.
        guided: whether the attentions of the alternating order guide each other.
        trunk: encoder of the picture.
        words: encoder of the text, whose parts have the same width.
        head: see `Head`.
        initialisation: "he", or "published" for the weights that ShapeWorld's published code starts with.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        order: Order = "parallel",
        attention: int = 64,
        guided: bool = True,
        trunk: ViewEncoder = TRUNK,
        words: ViewEncoder = WORDS,
        head: Head = PAPER_HEAD,
        initialisation: Initialisation = "he",
        **inputs: Unpack[Inputs],
    ) -> None:
        problems = choice_problems(order=(order, get_args(Order)))
        problems += [] if attention >= 1 else [f"attention: expected at least 1, got {attention}"]
        refuse(
            problems + ([] if guided or order == "alternating" else ["guided: expected true in the parallel order, got false"])
        )
        super().__init__(spec, trunk, words, **inputs)
        size, other = self.words.width, self.picture.width
        if size != other:
            raise SpecError(f"CoAttention: expected parts of the same width from trunk and words, got {other} and {size}")
        self.phrases, self.sentence = Phrases(size), RecurrentLayers("lstm", size, width=size, layers=1)
        levels = (Parallel(size, attention) if order == "parallel" else Alternating(size, attention, guided) for _ in range(3))
        self.levels = nn.ModuleList(levels)
        sizes = (size, 2 * size, 2 * size)
        self.encodes = nn.ModuleList(nn.Linear(inputs, size, bias=False) for inputs in sizes)
        self.answer_from(size, head)
        initialise(self, initialisation)

    def join_both(self, picture: Encoding, text: Encoding) -> Tensor:
        """The encoding of the sentence level, `h^s` of equation 7, (B, size)."""
        there = text.mask.unsqueeze(-1)
        phrases = self.phrases(text.parts) * there
        sentence = self.sentence(phrases.transpose(0, 1))[0].transpose(0, 1) * there
        hidden = picture.vector.new_zeros(len(picture.vector), 0)
        for level, encode, words in zip(self.levels, self.encodes, (text.parts, phrases, sentence), strict=True):
            regions, summary = level(picture, Encoding(text.vector, words, text.mask))
            hidden = encode(torch.cat([regions + summary, hidden.to(summary.dtype)], -1)).tanh()
        return hidden


class Phrases(nn.Module):
    """The largest of a uni-, bi- and trigram convolution at each word, equations 1 and 2; without bias."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.grams = nn.ModuleList(nn.Conv1d(size, size, width, bias=False) for width in (1, 2, 3))

    def forward(self, words: Tensor) -> Tensor:
        """Words (B, L, P), 0 where there are none, to phrases (B, L, P)."""
        turned = words.transpose(1, 2)
        found = [gram(functional.pad(turned, around)) for gram, around in zip(self.grams, ((0, 0), (0, 1), (1, 1)), strict=True)]
        return torch.stack(found).amax(0).tanh().transpose(1, 2)


class Parallel(nn.Module):
    """Parallel co-attention, equations 3 to 5: an affinity of each word and region carries what each side attends to."""

    def __init__(self, size: int, attention: int) -> None:
        super().__init__()
        self.affinity = nn.Linear(size, size, bias=False)
        self.region, self.word = nn.Linear(size, attention, bias=False), nn.Linear(size, attention, bias=False)
        self.of_regions, self.of_words = nn.Linear(attention, 1, bias=False), nn.Linear(attention, 1, bias=False)

    def forward(self, picture: Encoding, text: Encoding) -> tuple[Tensor, Tensor]:
        """The attended regions and words, (B, size) each."""
        affinity = torch.bmm(self.affinity(text.parts), picture.parts.transpose(1, 2)).tanh()
        regions, words = self.region(picture.parts), self.word(text.parts)
        by_region = (regions + torch.bmm(affinity.transpose(1, 2), words)).tanh()
        by_word = (words + torch.bmm(affinity, regions)).tanh()
        over_regions = attention_weights(self.of_regions(by_region).squeeze(-1), picture.mask)
        over_words = attention_weights(self.of_words(by_word).squeeze(-1), text.mask)
        return attended(over_regions, picture.parts), attended(over_words, text.parts)


class Alternating(nn.Module):
    """Alternating co-attention, equation 6: the words, then the regions given the words, then the words given the regions."""

    def __init__(self, size: int, attention: int, guided: bool) -> None:
        super().__init__()
        self.summary, self.regions, self.words = (Guided(size, attention, guide) for guide in (False, guided, guided))

    def forward(self, picture: Encoding, text: Encoding) -> tuple[Tensor, Tensor]:
        """The attended regions and words, (B, size) each."""
        summary = self.summary(text, None)
        regions = self.regions(picture, summary)
        return regions, self.words(text, regions)


class Guided(nn.Module):
    """Attention to parts given a guide: `H = tanh(W_x X + W_g g)`, `a = softmax(w^T H)`, equation 6.

    Without the weights of a guide, one that is given adds the parts' own term once more, as the published code does.
    """

    def __init__(self, size: int, attention: int, guided: bool) -> None:
        super().__init__()
        self.part, self.score = nn.Linear(size, attention, bias=False), nn.Linear(attention, 1, bias=False)
        self.guide = nn.Linear(size, attention, bias=False) if guided else None

    def forward(self, seen: Encoding, guide: Tensor | None) -> Tensor:
        """The attended parts, (B, size)."""
        hidden = self.part(seen.parts)
        if guide is not None:
            hidden = hidden + (hidden if self.guide is None else self.guide(guide).unsqueeze(1))
        return attended(attention_weights(self.score(hidden.tanh()).squeeze(-1), seen.mask), seen.parts)
