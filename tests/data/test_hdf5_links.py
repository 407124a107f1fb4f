"""An HDF5 file is a plain file, and what it holds is its own: no device is read, nothing waits for a pipe, no link leads out."""

import os

import pytest

from molyneux.core import DataError, StoreError
from molyneux.data.formats.hdf5_files import open_hdf5

h5py = pytest.importorskip("h5py")


def test_a_device_and_a_pipe_are_no_hdf5_files(tmp_path):
    (tmp_path / "zero.h5").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.h5")
    for name, words in (("zero", "a device"), ("pipe", "a pipe")):
        with pytest.raises(StoreError, match=words), open_hdf5(tmp_path / f"{name}.h5"):
            pass


def _nothing(file):
    file["plain"] = [1.0]


def _many_in_each_other(file):
    group = file.id
    for _ in range(20_000):
        group = h5py.h5g.create(group, b"x")


def _circle(file):
    file.create_group("a/b")
    file["a/b/up"], file["a/b/top"], file["soft"] = file["a"], file["/"], h5py.SoftLink("/nowhere")


def _many_names_of_one(file):
    for number in range(1, 60):
        above = file.require_group(f"g{number - 1}")
        here = file.create_group(f"g{number}")
        for name in range(30):
            here[f"n{name}"] = above


def _virtual(file):
    layout = h5py.VirtualLayout((4,), "f4")
    layout[:] = h5py.VirtualSource("other.h5", "x", (4,))
    file.create_virtual_dataset("inner/v", layout)


@pytest.mark.parametrize("fill", [_nothing, _many_in_each_other, _circle, _many_names_of_one])
def test_groups_that_are_read(fill, tmp_path):
    with h5py.File(tmp_path / "a.h5", "w", libver="latest") as file:
        fill(file)
    with open_hdf5(tmp_path / "a.h5") as file:
        assert len(file)


@pytest.mark.parametrize(
    ("fill", "where"),
    [
        (lambda file: file.__setitem__("a/b/c", h5py.ExternalLink("/etc/passwd", "/")), "a/b/c"),
        (lambda file: file.create_dataset("a/e", (4,), "u1", external=[("/etc/passwd", 0, 4)]), "a/e"),
        (_virtual, "inner/v"),
    ],
)
def test_data_of_other_files_are_refused_by_their_name(fill, where, tmp_path):
    with h5py.File(tmp_path / "a.h5", "w", libver="latest") as file:
        fill(file)
    with pytest.raises(DataError, match=rf"a\.h5, {where}: expected data in this file"), open_hdf5(tmp_path / "a.h5"):
        pass
