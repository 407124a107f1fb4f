"""An HDF5 file is a plain file: no device is read, and nothing waits for a pipe."""

import os

import pytest

from molyneux.core import StoreError
from molyneux.data.hdf5_files import open_hdf5

pytest.importorskip("h5py")


def test_a_device_and_a_pipe_are_no_hdf5_files(tmp_path):
    (tmp_path / "zero.h5").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.h5")
    for name, words in (("zero", "a device"), ("pipe", "a pipe")):
        with pytest.raises(StoreError, match=words), open_hdf5(tmp_path / f"{name}.h5"):
            pass
