"""MCTN: one path in training and at test, errors and teacher forcing by hand, and the published number of weights."""

from dataclasses import replace

import pytest
import torch

from molyneux.core import Batch, ConfigError, Modality, Progress, Spec, Target
from molyneux.learn import MCTN
from molyneux.learn.predictors import Head
from molyneux.learn.predictors.structures.cyclic_translation import Translator

START = Progress(0, 10)
WORDS, FACE, VOICE = Modality("words", "series", (7, 3)), Modality("face", "series", (5, 4)), Modality("voice", "audio", (2, 6))


@pytest.fixture
def build():
    def make(*modalities, **settings):
        torch.manual_seed(0)
        return MCTN(Spec(modalities, targets=(Target("y", "number"),)), **{"hidden": 6, "head": Head(7), **settings})

    return make


def samples(spec, size=9):
    random = torch.Generator().manual_seed(2)
    views = {item.name: torch.randn(size, *item.shape, generator=random) for item in spec.modalities}
    lengths = {item.name: torch.arange(size) % item.max_length + 1 for item in spec.modalities}
    return Batch(views, lengths=lengths, targets={"y": torch.randn(size, generator=random)})


def loss_of(model, batch):
    return model.loss(batch, START, torch.Generator().manual_seed(0))


def test_the_published_number_of_weights():
    views = tuple(Modality(name, "series", (20, 300)) for name in ("text", "vision", "audio"))
    with torch.device("meta"):
        model = MCTN(Spec(views, targets=(Target("y", "number"),)))
    assert sum(parameter.numel() for name, parameter in model.named_parameters() if not name.endswith("log_scale")) == 198_809


@pytest.mark.parametrize("views", [(WORDS, FACE), (WORDS, FACE, VOICE)], ids=len)
def test_training_and_test_take_one_path_and_it_reads_the_source_alone(build, views):
    model = build(*views)
    batch = samples(model.spec)
    training = model.train().features(batch)
    assert torch.equal(model.eval().features(batch), training)
    assert torch.equal(
        model.features(Batch({"words": batch.views["words"]}, lengths={"words": batch.lengths["words"]})), training
    )
    others = {name: view if name == "words" else torch.randn_like(view) for name, view in batch.views.items()}
    losses = [loss_of(model.train(), one) for one in (batch, replace(batch, views=others))]
    assert torch.equal(losses[0].terms["nll.y"], losses[1].terms["nll.y"])
    assert losses[0].terms["translation.face"] != losses[1].terms["translation.face"]
    model.zero_grad()
    losses[0].total.backward()
    assert all(parameter.grad.abs().max() > 0 for parameter in model.parameters())
    assert torch.equal(model.eval().loss(batch, START).total, losses[0].terms["nll.y"])


def test_the_loss_weighs_errors_of_what_is_there(build):
    model = build(WORDS, FACE, VOICE, translation=0.2, cycle=0.3, second=0.5, teaching=0.0).train()
    batch = replace(samples(model.spec), present={"face": torch.arange(9) < 4})
    loss = loss_of(model, batch)
    terms = loss.terms
    weighed = 0.2 * terms["translation.face"] + 0.3 * terms["translation.words"] + 0.5 * terms["translation.voice"]
    torch.testing.assert_close(loss.total, terms["nll.y"] + weighed)
    states, last = model.there_and_back.encode(batch.views["words"], batch.lengths["words"])
    made = model.there_and_back.decode(states, batch.lengths["words"], last, steps=5)
    there = (torch.arange(5) < batch.lengths["face"].unsqueeze(1))[:4]
    errors = (made[:4] - batch.views["face"][:4]).square()[there]  # the face is the wider: nothing is padded
    torch.testing.assert_close(terms["translation.face"], errors.mean())
    back, end = model.there_and_back.encode(made, torch.full((9,), 5))
    again = model.there_and_back.decode(back, torch.full((9,), 5), end, steps=7)
    words = (torch.arange(7) < batch.lengths["words"].unsqueeze(1)).unsqueeze(2)
    errors = (again[..., :3] - batch.views["words"]).square() * words
    torch.testing.assert_close(terms["translation.words"], errors.sum() / words.sum() / 3)


def test_a_decoder_attends_to_the_steps_that_there_are_and_reads_the_truth_where_it_is_taught():
    torch.manual_seed(0)
    translator = Translator(4, 3, 2, 5)
    values, truth = torch.randn(2, 4, 3), torch.randn(2, 3, 2)
    counts, taught = torch.tensor([4, 2]), torch.tensor([[True, False, True], [False, True, False]])
    states, last = translator.encode(values, counts)
    made = translator.decode(states, counts, last, steps=3, taught=(truth, taught))
    for row, count in enumerate(counts.tolist()):
        state, output = last[row], torch.zeros(2)
        for step in range(3):
            scores = [
                translator.score @ torch.tanh(translator.energy(torch.cat([state, states[row, part]]))) for part in range(count)
            ]
            context = torch.stack(scores).softmax(0) @ states[row, :count]
            state = translator.cell(torch.cat([output, context])[None], state[None])[0]
            output = translator.last(torch.cat([state, context]))
            torch.testing.assert_close(made[row, step], output, rtol=1e-4, atol=1e-6)
            output = truth[row, step] if taught[row, step] else output
    alone = translator.encode(values[1:, :2], torch.tensor([2]))
    torch.testing.assert_close(states[1, :2], alone[0][0])
    torch.testing.assert_close(last[1], alone[1][0])


@pytest.mark.slow
def test_it_learns_to_translate_and_to_predict_from_the_source(build, for_some_seed):
    """The face repeats what the words say, and the number is their mean."""
    for_some_seed(lambda seed: learns_to_translate(build, seed))


def learns_to_translate(build, seed):
    torch.manual_seed(seed)
    model = build(WORDS, FACE, hidden=16, translation=1.0, cycle=1.0).train()
    words = torch.randn(64, 1, 3).expand(64, 7, 3) + 0.1 * torch.randn(64, 7, 3)
    face = words[:, :5, :1].expand(64, 5, 4)
    batch = Batch({"words": words.contiguous(), "face": face.contiguous()}, targets={"y": words.mean((1, 2))})
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    for step in range(60):
        optimizer.zero_grad()
        loss = model.loss(batch, START, torch.Generator().manual_seed(step))
        loss.total.backward()
        optimizer.step()
    found = model.eval().loss(batch, START).terms
    assert found["translation.face"] < 0.4 * face.var()
    assert (model.predict(batch)["y"].mean - batch.targets["y"]).square().mean() < 0.3 * batch.targets["y"].var()


def test_names_that_cannot_be_translated_are_refused_together(build):
    table = Modality("table", "tabular", (4,))
    with pytest.raises(ConfigError) as error:
        build(WORDS, FACE, table, source="word", targets=("table",), teaching=2.0)
    sentences = "\n".join(error.value.problems)
    assert "source: expected a sequence of numbers, got 'word'; did you mean \"words\"" in sentences
    assert "targets: expected a sequence of numbers, got 'table'" in sentences
    assert "teaching: expected a share in 0..1, got 2.0" in sentences
    with pytest.raises(ConfigError, match=r"cycle: expected a number of at least 0, got -1\.0"):
        build(WORDS, FACE, cycle=-1.0)
    with pytest.raises(ConfigError, match="targets: expected one or two sequences beside the source words, got none"):
        build(WORDS, table)
    assert build(FACE, WORDS, table, source="words").targets == ("face",)
