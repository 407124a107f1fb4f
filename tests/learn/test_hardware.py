import pytest
import torch
from torch import nn

from molyneux.core import ConfigError
from molyneux.learn import Training
from molyneux.learn.hardware import has_bf16, threads, use_bf16, use_channels_last, use_gpu

CONVOLUTION, DENSE = nn.Sequential(nn.Conv2d(3, 4, 3)), nn.Linear(2, 2)


@pytest.mark.parametrize(
    ("features", "expected"),
    [("flags\t: avx512f amx_bf16", True), ("Features : fp asimd bf16", True), ("flags : avx512f bf16ish", False), ("", False)],
)
def test_bf16_instructions(features, expected):
    assert has_bf16(features) is expected


def test_choices_win_over_auto():
    assert use_bf16(Training(precision="bf16"), DENSE)
    assert not use_bf16(Training(precision="32"), CONVOLUTION)
    assert use_channels_last(Training(channels_last=True), DENSE)
    assert not use_channels_last(Training(channels_last=False), CONVOLUTION)


def test_auto_is_for_convolutions(monkeypatch):
    monkeypatch.setattr("molyneux.learn.hardware.has_bf16", lambda: True)
    assert use_bf16(Training(device="cpu"), CONVOLUTION)
    assert not use_bf16(Training(device="cpu"), DENSE)
    monkeypatch.setattr("molyneux.learn.hardware.has_bf16", lambda: False)
    assert not use_bf16(Training(device="cpu"), CONVOLUTION)
    assert use_channels_last(Training(), CONVOLUTION)
    assert not use_channels_last(Training(), DENSE)


def test_gpu_that_is_not_there(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert not use_gpu(Training())
    with pytest.raises(ConfigError, match="got none"):
        use_gpu(Training(device="gpu"))


def test_threads_are_given_back():
    before = torch.get_num_threads()
    with threads(before + 1):
        assert torch.get_num_threads() == before + 1
    with threads(None):
        assert torch.get_num_threads() == before
    assert torch.get_num_threads() == before
