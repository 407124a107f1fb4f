import pytest
import torch

from molyneux.core import ConfigError, Modality
from molyneux.learn.encoders.nets import CausalTransformer, CharacterTransformer
from molyneux.learn.encoders.nets.transformer import TransformerEncoder, time_positions
from molyneux.learn.likelihoods import Categorical

LETTERS = tuple(" abcdefghijklmnopqrstuvwxyz")
SHORT = Modality("text", "text", (6,), "uint8", tuple(" abcd"), 0)
SMALL = CharacterTransformer(layers=2, feedforward=32, width=8)


def text(length):
    return Modality("text", "text", (length,), "uint8", LETTERS, 0)


def ids(words, length):
    rows = [[LETTERS.index(letter) for letter in word.ljust(length)] for word in words]
    return torch.tensor(rows)


def encoder(length=45, seed=0):
    torch.manual_seed(seed)
    return SMALL.encoder(text(length), 6).eval()


def count(module):
    return sum(parameter.numel() for parameter in module.parameters())


def test_size_of_the_published_net():
    net = CharacterTransformer()
    # The published encoder embeds the 27 symbols in 2 instead of 54 dimensions: 26 * 54 more here.
    assert count(net.encoder(text(45), 32)) == 991_942 + 26 * 54
    assert count(CharacterTransformer(layers=1, feedforward=128).body(text(45), 16, 27)) == 6_971


def test_order_of_letters_matters():
    heart, earth = encoder()(ids(["heart", "earth"], 45))
    assert (heart - earth).abs().max() > 1e-3


def test_what_comes_after_the_end_does_not_matter():
    words = ["red heart", "big", ""]
    short, long = encoder(9)(ids(words, 9)), encoder(45)(ids(words, 45))
    torch.testing.assert_close(short, long, atol=1e-5, rtol=1e-4)


def test_copies_of_a_caption_in_one_batch_are_the_same():
    codes = encoder()(ids(["small red heart"] * 24, 45))
    assert (codes - codes[0]).abs().max() == 0.0


def test_a_text_without_padding_is_read_to_its_end():
    net = SMALL.encoder(Modality("text", "text", (5,), "uint8", LETTERS), 6).eval()
    first, second = net(ids(["ab", "ab  a"], 5))
    assert (first - second).abs().max() > 1e-3


@pytest.mark.parametrize(("size", "advice"), [(23, "22 or 24"), (1, "choose 2")])
def test_odd_codes_are_refused(size, advice):
    with pytest.raises(ConfigError, match=f"even size.*got {size}.*{advice}"):
        CharacterTransformer().body(text(45), size, 27)


def test_sizes_have_to_be_a_multiple_of_the_heads():
    with pytest.raises(ConfigError, match="multiple of its 4 heads for width, got 54"):
        CharacterTransformer(heads=4)


def test_positions():
    positions = time_positions(3, 4)
    assert positions[0].tolist() == [0.0, 1.0, 0.0, 1.0]
    assert positions[2, 0].item() == pytest.approx(torch.tensor(2.0).sin().item())
    assert positions[2, 3].item() == pytest.approx(torch.tensor(2.0 / 100).cos().item())


def test_the_encoder_is_that_of_the_character_transformer():
    assert isinstance(CausalTransformer().encoder(SHORT, 4), TransformerEncoder)


def test_codes_of_any_size_are_taken():
    for size in (1, 3, 24):
        assert CausalTransformer().decoder(SHORT, size, Categorical())(torch.randn(2, size)).view.shape == (2, 6)


def test_order_of_the_symbols_before_matters():
    torch.manual_seed(0)
    decoder = CausalTransformer().decoder(SHORT, 3, Categorical()).eval()
    first, second = decoder.forced(torch.zeros(2, 3), torch.tensor([[1, 2, 3, 0, 0, 0], [2, 1, 3, 0, 0, 0]]))[3]
    assert (first - second).abs().max() > 1e-4


@pytest.mark.parametrize("settings", [{"width": 30}, {"width": 7, "heads": 1}, {"heads": 3}])
def test_widths_of_the_causal_net_that_cannot_be_used_are_refused(settings):
    with pytest.raises(ConfigError, match="even size"):
        CausalTransformer(**settings)


def test_all_problems_are_told_at_once():
    with pytest.raises(ConfigError) as caught:
        CausalTransformer(layers=0, dropout=2.0, word_dropout=-1.0, beams=0)
    assert len(caught.value.problems) == 4
