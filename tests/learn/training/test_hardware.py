import os
import platform
import re
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from torch import nn

from molyneux.core import ConfigError
from molyneux.learn import Training
from molyneux.learn.diffusion.fit import ExPostDiffusion
from molyneux.learn.training import hardware
from molyneux.learn.training.hardware import (
    bf16_note,
    choose_device,
    computes_lstm_in_bf16,
    has_bf16,
    precision_of,
    threads,
    use_bf16,
    use_channels_last,
)

CONVOLUTION, DENSE, WIDE, LSTM = nn.Sequential(nn.Conv2d(3, 4, 3)), nn.Linear(9, 9), nn.Linear(512, 512), nn.LSTM(4, 4)


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("features", "expected"),
    [("flags\t: avx512f amx_bf16", True), ("Features : fp asimd bf16", True), ("flags : avx512f bf16ish", False), ("", False)],
)
def test_bf16_needs_instructions_and_kernels(features, expected, monkeypatch):
    monkeypatch.setattr(hardware, "_kernels_have_bf16", lambda: True)
    assert has_bf16(features) is expected
    monkeypatch.setattr(hardware, "_kernels_have_bf16", lambda: False)
    assert not has_bf16(features)


@pytest.mark.kernels
def test_kernels_without_bf16_are_noticed_whatever_the_processor_lists():
    if torch.backends.cpu.get_cpu_capability() == "AVX2":
        assert not has_bf16("flags : avx512_bf16 amx_bf16")
    if not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        assert not has_bf16("flags : avx512_bf16 amx_bf16")
        assert not computes_lstm_in_bf16()


@pytest.mark.parametrize("library", ["ONEDNN", "DNNL"])
@pytest.mark.parametrize(("limit", "expected"), [("AVX2", False), ("avx512_core", False), ("AVX512_CORE_AMX", True), ("", True)])
def test_a_limit_that_leaves_no_bf16_arithmetic_is_noticed(library, limit, expected, monkeypatch):
    """oneDNN emulates bf16 on AVX-512 without it, and torch's own question about that is answered with yes."""
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")
    monkeypatch.setattr(hardware, "_onednn_has_bf16", lambda: True)
    for name in ("ONEDNN", "DNNL"):
        monkeypatch.delenv(f"{name}_MAX_CPU_ISA", raising=False)
    monkeypatch.setenv(f"{library}_MAX_CPU_ISA", limit)
    assert has_bf16("flags : avx512_bf16") is expected


def test_choices_win_over_auto(monkeypatch):
    monkeypatch.setattr(hardware, "has_bf16", lambda: True)
    assert use_bf16(Training(precision="bf16", device="cpu"), DENSE)
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


@pytest.mark.parametrize(
    ("bf16", "lstm", "expected"),
    [(True, True, ["bf16", "bf16"]), (True, False, ["bf16", "32"]), (False, True, ["32", "32"]), (False, False, ["32", "32"])],
)
def test_bf16_is_never_emulated(bf16, lstm, expected, monkeypatch):
    training = Training(precision="bf16", device="cpu")
    monkeypatch.setattr(hardware, "has_bf16", lambda: bf16)
    monkeypatch.setattr(hardware, "computes_lstm_in_bf16", lambda: lstm)
    assert [precision_of(training, model) for model in (DENSE, LSTM)] == expected
    assert [bool(bf16_note(training, model)) for model in (DENSE, LSTM)] == [precision == "32" for precision in expected]
    assert ExPostDiffusion(precision="bf16").uses_bf16(8, "cpu") is bf16
    for other in ("auto", "32"):
        assert not any(bf16_note(replace(training, precision=other), model) for model in (DENSE, LSTM))


def test_the_line_says_what_is_done_and_what_it_costs(monkeypatch):
    monkeypatch.setattr(hardware, "has_bf16", lambda: False)
    line = bf16_note(Training(precision="bf16", device="cpu"), LSTM)
    assert re.fullmatch(r"precision: bf16 .* no bf16 arithmetic: LSTM is trained in 32 bits, .* twice as long .*", line)


TRAINING = """
import warnings
from molyneux.data import CdSprites
from molyneux.learn import MVAE, Training, fit
source = CdSprites(level=1).source("train", 8, seed=0)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    fit(MVAE(source.spec, latent_dim=4), source, None, Training(steps=2, batch_size=4, precision="bf16", device="cpu"))
print("told", [str(line.message) for line in told if "bf16" in str(line.message)])
"""


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["AVX2", ""])
def test_no_kernel_of_a_training_in_bf16_emulates_it(limit):
    """oneDNN says which kernels it runs: none on bf16 where the line was told, and no reference kernel elsewhere."""
    given = {**os.environ, "ONEDNN_VERBOSE": "1", "ONEDNN_MAX_CPU_ISA": limit}
    given |= {"ATEN_CPU_CAPABILITY": "avx2"} if limit == "AVX2" else {}
    if not limit:
        del given["ONEDNN_MAX_CPU_ISA"]
        given.pop("ATEN_CPU_CAPABILITY", None)
    lines = subprocess.run(
        [sys.executable, "-c", TRAINING], env=given, capture_output=True, check=True, text=True
    ).stdout.splitlines()
    told = next(line for line in lines if line.startswith("told"))
    run = [line.split(",")[6:10] for line in lines if ",exec,cpu," in line and "bf16" in line]
    if limit or "bf16 is asked for" in told:
        assert told.count("bf16 is asked for") == 1, told
        assert run == []
    else:
        assert not [kernel for kernel in run if kernel[0].startswith(("ref", "simple", "gemm"))]


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
