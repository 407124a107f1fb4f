import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from molyneux.core import ConflictError, CorruptFileError, StoreError, store
from molyneux.core.tooling.documents import differences


def test_a_failed_write_leaves_nothing(tmp_path):
    path = tmp_path / "file.txt"
    store.write_text(path, "old")
    with pytest.raises(KeyError), store.writing(path) as stream:
        stream.write(b"half")
        raise KeyError
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["file.txt"]


def test_where_a_folder_is_needed_a_file_stands(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="a file stands where a folder is needed"):
        store.write_text(tmp_path / "file" / "inner.txt", "x")


def test_a_full_disk_is_one_clear_sentence(tmp_path):
    """A limit on the size of files stands for the full disk."""
    code = (
        "import resource, signal, sys, pathlib\n"
        "from molyneux.core import store, StoreError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n"
        "    store.write_bytes(pathlib.Path(sys.argv[1]) / 'big', bytes(5000))\n"
        "except StoreError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert "cannot write" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_truncated_array_is_named(tmp_path):
    path = tmp_path / "a.npy"
    store.write_array(path, np.arange(1000))
    np.testing.assert_array_equal(store.read_array(path), np.arange(1000))
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(CorruptFileError, match=r"a\.npy is damaged"):
        store.read_array(path)


def test_objects_are_not_pickled(tmp_path):
    with pytest.raises(ValueError, match="pickle"):
        store.write_array(tmp_path / "a.npy", np.array([{}], dtype=object))
    assert list(tmp_path.iterdir()) == []


def test_stage_is_complete_only_after_finish(tmp_path):
    stage = store.StageFolder(tmp_path / "samples", {"seed": 1})
    assert not stage.complete
    store.write_array(stage.folder / "a.npy", np.arange(3))
    assert not stage.complete
    stage.finish({"n": 3})
    assert stage.complete
    assert stage.verify() == {"n": 3}


def test_stage_of_other_settings_is_refused_with_the_difference(tmp_path):
    store.StageFolder(tmp_path, {"seed": 1, "data": {"level": 2}}).finish()
    with pytest.raises(ConflictError, match=r"data\.level: 2 -> 3"):
        _ = store.StageFolder(tmp_path, {"seed": 1, "data": {"level": 3}}).complete


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b[:-1] + bytes([b[-1] ^ 1]), None])
def test_altered_file_is_named(tmp_path, damage):
    stage = store.StageFolder(tmp_path, {})
    store.write_array(tmp_path / "a.npy", np.arange(100))
    stage.finish()
    if damage is None:
        (tmp_path / "a.npy").unlink()
    else:
        (tmp_path / "a.npy").write_bytes(damage((tmp_path / "a.npy").read_bytes()))
    with pytest.raises(CorruptFileError, match=r"a\.npy"):
        stage.verify()


def test_clear_removes_only_unfinished_stages(tmp_path):
    stage = store.StageFolder(tmp_path / "s", {})
    store.write_text(tmp_path / "s" / "half", "x")
    stage.clear()
    assert not (tmp_path / "s").exists()
    stage.finish()
    stage.clear()
    assert stage.complete


def test_what_other_settings_made_is_not_current_and_can_be_cleared(tmp_path):
    first, second = store.StageFolder(tmp_path / "s", {"seed": 1}), store.StageFolder(tmp_path / "s", {"seed": 2})
    assert not first.current
    store.write_text(tmp_path / "s" / "x.txt", "x")
    first.finish()
    assert first.current
    assert not second.current
    first.clear()
    assert first.current
    second.clear()
    assert not (tmp_path / "s").exists()


def test_lock_keeps_a_second_process_out(tmp_path):
    code = f"from molyneux.core import store; from pathlib import Path\nwith store.locked(Path({str(tmp_path)!r})): pass"
    with store.locked(tmp_path):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ)
        assert "ConflictError" in done.stderr
        assert "another process is working" in done.stderr
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("there", [False, True])
def test_a_failure_before_anything_is_written_leaves_no_lock(tmp_path, there):
    folder = tmp_path / "runs" / "study"
    if there:
        folder.mkdir(parents=True)
    with pytest.raises(KeyError), store.locked(folder):
        raise KeyError
    assert [path.name for path in tmp_path.rglob("*")] == (["runs", "study"] if there else [])


def test_room_for_what_is_written_is_asked_first(tmp_path):
    store.require_space(tmp_path / "new" / "file", 1)
    with pytest.raises(StoreError, match=r"file: it needs 1,000,000,000,000,000,000 bytes and the disk has [\d,]+ free: ask for"):
        store.require_space(tmp_path / "new" / "file", 10**18)


def test_fingerprint_does_not_depend_on_key_order():
    assert store.fingerprint({"a": 1, "b": [1, 2]}) == store.fingerprint({"b": [1, 2], "a": 1})
    assert store.fingerprint({"a": 1}) != store.fingerprint({"a": 2})


def test_damaged_json_is_named(tmp_path):
    (tmp_path / "x.json").write_text(json.dumps({"a": 1})[:-2])
    with pytest.raises(CorruptFileError, match=r"x\.json is damaged"):
        store.read_json(tmp_path / "x.json")
    with pytest.raises(StoreError, match="not there"):
        store.read_lines(tmp_path / "y.jsonl")


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"files": {}}', '{"key": 1, "settings": {}, "files": {}, "details": {}}'])
def test_a_record_that_is_none_is_named(tmp_path, content):
    stage = store.StageFolder(tmp_path / "stage", {"seed": 1}, remedy="train again")
    (tmp_path / "stage").mkdir()
    (tmp_path / "stage" / "stage.json").write_text(content)
    for look in (stage.verify, lambda: stage.complete, lambda: stage.current):
        with pytest.raises(CorruptFileError, match=r"stage\.json is damaged.*: train again"):
            look()
    with pytest.raises(CorruptFileError, match=r"stage\.json is damaged.*: restore it from a copy, or delete .*stage to make it"):
        store.made_by(tmp_path / "stage")


def test_every_bit_of_a_record_counts(tmp_path):
    stage = store.StageFolder(tmp_path, {"name": "Größe", "rate": 1e-3})
    store.write_text(tmp_path / "a.txt", "a")
    stage.finish({"n": 3})
    path = tmp_path / "stage.json"
    content = path.read_bytes()
    for place in range(0, 8 * len(content), 5):  # a bit of every byte
        altered = bytearray(content)
        altered[place // 8] ^= 1 << place % 8
        path.write_bytes(altered)
        with pytest.raises(CorruptFileError, match=r"stage\.json"):
            store.read_stage(tmp_path)


def test_a_file_is_read_once_until_it_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "_SETTLED", 0)
    stage = store.StageFolder(tmp_path, {})
    for name in ("a", "b"):
        store.write_text(tmp_path / name, name)
    stage.finish()
    read = []
    original = store.checksum
    monkeypatch.setattr(store, "checksum", lambda path: read.append(path.name) or original(path))
    stage.verify(["b", "c"])
    stage.verify()
    stage.verify()
    assert read == ["b", "a"]
    (tmp_path / "b").write_text("c")
    with pytest.raises(CorruptFileError, match="b was truncated or altered"):
        stage.verify()
    stage.verify(["a"])
    assert read == ["b", "a", "b"]


def test_what_was_just_written_is_read_again(tmp_path):
    """The time stamps of some file systems do not tell apart what was written within the same second."""
    stage = store.StageFolder(tmp_path, {})
    store.write_text(tmp_path / "a", "a")
    stage.finish()
    stage.verify()
    times = (tmp_path / "a").stat()
    (tmp_path / "a").write_text("b")
    os.utime(tmp_path / "a", ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(CorruptFileError, match="a was truncated or altered"):
        stage.verify()


def test_a_place_that_cannot_be_looked_at(tmp_path):
    with pytest.raises(StoreError, match=r"cannot look at .*: file name too long: name another place"):
        store.is_file(tmp_path / ("x" * 300))


def test_checksum_of_a_file_and_of_its_content(tmp_path):
    content = np.random.default_rng(0).bytes(2 * store.BLOCK + 5)
    (tmp_path / "big").write_bytes(content)
    blocks = [hashlib.sha256(content[start : start + store.BLOCK]).digest() for start in range(0, len(content), store.BLOCK)]
    expected = hashlib.sha256(b"".join(blocks)).hexdigest()
    assert store.checksum(tmp_path / "big") == expected
    assert store.content_checksum(content) == expected


def test_what_only_one_record_has_is_a_difference():
    assert differences({"a": 1}, {"a": 1, "b": None}) == "b: not there -> None"
    assert differences({"a": {"b": 2}}, {}) == "a: {'b': 2} -> not there"


@pytest.mark.parametrize("option", ["--out", "--results"])
def test_a_folder_that_cannot_be_held_is_chosen_anew_with_its_option(tmp_path, option):
    (tmp_path / "file").write_text("mine")
    with (
        pytest.raises(StoreError, match=f"a file stands where a folder is needed: choose another folder with {option}$"),
        store.locked(tmp_path / "file", option),
    ):
        pass
    assert (tmp_path / "file").read_text() == "mine"
