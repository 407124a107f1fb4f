"""Files of strangers: links, pipes, devices, sockets, names that lead outside, and sizes without end."""

import os
import socket
from pathlib import Path

import numpy as np
import pytest

from molyneux.core import CorruptFileError, StoreError, files, store

READERS = (store.read_json, store.read_lines, store.read_text, store.read_array, store.checksum, files.read_plain)


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/passwd", "", "a\0b", ".."])
def test_a_name_that_leads_outside_is_refused(tmp_path, name):
    with pytest.raises(StoreError, match="inside of"):
        files.inside(tmp_path, name)


def test_no_link_below_the_folder_is_followed_but_the_folder_may_be_one(tmp_path):
    real = tmp_path / "real"
    (real / "model").mkdir(parents=True)
    (real / "model" / "x").write_text("1")
    (tmp_path / "run").symlink_to(real)
    assert files.inside(tmp_path / "run", "model/x").read_text() == "1"
    (real / "file").symlink_to("/etc/passwd")
    (real / "folder").symlink_to(tmp_path)
    (real / "dangling").symlink_to(tmp_path / "nothing")
    for name in ("file", "folder/real/model/x", "dangling"):
        with pytest.raises(StoreError, match="got a link, which is not followed"):
            files.inside(tmp_path / "run", name)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("kind", "words"), [("pipe", "a pipe"), ("device", "a device"), ("socket", "a socket"), ("folder", "a folder")]
)
def test_only_plain_files_are_read_and_nothing_waits(tmp_path, reader, kind, words):
    path = tmp_path / "x"
    listener = socket.socket(socket.AF_UNIX)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "socket":
        listener.bind(str(path))
    else:
        path.mkdir()
    with listener, pytest.raises(StoreError, match=words):
        reader(path)


def test_the_size_of_what_is_read_is_bounded(tmp_path):
    path = tmp_path / "x.json"
    with path.open("wb") as stream:
        stream.truncate(files.MOST_TEXT + 1)  # a file with a hole, which takes no space
    with pytest.raises(StoreError, match="expected at most"):
        store.read_json(path)
    assert files.read_plain(Path("/proc/self/stat"))  # its size is told as 0


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "9" * 5000, "\ud800"])
def test_odd_json_is_damaged(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    for reader in (store.read_json, store.read_lines):
        with pytest.raises(CorruptFileError, match="is damaged"):
            reader(path)


def head(shape: str, kind: str = "'|u1'") -> bytes:
    text = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}"
    padded = text + " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded.encode()


@pytest.mark.parametrize(
    "content",
    [
        head("(10**23,)"),
        head("(99999999999999999999999,)"),
        head("(186000000000,)"),
        head("(2**62, 4)"),
        head("(-1,)"),
        head("(3,)", "'|S2000000000'"),
        head("(3,)", "'|O'"),
        head("(3,)", "[('a', '|O')]"),
        head("(" * 3000 + ")" * 3000),
        head("(3.5,)"),
        head("'x'"),
        head("(1,)", "5"),
        head("(1,)", "'zzz'"),
        b"PK\x03\x04" + bytes(200),
        b"\x80\x04.",
        b"",
    ],
)
def test_odd_heads_of_arrays_are_damaged(tmp_path, content):
    path = tmp_path / "x.npy"
    path.write_bytes(content)
    with pytest.raises(CorruptFileError, match="is damaged"):
        store.read_array(path)


@pytest.mark.parametrize("name", ["../outside", "/dev/zero", "link", "pipe"])
def test_a_record_that_names_something_else_is_refused(tmp_path, name):
    (tmp_path / "outside").write_text("secret")
    folder = tmp_path / "stage"
    folder.mkdir()
    (folder / "link").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe")
    record = {"key": "", "settings": {}, "files": {name: store.checksum(tmp_path / "outside")}, "details": {}}
    store.write_json(folder / "stage.json", {**record, "checksum": store.fingerprint(record)})
    with pytest.raises(StoreError, match="expected"):
        store.verify(folder)


@pytest.mark.parametrize("make", [lambda path: path.symlink_to("/etc/passwd"), os.mkfifo])
def test_a_stage_with_a_link_or_a_pipe_is_not_finished(tmp_path, make):
    stage = store.StageFolder(tmp_path / "stage", {})
    store.write_text(stage.folder / "x", "x")
    make(stage.folder / "y")
    with pytest.raises(StoreError, match="expected a plain file"):
        stage.finish()
    assert not stage.complete


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_files_have_the_permissions_of_new_files(tmp_path, mask):
    before = os.umask(mask)
    try:
        store.write_text(tmp_path / "x", "x")
    finally:
        os.umask(before)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o666 & ~mask


def test_lines_end_where_json_lines_end(tmp_path):
    records = [{"text": "one\u2028two\u0085three\x1cfour"}, {"text": "b"}]
    store.write_lines(tmp_path / "x", records)
    assert store.read_lines(tmp_path / "x") == records
    store.write_array(tmp_path / "a.npy", np.zeros((0, 3)))
    assert store.read_array(tmp_path / "a.npy").shape == (0, 3)


@pytest.mark.parametrize("kind", ["pipe", "dangling", "folder"])
def test_nothing_but_a_file_is_replaced(tmp_path, kind):
    path = tmp_path / "x"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(tmp_path / "nothing")
    before = path.lstat().st_ino
    with pytest.raises(StoreError, match="cannot write"):
        store.write_text(path, "x")
    assert path.lstat().st_ino == before
    assert [item.name for item in tmp_path.iterdir()] == ["x"]
