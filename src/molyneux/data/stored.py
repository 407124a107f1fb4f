"""A source that reads stored samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from molyneux.core import Batch, CorruptFileError, Spec, SpecError, StoreError, store
from molyneux.data.dataset import check_positions
from molyneux.data.layout import Column, possible_columns, to_batch


class StoredSource:
    """Samples in the native format, memory-mapped: opening is instant and memory does not grow with their number.

    Args:
        folder: what `generate` wrote.
        verify: whether to compare every file with its checksum first, at about 1.5 GB/s. A process reads a file for this once:
            as long as its size and its times of change stay the same, opening it again costs a look at the folder (less than
            a millisecond), so every step that uses stored samples can afford to verify them.

    Raises:
        StoreError: the folder holds no samples, or they were not stored to the end.
        CorruptFileError: names the file that was truncated or altered since it was written.
    """

    def __init__(self, folder: Path, *, verify: bool = True) -> None:
        self.folder = Path(folder)
        if not store.is_file(self.folder / "stage.json"):
            raise StoreError(f"expected stored samples in {folder}, which has no stage.json: store them there first")
        if verify:
            store.verify(self.folder)
        record = store.read_stage(self.folder)
        try:
            self._spec = Spec.from_json(store.read_json(self.folder / "spec.json"))
            self._size, self._origin = int(record["details"]["size"]), record["settings"]["origin"]
            columns = possible_columns(self._spec)
            used = [column for column in columns if column.name.startswith("view.") or column.file in record["files"]]
            self._arrays = {column.name: self._open(column) for column in used}
        except (KeyError, TypeError, ValueError, AttributeError, SpecError) as error:
            raise CorruptFileError(
                f"the records in {folder} are damaged ({error}): restore them from a copy, or store the samples anew"
            ) from error

    @property
    def spec(self) -> Spec:
        """What a batch looks like."""
        return self._spec

    @property
    def origin(self) -> Mapping[str, Any]:
        """Everything the samples depend on; where the stored source could not say, the checksums of their files."""
        return self._origin or {"files": store.read_stage(self.folder)["files"]}

    def __len__(self) -> int:
        return self._size

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions.

        Raises:
            DataError: a position outside the source, or a value that is NaN, infinite or out of bounds.
        """
        rows = check_positions(indices, self._size)
        batch = to_batch({name: array.take(rows, axis=0) for name, array in self._arrays.items()}, self._spec)
        return batch.check_values(self._spec, rows)

    def __reduce__(self) -> tuple[Callable[[Path], StoredSource], tuple[Path]]:
        """Travel to other processes as a path, not as the content of the files."""
        return partial(StoredSource, verify=False), (self.folder,)

    def _open(self, column: Column) -> np.ndarray:
        path = self.folder / column.file
        array = store.read_array(path)
        expected = (self._size, *column.shape)
        if array.shape != expected or array.dtype != column.dtype:
            got = f"{array.dtype} {array.shape}"
            raise CorruptFileError(
                f"{path}: expected {column.dtype} {expected}, got {got}: restore it from a copy, or store the samples anew"
            )
        return array
