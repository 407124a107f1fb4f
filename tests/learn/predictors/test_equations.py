"""The joinings against the papers' equations, written out sample by sample, pair by pair and step by step."""

import math

import numpy as np
import pytest
import torch

from molyneux.core import Batch
from molyneux.learn.encoders import BagOfWords, Encoding, RecurrentWords
from molyneux.learn.encoders.encoding import attention_weights
from molyneux.learn.encoders.nets.recurrent import RecurrentLayers
from molyneux.learn.predictors import (
    MAC,
    Attention,
    CoAttention,
    FiLM,
    JointTransformer,
    PictureInLSTM,
    RelationNetwork,
    StackedAttention,
)
from molyneux.learn.predictors.compact_bilinear import CountSketch, circular_convolution

TEXT, PICTURE = "caption 2", "scene.1"


def softmax(scores):
    powers = [math.exp(score.item()) for score in scores]
    return [power / sum(powers) for power in powers]


def encodings(model, batch):
    """What the two encoders of a model give, and the numbers of words."""
    pixels, ids = batch.views[PICTURE].float() / 255, batch.views[TEXT].long()
    return model.picture(pixels), model.words(ids), (ids != 0).sum(1).tolist()


@pytest.fixture
def case(build, spec_of, batch_of):
    """Builds a model, with random weights everywhere, and samples for it."""

    def make(kind, **settings):
        model = build(kind, spec_of(), **settings)
        generator = torch.Generator().manual_seed(1)
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.2, generator=generator)
        return model, batch_of(model.spec, 8)

    return make


def test_a_count_sketch_of_an_outer_product_is_the_convolution_of_the_sketches():
    """Pham & Pagh (2013): the sketch of the outer product has the sums of places and the products of signs."""
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=11), rng.normal(size=7)
    one, other = CountSketch(11, 16, 0, "one"), CountSketch(7, 16, 0, "other")
    expected = np.zeros(16)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            place = (int(one.places[i]) + int(other.places[j])) % 16
            expected[place] += float(one.signs[i] * other.signs[j]) * a * b
    sketches = [part(torch.from_numpy(vector)[None]) for part, vector in ((one, first), (other, second))]
    found = circular_convolution(*sketches)[0]
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-5)


def test_count_sketches_keep_scalar_products():
    """In the mean over hash functions the product of two sketches is that of the vectors; Charikar et al. (2002)."""
    rng = np.random.default_rng(1)
    pair = torch.from_numpy(rng.normal(size=(2, 50)) + 0.5).float()
    found = []
    for seed in range(400):
        first, second = CountSketch(50, 32, seed, "x")(pair)
        found.append(float(first @ second))
    error = np.std(found) / len(found) ** 0.5
    assert abs(np.mean(found) - float(pair[0] @ pair[1])) < 4 * error


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_a_text_is_read_alone_up_to_its_length_and_backwards_from_there(cell, case):
    from molyneux.learn.predictors import TextOnly

    model, batch = case(TextOnly, words=RecurrentWords(cell, 5, 6, bidirectional=True))
    encoder, ids = model.encoders[TEXT], batch.views[TEXT].long()
    found = encoder(ids)
    for row, text in enumerate(ids):
        text = text[text != 0]
        vectors = encoder.table(text)[:, None]
        if not len(text):
            assert found.vector[row].abs().max() == 0
            assert found.parts[row].abs().max() == 0
            continue
        there = encoder.directions[0](vectors)[0][:, 0]
        back = encoder.directions[1](vectors.flip(0))[0][:, 0].flip(0)
        torch.testing.assert_close(found.parts[row, : len(text)], torch.cat([there, back], -1))
        torch.testing.assert_close(found.vector[row], torch.cat([there[-1], back[0]]))
        assert found.mask[row].sum() == len(text)


def test_a_bag_of_words_is_the_mean_over_the_true_length(case):
    from molyneux.learn.predictors import TextOnly

    model, batch = case(TextOnly, words=BagOfWords(4))
    encoder, ids = model.encoders[TEXT], batch.views[TEXT].long()
    expected = [encoder.table(text[text != 0]).sum(0) / max(1, int((text != 0).sum())) for text in ids]
    torch.testing.assert_close(encoder(ids).vector, torch.stack(expected))


def test_the_picture_stands_beside_every_word_that_the_lstm_reads(case):
    model, batch = case(PictureInLSTM, width=6, words=BagOfWords(4))
    picture, text, counts = encodings(model, batch)
    beside = torch.cat([picture.vector[:, None].expand(-1, 7, -1), text.parts], -1)
    assert isinstance(model.recurrent, RecurrentLayers)
    states = model.recurrent(beside.transpose(0, 1))[0].transpose(0, 1) * text.mask.unsqueeze(-1)
    found = model.states(picture.vector, text.parts, torch.tensor(counts))
    torch.testing.assert_close(found, states, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(model.features(batch)[4], states[4, counts[4] - 1], rtol=1e-4, atol=1e-5)
    weight = torch.randn(states.shape, generator=torch.Generator().manual_seed(2))
    weights = list(model.parameters())
    slopes = [torch.autograd.grad((one * weight).sum(), weights, allow_unused=True, retain_graph=True) for one in (found, states)]
    assert sum(slope is not None for slope in slopes[0]) == 10  # all but the head's
    torch.testing.assert_close(slopes[0], slopes[1], rtol=1e-3, atol=1e-5)


def co_attended(level, regions, words):
    """Equations 3 to 5 or 6 for one sample, (N, P) regions and (L, P) words."""
    if hasattr(level, "affinity"):
        affinity = torch.tanh(words @ level.affinity.weight.T @ regions.T)
        in_regions, in_words = regions @ level.region.weight.T, words @ level.word.weight.T
        hidden = torch.tanh(in_regions + affinity.T @ in_words), torch.tanh(in_words + affinity @ in_regions)
        over_regions, over_words = level.of_regions.weight[0], level.of_words.weight[0]
        return torch.softmax(hidden[0] @ over_regions, 0) @ regions, torch.softmax(hidden[1] @ over_words, 0) @ words

    def attention(part, seen, guide):
        hidden = seen @ part.part.weight.T
        if guide is not None:
            hidden = hidden + (hidden if part.guide is None else guide @ part.guide.weight.T)
        return torch.softmax(torch.tanh(hidden) @ part.score.weight[0], 0) @ seen

    summary = attention(level.summary, words, None)
    seen = attention(level.regions, regions, summary)
    return seen, attention(level.words, words, seen)


@pytest.mark.parametrize("settings", [{}, {"order": "alternating"}, {"order": "alternating", "guided": False}])
def test_hierarchical_co_attention(settings, case):
    model, batch = case(CoAttention, **settings)
    picture, text, counts = encodings(model, batch)
    found = model.features(batch)
    for row in (1, 3, 7):
        regions, words = picture.parts[row], text.parts[row, : counts[row]]
        around = torch.cat([torch.zeros(1, 32), words, torch.zeros(1, 32)])
        uni, bi, tri = (gram.weight for gram in model.phrases.grams)
        places = range(1, len(words) + 1)
        grams = [
            torch.stack([sum(gram[:, :, j] @ around[t + first + j] for j in range(gram.shape[2])) for t in places])
            for gram, first in ((uni, 0), (bi, 0), (tri, -1))
        ]
        phrases = torch.tanh(torch.stack(grams).amax(0))
        sentence = model.sentence(phrases[:, None])[0][:, 0]
        hidden = torch.zeros(0)
        for level, encode, seen in zip(model.levels, model.encodes, (words, phrases, sentence), strict=True):
            hidden = torch.tanh(encode.weight @ torch.cat([sum(co_attended(level, regions, seen)), hidden]))
        torch.testing.assert_close(found[row], hidden, rtol=1e-4, atol=1e-5)


def test_stacked_attention(case):
    model, batch = case(StackedAttention)
    picture, text, _ = encodings(model, batch)
    regions = torch.tanh(model.regions(picture.parts[3]))
    query = model.question(text.vector[3])
    for hop in model.hops:
        scores = [hop.score.weight[0] @ torch.tanh(hop.region.weight @ region + hop.query(query)) for region in regions]
        query = query + sum(weight * region for weight, region in zip(softmax(scores), regions, strict=True))
    torch.testing.assert_close(model.features(batch)[3], query, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("score", ["dot", "mlp"])
def test_attention(score, case):
    model, batch = case(Attention, score=score)
    picture, text, _ = encodings(model, batch)
    query, keys = model.query(text.vector[3]), model.key(picture.parts[3])
    scores = [query @ key / 128**0.5 if score == "dot" else model.scorer(key + query)[0] for key in keys]
    seen = sum(weight * value for weight, value in zip(softmax(scores), model.value(picture.parts[3]), strict=True))
    torch.testing.assert_close(model.features(batch)[3], torch.cat([seen, query]), rtol=1e-4, atol=1e-5)


def test_a_relation_network_looks_at_every_pair(case):
    model, batch = case(RelationNetwork)
    picture, text, _ = encodings(model, batch)
    regions = picture.parts[3]
    assert len(regions) > 1
    first = torch.cat([model.first.weight, model.second.weight, model.question.weight], 1)  # one layer of all three side by side
    pairs = [torch.cat([one, other, text.vector[3]]) for one in regions for other in regions]
    expected = sum(model.relation(first @ pair + model.question.bias) for pair in pairs) / len(pairs)
    torch.testing.assert_close(model.features(batch)[3], expected, rtol=1e-4, atol=1e-5)


def test_film(case):
    model, batch = case(FiLM, blocks=2, width=8, last=5)
    picture, text, _ = encodings(model, batch)
    rows, columns = model.picture.grid
    y, x = torch.meshgrid((torch.arange(rows) * 2 + 1) / rows - 1, (torch.arange(columns) * 2 + 1) / columns - 1, indexing="ij")
    place = torch.stack([x, y])

    def convolved(layer, maps):
        weight = torch.cat([layer.of_maps.weight, layer.of_coordinates.weight], 1)
        both = torch.cat([maps, place])[None]
        return torch.nn.functional.conv2d(both, weight, layer.of_maps.bias, padding=weight.shape[-1] // 2)[0].relu()

    maps = convolved(model.entry, picture.parts[3].T.reshape(-1, rows, columns))
    gammas, betas = model.modulation(text.vector[3]).reshape(2, 2, 8).unbind(1)
    for block, gamma, beta in zip(model.blocks, gammas, betas, strict=True):
        entry = convolved(block.first, maps)
        changed = torch.nn.functional.conv2d(entry[None], block.second.weight, padding=1)[0]
        changed = changed / (1 + block.norm.eps) ** 0.5  # running mean 0, running variance 1
        maps = entry + ((1 + gamma)[:, None, None] * changed + beta[:, None, None]).relu()
    torch.testing.assert_close(model.features(batch)[3], convolved(model.last, maps).amax((1, 2)), rtol=1e-4, atol=1e-4)


def linear(layer, *parts):
    """A linear layer of parts side by side."""
    return layer.weight @ torch.cat(parts) + (0 if layer.bias is None else layer.bias)


@pytest.mark.parametrize("extras", [False, True])
def test_mac(extras, case):
    """Hudson & Manning (2018), section 3.2, for one sample."""
    model, batch = case(MAC, cells=3, width=8, self_attention=extras, gate=extras)
    picture, text, counts = encodings(model, batch)
    knowledge = torch.nn.functional.elu(model.knowledge[0](picture.parts[3]))
    words, question = model.word(text.parts[3, : counts[3]]), model.question(text.vector[3])
    controls, memories = [model.first_control], [model.first_memory]
    unit, read, write = model.control, model.read, model.write
    for view in model.views:
        joint = linear(unit.joint, controls[-1], view(question))
        chosen = softmax([unit.score.weight[0] @ (joint * word) for word in words])
        controls.append(sum(weight * word for weight, word in zip(chosen, words, strict=True)))
        both = torch.cat([read.related.weight, read.alone.weight], 1)
        scores = []
        for region in knowledge:
            related = linear(read.memory, memories[-1]) * linear(read.region, region)
            fact = both @ torch.cat([related, region]) + read.related.bias
            scores.append(read.score.weight[0] @ (controls[-1] * fact))
        retrieved = sum(weight * region for weight, region in zip(softmax(scores), knowledge, strict=True))
        memory = linear(write.joint, retrieved, memories[-1])
        if extras:
            past = softmax([write.score.weight[0] @ (controls[-1] * control) for control in controls[:-1]])
            summary = sum(weight * earlier for weight, earlier in zip(past, memories, strict=True))
            memory = linear(write.earlier, summary) + linear(write.own, memory)
            keep = torch.sigmoid(linear(write.gate, controls[-1]))
            memory = keep * memories[-1] + (1 - keep) * memory
        memories.append(memory)
    torch.testing.assert_close(model.features(batch)[3], torch.cat([memories[-1], question]), rtol=1e-4, atol=1e-5)


def test_the_layers_of_the_transformer_are_those_of_torch(case):
    model, batch = case(JointTransformer, layers=1)
    own = model.layers[0]
    theirs = torch.nn.TransformerEncoderLayer(64, 4, 128, 0.0, "gelu", batch_first=True, norm_first=True).eval()
    pairs = {
        "self_attn.in_proj_": own.project,
        "self_attn.out_proj.": own.combine,
        "linear1.": own.inner[0],
        "linear2.": own.inner[2],
        "norm1.": own.before,
        "norm2.": own.after,
    }
    theirs.load_state_dict(
        {f"{name}{part}": getattr(layer, part) for name, layer in pairs.items() for part in ("weight", "bias")}
    )
    tokens, mask = torch.randn(3, 9, 64), torch.arange(9) < torch.tensor([[9], [4], [1]])
    away = torch.zeros(3, 1, 1, 9).masked_fill(~mask[:, None, None], -torch.inf)
    expected = theirs(tokens, src_key_padding_mask=~mask)
    torch.testing.assert_close(own(tokens, away)[mask], expected[mask], rtol=1e-4, atol=1e-5)
    assert model.features(batch).shape == (8, 64)


def test_attention_to_nothing_is_nothing():
    scores = torch.randn(3, 4, requires_grad=True)
    mask = torch.tensor([[True] * 4, [True, False, False, True], [False] * 4])
    weights = attention_weights(scores, mask)
    torch.testing.assert_close(weights.sum(1), torch.tensor([1.0, 1.0, 0.0]))
    assert (weights[~mask] == 0).all()
    torch.testing.assert_close(weights[1, [0, 3]], scores[1, [0, 3]].softmax(0))
    (weights * torch.randn(3, 4)).sum().backward()
    assert scores.grad.isfinite().all()


def test_an_encoding_of_some_samples_stands_at_their_places():
    part = Encoding(torch.ones(2, 3), torch.ones(2, 4, 5), torch.ones(2, 4, dtype=torch.bool))
    blank = Encoding(torch.zeros(4, 3), torch.zeros(4, 4, 5), torch.zeros(4, 4, dtype=torch.bool))
    rows = torch.tensor([False, True, False, True])
    found = part.scattered(rows, blank)
    assert torch.equal(found.vector.bool().all(1), rows)
    assert torch.equal(found.parts.bool().all(2).all(1), rows)
    assert torch.equal(found.mask.all(1), rows)


def test_batches_may_lack_a_modality_that_is_not_read(case):
    from molyneux.learn.predictors import PictureOnly, TextOnly

    for kind, name in ((TextOnly, TEXT), (PictureOnly, PICTURE)):
        model, batch = case(kind)
        only = Batch({name: batch.views[name]})
        torch.testing.assert_close(model.features(only), model.features(batch))
