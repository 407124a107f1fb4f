"""Pickles and files of tensors of a few bytes that stand for much: refused in one sentence, before anything is made."""

import pickle
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from molyneux.core import DataError, StoreError
from molyneux.data.formats.restricted_pickle import read_pickle
from molyneux.data.formats.torch_files import read_tensors

TYPE = b"cnumpy\ndtype\n(U\x02%bK\x00K\x01tR(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
ARRAY = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tU\x01btR"
F8 = TYPE % b"f8"
LONG_TEXT = TYPE.replace(b"U\x02%b", b"U\x0bS2000000000")
MANY = b"".join(b"J" + struct.pack("<i", number) for number in range(50_000))


def shared(count, begin=b"]q\x00", level=b"](" + 10 * b"h%c" + b"eq%c"):
    """A pickle of lists of which each holds the one before ten times."""
    return b"\x80\x02" + begin + b"".join(level % (*(number,) * 10, number + 1) for number in range(count)) + b"."


def growing(made, count=50_000, text=500_000):
    """A pickle that makes a copy of one long text again and again."""
    return b"\x80\x02X" + struct.pack("<I", text) + b"x" * text + b"q\x000" + b"](" + made * count + b"e."


DOUBLED = b"".join(b"h%ch%c\x86q%c" % (number, number, number + 1) for number in range(60))
"""Pairs of the one before, twice."""

PAIRS = b"".join(b"(h%ch%ctq%c" % (number, number, number + 1) for number in range(60))
NESTED = b"".join(
    b"cnumpy\ndtype\nU\x02V8\x85R(K\x03U\x01|N(U\x01aU\x01bt}(U\x01ah%cK\x00\x86U\x01bh%cK\x00\x86uK\x08K\x01K\x00tbq%c"
    % (number, number, number + 1)
    for number in range(60)
)
"""Types of records of the one before, twice."""


def array(shape, kind=F8, content=b"C\x08" + b"x" * 8):
    return ARRAY + b"(K\x01" + shape + kind + b"I00\n" + content + b"tb"


PICKLES = {
    "shared lists": shared(9),
    "shared lists, deeper": shared(90),
    "shared tuples": b"\x80\x02)q\x00" + PAIRS + b".",
    "a key of shared tuples": b"\x80\x02}(K\x01q\x00" + DOUBLED + b"K\x01u.",
    "a member of shared tuples": b"\x80\x04\x8f(K\x01q\x00" + DOUBLED + b"\x90.",
    "a list in itself": b"\x80\x02]q\x00h\x00a.",
    "a dictionary in itself": b"\x80\x02}q\x00K\x01h\x00s.",
    "a deep tuple": b"\x80\x02)" + b"\x85" * 200_000 + b".",
    "a deep list": b"\x80\x02" + b"]" * 300_000 + b"a" * 299_999 + b".",
    "a deep key": b"\x80\x02})" + b"\x85" * 200_000 + b"K\x01s.",
    "a deep member": b"\x80\x04\x8f()" + b"\x85" * 200_000 + b"\x90.",
    "a text of 2^62 bytes": b"\x80\x04\x8d" + struct.pack("<Q", 2**62) + b"x.",
    "a text of 4 GB": b"\x80\x02X" + struct.pack("<I", 2**32 - 1) + b"x.",
    "bytes of 2^62": b"\x80\x04\x8e" + struct.pack("<Q", 2**62) + b"x.",
    "changing bytes of 2^62": b"\x80\x05\x96" + struct.pack("<Q", 2**62) + b"x.",
    "bytes of 2^40 in a dictionary": b"\x80\x04}K\x01\x8e" + struct.pack("<Q", 2**40) + b"xs.",
    "an integer of 2 GB": b"\x80\x02\x8b" + struct.pack("<i", 2**31 - 1) + b"1.",
    "an integer of 10^6 digits": b"\x80\x02L" + b"9" * 1_000_000 + b"L\n.",
    "an integer of 10^6 bytes": b"\x80\x02\x8b" + struct.pack("<i", 10**6) + b"\x01" * 10**6 + b".",
    "a type of 2 GB": b"\x80\x02" + array(b"K\x05\x85", LONG_TEXT, b"](K\x01K\x02K\x03K\x04K\x05e") + b".",
    "an array of 10^20 values": b"\x80\x02" + array(b"\x8a\x0a" + (10**20).to_bytes(10, "little") + b"\x85") + b".",
    "an array of a negative size": b"\x80\x02" + array(b"J\xff\xff\xff\xff\x85") + b".",
    "an array whose shape is text": b"\x80\x02" + array(b"U\x02abJ\x00\xca\x9a\x3b\x86") + b".",
    "an array of so many bytes": b"\x80\x02" + array(b"K\x01\x85", content=b"J\xff\xff\xff\x7f") + b".",
    "types in types": b"\x80\x02cnumpy\ndtype\nU\x02f8\x85Rq\x00" + NESTED + b"0" + array(b"K\x01\x85", b"h\x3c") + b".",
    "copies of a text as bytes": growing(b"c_codecs\nencode\nh\x00\x85R"),
    "copies of a list as sets": b"\x80\x02](" + MANY + b"eq\x000](" + b"c__builtin__\nset\nh\x00\x85R" * 5000 + b"e.",
    "copies of a text in arrays": growing(array(b"J" + struct.pack("<i", 62_500) + b"\x85", content=b"h\x00"), 5_000),
    "a name of a megabyte": b"\x80\x02c" + b"a" * 1_000_000 + b"\nb\n.",
    "another object, of shared tuples": b"\x80\x02(K\x01q\x00" + DOUBLED + b"Q.",
    "a type named by shared tuples": b"\x80\x02cnumpy\ndtype\n(K\x01q\x00" + DOUBLED + b"tR.",
}


WHY = {
    "shared": "it stands for more than 1,000,000 values",
    "copies": r"it copies more than the .*B that it has",
    "a deep": "more than 100",
    "a text": "more bytes are promised, which are not there",
    "bytes": "more bytes are promised, which are not there",
    "types": "a type of more than 1000 fields",
}


@pytest.mark.parametrize("name", PICKLES)
def test_pickles(name, tmp_path, refused):
    path = tmp_path / "a.pkl"
    path.write_bytes(PICKLES[name])
    refused(read_pickle, path, next((why for begin, why in WHY.items() if name.startswith(begin)), "a.pkl: expected a"))


def test_the_pickle_of_a_few_bytes_would_have_stood_for_a_thousand_million_values(tmp_path):
    assert len(PICKLES["shared lists"]) < 300
    assert str(pickle.loads(shared(2))).count("[") == 111


def tensor(path, change):
    """A file of a tensor whose pickle is changed."""
    torch.save({"x": torch.arange(6.0).reshape(2, 3)}, path)
    with zipfile.ZipFile(path) as old:
        files = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(path, "w") as new:
        for name, content in files.items():
            new.writestr(name, change(content) if name.endswith("data.pkl") else content)
    return path


SHAPE = b"K\x02K\x03\x86"


def long_shape(rows):
    return b"\x8a\x06" + rows.to_bytes(6, "little") + b"K\x03\x86"


TENSORS = {
    "a shape of 10^12": lambda raw: raw.replace(SHAPE, long_shape(10**12)),
    "one value 10^11 times": lambda raw: raw.replace(SHAPE, long_shape(10**11)).replace(b"K\x03K\x01\x86", b"K\x00K\x00\x86"),
    "more numbers than there are": lambda raw: raw.replace(b"K\x06", b"J\xff\xff\xff\x7f"),
    "a place behind the end": lambda raw: raw.replace(b"QK\x00K\x02", b"QJ\xff\xff\xff\x7fK\x02"),
    "shared lists": lambda raw: shared(9),
    "bytes by their number": lambda raw: b"\x80\x02c__builtin__\nbytearray\nJ\xff\xff\xff\x7f\x85R.",
}


@pytest.mark.parametrize("name", TENSORS)
def test_tensors(name, tmp_path, refused):
    path = tensor(tmp_path / "a.pt", lambda raw: raw)
    assert read_tensors(path, "a tensor")["x"].tolist() == [[0, 1, 2], [3, 4, 5]]
    path = tensor(path, TENSORS[name])
    refused(lambda file: read_tensors(file, "a tensor"), path)


def test_tensors_in_compressed_archives_are_not_unpacked(tmp_path, refused):
    torch.save(torch.zeros(50_000_000, dtype=torch.uint8), tmp_path / "whole.pt")
    with zipfile.ZipFile(tmp_path / "whole.pt") as old, zipfile.ZipFile(tmp_path / "a.pt", "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    refused(lambda file: read_tensors(file, "a tensor"), tmp_path / "a.pt", "compressed")


KEPT = {
    "float": torch.arange(6.0).reshape(2, 3),
    "strided": torch.arange(12.0).reshape(3, 4).T[1:3],
    "expanded": torch.tensor([1.0, 2.0]).expand(3, 2),
    "empty": torch.empty(0, 3),
    "number": torch.tensor(2.5),
    "bool": torch.tensor([True, False]),
    "bfloat16": torch.tensor([1.5, -2.0], dtype=torch.bfloat16),
    "parameter": torch.nn.Parameter(torch.ones(2)),
    "byte": torch.arange(5, dtype=torch.uint8),
    "array": np.arange(4.0).reshape(2, 2),
    "scalar": np.float32(0.5),
    "size": torch.Size([2, 3]),
    "rest": [1, "a", None, (2.5, {"k": b"v"})],
}


@pytest.mark.parametrize("since", [True, False])
def test_tensors_come_back_and_share_what_they_shared(since, tmp_path):
    path, whole = tmp_path / "a.pt", torch.arange(4.0)
    torch.save({**KEPT, "first": whole[:2], "last": whole[2:]}, path, _use_new_zipfile_serialization=since)
    found = read_tensors(path, "tensors")
    for name, wanted in KEPT.items():
        if isinstance(wanted, torch.Tensor):
            assert found[name].dtype == wanted.dtype
            assert torch.equal(found[name], wanted.detach())
        elif isinstance(wanted, np.ndarray):
            np.testing.assert_array_equal(found[name], wanted)
        else:
            assert found[name] == wanted
    assert found["last"].tolist() == [2, 3]
    if not since:
        with pytest.raises(DataError, match=r"torch\.save wrote since version 1\.6"):
            read_tensors(path, "tensors", mapped_only=True)


def test_tensors_of_the_other_order_of_bytes_are_refused(tmp_path, refused):
    torch.save(torch.ones(2), tmp_path / "a.pt")
    with zipfile.ZipFile(tmp_path / "a.pt") as old, zipfile.ZipFile(tmp_path / "b.pt", "w") as new:
        for name in old.namelist():
            new.writestr(name, b"big" if name.endswith("byteorder") else old.read(name))
    refused(lambda path: read_tensors(path, "tensors"), tmp_path / "b.pt", "highest bytes")


def test_a_file_of_tensors_that_names_code_is_not_read(tmp_path):
    torch.save({"x": Path("a")}, tmp_path / "a.pt")
    with pytest.raises(StoreError, match=r"names pathlib.*it is not read"):
        read_tensors(tmp_path / "a.pt", "tensors")
