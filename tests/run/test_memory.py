import platform
import subprocess
import sys

import pytest

SCRIPT = """
import resource, sys
import numpy as np
from molyneux.run import keep_freed_memory
if sys.argv[1] == "keep":
    keep_freed_memory()
def step():
    blocks = [np.ones(20 * 2**17) for _ in range(4)]
step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has the setting")
def test_freed_memory_is_not_asked_for_again():
    faults = {
        how: int(subprocess.run([sys.executable, "-c", SCRIPT, how], capture_output=True, check=True, text=True).stdout)
        for how in ("keep", "as it is")
    }
    assert faults["keep"] * 10 < faults["as it is"], faults
