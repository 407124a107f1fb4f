"""ConceptModules: detectors of concepts, and the logic of the tree of a text carried out on what they find."""

from __future__ import annotations

from typing import Unpack

import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import Spec
from molyneux.learn.encoders.encoding import Encoding, ViewEncoder
from molyneux.learn.encoders.pictures.small import OutlinesAndColours, grid_coordinates
from molyneux.learn.encoders.symbol_trees import SymbolTrees, SymbolTreesEncoder, TreeEncoding
from molyneux.learn.predictors.head import Head
from molyneux.learn.predictors.neural_modules import chosen, nodes_of, tree_inputs
from molyneux.learn.predictors.predictor import Inputs, PictureTextPredictor

TRUNK, WORDS, HEAD = OutlinesAndColours(), SymbolTrees(16), Head(layers=0)
SPARSE = -2.0
"""Detectors start with this logit: an eighth of the regions."""
NOWHERE = -12.0
"""The logarithm of the probability of what is in no region."""
GATE = 10.0
"""Which makes the choice of a stream learn as fast as the detectors."""


class ConceptModules(PictureTextPredictor):
    """Probabilities that a concept holds in a region, joined by fuzzy logic along the tree of the text.

    The concepts and gates are those of Mao et al., Neuro-Symbolic Concept Learner (ICLR 2019), section 3.1: a concept belongs to
    one of several attributes, here to one of the streams of the trunk, which it learns; its probability in a region is a mixture
    over streams, so that no concept can be made of two of them. The logic is theirs too (appendix B): a symbol with several
    arguments that does not stand at the root is true of a region where all of them are, and the maximum says whether there is
    one. A symbol with one argument is a mixture, which it learns, of a relation to some region of the argument, of the argument's
    complement, and of those regions of the argument to which no other has this relation (a superlative). A relation compares
    learned numbers of two regions, its coordinates among them, by their differences and their products. What is true of
    a tree is computed, as in `NeuralModules`, by one layer that its symbol scales and shifts, from the log-odds of the strongest
    region, the expected number of objects and its logarithm, of each argument and of each pair of them.

    Deviations: regions of a grid for the paper's detected objects, so counts are sums over regions of a learned weight (in a
    trained network, the centres of objects); quantifiers, which the paper gives, are learned; nothing is learned in stages.
    Without a text there is no network, so that all pictures alone get one answer.

    Args:
        spec: see `Predictor`.
        width: numbers of the vector of a tree.
        compared: learned numbers of a region that relations compare, besides its coordinates.
        gated: whether concepts choose one stream; else they are linear in all of them, for comparison.
        trunk: encoder of the picture.
        words: encoder of the text, `SymbolTrees`.
        head: see `Head`.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        width: int = 32,
        compared: int = 8,
        gated: bool = True,
        trunk: ViewEncoder = TRUNK,
        words: ViewEncoder = WORDS,
        head: Head = HEAD,
        **inputs: Unpack[Inputs],
    ) -> None:
        super().__init__(spec, trunk, words, **tree_inputs(spec, words, inputs, width=width, compared=compared))
        assert isinstance(self.words, SymbolTreesEncoder)
        region, symbol, self.most = self.picture.width, self.words.width, self.words.most
        self.concepts = Concepts(self.picture.streams, symbol, gated=gated)
        self.relations = Relations(region, symbol, compared, self.picture.grid)
        self.measure = ConceptMeasure(region, symbol, width, self.most)
        self.answer_from(width, head)

    def join_both(self, picture: Encoding, text: Encoding) -> Tensor:
        """The vector of each tree, (B, width)."""
        assert isinstance(text, TreeEncoding)
        nodes, beyond = nodes_of(text), NOWHERE * (~picture.mask).float()
        found = self.concepts(picture.parts, text.parts) + beyond.unsqueeze(1)
        compared, weights = self.relations.compared(picture.parts), self.measure.weights(picture.parts) * picture.mask
        maps = found.new_full((1, found.shape[2]), NOWHERE)
        vectors = found.new_zeros(1, self.answers.features)
        first = 0
        for height, (count, roots) in enumerate(nodes.levels):
            here = slice(first, first + count)
            rows, positions, arguments = nodes.rows[here], nodes.positions[here], nodes.arguments[here]
            symbols, there = text.parts[rows, positions].float(), arguments > 0
            theirs, say = chosen(maps, arguments), chosen(vectors, arguments)
            if height == 0:
                new = theirs[:, 0] = found[rows, positions]  # the map of a symbol without arguments counts as its argument
                there[:, 0] = True
            else:
                new = self._combined(symbols, theirs, there, compared.index_select(0, rows), count - roots)
                new = new + beyond.index_select(0, rows)
            maps, first = torch.cat([maps, new]), first + count
            vectors = torch.cat([vectors, self.measure(symbols, theirs, there, weights.index_select(0, rows), say)])
        answers: Tensor = vectors.index_select(0, nodes.roots)
        return answers

    def _combined(self, symbols: Tensor, maps: Tensor, there: Tensor, compared: Tensor, inner: int) -> Tensor:
        """The maps (M, N) of symbols with arguments; the last of them are roots, whose map nobody reads."""
        new = (maps * there.unsqueeze(-1)).sum(1)
        one = (there.sum(1) == 1).nonzero().squeeze(1)
        one = one[one < inner]
        if len(one):
            only = maps[one, 0]  # arguments stand in order, so that of a symbol with one is the first
            new = new.index_put((one,), self.relations(symbols[one], only, compared[one]))
        return new


class Concepts(nn.Module):
    """The logarithm of the probability that a symbol holds in a region; equations 1 and 2 of appendix A of the paper."""

    def __init__(self, streams: tuple[int, ...], symbol: int, *, gated: bool) -> None:
        super().__init__()
        self.streams, self.gated = streams, gated
        self.queries = nn.ModuleList(nn.Linear(symbol, width) for width in streams)
        self.biases, self.gate = nn.Linear(symbol, len(streams)), nn.Linear(symbol, len(streams), bias=False)
        nn.init.constant_(self.biases.bias, SPARSE)
        nn.init.zeros_(self.gate.weight)

    def forward(self, regions: Tensor, symbols: Tensor) -> Tensor:
        """Maps (B, L, N) of symbols (B, L, E) over regions (B, N, R)."""
        biases = self.biases(symbols).float().unbind(-1)
        logits = [
            torch.bmm(query(symbols), part.transpose(1, 2)).float() + bias.unsqueeze(-1)
            for query, part, bias in zip(self.queries, torch.split(regions, list(self.streams), -1), biases, strict=True)
        ]
        if not self.gated:
            return functional.logsigmoid(torch.stack(logits).sum(0))
        gates = (GATE * self.gate(symbols).float()).softmax(-1).unbind(-1)
        shares = [gate.unsqueeze(-1) * logit.sigmoid() for gate, logit in zip(gates, logits, strict=True)]
        return torch.stack(shares).sum(0).clamp(1e-6, 1 - 1e-6).log()


class Relations(nn.Module):
    """A symbol with one argument: a relation to it, its complement, or the regions of it to which no other has the relation."""

    coordinates: Tensor

    def __init__(self, region: int, symbol: int, compared: int, grid: tuple[int, int]) -> None:
        super().__init__()
        self.size = compared + 2
        self.numbers = nn.Linear(region, compared)
        self.differences, self.products = nn.Linear(symbol, self.size), nn.Linear(symbol, self.size)
        self.bias, self.gate = nn.Linear(symbol, 1), nn.Linear(symbol, 3, bias=False)
        nn.init.zeros_(self.gate.weight)
        self.register_buffer("coordinates", grid_coordinates(*grid), persistent=False)

    def compared(self, regions: Tensor) -> Tensor:
        """The numbers of regions (B, N, R) that relations compare, (B, N, size): coordinates, and learned ones."""
        return torch.cat([self.coordinates.expand(len(regions), -1, -1), self.numbers(regions).float()], -1)

    def forward(self, symbols: Tensor, maps: Tensor, compared: Tensor) -> Tensor:
        """Maps (M, N) of symbols (M, E), from those (M, N) of their argument and the numbers (M, N, size) of regions."""
        weighted = (4 * compared * self.differences(symbols).float().unsqueeze(1)).sum(-1)
        products = torch.bmm(compared * self.products(symbols).float().unsqueeze(1), compared.transpose(1, 2))
        logits = weighted.unsqueeze(2) - weighted.unsqueeze(1) + products + self.bias(symbols).float().unsqueeze(2)
        related = (maps.unsqueeze(1) + functional.logsigmoid(logits)).amax(2)
        extreme = maps + complement(related)
        gates = (GATE * self.gate(symbols).float()).log_softmax(-1)
        return torch.logsumexp(torch.stack([related, complement(maps), extreme], -1) + gates.unsqueeze(1), -1).clamp(max=-1e-6)


class ConceptMeasure(nn.Module):
    """What is true of a tree, from the strongest regions and the numbers of objects of its arguments."""

    def __init__(self, region: int, symbol: int, width: int, most: int) -> None:
        super().__init__()
        self.pairs = [(first, second) for first in range(most) for second in range(first + 1, most)]
        maps = most + len(self.pairs)
        self.entry, self.of_symbol = nn.Linear(3 * maps + most * width, width), nn.Linear(symbol, 2 * width)
        self.last, self.centre = nn.Linear(width, width), nn.Linear(region, 1)
        with torch.no_grad():
            self.entry.weight[:, maps : 3 * maps] *= 0.01  # what there is comes before how many there are
        nn.init.constant_(self.centre.bias, -1.0)

    def weights(self, regions: Tensor) -> Tensor:
        """How much regions (B, N, R) count, (B, N)."""
        weights: Tensor = self.centre(regions).float().sigmoid().squeeze(-1)
        return weights

    def forward(self, symbols: Tensor, maps: Tensor, there: Tensor, weights: Tensor, vectors: Tensor) -> Tensor:
        """Vectors (M, width) of symbols (M, E), from maps (M, A, N) and vectors (M, A, width) of arguments that are `there`."""
        known = maps.where(there.unsqueeze(-1), NOWHERE)
        both = [(known[:, first] + known[:, second]).clamp(min=NOWHERE) for first, second in self.pairs]
        every = torch.cat([known, *(one.unsqueeze(1) for one in both)], 1)
        strongest = every.amax(-1).clamp(-8.0, -1e-4)
        counts = torch.bmm(every.exp(), weights.unsqueeze(-1)).squeeze(-1)
        entry = self.entry(
            torch.cat([(strongest - complement(strongest)) / 2, counts, (counts + 0.1).log(), vectors.flatten(1)], -1)
        )
        scale, shift = self.of_symbol(symbols).chunk(2, -1)
        hidden = torch.addcmul(shift, entry, 1 + scale)
        found: Tensor = (hidden + self.last(hidden.relu())).float()
        return found


def complement(logarithm: Tensor) -> Tensor:
    """The logarithm of `1 - p`, from that of p, kept away from both ends."""
    return torch.log1p(-logarithm.exp().clamp(max=1 - 1e-5))
