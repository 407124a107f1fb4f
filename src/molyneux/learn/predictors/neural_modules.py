"""NeuralModules: a network put together for each text from modules, one for each symbol of its tree."""

from __future__ import annotations

from typing import NamedTuple, Unpack

import torch
from torch import Tensor, nn

from molyneux.core import Spec
from molyneux.learn.checks import refuse
from molyneux.learn.encoders.encoding import Encoding, ViewEncoder
from molyneux.learn.encoders.pictures.small import StridedCNN
from molyneux.learn.encoders.symbol_trees import SymbolTrees, SymbolTreesEncoder, TreeEncoding
from molyneux.learn.predictors.head import Head
from molyneux.learn.predictors.predictor import Inputs, PictureTextPredictor

TRUNK, WORDS, HEAD = StridedCNN(), SymbolTrees(), Head(128)
EMPTY = 1e-3
"""Added to the sum of a map before it divides."""
SPARSE = -2.0
"""Maps start with this logit: an eighth of the regions."""


class NeuralModules(PictureTextPredictor):
    """A network for each text, of modules that follow the tree of its symbols; Andreas et al. (CVPR 2016).

    Neural Module Networks, section 4: a symbol without arguments is a module that finds regions, one with arguments combines what
    these found and measured; the root answers. The value of a tree is a map of the regions that it picks out, from 0 to 1 each,
    and a vector of what is true of it, so that shapes, relations, quantifiers and connectives are of one kind: which of them a
    symbol is, it learns. As in Hu et al. (ECCV 2018, Stack-NMN) all modules share their weights but for what they compute from
    the vector of their symbol, and they work on maps rather than on features.

    The text is a tree in Polish notation, whose symbols have arities (`Modality.arities`). All symbols of a height above the
    leaves are computed together, whatever the shapes of the trees. A missing argument is an empty map and a vector of 0. Without
    a text there is no network, so that all pictures alone get one answer.

    Args:
        spec: see `Predictor`.
        width: hidden units of the modules, and numbers of the vector of a tree.
        trunk: encoder of the picture, whose regions have their coordinates.
        words: encoder of the text, `SymbolTrees`.
        head: see `Head`.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        width: int = 64,
        trunk: ViewEncoder = TRUNK,
        words: ViewEncoder = WORDS,
        head: Head = HEAD,
        **inputs: Unpack[Inputs],
    ) -> None:
        super().__init__(spec, trunk, words, **tree_inputs(spec, words, inputs, width=width))
        assert isinstance(self.words, SymbolTreesEncoder)
        region, symbol = self.picture.width, self.words.width
        most = self.words.most
        self.find = Find(region, symbol, width)
        self.combine = Combine(region, symbol, width, most)
        self.measure = MeasureModule(symbol, width, most)
        self.answer_from(width, head)

    def join_both(self, picture: Encoding, text: Encoding) -> Tensor:
        """The vector of each tree, (B, width)."""
        assert isinstance(text, TreeEncoding)
        nodes, regions = nodes_of(text), picture.parts
        maps = torch.zeros(1, regions.shape[1], device=regions.device)
        vectors = torch.zeros(1, self.answers.features, device=regions.device)
        found = self.find(regions, text.parts) * picture.mask.unsqueeze(1)
        first = 0
        for height, (count, roots) in enumerate(nodes.levels):
            here, inner = slice(first, first + count), slice(first, first + count - roots)
            rows, positions, arguments = nodes.rows[here], nodes.positions[here], nodes.arguments[here]
            symbols = text.parts[rows, positions]
            theirs, say = chosen(maps, arguments), chosen(vectors, arguments)
            if height == 0:
                new = common = found[rows, positions]
            else:
                common = theirs.where((arguments > 0).unsqueeze(-1), 1).prod(1)
                some, rows = slice(0, count - roots), nodes.rows[inner]  # nothing reads the map of a root
                new = self.combine(symbols[some], regions, rows, theirs[some], common[some]) * picture.mask[rows]
                new = torch.cat([new, new.new_zeros(roots, new.shape[1])])
            vectors = torch.cat([vectors, self.measure(symbols, theirs, common, say)])
            maps, first = torch.cat([maps, new]), first + count
        return vectors.index_select(0, nodes.roots)


def tree_inputs(spec: Spec, words: ViewEncoder, inputs: Inputs, **sizes: int) -> Inputs:
    """The inputs of a predictor that follows trees: where none is named, the text is the only one with arities, if there is one.

    Raises:
        ConfigError: sizes below 1, or an encoder that reads no trees.
    """
    problems = [f"{name}: expected at least 1, got {value}" for name, value in sizes.items() if value < 1]
    if not isinstance(words, SymbolTrees):
        problems.append(f"words: expected SymbolTrees, which reads trees, got {type(words).__name__}")
    refuse(problems)
    texts = [modality.name for modality in spec.modalities if modality.arities]
    return {**inputs, "text": texts[0]} if not inputs.get("text") and len(texts) == 1 else inputs


class Nodes(NamedTuple):
    """The symbols of all texts of a batch, in the order in which they are computed: from the leaves up, roots last of a height.

    Args:
        rows: of which sample, (M,).
        positions: where in its text, (M,).
        arguments: the places of the arguments in this order, counted from 1, (M, A); 0 for none.
        levels: for each height, how many symbols stand there and how many of these are roots.
        roots: the place of the root of each sample, counted from 1, (B,); 0 for a text without symbols.
    """

    rows: Tensor
    positions: Tensor
    arguments: Tensor
    levels: list[tuple[int, int]]
    roots: Tensor


def nodes_of(text: TreeEncoding) -> Nodes:
    """The symbols of all texts, by height."""
    rows, positions = text.mask.nonzero(as_tuple=True)
    key = 2 * text.heights[rows, positions] + (positions == 0)
    order = key.argsort(stable=True)
    rows, positions = rows[order], positions[order]
    places = torch.zeros(text.mask.shape[0], text.mask.shape[1] + 1, dtype=torch.int64, device=rows.device)
    places[rows, positions] = torch.arange(1, len(rows) + 1, device=rows.device)
    arguments = places[rows.unsqueeze(1), text.arguments[rows, positions]]  # -1 is the last place, which stays 0
    counts = [*key.bincount().tolist(), 0]
    levels = [(inner + roots, roots) for inner, roots in zip(counts[::2], counts[1::2], strict=False)]
    return Nodes(rows, positions, arguments, levels, places[:, 0])


def chosen(values: Tensor, places: Tensor) -> Tensor:
    """Values (V, D) at places (M, A), (M, A, D)."""
    return values.index_select(0, places.flatten()).reshape(*places.shape, -1)


class Find(nn.Module):
    """A symbol without arguments finds regions: the map is a logistic function of the product of regions and symbol."""

    def __init__(self, region: int, symbol: int, width: int) -> None:
        super().__init__()
        self.region, self.query, self.bias = nn.Linear(region, width), nn.Linear(symbol, width), nn.Linear(symbol, 1)
        nn.init.constant_(self.bias.bias, SPARSE)

    def forward(self, regions: Tensor, symbols: Tensor) -> Tensor:
        """Maps (B, L, N) of symbols (B, L, E) over regions (B, N, R)."""
        hidden = self.region(regions).relu()
        scores = torch.bmm(self.query(symbols), hidden.transpose(1, 2)) * hidden.shape[-1] ** -0.5
        found: Tensor = (scores + self.bias(symbols)).float().sigmoid()
        return found


class Combine(nn.Module):
    """A symbol with arguments makes a map of theirs: of each region, what they say of it and which regions they attend to."""

    def __init__(self, region: int, symbol: int, width: int, most: int) -> None:
        super().__init__()
        self.region, self.pooled = nn.Linear(region, width), nn.Linear(most * region, width, bias=False)
        self.local = nn.Linear(most + 1, width, bias=False)
        self.of_symbol, self.bias = nn.Linear(symbol, 3 * width), nn.Linear(symbol, 1)
        nn.init.constant_(self.bias.bias, SPARSE)

    def forward(self, symbols: Tensor, regions: Tensor, rows: Tensor, maps: Tensor, common: Tensor) -> Tensor:
        """Maps (M, N).

        Args:
            symbols: (M, E).
            regions: of all samples, (B, N, R).
            rows: the sample of each symbol, (M,).
            maps: of the arguments, (M, A, N).
            common: the product of those that there are, (M, N).
        """
        weights = maps / (maps.sum(-1, keepdim=True) + EMPTY)
        seen = torch.bmm(weights.to(regions.dtype), regions.index_select(0, rows)).flatten(1)
        local = self.local(torch.cat([maps, common.unsqueeze(1)], 1).transpose(1, 2))
        scale, shift, query = self.of_symbol(symbols).chunk(3, -1)
        entry = self.region(regions).index_select(0, rows) + local + self.pooled(seen).unsqueeze(1)
        hidden = torch.addcmul(shift.unsqueeze(1), entry, 1 + scale.unsqueeze(1)).relu()
        scores = torch.bmm(hidden, query.unsqueeze(-1)).squeeze(-1) * hidden.shape[-1] ** -0.5
        found: Tensor = (scores + self.bias(symbols)).float().sigmoid()
        return found


class MeasureModule(nn.Module):
    """What is true of a tree: of the sums and the maxima of maps, and of the vectors of the arguments."""

    def __init__(self, symbol: int, width: int, most: int) -> None:
        super().__init__()
        self.entry = nn.Linear(2 * (most + 1) + most * width, width)
        self.of_symbol, self.last = nn.Linear(symbol, 2 * width), nn.Linear(width, width)

    def forward(self, symbols: Tensor, maps: Tensor, common: Tensor, vectors: Tensor) -> Tensor:
        """Vectors (M, width) of symbols (M, E), from the maps (M, A, N) and vectors (M, A, width) of their arguments.

        `common` (M, N) is the product of the maps, and of a symbol without arguments its own map.
        """
        every = torch.cat([maps, common.unsqueeze(1)], 1)
        counts = torch.cat([every.sum(-1), every.amax(-1), vectors.flatten(1)], -1)
        scale, shift = self.of_symbol(symbols).chunk(2, -1)
        hidden = torch.addcmul(shift, self.entry(counts), 1 + scale).relu()
        found: Tensor = self.last(hidden).float()
        return found
