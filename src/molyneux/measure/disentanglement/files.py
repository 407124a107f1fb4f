"""Codes in the files of the text study: `index,dim1,...,dimD`, a row for each sentence of the test file, in its order."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from molyneux.core import DataError, store
from molyneux.measure.disentanglement.table import check_codes


def read_codes(path: Path) -> np.ndarray:
    """Codes from a file such as the text study has, (N, D) float64.

    Raises:
        StoreError: it cannot be read. DataError: another header, rows that are not numbered 0, 1, ..., or no finite numbers.
    """
    import pyarrow as pa
    from pyarrow import csv

    path = Path(path)
    try:
        table = csv.read_csv(path)
        names = table.column_names  # decoded when they are asked for
    except OSError as error:
        raise store.read_error(error, path) from error
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise DataError(f"{path}: expected a header and rows of numbers, separated by commas: {error}") from error
    expected = _header(table.num_columns - 1)
    if table.num_columns < 2 or names != expected:
        raise DataError(f"{path}: expected the header index,dim1,...,dimD, got {','.join(names)[:60]}")
    for name, column in zip(names, table.columns, strict=True):
        if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            raise DataError(f"{path}: expected numbers in the column {name}, got {column.type}")
    if not np.array_equal(table.column(0).to_numpy(), np.arange(table.num_rows)):
        raise DataError(f"{path}: expected rows numbered 0, 1, ... in the order of the sentences: sort them by index")
    try:
        columns = [column.to_numpy() for column in table.columns[1:]]
        return check_codes(np.stack(columns, 1))
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


def write_codes(path: Path, codes: np.ndarray) -> None:
    """Write codes (N, D) as `read_codes` reads them, to the last bit; the file is there in whole or not at all.

    Raises:
        DataError: not such codes. StoreError: it cannot be written.
    """
    import pyarrow as pa
    from pyarrow import csv

    checked = check_codes(codes)
    columns = [np.arange(len(checked)), *np.ascontiguousarray(checked.T)]
    table = pa.table(columns, names=_header(checked.shape[1]))
    with store.writing(Path(path)) as stream:
        stream.write(f"{','.join(table.column_names)}\n".encode())  # pyarrow would put the names in quotes
        csv.write_csv(table, stream, csv.WriteOptions(include_header=False))


def _header(dimensions: int) -> list[str]:
    return ["index", *(f"dim{number}" for number in range(1, dimensions + 1))]
