"""What holds for every net that writes symbol by symbol."""

import math

import pytest
import torch

from molyneux.core import Batch, ConfigError, Modality, Progress, Spec
from molyneux.learn import VAE, Training
from molyneux.learn.encoders.nets import CausalTransformer, Recurrent
from molyneux.learn.likelihoods import Categorical, ViewLikelihood
from molyneux.learn.training.hardware import computes_lstm_in_bf16, use_bf16

WORDS = ("<pad>", "<bos>", "<eos>", "so", "be", "it", "then")
ENDED = Modality("text", "text", (6,), "uint8", WORDS, 0, 1, 2)
OPEN = Modality("text", "text", (5,), "uint8", tuple(" abc"), 0)
SMALL = {"embedding": 5, "width": 7}
NETS = {
    "init": Recurrent(**SMALL),
    "concat": Recurrent(**SMALL, coupling="concat"),
    "init+concat": Recurrent(**SMALL, coupling="init+concat", layers=2),
    "concat-only": Recurrent(**SMALL, coupling="concat-only"),
    "gru": Recurrent(**SMALL, cell="gru"),
    "gru, two layers": Recurrent(**SMALL, cell="gru", coupling="init+concat", layers=2),
    "causal": CausalTransformer(heads=2, feedforward=16, width=8),
}
every_net = pytest.mark.parametrize("net", NETS.values(), ids=NETS)
both = pytest.mark.parametrize("modality", [ENDED, OPEN], ids=["ended", "open"])


def built(net, modality, seed=0):
    """A decoder of codes of 3 numbers, with weights large enough to matter."""
    torch.manual_seed(seed)
    decoder = net.decoder(modality, 3, Categorical()).eval()
    with torch.no_grad():
        for parameter in decoder.parameters():
            parameter.add_(0.5 * torch.randn_like(parameter))
    return decoder


def ids_of(modality, size, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, len(modality.symbols), (size, *modality.shape), generator=generator)


@every_net
@both
def test_a_step_after_the_other_gives_the_forced_logits(net, modality):
    decoder, codes, ids = built(net, modality), torch.randn(8, 3), ids_of(modality, 8)
    with torch.no_grad():
        forced = decoder.forced(codes, ids)
        state, symbols = decoder.begin(codes), torch.full((8,), decoder.first)
        for position in range(modality.shape[0]):
            logits, state = decoder.step(symbols, state)
            torch.testing.assert_close(logits, forced[position], atol=1e-4, rtol=1e-4)
            state = tuple(part.flip(0).flip(0) for part in state)  # rows can be taken apart, as beams do
            symbols = ids[:, position]
        each = forced.log_softmax(-1).gather(-1, ids.t().unsqueeze(-1)).squeeze(-1)
        counted = torch.tensor([[modality.end not in row[:place] for row in ids.tolist()] for place in range(len(each))])
        torch.testing.assert_close(decoder(codes).log_prob(ids), (each * counted).sum(0), atol=1e-4, rtol=1e-4)


@every_net
@both
def test_a_symbol_changes_only_what_comes_after_it(net, modality):
    decoder, codes, ids = built(net, modality), torch.randn(8, 3), ids_of(modality, 8)
    with torch.no_grad():
        before = decoder.forced(codes, ids)
        for position in range(modality.shape[0]):
            changed = ids.clone()
            changed[:, position] = (changed[:, position] + 1) % len(modality.symbols)
            after = decoder.forced(codes, changed)
            torch.testing.assert_close(after[: position + 1], before[: position + 1], atol=1e-5, rtol=1e-4)
            reads = net is not NETS["concat-only"] and position + 1 < len(before)
            assert (after[position + 1 :] - before[position + 1 :]).abs().amax(-1).gt(1e-4).any() == reads


@every_net
def test_the_code_matters_from_the_first_symbol_to_the_last(net):
    decoder, ids = built(net, ENDED), ids_of(ENDED, 8)
    with torch.no_grad():
        first, second = decoder.forced(torch.randn(8, 3), ids), decoder.forced(torch.randn(8, 3), ids)
    assert (first - second).abs().amax((1, 2)).min() > 1e-4


@every_net
def test_stacked_codes_are_decoded_in_one_call(net):
    decoder, codes, ids = built(net, ENDED), torch.randn(4, 2, 3), ids_of(ENDED, 2)
    calls = []
    decoder.last.register_forward_pre_hook(lambda *_: calls.append(1))
    together = decoder(codes).log_prob(ids)
    assert len(calls) == 1
    assert together.shape == (4, 2)
    alone = torch.stack([decoder(code).log_prob(ids) for code in codes])
    torch.testing.assert_close(together, alone, atol=1e-4, rtol=1e-4)
    assert decoder(codes).sample((3,)).shape == (3, 4, 2, 6)


@every_net
@both
def test_texts_are_decoded_as_the_settings_say(net, modality):
    decoder, codes = built(net, modality), torch.randn(30, 3)
    texts = decoder(codes)
    assert torch.equal(texts.view, texts.greedy())
    assert torch.equal(texts.best(1), texts.greedy())
    wider = texts.log_prob(texts.best(8)) - texts.log_prob(texts.greedy())
    assert wider.mean() > -1e-3
    decoder.beams = 8
    assert torch.equal(decoder(codes).view, texts.best(8))


@pytest.mark.parametrize("net", [Recurrent, CausalTransformer])
def test_beams_are_a_setting(net):
    assert net().decoder(ENDED, 3, Categorical()).beams is None
    assert net(decoding="beam", beams=3).decoder(ENDED, 3, Categorical()).beams == 3


@pytest.mark.parametrize("net", [Recurrent, CausalTransformer])
def test_words_are_dropped_in_training_only(net):
    settings = {} if net is Recurrent else {"dropout": 0.0}
    decoder, codes, ids = built(net(word_dropout=0.5, **settings), ENDED), torch.randn(64, 3), ids_of(ENDED, 64)
    ids[ids == 2] = 3
    whole = decoder.forced(codes, ids)
    torch.testing.assert_close(decoder.forced(codes, ids), whole)
    decoder.train()
    dropped = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)  # dropout takes no generator
        dropped.append(decoder.forced(codes, ids))
    torch.testing.assert_close(dropped[0], dropped[1])
    assert (dropped[0] - dropped[2]).abs().max() > 1e-3
    torch.testing.assert_close(dropped[0][0], whole[0], atol=1e-5, rtol=1e-4)  # the start is never dropped
    touched = (dropped[0][1] - whole[1]).abs().amax(-1) > 1e-5
    assert 0.3 < touched.float().mean() < 0.7
    assert decoder.table.weight.shape[0] == len(WORDS) + 1
    assert net().decoder(ENDED, 3, Categorical()).table.weight.shape[0] == len(WORDS)


@every_net
def test_other_likelihoods_are_refused(net):
    class Strange(ViewLikelihood):
        kinds = frozenset({"text"})

        def head(self, modality):
            raise NotImplementedError

    with pytest.raises(ConfigError, match=r"likelihoods\.text: .* Categorical likelihood, got Strange"):
        net.pair(ENDED, outputs=4, inputs=2, likelihood=Strange())


@pytest.mark.kernels
@every_net
def test_half_precision_elsewhere_leaves_the_loss_in_full(net):
    if getattr(net, "cell", None) == "lstm" and not computes_lstm_in_bf16():
        assert not use_bf16(Training(precision="bf16", device="cpu"), VAE(Spec((ENDED,)), latent_dim=3, nets={"text": net}))
        return
    torch.manual_seed(0)
    model = VAE(Spec((ENDED,)), latent_dim=3, nets={"text": net}).eval()
    batch = Batch({"text": ids_of(ENDED, 20).to(torch.uint8)})
    full = model.loss(batch, Progress(0, 1), torch.Generator().manual_seed(1)).total
    with torch.autocast("cpu", torch.bfloat16):
        half = model.loss(batch, Progress(0, 1), torch.Generator().manual_seed(1)).total
        view = model.decode(model.prior(4).rsample(1))["text"].view
    assert half.dtype == torch.float32
    assert half.item() == pytest.approx(full.item(), rel=0.02)
    assert view.shape == (1, 4, 6)


@pytest.mark.parametrize("name", ["init", "gru", "causal"])
def test_a_decoder_learns_the_distribution_of_its_texts(name):
    torch.manual_seed(0)
    language = torch.tensor([[a, b, 5, 2, 0, 0] if a == 3 else [a, b, 2, 0, 0, 0] for a in (3, 4) for b in (3, 4, 5, 6)])
    decoder = NETS[name].decoder(ENDED, 3, Categorical())
    optimizer = torch.optim.Adam(decoder.parameters(), lr=0.03)
    for _ in range(250):
        optimizer.zero_grad()
        cost = -decoder(torch.zeros(8, 3)).log_prob(language).mean()
        cost.backward()
        optimizer.step()
    texts = decoder.eval()(torch.zeros(1, 3))
    assert -decoder(torch.zeros(8, 3)).log_prob(language).mean().item() == pytest.approx(math.log(8), abs=0.05)
    drawn = {tuple(text) for text in texts.sample((200,), torch.Generator().manual_seed(0))[:, 0].tolist()}
    assert len({tuple(text) for text in language.tolist()} & drawn) == 8
