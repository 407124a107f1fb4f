"""The suite runs with the kernels that it says: those of the least processor, or those of the one at hand."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from numba.core import config
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
from threadpoolctl import threadpool_info

from molyneux.learn.training.hardware import has_bf16

OWN = os.environ.get("MOLYNEUX_KERNELS") == "own"
pytestmark = [
    pytest.mark.kernels,
    pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="limits are those of x86-64"),
]


def test_every_library_has_the_kernels_of_the_least_processor():
    if OWN:
        assert not {"ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "OPENBLAS_CORETYPE"} & os.environ.keys()
        return
    groups = [name for name in __cpu_dispatch__ if name.startswith(("AVX512", "X86_V4"))]
    assert not [name for name in groups if __cpu_features__[name]]
    assert {library["architecture"] for library in threadpool_info() if library["internal_api"] == "openblas"} <= {"Haswell"}
    assert torch.backends.cpu.get_cpu_capability() == "AVX2"
    assert config.CPU_NAME == "haswell"
    assert not has_bf16()


@pytest.mark.skipif(OWN, reason="the limits are those of the least processor")
def test_processes_that_tests_start_have_them_too():
    code = "import torch; print(torch.backends.cpu.get_cpu_capability())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.strip() == "AVX2"


def test_no_test_asks_which_processor_it_is_on():
    words = ("/proc/cpu" + "info", "platform." + "processor")
    files = Path(__file__).parents[1].rglob("*.py")
    assert not {path.name for path in files if any(word in path.read_text() for word in words)}
