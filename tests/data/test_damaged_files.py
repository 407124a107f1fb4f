"""Files of every format that is read, with bytes changed, cut and doubled: a result, or an error of ours, and nothing else.

`MUTATIONS=3000 pytest tests/data/test_damaged_files.py` tries more of them.
"""

import gzip
import json
import os
import pickle
import zlib
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import torch
from PIL import Image
from scipy.io import savemat

from molyneux.core import MolyneuxError, image_files
from molyneux.core.image_files import read_image
from molyneux.data.benchmarks.digits.images import read_digits
from molyneux.data.benchmarks.mnist_svhn import MNISTSVHN
from molyneux.data.formats.array_files import map_array, read_arrays
from molyneux.data.formats.arrow_files import read_arrow, read_parquet
from molyneux.data.formats.hdf5_files import Hdf5Rows
from molyneux.data.formats.json_files import read_document, read_lines
from molyneux.data.formats.restricted_pickle import read_pickle
from molyneux.data.formats.torch_files import read_tensors
from molyneux.data.own.table_files import read_tables

COUNT = int(os.environ.get("MUTATIONS", "40"))
MOST = 200 << 20
BEFORE = list[int]()

RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(20, 6)).astype(np.float32)
PIXELS = RNG.integers(0, 256, (16, 12, 3), np.uint8)
TABLE = pa.table(
    {
        "text": [f"word {row % 7} \u00e9" for row in range(60)],
        "label": pa.array(["a", "b", None] * 20).dictionary_encode(),
        "number": NUMBERS.reshape(-1)[:60],
        "image": pa.array([{"bytes": b"abc" * (row % 5), "path": None} for row in range(60)]),
        "vector": pa.array([[1.0, 2.0]] * 60),
    }
)


def saved(save):
    stream = BytesIO()
    save(stream)
    return stream.getvalue()


def begin_memory():
    """The highest memory of the process begins anew, where the system has it so."""
    BEFORE.clear()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
        BEFORE.append(status("VmRSS"))


def memory_since():
    return status("VmHWM") - BEFORE[0] if BEFORE else 0


def status(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(name))


def image(kind, **options):
    return saved(lambda stream: Image.fromarray(PIXELS).save(stream, kind, **options))


def hdf5(libver):
    h5py = pytest.importorskip("h5py")
    stream = BytesIO()
    with h5py.File(stream, "w", libver=libver) as file:
        file["plain"] = NUMBERS
        file.create_dataset("packed", data=NUMBERS, compression="gzip", chunks=(3, 6), shuffle=True, fletcher32=True)
        file.create_dataset("parts", data=NUMBERS, chunks=(7, 4), maxshape=(None, 6))
        file["group/inner"] = NUMBERS
    return stream.getvalue()


def take(path):
    for name in ("plain", "packed", "parts", "group/inner"):
        Hdf5Rows(path, name, (None, 6)).take(np.array([0, 19, 5, 5]))


def values(table):
    for column in table.columns:
        column.to_pylist()


def whole(found):
    """Reads every value of what a pickle or a file of tensors holds."""
    for item in found.values() if isinstance(found, dict) else found if isinstance(found, list | tuple) else ():
        whole(item)
    if isinstance(found, torch.Tensor | np.ndarray):
        with np.errstate(all="ignore"):
            repr(found.sum() if np.asarray(found).dtype.kind in "biuf" else found.dtype)


TENSORS = {"x": torch.from_numpy(NUMBERS), "y": torch.arange(5), "z": [torch.ones(2, 3).T, 2.5, "text"]}
CONTENT = {"x": NUMBERS, "big": np.zeros((200, 60)), "words": np.array(["a", "bc"]), "y": [1, "a", (None, {2}), np.float32(1)]}
PHOTOS = {"X": RNG.integers(0, 256, (32, 32, 3, 4), np.uint8), "y": np.array([[1], [2], [10], [3]], np.uint8)}
EXIF = Image.Exif()
EXIF[0x0112], EXIF[0x010E] = 6, "a picture"
RECORDS = "".join(json.dumps({"text": f"caption {row}", "n": [row, {"a": None}]}) + "\n" for row in range(20)).encode()
IDX = b"\0\0\x08\x03" + np.array([5, 28, 28], ">u4").tobytes() + bytes(5 * 784)
LABELS = b"\0\0\x08\x01" + np.array([5], ">u4").tobytes() + bytes(5)

FORMATS = {
    "npy": (saved(lambda stream: np.save(stream, NUMBERS)), lambda path: whole(map_array(path)[1])),
    "npz": (saved(lambda stream: np.savez(stream, a=NUMBERS, b=np.array(["x", "yz"]))), lambda path: whole(read_arrays(path))),
    "packed.npz": (saved(lambda stream: np.savez_compressed(stream, a=NUMBERS)), lambda path: whole(read_arrays(path))),
    "pt": (saved(lambda stream: torch.save(TENSORS, stream)), lambda path: whole(read_tensors(path, "tensors"))),
    "old.pt": (
        saved(lambda stream: torch.save(TENSORS, stream, _use_new_zipfile_serialization=False)),
        lambda path: whole(read_tensors(path, "tensors")),
    ),
    **{
        f"{protocol}.pkl": (pickle.dumps(CONTENT, protocol), lambda path: whole(read_pickle(path)[1]))
        for protocol in (0, 2, 4, 5)
    },
    **{
        f"{kind}.feather": (
            saved(lambda stream, kind=kind: pyarrow.feather.write_feather(TABLE, stream, compression=kind)),
            lambda path: values(read_arrow(path)),
        )
        for kind in ("uncompressed", "lz4", "zstd")
    },
    **{
        f"{kind}.parquet": (
            saved(lambda stream, kind=kind: pq.write_table(TABLE, stream, compression=kind)),
            lambda path: values(read_parquet(path)),
        )
        for kind in ("none", "snappy", "gzip")
    },
    "csv": (b"text,number\n" + b'"a, b",1\nc,2\n' * 20, lambda path: values(read_tables([path]).table)),
    "jsonl": (RECORDS, lambda path: list(read_lines(path))),
    "json": (json.dumps({"a": [RECORDS.decode()] * 3, "b": {"c": [1, 2.5]}}).encode(), read_document),
    "h5": (hdf5("earliest"), take),
    "latest.h5": (hdf5("latest"), take),
    "mat": (saved(lambda stream: savemat(stream, PHOTOS, do_compression=True)), MNISTSVHN(Path())._read),
    **{f"{kind}.img": (image(kind), lambda path: read_image(path, (3, 8, 8), str(path))) for kind in image_files.FORMATS},
    "exif.img": (image("JPEG", exif=EXIF), lambda path: read_image(path, (3, 8, 8), str(path))),
    "lzw.img": (image("TIFF", compression="tiff_lzw"), lambda path: read_image(path, (3, 8, 8), str(path))),
    "idx": (IDX, lambda path: read_digits(path, path.with_name("labels"))),
    "idx.gz": (gzip.compress(IDX), lambda path: read_digits(path, path.with_name("labels"))),
}


def damaged(raw, rng):
    """The bytes with a few of them changed, cut, or some of them in the place of others."""
    content, kind = bytearray(raw), int(rng.integers(4))
    places = rng.integers(len(raw), size=int(rng.integers(1, 20)))
    if kind == 0:
        for place in places[:3]:
            content[place] ^= 1 << int(rng.integers(8))
    elif kind == 1:
        for place in places:
            content[place] = int(rng.integers(256))
    elif kind == 2:
        del content[places[0] :]
    else:
        value = int(rng.choice([0, 127, 128, 255]))
        content[places[0] : places[0] + 8] = bytes([value]) * int(rng.integers(1, 9))
    return bytes(content)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files_are_read_or_refused(name, tmp_path):
    raw, read = FORMATS[name]
    (tmp_path / "labels").write_bytes(LABELS)
    path = tmp_path / f"a.{name}"
    path.write_bytes(raw)
    read(path)
    begin_memory()
    refused = 0
    for number in range(COUNT):
        path.write_bytes(damaged(raw, np.random.default_rng([zlib.crc32(name.encode()), number])))
        try:
            read(path)
        except MolyneuxError as error:
            refused += 1
            if "\n" in str(error):
                pytest.fail(f"mutation {number}: {error}")
        except Exception as error:
            pytest.fail(f"mutation {number}: {type(error).__name__}: {error}")
    assert refused
    assert memory_since() < MOST
