import pytest
import torch

from molyneux.core import ConfigError, Modality, Spec
from molyneux.learn import VAE
from molyneux.learn.likelihoods import default_likelihood
from molyneux.learn.nets import Averaging, CausalTransformer, Dense, Patches, Recurrent

TEXT = Modality("text", "text", (6,), "uint8", tuple(" abcde."), 0, end=6)
IDS = torch.tensor([[1, 2, 6, 0, 0, 0], [4, 5, 3, 1, 2, 6]])


def test_a_text_is_the_mean_of_its_words_times_the_root_of_their_number():
    torch.manual_seed(0)
    reader = Averaging(embedding=4, width=5, layers=2).encoder(TEXT, 3)
    first, second, last = (layer for layer in reader.layers if isinstance(layer, torch.nn.Linear))
    for row, length in enumerate((3, 6)):
        mean = reader.table.weight[IDS[row, :length]].mean(0)
        expected = last(second(first(mean * length**0.5).relu()).relu())
        torch.testing.assert_close(reader(IDS)[row], expected)


def test_order_and_what_stands_after_the_end_do_not_count():
    torch.manual_seed(0)
    reader = Averaging().encoder(TEXT, 3)
    raw = reader(torch.tensor([[1, 2, 3, 6, 0, 0], [3, 1, 2, 6, 5, 5], [1, 2, 4, 6, 0, 0]]))
    torch.testing.assert_close(raw[0], raw[1])
    assert (raw[0] != raw[2]).any()


def test_words_are_left_out_in_training_alone():
    torch.manual_seed(0)
    reader = Averaging(dropout=0.25, layers=0, embedding=7).encoder(TEXT, 7)
    with torch.no_grad():
        reader.table.weight.copy_(torch.eye(7))
        reader.layers[0].weight.copy_(torch.eye(7))
        reader.layers[0].bias.zero_()
    ids = IDS[1:].expand(4000, -1)
    read = reader(ids) > 0
    assert read[:, 1:].float().mean().item() == pytest.approx(0.75, abs=0.01)
    assert not read[:, 0].any()
    assert read.sum(1).min() < 4
    assert (reader.eval()(ids)[:, 1:] > 0).all()


def test_a_text_of_which_all_is_left_out_is_read_as_nothing():
    reader = Averaging(dropout=0.99).encoder(TEXT, 3)
    assert reader(IDS.repeat(50, 1)).isfinite().all()


@pytest.mark.parametrize("writer", [Recurrent(), Recurrent(coupling="concat-only"), CausalTransformer(), Dense()])
def test_another_net_writes(writer):
    model = VAE(Spec((TEXT,)), latent_dim=4, nets={"text": Averaging(writer=writer)})
    assert type(model.decoders["text"]) is type(writer.decoder(TEXT, 4, default_likelihood(TEXT)))
    assert model.decoders["text"](torch.zeros(2, 4)).view.shape == (2, 6)


def test_all_problems_are_told_at_once():
    with pytest.raises(ConfigError) as caught:
        Averaging(embedding=0, width=0, layers=-1, dropout=1.0, writer=Patches())
    assert [problem.partition(":")[0] for problem in caught.value.problems] == [
        "embedding",
        "width",
        "layers",
        "dropout",
        "writer",
    ]
