import math

import pytest
import torch
from torch import nn

from molyneux.core import ConfigError, Modality, Spec
from molyneux.learn import VAE
from molyneux.learn.encoders.nets import Recurrent
from molyneux.learn.encoders.nets.recurrent import RecurrentLayers
from molyneux.learn.likelihoods import Categorical

ENDED = Modality("text", "text", (6,), "uint8", ("<pad>", "<bos>", "<eos>", "so", "be", "it", "then"), 0, 1, 2)


def words(length, symbols):
    return Modality("text", "text", (length,), "uint8", tuple(f"word{number}" for number in range(symbols)), 0, 1, 2)


def count(module):
    return sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)


@pytest.mark.parametrize(
    ("length", "symbols", "width", "latent", "parameters"),
    [(11, 109, 32, 4, 13_929), (13, 38, 64, 8, 39_566)],
    ids=["ynoc", "pos"],
)
def test_size_of_the_published_nets(length, symbols, width, latent, parameters):
    net = Recurrent(embedding=4, width=width)
    model = VAE(Spec((words(length, symbols),)), latent_dim=latent, nets={"text": net})
    assert count(model) == parameters
    apart = Recurrent(embedding=4, width=width, shared_embedding=False)
    assert count(VAE(model.spec, latent_dim=latent, nets={"text": apart})) == parameters + 4 * symbols


def test_sizes_of_the_couplings():
    def decoder(coupling):
        return count(Recurrent(embedding=4, width=32, coupling=coupling).decoder(words(11, 109), 4, Categorical()))

    opening, beside, vectors = 4 * 32 + 32, 4 * 32 * 4, 109 * 4
    assert decoder("concat") == decoder("init") - opening + beside
    assert decoder("init+concat") == decoder("init") + beside
    assert decoder("concat-only") == decoder("init") - opening - vectors  # codes and words are of the same size here


def test_both_sides_learn_the_same_vectors():
    encoder, decoder = Recurrent().pair(ENDED, outputs=4, inputs=2, likelihood=Categorical())
    assert encoder.table is decoder.table
    encoder, decoder = Recurrent(shared_embedding=False).pair(ENDED, outputs=4, inputs=2, likelihood=Categorical())
    assert encoder.table is not decoder.table


@pytest.mark.parametrize(("cell", "reference"), [("lstm", nn.LSTM), ("gru", nn.GRU)])
def test_gates_are_those_of_torch_with_one_bias(cell, reference):
    ours, theirs, values = RecurrentLayers(cell, 3, width=5, layers=2), reference(3, 5, 2), torch.randn(7, 4, 3)
    with torch.no_grad():
        for layer in range(2):
            getattr(theirs, f"weight_ih_l{layer}").copy_(ours.kernels[layer])
            getattr(theirs, f"weight_hh_l{layer}").copy_(ours.recurrent_kernels[layer])
            getattr(theirs, f"bias_ih_l{layer}").copy_(ours.biases[layer].normal_())
            getattr(theirs, f"bias_hh_l{layer}").zero_()
    outputs, memory = ours(values)
    expected, after = theirs(values)
    torch.testing.assert_close(outputs, expected)
    torch.testing.assert_close(memory, after if cell == "lstm" else (after,))
    assert all("no_bias" not in name for name in ours.state_dict())


def test_weights_start_as_in_keras():
    torch.manual_seed(0)
    gates = RecurrentLayers("lstm", 400, width=50, layers=1)
    kernel, recurrent, bias = gates.kernels[0], gates.recurrent_kernels[0], gates.biases[0]
    assert kernel.std().item() == pytest.approx(400**-0.5, rel=0.02)
    assert kernel.abs().max().item() <= 2 * 400**-0.5 / 0.8796 * 1.001
    torch.testing.assert_close(recurrent.t() @ recurrent, torch.eye(50), atol=1e-5, rtol=1e-5)
    assert bias.reshape(4, 50).mean(1).tolist() == [0, 1, 0, 0]
    encoder = Recurrent(embedding=4, width=50).encoder(ENDED, 10)
    assert encoder.table.weight.abs().max() <= 0.05
    assert encoder.last.weight.abs().max() <= math.sqrt(6 / 60)
    assert encoder.last.bias.abs().max() == 0


def test_a_text_is_read_up_to_its_end():
    torch.manual_seed(0)
    encoder = Recurrent().encoder(ENDED, 4)
    first, second, third = encoder(torch.tensor([[3, 4, 2, 0, 0, 0], [3, 4, 2, 5, 2, 6], [3, 4, 0, 0, 0, 0]]))
    torch.testing.assert_close(first, second)
    assert (first - third).abs().max() > 1e-4


def test_the_code_is_what_is_remembered_at_the_end():
    encoder = Recurrent(embedding=3, width=5).encoder(ENDED, 4)
    hidden, _ = encoder.recurrent(encoder.table(torch.tensor([[3], [5], [2]])))
    torch.testing.assert_close(encoder(torch.tensor([[3, 5, 2, 0, 0, 0]])), encoder.last(hidden[-1]))


def test_published_couplings_of_the_code():
    code = torch.randn(1, 2)
    opened = Recurrent(coupling="init").decoder(ENDED, 2, Categorical())
    hidden, cell = opened._initial_state(code)
    torch.testing.assert_close(hidden[0], opened.opening(code))
    assert cell.abs().max() == 0
    beside = Recurrent(coupling="concat").decoder(ENDED, 2, Categorical())
    assert all(part.abs().max() == 0 for part in beside._initial_state(code))
    before = torch.tensor([[1], [4]])
    torch.testing.assert_close(beside._inputs(code, before), torch.cat([beside.table(before), code.expand(2, 1, 2)], dim=-1))
    only = Recurrent(coupling="concat-only").decoder(ENDED, 2, Categorical())
    torch.testing.assert_close(only._inputs(code, before), code.expand(2, 1, 2))
    assert only.table is None


def test_words_that_are_not_read_cannot_be_dropped():
    with pytest.raises(ConfigError, match="word_dropout: expected 0"):
        Recurrent(coupling="concat-only", word_dropout=0.1)


def test_the_candidate_state_of_a_gru_has_one_bias_outside_its_reset_gate():
    torch.manual_seed(0)
    gates, value, before = RecurrentLayers("gru", 3, width=5, layers=1), torch.randn(4, 3), torch.randn(4, 5)
    with torch.no_grad():
        gates.biases[0].normal_()
    read = (value @ gates.kernels[0].t() + gates.biases[0]).chunk(3, 1)
    kept = (before @ gates.recurrent_kernels[0].t()).chunk(3, 1)
    reset, update = (torch.sigmoid(read[gate] + kept[gate]) for gate in range(2))
    candidate = torch.tanh(read[2] + reset * kept[2])  # reset after the product
    outputs, _ = gates(value.unsqueeze(0), (before.unsqueeze(0),))
    torch.testing.assert_close(outputs[0], (1 - update) * candidate + update * before)
