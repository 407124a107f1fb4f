import pytest
import torch

from molyneux.core import ConfigError, Modality, Spec, SpecError
from molyneux.learn import VAE
from molyneux.learn.likelihoods import default_likelihood
from molyneux.learn.nets import CausalTransformer, Dense, Patches, Recurrent, Slots
from molyneux.learn.nets.slots import SlotReader

TEXT = Modality("text", "text", (6,), "uint8", tuple(" abcde."), 0, end=6)
SPEC = Spec((TEXT,))
IDS = torch.tensor([[1, 2, 6, 0, 0, 0], [4, 5, 3, 1, 2, 6]])


def attention(reader):
    return reader.attention(IDS, reader.table(IDS))


def test_slots_share_every_position_and_padding_is_nobodys():
    torch.manual_seed(0)
    shares = attention(Slots(slots=3).encoder(TEXT, 6))
    torch.testing.assert_close(shares.sum(-1), torch.ones(2, 3))
    assert (shares[0, :, 3:] == 0).all()
    assert (shares[0, :, :3] > 0).all()


def test_attention_is_that_of_the_paper():
    torch.manual_seed(0)
    reader = Slots(slots=3, sharpness=2.0).encoder(TEXT, 6)
    logits = reader.roles((reader.table(IDS) + reader.places).transpose(1, 2))
    for row, length in enumerate((3, 6)):
        for slot in range(3):
            won = torch.stack([torch.softmax(2 * logits[row, :, place], 0)[slot] for place in range(length)])
            torch.testing.assert_close(attention(reader)[row, slot, :length], won / won.sum())


def test_a_slot_hears_nothing_of_the_symbols_it_did_not_win():
    torch.manual_seed(0)
    reader = Slots(slots=2, reach=0, sharpness=1e4).encoder(TEXT, 8)
    with torch.no_grad():
        reader.roles[-1].weight.zero_()
        reader.roles[-1].bias.zero_()
        reader.places.zero_()
        reader.roles[0].weight.zero_()
        reader.roles[0].weight[0, :, 0] = reader.table.weight[2]  # looks for symbol 2
        reader.roles[-1].weight[0, 0] = 1.0
        reader.roles[-1].bias[1] = reader.table.weight[2].square().sum() - 1e-3
        reader.roles[0].bias.zero_()
    raw = reader(torch.tensor([[1, 2, 3, 6, 0, 0], [1, 2, 4, 6, 0, 0]]))
    shares = reader.attention(IDS[:1], reader.table(IDS[:1]))[0]
    assert shares[0].argmax() == 1
    assert raw.shape == (2, 8)
    torch.testing.assert_close(raw[0, 0::2], raw[1, 0::2])  # of slot 0, which won symbol 2 alone
    assert (raw[0, 1::2] - raw[1, 1::2]).abs().max() > 1e-4


def test_location_and_variance_of_a_number_are_of_the_same_slot():
    model = VAE(SPEC, latent_dim=4, nets={"text": Slots(slots=2)})
    reader = model.encoders["text"]
    assert isinstance(reader, SlotReader)
    with torch.no_grad():
        reader.biases.copy_(torch.tensor([[1.0] * 4, [2.0] * 4]))
        reader.weights.zero_()
        raw = reader(IDS)
    assert raw[0].tolist() == [1, 2, 1, 2, 1, 2, 1, 2]


def test_another_net_writes():
    codes = torch.zeros(2, 4)
    for writer in (Recurrent(), CausalTransformer(), Dense()):
        model = VAE(SPEC, latent_dim=4, nets={"text": Slots(slots=4, writer=writer)})
        assert type(model.decoders["text"]) is type(writer.decoder(TEXT, 4, default_likelihood(TEXT)))
        assert model.decoders["text"](codes).view.shape == (2, 6)


def test_slots_that_do_not_divide_the_code_are_refused_with_both_numbers():
    with pytest.raises(SpecError, match="has 3 slots, but is asked for 8 numbers for each text"):
        VAE(SPEC, latent_dim=4, nets={"text": Slots(slots=3)})


def test_all_problems_are_told_at_once():
    with pytest.raises(ConfigError) as caught:
        Slots(slots=0, width=0, reach=-1, sharpness=0.0, writer=Patches())
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["slots", "width", "reach", "sharpness", "writer"]
