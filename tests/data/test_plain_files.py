"""No reader of files waits for a pipe or reads a device without an end: each says what stands there."""

import os
import signal
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from molyneux.core import MolyneuxError, StoreError
from molyneux.core.image_files import read_image
from molyneux.core.sound_files import read_wav
from molyneux.data import ImageFolder, TableDataset
from molyneux.data.benchmarks.digits.images import read_digits
from molyneux.data.formats.array_files import map_array, read_arrays
from molyneux.data.formats.arrow_files import read_arrow, read_parquet
from molyneux.data.formats.json_files import read_document, read_items, read_lines
from molyneux.data.formats.labelled_text_files import read_texts
from molyneux.data.formats.matlab_files import read_matlab
from molyneux.data.formats.restricted_pickle import read_pickle
from molyneux.data.formats.torch_files import read_tensors
from molyneux.data.own.delimited import read_delimited
from molyneux.data.sentence_files import text_lines
from molyneux.learn import load_state
from molyneux.learn.files import load_tensors
from molyneux.learn.judges.judge import file_digest

READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "an array": (".npy", map_array),
    "arrays": (".npz", read_arrays),
    "Arrow": (".arrow", read_arrow),
    "Parquet": (".parquet", read_parquet),
    "IDX": (".gz", lambda path: read_digits(path, path)),
    "JSON": (".json", read_document),
    "JSON lines": (".jsonl", lambda path: list(read_lines(path))),
    "a list in JSON": (".json", lambda path: list(read_items(path, "a"))),
    "labelled texts": (".csv", lambda path: list(read_texts(path, ("a",), used=("a",), rows=np.arange(3)))),
    "an image": (".png", lambda path: read_image(path, (3, 4, 4), "x")),
    "MATLAB": (".mat", lambda path: read_matlab(path, ["a"])),
    "delimited text": (".csv", read_delimited),
    "a pickle": (".pkl", read_pickle),
    "sentences": (".txt", text_lines),
    "a recording": (".wav", read_wav),
    "tensors": (".pt", lambda path: read_tensors(path, "tensors")),
    "safetensors": (".safetensors", load_tensors),
    "weights": (".pt", lambda path: load_state(torch.nn.Linear(2, 2), path)),
    "a judge": (".safetensors", file_digest),
}


@pytest.fixture(autouse=True)
def _bounded() -> Iterator[None]:
    """A reader that waits is interrupted."""

    def stop(*_: object) -> None:
        raise AssertionError("the reader waits")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("kind", ["a pipe", "a device"])
@pytest.mark.parametrize("name", READERS)
def test_a_pipe_and_a_device_are_refused(name: str, kind: str, tmp_path: Path) -> None:
    suffix, read = READERS[name]
    path = tmp_path / f"file{suffix}"
    os.mkfifo(path) if kind == "a pipe" else path.symlink_to("/dev/zero")
    with pytest.raises(StoreError, match=rf"{kind}|which is not there|it is not there"):
        read(path)


def test_a_pipe_among_pictures_is_refused(tmp_path: Path) -> None:
    for label in ("cat", "dog"):
        (tmp_path / label).mkdir()
        for number in range(6):
            Image.fromarray(np.full((4, 4), number, np.uint8)).save(tmp_path / label / f"{number}.png")
    os.mkfifo(tmp_path / "cat" / "more.png")
    with pytest.raises(MolyneuxError, match="a pipe"):
        _ = ImageFolder(path=tmp_path).splits


@pytest.mark.parametrize("read", [lambda path: TableDataset(path=path, texts=("a",)).splits, load_tensors, file_digest])
def test_a_name_that_no_file_can_have(read: Callable[[Path], object], tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot look at|cannot read"):
        read(tmp_path / f"{'x' * 300}.csv")


def test_an_archive_is_read_as_before(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive, archive.open("x.npy", "w") as stream:
        np.lib.format.write_array(stream, np.arange(3))
    assert read_arrays(tmp_path / "a.npz")["x"].tolist() == [0, 1, 2]
