"""A batch of nothing: every text net reads and writes no texts, as it reads and writes some."""

import pytest
import torch

from molyneux.core import Batch, Codes, Modality, Spec
from molyneux.learn import VAE
from molyneux.learn.encoders.nets import Averaging, CausalTransformer, CharacterTransformer, Dense, Recurrent, Slots

WORDS = ("<pad>", "<bos>", "<eos>", "so", "be", "it", "then")
ENDED = Modality("text", "text", (6,), "uint8", WORDS, 0, 1, 2)
OPEN = Modality("text", "text", (5,), "uint8", tuple(" abc"), 0)
NETS = {
    "dense": Dense(),
    "lstm": Recurrent(),
    "gru": Recurrent(cell="gru", layers=2, coupling="init+concat"),
    "concat-only": Recurrent(coupling="concat-only"),
    "causal": CausalTransformer(),
    "character": CharacterTransformer(layers=1),
    "averaging": Averaging(dropout=0.2),
    "slots": Slots(slots=4),
    "slots by position": Slots(slots=4, role="position", assignment="gumbel", features=0),
}
every_net = pytest.mark.parametrize("net", NETS.values(), ids=NETS)
both = pytest.mark.parametrize("modality", [ENDED, OPEN], ids=["ended", "open"])


@pytest.fixture(params=[False, True], ids=["evaluation", "training"])
def build(request):
    def make(net, modality):
        torch.manual_seed(0)
        return VAE(Spec((modality,)), latent_dim=4, nets={"text": net}).train(request.param)

    return make


@every_net
@both
def test_no_texts_are_read(net, modality, build):
    model, nothing = build(net, modality), torch.zeros(0, *modality.shape, dtype=torch.uint8)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert model.encode(Batch({"text": nothing})).mean.shared.shape == (0, 4)
    assert model.log_likelihood(Batch({"text": nothing}), 3).shape == (0,)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


@every_net
@both
def test_no_texts_are_written(net, modality, build):
    model, length = build(net, modality), modality.shape[0]
    texts = model.decode(Codes(torch.zeros(0, 4)))["text"]
    written = [texts.mode, texts.view, texts.sample()]
    written += [texts.greedy(), texts.best(3)] if hasattr(texts, "best") else []
    for ids in written:
        assert ids.shape == (0, length)
        assert ids.dtype == torch.int64
    assert texts.sample((5,)).shape == (5, 0, length)
    assert texts.log_prob(torch.zeros(0, length, dtype=torch.long)).shape == (0,)
    stacked = model.decode(Codes(torch.zeros(3, 0, 4)))["text"]
    assert stacked.log_prob(torch.zeros(0, length, dtype=torch.long)).shape == (3, 0)
    assert stacked.sample((5,)).shape == (5, 3, 0, length)
    assert model.decode(Codes(torch.zeros(2, 4)))["text"].sample((0,)).shape == (0, 2, length)
