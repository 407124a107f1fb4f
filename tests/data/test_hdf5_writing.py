"""An HDF5 file that cannot be written to its end is told in a sentence, and nothing of it is left."""

import errno
from pathlib import Path

import pytest

from molyneux.core import ConflictError, StoreError
from molyneux.data.formats.hdf5_files import appearing_hdf5

pytest.importorskip("h5py")


def test_an_error_of_the_system_in_the_words_of_the_library(tmp_path: Path) -> None:
    words = f"Can't decrement id ref count (unable to extend file properly, errno = {errno.ENOSPC}, error message = 'no')"
    with pytest.raises(StoreError, match="the disk is full"), appearing_hdf5(tmp_path / "a.h5") as file:
        file["x"] = [1]
        raise RuntimeError(words)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(RuntimeError, match="another"), appearing_hdf5(tmp_path / "a.h5"):
        raise RuntimeError("another")


def test_a_whole_file_appears_and_is_never_replaced(tmp_path: Path) -> None:
    with appearing_hdf5(tmp_path / "a.h5") as file:
        file["x"] = [1]
        assert not (tmp_path / "a.h5").exists()
    with pytest.raises(ConflictError), appearing_hdf5(tmp_path / "a.h5"):
        pass
