"""Folders of strangers: settings that would fill the memory."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from molyneux.core import MolyneuxError, SpecError, store
from molyneux.core.config import dump_document, read_document
from molyneux.run import open_evaluation, open_model, shipped_folder
from molyneux.run.run.making import _values
from molyneux.run.sharing.whole import RECORD, seal

MOST = 700_000
"""Kilobytes of a process that opens a model; those of this package take 450,000."""

OPENED = """
import sys
from pathlib import Path
from molyneux import open_model
from molyneux.core import MolyneuxError
try:
    open_model(sys.argv[1])
except MolyneuxError as error:
    print(type(error).__name__, error)
status = Path("/proc/self/status").read_text()  # what rusage says begins with the memory of the process before
print(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))
"""


def forged(name, change, place):
    """The folder of a shipped model with other settings, whose checksums are right."""
    folder = Path(shutil.copytree(shipped_folder(name), place))
    tree = read_document(folder / "config.yaml")
    change(tree["learn"]["model"]["init_args"])
    text = dump_document(tree)
    store.write_text(folder / "config.yaml", f"{text}# checksum {store.fingerprint(text)}\n")
    (folder / RECORD).unlink()
    seal(folder, "run")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("change", [{"width": 8192}, {"blocks": 1500}], ids=str)
def test_settings_of_a_much_larger_model_take_no_memory(change, tmp_path):
    """3 GB were taken before the weights were compared."""
    folder = forged("cdsprites-level5", lambda tree: tree["diffusion"].update(change), tmp_path / "a")
    done = subprocess.run([sys.executable, "-c", OPENED, str(folder)], capture_output=True, text=True, check=True)
    told, used = done.stdout.splitlines()
    assert told.startswith("ConfigError learn.model: "), told
    assert "weights.safetensors does not fit this model, which its settings make much larger" in told
    assert int(used) < MOST, used
    with pytest.raises(MolyneuxError):
        open_evaluation(folder)


def test_a_model_that_is_a_little_larger_is_refused_by_its_names(tmp_path):
    folder = forged("cdsprites-level5", lambda tree: tree["latent_dim"].update(text=17), tmp_path / "a")
    with pytest.raises(SpecError, match=r"is \(.*\) in the model and \(.*\) in the file"):
        open_model(folder)


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        ("arange", (5,), {}),
        ("arange", (2, 9, 2), {}),
        ("arange", (), {"end": 7}),
        ("arange", (0, 1, 0.3), {}),
        ("arange", (3,), {"dtype": torch.int64}),
        ("eye", (4,), {}),
        ("eye", (4, 3), {}),
        ("linspace", (0, 1, 7), {}),
        ("linspace", (0, 1), {"steps": 9}),
        ("logspace", (0, 1, 5), {}),
        ("zeros_like", (torch.zeros(3, 4),), {}),
    ],
)
def test_values_are_counted_without_making_them(name, args, kwargs):
    assert _values(name, args, kwargs) == getattr(torch, name)(*args, **kwargs).numel()


def test_opening_a_model_imports_no_compiler():
    code = "import sys\nfrom molyneux import open_model\nopen_model('cdsprites-level5')\nprint('torch._dynamo' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
