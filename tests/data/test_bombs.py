"""Small files that promise much: each is refused in one sentence, before its promise is kept."""

import gzip
import io
import json
import pickle
import struct
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from molyneux.core import ConfigError, DataError
from molyneux.data.benchmarks.digits.images import read_digits
from molyneux.data.formats.array_files import map_array, read_arrays
from molyneux.data.formats.arrow_files import read_arrow, read_parquet
from molyneux.data.formats.hdf5_files import Hdf5Rows
from molyneux.data.formats.json_files import read_document, read_items, read_lines
from molyneux.data.formats.limits import LEAST, RATIO, VARIABLE, unpacked_limit

h5py = pytest.importorskip("h5py")


@pytest.fixture
def little(monkeypatch):
    """Files may unpack to 50 MB alone, so that they are written soon."""
    monkeypatch.setenv(VARIABLE, "0.05")


def numpy_array(shape, dtype="'<f8'", content=b"", fortran="False"):
    head = f"{{'descr': {dtype}, 'fortran_order': {fortran}, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + content


def archive(path, **files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as stream:
        for name, content in files.items():
            stream.writestr(name.replace("__", "/"), content)
    return path


SHAPES = [
    "(99999999999999999999999,)",
    "(25000000000,)",
    "(1000000, 1000000, 1000000)",
    "(0, 10000000000000000)",
    "(-1,)",
    "(1e3,)",
    "((2,),)",
]
HEADS = {
    **{f"shape {shape}": numpy_array(shape, content=b"x" * 8) for shape in SHAPES},
    "a type of 2 GB": numpy_array("(3,)", "'S2000000000'", b"x"),
    "a type of 10^12 bytes": numpy_array("(3,)", "'S1000000000000'", b"x"),
    "fields in fields": numpy_array("(3,)", "[('a', " * 200 + "'f8'" + ")]" * 200, b"x"),
    "brackets": numpy_array("(" * 3000 + ")" * 3000),
    "a head of 4 GB": b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**32 - 1) + b"{",
    "a number of 5000 digits": numpy_array(f"({'9' * 5000},)"),
    "objects": numpy_array("(1,)", "'|O'", pickle.dumps(1)),
}


@pytest.mark.parametrize("name", HEADS)
def test_arrays(name, tmp_path, refused):
    path = tmp_path / "a.npy"
    path.write_bytes(HEADS[name])
    refused(map_array, path)
    refused(read_arrays, archive(tmp_path / "a.npz", **{"x.npy": HEADS[name]}))


def test_archives_of_arrays_that_unpack_to_much(tmp_path, refused):
    path = archive(tmp_path / "a.npz", **{"x.npy": numpy_array("(37500000,)") + bytes(300_000_000)})
    assert path.stat().st_size < 1_000_000
    refused(read_arrays, path, f"unpacks to at most 268 MB, got one of .* kB that unpacks to 300 MB .*{VARIABLE}")


def test_an_entry_of_an_archive_may_not_lie_about_its_size(tmp_path, refused):
    path = archive(tmp_path / "a.npz", **{"x.npy": numpy_array("(37500000,)") + b"\0" * 300_000_000})
    raw = path.read_bytes()
    path.write_bytes(raw.replace(struct.pack("<I", 300_000_000 + len(numpy_array("(37500000,)"))), struct.pack("<I", 1000)))
    assert path.read_bytes() != raw
    refused(read_arrays, path)


def test_archives_in_other_methods_of_compression(tmp_path, refused):
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        with zipfile.ZipFile(tmp_path / "a.npz", "w", method) as stream:
            stream.writestr("x.npy", numpy_array("(1,)", content=b"x" * 8))
        refused(read_arrays, tmp_path / "a.npz", "compressed in another way")


def parquet(path, values, kind=None, **options):
    pq.write_table(pa.table({"x": pa.array(values, kind) if kind else values}), path, **options)
    return path


def repeated(text, rows):
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([text]))


PARQUETS = {
    "one text in a million rows": lambda path: parquet(path, repeated("x" * 30_000, 1_000_000)),
    "texts that begin like the one before": lambda path: parquet(
        path, ["x" * 30_000] * 3_000, use_dictionary=False, column_encoding={"x": "DELTA_BYTE_ARRAY"}, compression="zstd"
    ),
    "compressed texts": lambda path: parquet(path, ["x" * 1_000_000] * 60, use_dictionary=False, compression="zstd"),
    "compressed numbers": lambda path: parquet(path, np.zeros(8_000_000, np.int8)),
    "one list": lambda path: parquet(
        path, pa.ListArray.from_arrays(pa.array([0, 8_000_000]), pa.array(np.zeros(8_000_000, np.int8)))
    ),
    "one text in lists": lambda path: parquet(
        path, pa.ListArray.from_arrays(pa.array([0, 3_000]), pa.array(["x" * 30_000] * 3_000)).cast(pa.list_(pa.string()))
    ),
}


@pytest.mark.parametrize("name", PARQUETS)
def test_parquet(name, tmp_path, refused, little):
    path = PARQUETS[name](tmp_path / "a.parquet")
    assert path.stat().st_size < 1_000_000
    refused(read_parquet, path, "unpacks to")


def stream(path, array):
    batch = pa.record_batch([array], ["x"])
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, batch.schema) as writer:
        writer.write_batch(batch)
    return path


def feather(path, array, **options):
    pyarrow.feather.write_feather(pa.table({"x": array}), path, **options)
    return path


ARROWS = {
    "compressed texts": lambda path: feather(path, ["x" * 1_000_000] * 60, compression="zstd"),
    "one text in a million rows": lambda path: feather(path, repeated("x" * 30_000, 1_000_000), compression="zstd"),
    "rows of nothing": lambda path: stream(path, pa.Array.from_buffers(pa.null(), 2**31 - 1, [None])),
    "a long run": lambda path: stream(path, pa.RunEndEncodedArray.from_arrays(pa.array([2**31 - 1]), pa.array(["x"]))),
    "views of one text": lambda path: stream(
        path,
        pa.Array.from_buffers(
            pa.string_view(),
            20_000,
            [None, pa.py_buffer(struct.pack("<i4sii", 100_000, b"xxxx", 0, 0) * 20_000), pa.py_buffer(b"x" * 100_000)],
        ),
    ),
}


@pytest.mark.parametrize("name", ARROWS)
def test_arrow(name, tmp_path, refused, little):
    path = ARROWS[name](tmp_path / "a.arrow")
    assert path.stat().st_size < 1_000_000
    refused(read_arrow, path, "unpacks to")


def test_hdf5_that_unpacks_to_much(tmp_path, refused):
    for name, options in {
        "rows that were never written": {"shape": (10**9, 3), "dtype": "f8", "chunks": (1000, 3)},
        "a part of 3 GB": {"shape": (1, 3), "dtype": "f8", "chunks": (10**8, 3), "maxshape": (None, 3)},
    }.items():
        path = tmp_path / f"{name}.h5"
        with h5py.File(path, "w") as file:
            file.create_dataset("x", compression="gzip", **options)
        refused(lambda path: Hdf5Rows(path, "x", (None, 3)).take(np.arange(1)), path, "unpacks to")


@pytest.fixture
def elsewhere(tmp_path):
    """Another HDF5 file, and numbers in a file of no format."""
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["x"] = np.arange(6.0).reshape(2, 3)
    (tmp_path / "secret.bin").write_bytes(np.arange(6.0).tobytes())
    return tmp_path


def virtual(file, folder):
    layout = h5py.VirtualLayout((2, 3), "f8")
    layout[:] = h5py.VirtualSource(folder / "secret.h5", "x", (2, 3))
    file.create_virtual_dataset("x", layout)


def linked(file, folder):
    file["x"] = h5py.ExternalLink(str(folder / "secret.h5"), "/x")


REFERRING = {
    "external storage": lambda file, folder: file.create_dataset(
        "x", (2, 3), "f8", external=[(str(folder / "secret.bin"), 0, 48)]
    ),
    "a virtual data set": virtual,
    "an external link": linked,
    "an external link in a group": lambda file, folder: linked(file.create_group("g"), folder),
    "a link through an external one": lambda file, folder: (linked(file, folder), file.update({"y": h5py.SoftLink("/x")})),
}


@pytest.mark.parametrize("name", REFERRING)
def test_hdf5_that_refers_to_other_files(name, elsewhere, refused):
    path = elsewhere / "a.h5"
    with h5py.File(path, "w") as file:
        file["own"] = np.zeros((2, 3))
        REFERRING[name](file, elsewhere)
    for wanted in ("x", "own"):
        refused(lambda path, wanted=wanted: Hdf5Rows(path, wanted, (None, 3)), path, "expected data in this file, got")


def test_hdf5_may_refer_to_itself(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["g/x"] = np.arange(6.0).reshape(2, 3)
        file["y"] = h5py.SoftLink("/g/x")
        file["g/back"] = file["/"]
    assert Hdf5Rows(path, "y", (None, 3)).take(np.array([1])).tolist() == [[3, 4, 5]]


def test_a_user_file_that_changes_is_searched_again(elsewhere, refused):
    path = elsewhere / "a.h5"
    with h5py.File(path, "w") as file:
        file["x"] = np.zeros((2, 3))
    assert len(Hdf5Rows(path, "x", (None, 3))) == 2
    with h5py.File(path, "a") as file:
        file["y"] = h5py.ExternalLink(str(elsewhere / "secret.h5"), "/x")
    refused(lambda path: Hdf5Rows(path, "y", (None, 3)), path, "a link to another one")


def idx(*shape, content=b""):
    return struct.pack(f">{1 + len(shape)}I", 0x0800 + len(shape), *shape) + content


def digits(labels):
    return lambda images: read_digits(images, labels)


@pytest.fixture
def labels(tmp_path):
    (tmp_path / "labels.gz").write_bytes(gzip.compress(idx(3, content=b"abc")))
    return tmp_path / "labels.gz"


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(idx(2**32 - 1, 28, 28)),
        gzip.compress(idx(2**32 - 1, 2**32 - 1, 2**32 - 1)),
        gzip.compress(idx(3, 28, 28, content=bytes(300_000_000)), 9),
        gzip.compress(idx(80_000, 28, 28, content=bytes(80_000 * 784)), 1),
    ],
    ids=["a promise of 3 TB", "a promise beyond any memory", "more than its head says", "what unpacks to much"],
)
def test_gzip(content, labels, tmp_path, refused, little):
    path = tmp_path / "images.gz"
    path.write_bytes(content)
    refused(digits(labels), path)


JSON = {
    "brackets": "[" * 100_000,
    "closed brackets": "[" * 100_000 + "]" * 100_000,
    "braces": '{"a":' * 100_000,
    "a number of 5000 digits": '{"a": ' + "9" * 5000 + "}",
}


@pytest.mark.parametrize("name", JSON)
def test_json(name, tmp_path, refused):
    path = tmp_path / "a.json"
    path.write_text(JSON[name])
    refused(read_document, path)
    refused(lambda path: list(read_lines(path)), path)
    path.write_text(f'{{"items": [{JSON[name]}]}}')
    refused(lambda path: list(read_items(path, "items")), path)


def test_a_list_of_json_is_found_behind_much_else_and_an_object_in_it_is_bounded(tmp_path, refused):
    path, much = tmp_path / "a.json", "x" * 30_000_000
    path.write_text(json.dumps({"much": much, "items": [{"a": 1}]}))
    assert [item for _, item in read_items(path, "items")] == [{"a": 1}]
    path.write_text(json.dumps({"items": [{"a": 2 * much}]}))
    refused(lambda path: list(read_items(path, "items")), path, "expected an object in JSON")


def test_the_limit_is_a_multiple_of_the_size_or_a_setting(monkeypatch, tmp_path):
    assert unpacked_limit(100) == LEAST
    assert unpacked_limit(10**8) == RATIO * 10**8
    path = tmp_path / "a.npz"
    np.savez_compressed(path, x=np.zeros(1_000_000))
    monkeypatch.setenv(VARIABLE, "0.001")
    with pytest.raises(DataError, match=r"unpacks to at most 1 MB, got one of .* kB that unpacks to 8 MB"):
        read_arrays(path)
    monkeypatch.setenv(VARIABLE, "0.1")
    assert read_arrays(path)["x"].shape == (1_000_000,)
    for wrong in ("", "much", "-1", "nan", "inf", "1e30"):
        monkeypatch.setenv(VARIABLE, wrong)
        with pytest.raises(ConfigError, match=f"{VARIABLE}: expected the gigabytes"):
            read_arrays(path)


def test_what_is_whole_comes_back(tmp_path):
    """Kinds of arrays, tensors and tables that were read before are read as before."""
    arrays = {
        "a": np.arange(6).reshape(2, 3),
        "b": np.asfortranarray(np.eye(3)),
        "c": np.array(["x", "yz"]),
        "d": np.empty((0, 3)),
    }
    arrays |= {"e": np.array(3.5), "f": np.array([True, False]), "g": np.arange(3, dtype=">i2"), "h": np.zeros((2, 0))}
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "a.npz", **arrays)
        found = read_arrays(tmp_path / "a.npz")
        for name, wanted in arrays.items():
            assert found[name].dtype == wanted.dtype
            np.testing.assert_array_equal(found[name], wanted)
    np.savez(tmp_path / "b.npz", x=np.arange(3), metadata=np.array({"a": 1}))
    assert read_arrays(tmp_path / "b.npz", without=["metadata"])["x"].tolist() == [0, 1, 2]
    with pytest.raises(DataError, match=r"metadata\.npy: it holds Python objects, which are not read"):
        read_arrays(tmp_path / "b.npz")
    for name, wanted in arrays.items():
        np.save(tmp_path / f"{name}.npy", wanted)
        np.testing.assert_array_equal(map_array(tmp_path / f"{name}.npy")[1], wanted)
    (tmp_path / "old.npy").write_bytes(numpy_array("(2L,)", content=np.arange(2.0).tobytes()))
    assert map_array(tmp_path / "old.npy")[1].tolist() == [0, 1]


def test_tables_come_back(tmp_path):
    rows = 3000
    table = pa.table(
        {
            "text": [f"word {row % 7}" for row in range(rows)],
            "label": pa.array(["a", "b", None] * (rows // 3)).dictionary_encode(),
            "number": np.arange(rows, dtype=np.float32),
            "image": pa.array([{"bytes": b"abc" * (row % 5), "path": None} for row in range(rows)]),
            "vector": pa.array([[float(row), 1.0] for row in range(rows)]),
            "pair": pa.array([[row, 1] for row in range(rows)], pa.list_(pa.int32(), 2)),
        }
    )
    for options in ({}, {"use_dictionary": False, "data_page_version": "2.0"}, {"compression": "zstd", "row_group_size": 700}):
        pq.write_table(table, tmp_path / "a.parquet", **options)
        assert read_parquet(tmp_path / "a.parquet").to_pylist() == table.to_pylist()
    options = {"use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY"}}
    pq.write_table(table.select(["text", "number"]), tmp_path / "a.parquet", **options)
    assert read_parquet(tmp_path / "a.parquet").to_pylist() == table.select(["text", "number"]).to_pylist()
    for options in ({"compression": "lz4"}, {"compression": "zstd", "chunksize": 500}, {"compression": "uncompressed"}):
        pyarrow.feather.write_feather(table, tmp_path / "a.feather", **options)
        assert read_arrow(tmp_path / "a.feather").to_pylist() == table.to_pylist()
    buffer = io.BytesIO()
    with pa.ipc.new_stream(buffer, table.schema) as writer:
        writer.write_table(table, max_chunksize=1000)
    (tmp_path / "a.arrow").write_bytes(buffer.getvalue())
    assert read_arrow(tmp_path / "a.arrow").to_pylist() == table.to_pylist()
