import platform
import subprocess
import sys

import pytest
import torch
from torch import nn

from molyneux.core import ConfigError
from molyneux.learn import Training, hardware
from molyneux.learn.hardware import choose_device, computes_lstm_in_bf16, has_bf16, threads, use_bf16, use_channels_last

CONVOLUTION, DENSE, WIDE, LSTM = nn.Sequential(nn.Conv2d(3, 4, 3)), nn.Linear(9, 9), nn.Linear(512, 512), nn.LSTM(4, 4)


@pytest.mark.precision
@pytest.mark.parametrize(
    ("features", "expected"),
    [("flags\t: avx512f amx_bf16", True), ("Features : fp asimd bf16", True), ("flags : avx512f bf16ish", False), ("", False)],
)
def test_bf16_needs_instructions_and_kernels(features, expected, monkeypatch):
    monkeypatch.setattr(hardware, "_kernels_have_bf16", lambda: True)
    assert has_bf16(features) is expected
    monkeypatch.setattr(hardware, "_kernels_have_bf16", lambda: False)
    assert not has_bf16(features)


@pytest.mark.precision
def test_kernels_without_bf16_are_noticed_whatever_the_processor_lists():
    if torch.backends.cpu.get_cpu_capability() == "AVX2":
        assert not has_bf16("flags : avx512_bf16 amx_bf16")
    if not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        assert not has_bf16("flags : avx512_bf16 amx_bf16")
        assert not computes_lstm_in_bf16()


def test_choices_win_over_auto():
    assert use_bf16(Training(precision="bf16"), DENSE)
    assert not use_bf16(Training(precision="32"), CONVOLUTION)
    assert use_channels_last(Training(channels_last=True), DENSE)
    assert not use_channels_last(Training(channels_last=False), CONVOLUTION)


def test_auto_takes_bf16_where_it_gains(monkeypatch):
    training = Training(device="cpu")
    monkeypatch.setattr(hardware, "has_bf16", lambda: True)
    assert [use_bf16(training, model) for model in (CONVOLUTION, LSTM, WIDE, DENSE)] == [True, True, True, False]
    monkeypatch.setattr(hardware, "has_bf16", lambda: False)
    assert not any(use_bf16(training, model) for model in (CONVOLUTION, LSTM, WIDE, DENSE))
    assert [use_channels_last(training, model) for model in (CONVOLUTION, DENSE)] == [True, False]


@pytest.mark.precision
def test_an_lstm_in_bf16_is_refused_where_the_processor_cannot(monkeypatch):
    training = Training(precision="bf16", device="cpu")
    if computes_lstm_in_bf16():
        assert use_bf16(training, LSTM)
        monkeypatch.setattr(hardware, "computes_lstm_in_bf16", lambda: False)
    with pytest.raises(ConfigError, match=r"can compute LSTM in bf16.* set precision to 32 or auto"):
        use_bf16(training, LSTM)
    assert use_bf16(training, DENSE)


@pytest.mark.parametrize("wanted", ["cuda", "gpu", "mps"])
def test_devices_that_are_not_there(wanted, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert choose_device(Training()) == choose_device(Training(device="cpu")) == "cpu"
    with pytest.raises(ConfigError, match=rf"can use here \(cpu\), got {wanted}, .*: set it to cpu or auto"):
        choose_device(Training(device=wanted))


def test_devices_that_are_there(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    chosen = [choose_device(Training(device=name)) for name in ("auto", "gpu", "cuda", "mps", "cpu")]
    assert chosen == ["cuda", "cuda", "cuda", "mps", "cpu"]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert [choose_device(Training(device=name)) for name in ("auto", "gpu")] == ["cpu", "mps"]


def test_threads_are_given_back():
    before = torch.get_num_threads()
    with threads(before + 1):
        assert torch.get_num_threads() == before + 1
    with threads(None):
        assert torch.get_num_threads() == before
    assert torch.get_num_threads() == before


SCRIPT = """
import ctypes, resource, sys
from pathlib import Path
import numpy as np
text = Path(sys.argv[1]).read_text()
start = text.index("def keep_freed_memory")
names = {"contextlib": __import__("contextlib"), "ctypes": ctypes, "_TRIM_THRESHOLD": -1, "_MMAP_THRESHOLD": -3, "_MMAP_MAX": -4}
exec("from __future__ import annotations\\n" + text[start : text.index("\\ndef ", start + 1)], names)
if sys.argv[2] == "keep":
    names["keep_freed_memory"]()
def step():
    blocks = [np.ones(size * 2**17) for size in (20, 20, 20, 60)]
step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has the setting")
def test_freed_memory_is_not_asked_for_again():
    """In processes that run the function alone: importing the package takes seconds."""
    command = [sys.executable, "-c", SCRIPT, hardware.__file__]
    faults = {
        how: int(subprocess.run([*command, how], capture_output=True, check=True, text=True).stdout) for how in ("keep", "not")
    }
    assert faults["keep"] * 10 < faults["not"], faults
