import pytest
import torch

from molyneux.core import ConfigError, Modality
from molyneux.learn.likelihoods import Categorical
from molyneux.learn.nets import CausalTransformer
from molyneux.learn.nets.transformer import TransformerEncoder

TEXT = Modality("text", "text", (6,), "uint8", tuple(" abcd"), 0)


def test_the_encoder_is_that_of_the_character_transformer():
    assert isinstance(CausalTransformer().encoder(TEXT, 4), TransformerEncoder)


def test_codes_of_any_size_are_taken():
    for size in (1, 3, 24):
        assert CausalTransformer().decoder(TEXT, size, Categorical())(torch.randn(2, size)).view.shape == (2, 6)


def test_order_of_the_symbols_before_matters():
    torch.manual_seed(0)
    decoder = CausalTransformer().decoder(TEXT, 3, Categorical()).eval()
    first, second = decoder.forced(torch.zeros(2, 3), torch.tensor([[1, 2, 3, 0, 0, 0], [2, 1, 3, 0, 0, 0]]))[3]
    assert (first - second).abs().max() > 1e-4


@pytest.mark.parametrize("settings", [{"width": 30}, {"width": 7, "heads": 1}, {"heads": 3}])
def test_sizes_that_cannot_be_used_are_refused(settings):
    with pytest.raises(ConfigError, match="even size"):
        CausalTransformer(**settings)


def test_all_problems_are_told_at_once():
    with pytest.raises(ConfigError) as caught:
        CausalTransformer(layers=0, dropout=2.0, word_dropout=-1.0, beams=0)
    assert len(caught.value.problems) == 4
