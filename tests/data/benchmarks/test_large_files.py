"""Files of 15 GB, sparse on the disk: a process that reads them stays below 1 GB, whatever it reads."""

import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

LARGE, LIMIT = 15 << 30, 1 << 30

READ = """
import sys
from pathlib import Path
import numpy as np
from molyneux import data
dataset = getattr(data, sys.argv[1])(sys.argv[2], **eval(sys.argv[3]))
source = dataset.source("train", seed=1)
size, read, row = len(source), 0, 0
while read < int(sys.argv[4]):
    batch = source.batch(np.arange(row, row + 256) % size)
    read, row = read + sum(view.numel() * view.element_size() for view in batch.views.values()), row + 256
(peak,) = [line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
print(size, read, int(peak) * 1024)
"""


def digits(folder):
    rows = LARGE // (112 * 112)
    (folder / "image").mkdir()
    (folder / "audio").mkdir()
    for part, count in (("train", rows), ("test", 100)):
        for sense, shape in (("image", (784,)), ("audio", (112, 112))):
            np.lib.format.open_memmap(folder / sense / f"{part}_data.npy", "w+", np.uint8, (count, *shape))
        np.save(folder / f"{part}_labels.npy", np.zeros(count, np.uint8))
    return "PublishedAVMNIST", {}


def films(folder):
    rows = LARGE // (3 * 256 * 160)
    with h5py.File(folder / "multimodal_imdb.hdf5", "w") as file:
        for name, shape, kind in (("images", (3, 256, 160), "u1"), ("features", (300,), "f4"), ("genres", (23,), "i4")):
            space, plan = h5py.h5s.create_simple((rows, *shape)), h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plan.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
            plan.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
            h5py.h5d.create(file.id, name.encode(), h5py.h5t.py_create(np.dtype(kind)), space, plan)
    return "MMIMDb", {"picture": "poster"}


def segments(folder):
    """The pictures of faces of 15 GB in a pickle whose other arrays are small; its content is a hole in the file."""
    counts = {"train": LARGE // (50 * 1000 * 4), "valid": 2, "test": 2}
    hole, kind = (
        b"hole in the file",
        b"\x8c\x05numpy\x8c\x05dtype\x93\x8c\x02f4\x85R(K\x03\x8c\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb",
    )

    def array(shape, content):
        sizes = b"".join(b"J" + size.to_bytes(4, "little") for size in shape)
        made = b"\x8c\x15numpy.core.multiarray\x8c\x0c_reconstruct\x93\x8c\x05numpy\x8c\x07ndarray\x93K\x00\x85C\x01b\x87R"
        return (
            made
            + b"(K\x01("
            + sizes
            + b"t"
            + kind
            + b"\x89\x8e"
            + int(np.prod(shape) * 4).to_bytes(8, "little")
            + content
            + b"tb"
        )

    path = folder / "mosi_raw.pkl"
    with path.open("wb") as stream:
        stream.write(b"\x80\x04}")
        for part, count in counts.items():
            stream.write(b"\x8c" + bytes([len(part)]) + part.encode() + b"}")
            for name, shape in (
                ("vision", (count, 50, 1000)),
                ("audio", (count, 50, 2)),
                ("text", (count, 50, 3)),
                ("labels", (count, 1)),
            ):
                stream.write(b"\x8c" + bytes([len(name)]) + name.encode())
                empty, size = array(shape, hole).split(hole), int(np.prod(shape)) * 4
                stream.write(empty[0])
                if name == "text":
                    stream.write(np.ones(shape, "<f4").tobytes())
                else:
                    stream.seek(size, 1)
                stream.write(empty[1] + b"s")
            stream.write(b"s")
        stream.write(b".")
    return "CMUMOSI", {}


@pytest.mark.parametrize("make", [digits, films, segments])
def test_memory_stays_below_one_gigabyte(make, tmp_path):
    name, settings = make(tmp_path)
    size = max(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert size > 0.99 * LARGE
    if sum(path.stat().st_blocks * 512 for path in tmp_path.rglob("*")) > 1 << 30:
        pytest.skip("the file system has no sparse files")
    if not Path("/proc/self/status").exists():
        pytest.skip("only Linux says how much memory a process had at most since it was started")
    wanted = 5 << 28
    command = [sys.executable, "-c", READ, name, str(tmp_path), repr(settings), str(wanted)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    samples, read, peak = map(int, done.stdout.split())
    assert samples > 10_000
    assert read >= wanted
    assert peak < LIMIT
