"""Concept modules against a recursive execution of each tree with sums over regions written out; what the two streams can see."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.learn.predictors.test_neural_modules import ARITIES, PICTURE, SYMBOLS, TEXT, argument_places, random_texts

from molyneux.core import ConfigError, Modality, SpecError
from molyneux.learn.encoders import BagOfWords, OutlinesAndColours, StridedCNN, SymbolTrees
from molyneux.learn.predictors import ConceptModules
from molyneux.learn.predictors.concept_modules import GATE, NOWHERE


def log_not(logarithm):
    return math.log1p(-min(math.exp(logarithm), 1 - 1e-5))


def log_sigmoid(logit):
    return -math.log1p(math.exp(-logit)) if logit > -30 else logit


def concept(model, symbol, region):
    """The logarithm of the probability of a concept in one region: a mixture over streams."""
    part, start, gates = model.concepts, 0, (GATE * model.concepts.gate(symbol)).softmax(-1)
    chance = 0.0
    for number, width in enumerate(part.streams):
        logit = part.queries[number](symbol) @ region[start : start + width] + part.biases(symbol)[number]
        chance += float(gates[number] * logit.sigmoid())
        start += width
    return math.log(min(max(chance, 1e-6), 1 - 1e-6))


def related(model, symbol, argument, numbers):
    """The map of a symbol with one argument: relation, complement and superlative, pair by pair of regions."""
    part = model.relations
    a, products, bias = part.differences(symbol), part.products(symbol), part.bias(symbol)[0]
    weights, found = (GATE * part.gate(symbol)).softmax(-1).tolist(), []

    def to(one, other):
        return float(4 * a @ (numbers[one] - numbers[other]) + (numbers[one] * products) @ numbers[other] + bias)

    for one in range(len(argument)):
        relation = max(argument[other] + log_sigmoid(to(one, other)) for other in range(len(argument)))
        parts = relation, log_not(argument[one]), argument[one] + log_not(relation)
        found.append(min(math.log(sum(w * math.exp(p) for w, p in zip(weights, parts, strict=True))), -1e-6))
    return found


def value(model, regions, ids, position):
    """The map and the vector of the tree of a symbol, written out for one picture."""
    symbol, numbers = model.words.table.weight[ids[position]], model.relations.compared(regions.unsqueeze(0))[0]
    arguments = [value(model, regions, ids, place) for place in argument_places(ids, position)[0]]
    maps = [one for one, _ in arguments]
    if not maps:
        own = [concept(model, symbol, region) for region in regions]
        maps = [own]
    elif len(maps) == 1:
        own = related(model, symbol, maps[0], numbers)
    else:
        own = [sum(column) for column in zip(*maps, strict=True)]
    most, nothing = model.most, [NOWHERE] * len(regions)
    known = maps + [nothing] * (most - len(maps))
    pairs = [(first, second) for first in range(most) for second in range(first + 1, most)]
    known += [[max(a + b, NOWHERE) for a, b in zip(known[first], known[second], strict=True)] for first, second in pairs]
    weights = model.measure.weights(regions)
    strongest = [min(max(*one, -8.0), -1e-4) for one in known]
    counts = [sum(math.exp(p) * float(w) for p, w in zip(one, weights, strict=True)) for one in known]
    vectors = [vector for _, vector in arguments] + [torch.zeros(model.answers.features)] * (most - len(arguments))
    told = [(top - log_not(top)) / 2 for top in strongest] + counts + [math.log(count + 0.1) for count in counts]
    scale, shift = model.measure.of_symbol(symbol).chunk(2)
    hidden = shift + model.measure.entry(torch.cat([torch.tensor(told), *vectors])) * (1 + scale)
    return own, hidden + model.measure.last(hidden.relu())


@pytest.mark.parametrize("trunk", [OutlinesAndColours((4, 4, 6), colours=5), StridedCNN((8, 8, 8))], ids=["two", "one"])
def test_it_equals_a_recursive_execution_of_each_tree(spec_of, batch_of, build, trunk):
    spec = spec_of(longest=9)
    spec = replace(spec, modalities=(replace(spec.modalities[0], symbols=SYMBOLS, arities=ARITIES), spec.modalities[1]))
    model = build(ConceptModules, spec, width=6, compared=3, trunk=trunk, words=SymbolTrees(5))
    generator = torch.Generator().manual_seed(3)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3, generator=generator)
    batch = batch_of(spec, 24)
    ids, lengths = random_texts(24)
    batch = replace(batch, views={**batch.views, TEXT: torch.from_numpy(ids.astype(np.uint8))})
    with torch.no_grad():
        regions, found = model.picture(batch.views[PICTURE].float() / 255).parts, model.features(batch)
        for row, length in enumerate(lengths):
            expected = value(model, regions[row], ids[row, :length], 0)[1] if length else torch.zeros(6)
            torch.testing.assert_close(found[row], expected, rtol=1e-4, atol=1e-4)


def test_without_gates_a_concept_is_linear_in_all_streams(spec_of, batch_of, build):
    model, batch = (build(ConceptModules, spec_of(), gated=False), batch_of(spec_of(), 3))
    symbols, regions = model.words.table.weight[:4].expand(3, -1, -1), model.picture(batch.views[PICTURE].float() / 255).parts
    part, (first, _) = model.concepts, model.concepts.streams
    logits = sum(
        query(symbols) @ half.transpose(1, 2) for query, half in zip(part.queries, regions.split(part.streams, -1), strict=True)
    )
    expected = (logits + part.biases(symbols).sum(-1, keepdim=True)).sigmoid().log()
    torch.testing.assert_close(part(regions, symbols), expected, rtol=1e-4, atol=1e-5)
    assert first + 24 == regions.shape[2]


def picture(colour, outline, size=32):
    """One picture, (1, 3, size, size), of a figure of one colour on black, which covers all of a region of 8x8 pixels or none."""
    view = torch.zeros(1, 3, size, size)
    places = {"square": [(1, 1), (1, 2), (2, 1), (2, 2)], "bar": [(1, 0), (1, 1), (1, 2), (1, 3)]}[outline]
    for row, column in places:
        view[0, :, 8 * row : 8 * row + 8, 8 * column : 8 * column + 8] = torch.tensor(colour)[:, None, None]
    return view


def test_one_stream_cannot_see_colours_and_the_other_cannot_see_outlines():
    torch.manual_seed(0)
    encoder = OutlinesAndColours((8, 8, 8)).build(Modality("image", "image", (3, 32, 32), "uint8")).eval()
    for layer in encoder.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            torch.nn.init.normal_(layer.bias)
    first = encoder.streams[0]
    red, white, bar = (
        encoder(picture(*one)).parts[0] for one in (((1.0, 0, 0), "square"), ((1.0,) * 3, "square"), ((1.0, 0, 0), "bar"))
    )
    assert torch.equal(red[:, :first], white[:, :first])
    assert not torch.allclose(red[:, first:], white[:, first:])
    assert not torch.allclose(red[:, :first], bar[:, :first])
    there, elsewhere = red[5, first:], red[0, first:]
    torch.testing.assert_close(bar[[4, 5, 6, 7], first:], there.expand(4, -1))
    torch.testing.assert_close(bar[0, first:], elsewhere)


def test_settings_that_cannot_be_used(spec_of):
    with pytest.raises(ConfigError, match="words: expected SymbolTrees, which reads trees, got BagOfWords"):
        ConceptModules(spec_of(), words=BagOfWords(4))
    with pytest.raises(ConfigError) as caught:
        ConceptModules(spec_of(), width=0, compared=0)
    assert caught.value.problems == ("width: expected at least 1, got 0", "compared: expected at least 1, got 0")
    with pytest.raises(ConfigError, match=r"channels: expected at least two numbers of channels, at least 1 each, got \(4,\)"):
        OutlinesAndColours((4,))
    with pytest.raises(SpecError, match="OutlinesAndColours encodes image, but modality caption 2 is text"):
        OutlinesAndColours().build(spec_of().modalities[0])
