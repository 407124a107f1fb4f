"""Weights in files of others with bytes changed or cut: a result, or an error of ours, and nothing else."""

from io import BytesIO

import numpy as np
import pytest
import torch
from safetensors.torch import save
from torch import nn

from molyneux.core import ConfigError, CorruptFileError, MolyneuxError
from molyneux.learn.files import load_tensors, save_tensors
from molyneux.learn.outside import load_state
from molyneux.learn.pretrained.folder import read_architecture

STATE = nn.Linear(3, 4).state_dict()


def torch_file(**options):
    stream = BytesIO()
    torch.save(STATE, stream, **options)
    return stream.getvalue()


def own(tmp_path):
    save_tensors(tmp_path / "own", STATE)
    return (tmp_path / "own").read_bytes()


FORMATS = {
    "own.safetensors": (own, load_tensors),
    "plain.safetensors": (lambda _: save(STATE), lambda path: load_state(nn.Linear(3, 4), path)),
    "new.pt": (lambda _: torch_file(), lambda path: load_state(nn.Linear(3, 4), path)),
    "old.pt": (
        lambda _: torch_file(_use_new_zipfile_serialization=False),
        lambda path: load_state(nn.Linear(3, 4), path),
    ),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", FORMATS)
def test_damaged_weights_are_read_or_refused(name, tmp_path):
    make, read = FORMATS[name]
    raw, path, refused = make(tmp_path), tmp_path / name, 0
    for number in range(60):
        rng, content = np.random.default_rng(number), bytearray(raw)
        for place in rng.integers(len(raw), size=int(rng.integers(1, 12))):
            content[place] = int(rng.integers(256))
        path.write_bytes(content[: int(rng.integers(len(raw)))] if number % 4 == 0 else content)
        try:
            read(path)
        except MolyneuxError:
            refused += 1
        except Exception as error:
            pytest.fail(f"mutation {number}: {type(error).__name__}: {error}")
    assert refused


@pytest.mark.parametrize(
    "index",
    ['{"weight_map": {"a": "../secret"}}', '{"weight_map": {"a": "/x"}}', '{"weight_map": [1]}', '{"weight_map": {"a": []}}'],
)
def test_an_index_of_weights_names_files_of_its_folder(index, tmp_path):
    pytest.importorskip("transformers")
    (tmp_path / "secret").write_bytes(b"")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text('{"architectures": ["CLIPModel"]}')
    (folder / "model.safetensors.index.json").write_text(index)
    with pytest.raises(ConfigError, match=r"index\.json: expected names of files in its folder, got"):
        read_architecture(folder)
    (folder / "config.json").write_text("[" * 100_000)
    with pytest.raises(CorruptFileError, match=r"config\.json is no JSON file that can be read"):
        read_architecture(folder)
