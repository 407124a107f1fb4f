"""Networks of modules against a recursive execution of each tree; trees of texts in Polish notation; what they learn."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from molyneux.core import Batch, ConfigError, Modality, Progress, Spec, SpecError, Target
from molyneux.learn.encoders import BagOfWords, StridedCNN, SymbolTrees
from molyneux.learn.encoders.symbol_trees import trees
from molyneux.learn.predictors import NeuralModules

TEXT, PICTURE = "caption 2", "scene.1"
SYMBOLS = ("", "red", "green", "square", "cross", "both", "not", "exists", "all", "and", "more")
ARITIES = (0, 0, 0, 0, 0, 2, 1, 1, 2, 2, 3)
SHAPE = Target("true", "agreement")


def argument_places(ids, position):
    """Positions of the arguments of a symbol and the end of its tree, by recursion; what is missing is left out."""
    found, after = [], position + 1
    for _ in range(ARITIES[ids[position]]):
        if after >= len(ids):
            break
        found.append(after)
        after = argument_places(ids, after)[1]
    return found, after


def random_texts(size=40, longest=9, seed=0):
    rng = np.random.default_rng(seed)
    ids = rng.integers(1, len(SYMBOLS), (size, longest))
    lengths = rng.integers(0, longest + 1, size)
    return np.where(np.arange(longest) < lengths[:, None], ids, 0), lengths


def test_arguments_and_heights_are_those_of_the_trees():
    ids, lengths = random_texts()
    mask = torch.arange(9) < torch.from_numpy(lengths)[:, None]
    arguments, heights = trees(torch.tensor(ARITIES)[ids], mask, 3)
    for row, (text, length) in enumerate(zip(ids, lengths, strict=True)):
        known = {}
        for position in reversed(range(length)):
            expected = argument_places(text[:length], position)[0]
            assert [place for place in arguments[row, position].tolist() if place >= 0] == expected
            known[position] = 1 + max((known[place] for place in expected), default=-1)
            assert heights[row, position] == known[position]
        assert (arguments[row, length:] == -1).all()
        assert (heights[row, length:] == 0).all()


def value(model, regions, ids, position):
    """The map (N,) and the vector of the tree of a symbol, written out for one picture."""
    symbol, width = model.words.table.weight[ids[position]], model.answers.features
    value_of = [value(model, regions, ids, place) for place in argument_places(ids, position)[0]]
    maps = [one for one, _ in value_of] + [torch.zeros(len(regions))] * (model.words.most - len(value_of))
    vectors = [one for _, one in value_of] + [torch.zeros(width)] * (model.words.most - len(value_of))
    if value_of:
        part = model.combine
        common = torch.stack([one for one, _ in value_of]).prod(0)
        seen = [sum(a * region for a, region in zip(one, regions, strict=True)) / (one.sum() + 1e-3) for one in maps]
        scale, shift, query = part.of_symbol(symbol).chunk(3)
        logits = []
        for number, region in enumerate(regions):
            local = part.local(torch.stack([one[number] for one in (*maps, common)]))
            hidden = (shift + (1 + scale) * (part.region(region) + local + part.pooled(torch.cat(seen)))).relu()
            logits.append(hidden @ query / width**0.5 + part.bias(symbol)[0])
    else:
        part = model.find
        logits = [part.region(region).relu() @ part.query(symbol) / width**0.5 + part.bias(symbol)[0] for region in regions]
    own = torch.stack(logits).sigmoid()
    every = torch.stack([*maps, common if value_of else own])
    scale, shift = model.measure.of_symbol(symbol).chunk(2)
    counts = torch.cat([every.sum(1), every.amax(1), *vectors])
    return own, model.measure.last((shift + (1 + scale) * model.measure.entry(counts)).relu())


def test_it_equals_a_recursive_execution_of_each_tree(spec_of, batch_of, build):
    spec = spec_of(longest=9)
    spec = replace(spec, modalities=(replace(spec.modalities[0], symbols=SYMBOLS, arities=ARITIES), spec.modalities[1]))
    model = build(NeuralModules, spec, width=12, trunk=StridedCNN((8, 8, 8)), words=SymbolTrees(10))
    generator = torch.Generator().manual_seed(3)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3, generator=generator)
    batch = batch_of(spec, 24)
    ids, lengths = random_texts(24)
    batch = replace(batch, views={**batch.views, TEXT: torch.from_numpy(ids.astype(np.uint8))})
    regions, found = model.picture(batch.views[PICTURE].float() / 255).parts, model.features(batch)
    for row, length in enumerate(lengths):
        expected = value(model, regions[row], ids[row, :length], 0)[1] if length else torch.zeros(12)
        torch.testing.assert_close(found[row], expected, rtol=1e-4, atol=1e-5)


WORLD = Spec(
    (
        Modality("image", "image", (3, 16, 16), "uint8"),
        Modality("text", "text", (3,), "uint8", ("", "a", "b"), padding=0),
        Modality("meaning", "text", (5,), "uint8", SYMBOLS, padding=0, arities=ARITIES),
    ),
    targets=(SHAPE,),
)


def scenes(size, seed=0):
    """Zero to two coloured squares; meanings such as (exists red), (and (exists red) (exists green)), (exists (not ...))."""
    rng = np.random.default_rng(seed)
    there, pixels = rng.random((size, 2)) < 0.5, np.zeros((size, 3, 16, 16), np.uint8)
    for colour in range(2):
        for row in np.flatnonzero(there[:, colour]):
            top, left = rng.integers(0, 10), rng.integers(0, 2) + 8 * colour
            pixels[row, colour, top : top + 5, left : left + 5] = 255
    ids, truth = np.zeros((size, 5), np.uint8), np.zeros(size, np.int64)
    code = {name: number for number, name in enumerate(SYMBOLS)}
    for row in range(size):
        one = int(rng.integers(0, 2))
        name, other = ("red", "green") if one == 0 else ("green", "red")
        kinds = (["exists", name], ["not", "exists", name], ["and", "exists", name, "exists", other])
        kind = int(rng.integers(0, 3))
        ids[row, : len(kinds[kind])] = [code[symbol] for symbol in kinds[kind]]
        truth[row] = (there[row, one], not there[row, one], there[row].all())[kind]
    views = {"image": pixels, "meaning": ids, "text": np.ones((size, 3), np.uint8)}
    tensors = {name: torch.from_numpy(view) for name, view in views.items()}
    return Batch(tensors, targets={"true": torch.from_numpy(truth)})


@pytest.mark.slow
def test_it_learns_what_symbols_mean_and_finds_the_meaning_among_texts():
    torch.manual_seed(0)
    model = NeuralModules(WORLD, width=32, trunk=StridedCNN((16, 32)), words=SymbolTrees(16))
    assert model.text == "meaning"
    optimizer, batch, fresh = torch.optim.Adam(model.parameters(), lr=5e-3), scenes(256), scenes(256, seed=1)
    for _ in range(120):
        optimizer.zero_grad()
        model.loss(batch, Progress(0, 1)).total.backward()
        optimizer.step()
    model.eval()
    assert model.loss(fresh, Progress(0, 1)).terms["accuracy.true"] > 0.95


def test_arities_of_texts_and_settings():
    plain = replace(WORLD.modality("meaning"), arities=())
    spec = Spec((WORLD.modality("image"), plain), targets=(SHAPE,))
    with pytest.raises(SpecError, match="modality meaning has no arities: choose another text, or give SymbolTrees"):
        NeuralModules(spec)
    model = NeuralModules(spec, words=SymbolTrees(arities={"both": 2, "not": 1, "exists": 1, "and": 2}))
    assert model.words.arities.tolist() == [0, 0, 0, 0, 0, 2, 1, 1, 0, 2, 0]
    with pytest.raises(SpecError, match="expected symbols of modality meaning, got blue, which it has not"):
        NeuralModules(spec, words=SymbolTrees(arities={"blue": 1}))
    with pytest.raises(ConfigError, match=r"arities\.red: expected at least 0 arguments, got -1"):
        SymbolTrees(arities={"red": -1})
    with pytest.raises(ConfigError, match="words: expected SymbolTrees, which reads trees, got BagOfWords"):
        NeuralModules(WORLD, words=BagOfWords(4))
    with pytest.raises(ConfigError, match="width: expected at least 1, got 0"):
        NeuralModules(WORLD, width=0)
