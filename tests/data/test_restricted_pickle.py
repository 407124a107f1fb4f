"""Pickles are read without running code: arrays and plain containers of every protocol, and nothing else."""

import os
import pickle
import re
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

from molyneux.core import DataError, StoreError
from molyneux.data.formats.restricted_pickle import read_pickle

DIRECTORY = np.random.default_rng(0)
CONTENT = {
    "large": DIRECTORY.normal(size=(300, 50, 9)),
    "fortran": np.asfortranarray(DIRECTORY.normal(size=(400, 90)).astype(np.float32)),
    "big endian": np.arange(5, dtype=">i4"),
    "empty": np.empty((0, 3)),
    "words": np.array(["abc", "d"]),
    "objects": np.array(["x", [1, 2], None], dtype=object),
    "scalar": np.float32(3.5),
    "plain": ["a", b"c", 1, 2.5, None, True, (1, 2), {1, 2}, 2**70, OrderedDict(a=1)],
    "bytes": b"x" * 100_000,
}


def same(found, wanted):
    if isinstance(wanted, np.ndarray):
        assert found.dtype == wanted.dtype
        assert found.tolist() == wanted.tolist()
    else:
        assert found == wanted


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_arrays_and_containers_come_back(protocol, tmp_path):
    path = tmp_path / "content.pkl"
    path.write_bytes(pickle.dumps(CONTENT, protocol))
    _, found = read_pickle(path)
    assert found.keys() == CONTENT.keys()
    for name, wanted in CONTENT.items():
        same(found[name], wanted)


@pytest.mark.parametrize("old", [b"numpy.core.multiarray", b"numpy._core.multiarray"])
def test_old_and_new_names_of_the_modules_of_numpy(old, tmp_path):
    raw = pickle.dumps(CONTENT["large"], 2)
    path = tmp_path / "content.pkl"
    path.write_bytes(raw.replace(b"numpy._core.multiarray", old).replace(b"numpy.core.multiarray", old))
    same(read_pickle(path)[1], CONTENT["large"])


def test_strings_of_python_2_are_arrays_that_stay_in_the_file(tmp_path):
    """A pickle as Python 2 wrote it: the content of an array as BINSTRING, and names of the modules of that time."""
    values = DIRECTORY.normal(size=(100, 200))
    kind = b"cnumpy\ndtype\n(U\x02f8K\x00K\x01tR(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    content = b"T" + len(values.tobytes()).to_bytes(4, "little") + values.tobytes()
    made = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tU\x01btR"
    path = tmp_path / "old.pkl"
    path.write_bytes(b"\x80\x02}U\x01x" + made + b"(K\x01(KdK\xc8t" + kind + b"I00\n" + content + b"tbs.")
    mapped, found = read_pickle(path)
    np.testing.assert_array_equal(found["x"], values)
    assert np.shares_memory(found["x"], np.frombuffer(mapped._map, np.uint8))


def test_large_arrays_stay_in_the_file(tmp_path):
    path = tmp_path / "content.pkl"
    path.write_bytes(pickle.dumps(CONTENT, 4))
    mapped, found = read_pickle(path)
    whole = np.frombuffer(mapped._map, np.uint8)
    assert np.shares_memory(found["large"], whole)
    assert not found["large"].flags.writeable
    assert not np.shares_memory(found["words"], whole)


class Evil:
    def __init__(self, call, *arguments):
        self.call, self.arguments = call, arguments

    def __reduce__(self):
        return self.call, self.arguments


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(("call", "name"), [(os.system, "posix.system"), (eval, "eval"), (Path, "pathlib"), (getattr, "getattr")])
def test_code_is_refused_and_named(protocol, call, name, tmp_path):
    path, mark = tmp_path / "evil.pkl", tmp_path / "mark"
    arguments = (f"touch {mark}",) if call is os.system else ("1",)
    path.write_bytes(pickle.dumps({"data": np.arange(3), "more": Evil(call, *arguments)}, protocol))
    with pytest.raises(
        StoreError, match=f"{re.escape(str(path))}: .* names .*{re.escape(name)}.*: it is not read, for a pickle can run"
    ):
        read_pickle(path)
    assert not mark.exists()


@pytest.mark.parametrize(
    "raw",
    [
        b"\x80\x02cnumpy\ndtype\n}U\x01xK\x01sb.",  # attributes for a class of ours
        b"\x80\x02]}U\x08__dict__}sb.",  # attributes for a list
        b"\x80\x02\x82\x01.",  # an extension
        b"\x80\x02U\x01xQ.",  # an object of another file
    ],
)
def test_other_ways_to_run_code_are_refused(raw, tmp_path):
    path = tmp_path / "evil.pkl"
    path.write_bytes(raw)
    with pytest.raises(StoreError, match="it is not read"):
        read_pickle(path)


def test_cut_and_foreign_files_are_refused(tmp_path):
    path, raw = tmp_path / "content.pkl", pickle.dumps(CONTENT, 4)
    for cut in (1, 1000, len(raw) // 2, len(raw) - 3):
        path.write_bytes(raw[:cut])
        with pytest.raises(DataError, match=re.escape(str(path))):
            read_pickle(path)
    path.write_bytes(b"")
    with pytest.raises(DataError, match="empty"):
        read_pickle(path)
    path.write_text("Not a pickle.")
    with pytest.raises(DataError, match=re.escape(str(path))):
        read_pickle(path)
    with pytest.raises(StoreError):
        read_pickle(tmp_path / "absent.pkl")


def test_shapes_that_do_not_fit_their_content_are_refused(tmp_path):
    path = tmp_path / "content.pkl"
    raw = pickle.dumps(np.arange(6, dtype=np.int64).reshape(2, 3), 2)
    path.write_bytes(raw.replace(b"K\x02K\x03\x86", b"K\x02K\x09\x86"))
    with pytest.raises(DataError, match="damaged"):
        read_pickle(path)
