"""Codes beside the factors that made the samples: checked, numbered, sorted, and in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from molyneux.core import ConfigError, DataError, NotApplicableError, files, store
from molyneux.measure.code_arrays import finite_codes


@dataclass(frozen=True)
class Sorted:
    """Columns in order.

    Args:
        order: (D, N) int32, row numbers from the smallest to the largest.
        level: (D, N) int32, of each place in that order the number of distinct smaller values.
    """

    order: np.ndarray
    level: np.ndarray

    @property
    def ranks(self) -> np.ndarray:
        """Middle ranks as shares, (N, D) in 0..1; equal values share their middle rank."""
        ranks = np.empty(self.order.shape[::-1])
        for column, (order, level) in enumerate(zip(self.order, self.level, strict=True)):
            sizes = np.bincount(level)
            middle = np.cumsum(sizes) - 0.5 * sizes
            ranks[order, column] = middle[level] / len(order)
        return ranks


def sort_columns(codes: np.ndarray) -> Sorted:
    """Sort each column of (N, D) numbers."""
    count, dimensions = codes.shape
    order, level = np.empty((dimensions, count), np.int32), np.zeros((dimensions, count), np.int32)
    for column in range(dimensions):
        values = np.ascontiguousarray(codes[:, column])
        order[column] = np.argsort(values)
        values = values[order[column]]
        np.cumsum(values[1:] > values[:-1], out=level[column, 1:])
    return Sorted(order, level)


DEAD = 1e-4
"""A dimension is dead if it is constant or its variance is less than this share of the largest variance of a dimension: the
posterior means of a collapsed dimension, or rounding. Where posteriors are compared with a standard normal prior, 0.01 is the
rule of active units; where scales of dimensions mean nothing, 0 leaves out constant ones alone."""


@dataclass(frozen=True)
class CheckedCodes:
    """Checked codes and factors; made by `tabulate`.

    Args:
        codes: (N, D) finite float64.
        factors: (N, F) int32; the values that occur are numbered 0, 1, ... in each column, -1 = absent.
        names: of the factors.
        values: how many values of each factor occur.
        dead: share of the largest variance below which a dimension is dead, see `DEAD`.
    """

    codes: np.ndarray
    factors: np.ndarray
    names: tuple[str, ...]
    values: tuple[int, ...]
    dead: float = DEAD

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def dimensions(self) -> int:
        """Number of dimensions of a code."""
        return int(self.codes.shape[1])

    @cached_property
    def sorted(self) -> Sorted:
        """The codes of each dimension in order."""
        return sort_columns(self.codes)

    def carriers(self, factor: int) -> np.ndarray:
        """Row numbers of the samples that have this factor."""
        return np.flatnonzero(self.factors[:, factor] >= 0)

    @property
    def alive(self) -> np.ndarray:
        """Which dimensions are not dead, (D,) bool."""
        varies: np.ndarray = np.ptp(self.codes, axis=0) > 0
        if not varies.any():
            return varies
        variance = np.where(varies, _scaled(self.codes).var(0), 0.0)
        return np.asarray(varies & (variance > self.dead * variance.max()))

    @cached_property
    def live(self) -> CheckedCodes:
        """Without dead dimensions; none may be left."""
        alive = self.alive
        return self if alive.all() else replace(self, codes=np.ascontiguousarray(self.codes[:, alive]))

    def rows(self, rows: np.ndarray) -> CheckedCodes:
        """Some of the samples.

        Raises:
            NotApplicableError: a factor takes fewer than two values there.
        """
        return tabulate(self.codes[rows], self.factors[rows], names=self.names, dead=self.dead)

    def permuted(self, rng: np.random.Generator) -> CheckedCodes:
        """The same codes and factors, each sample with the code of another: what is left is chance."""
        return replace(self, codes=self.codes[rng.permutation(len(self))])

    def with_presence(self) -> CheckedCodes:
        """A further factor `NAME is present` (0 no, 1 yes) for each factor that some samples lack."""
        lacking = [column for column in range(len(self.names)) if (self.factors[:, column] < 0).any()]
        present = (self.factors[:, lacking] >= 0).astype(np.int32)
        names = tuple(f"{self.names[column]} is present" for column in lacking)
        factors = np.ascontiguousarray(np.concatenate([self.factors, present], 1))
        return replace(self, factors=factors, names=(*self.names, *names), values=(*self.values, *(2 for _ in lacking)))

    def require_complete(self, metric: str) -> None:
        """Raise NotApplicableError unless every sample has every factor."""
        lacking = [name for name, column in zip(self.names, self.factors.T, strict=True) if (column < 0).any()]
        if lacking:
            raise NotApplicableError(
                f"{metric} cannot handle absent factors, got {', '.join(lacking)}: use the recommended variant"
            )

    def require(self, metric: str, *, dimensions: int = 1, factors: int = 1) -> None:
        """Raise NotApplicableError unless there are so many dimensions and factors."""
        for what, needed, got in (("dimensions", dimensions, self.dimensions), ("factors", factors, len(self.names))):
            if got < needed:
                raise NotApplicableError(f"{metric} needs at least {needed} {what}, got {got}")


def tabulate(
    codes: Any, factors: Any, *, names: Sequence[str] | None = None, presence: bool = False, dead: float = DEAD
) -> CheckedCodes:
    """Check codes and factors and number the values that occur.

    Args:
        codes: (N, D) finite numbers, one row a sample.
        factors: (N, F) integers, -1 = the sample lacks the factor.
        names: of the factors, `factor 1`, ... by default.
        presence: whether presence counts as a factor of its own, see `CheckedCodes.with_presence`.
        dead: share of the largest variance below which a dimension is dead, see `DEAD`.

    Raises:
        DataError: not such arrays; the message says where. NotApplicableError: a factor takes fewer than two values.
        ConfigError: `dead` is no share.
    """
    checked, known = check_codes(codes), _factors(factors)
    if len(checked) != len(known):
        raise DataError(f"expected a row of factors for each code, got {len(checked)} codes and {len(known)} rows of factors")
    check_dead(dead)
    if isinstance(names, str) or any(not isinstance(name, str) or not name for name in names or ()):
        raise DataError(f"names: expected a list of texts that are not empty, one a factor, got {names!r}")
    names = tuple(names) if names is not None else tuple(f"factor {column + 1}" for column in range(known.shape[1]))
    if len(names) != known.shape[1] or len(set(names)) < len(names):
        raise DataError(f"expected a different name for each of {known.shape[1]} factors, got {list(names)}")
    numbered, values = np.empty(known.shape, np.int32), []
    for column, name in enumerate(names):
        numbered[:, column], count = _number(known[:, column])
        if count < 2:
            raise NotApplicableError(f"{name} takes {_COUNTS[count]} in {len(known)} samples, two are needed: leave it out")
        values.append(count)
    table = CheckedCodes(checked, numbered, names, tuple(values), dead)
    return table.with_presence() if presence else table


def check_dead(dead: float) -> None:
    """Raise ConfigError if this is no share below which a dimension may be dead, see `DEAD`."""
    if not 0 <= dead < 1:
        raise ConfigError(f"dead: expected a share of at least 0 and below 1, got {dead}")


def _scaled(codes: np.ndarray) -> np.ndarray:
    """Codes whose squares are neither infinite nor 0; the same ones where that holds already."""
    largest = np.abs(codes).max()
    return codes if _TINY < largest < 1 / _TINY else codes / largest


_TINY = 1e-100
_COUNTS = {0: "no value", 1: "one value only"}
_COUNTED = 1_000_000
"""Values below this are numbered by counting them, which is faster than sorting."""


def _number(column: np.ndarray) -> tuple[np.ndarray, int]:
    """Values numbered by size, -1 kept, and how many there are."""
    if column.size and column.max() >= _COUNTED:
        found, column = np.unique(column, return_inverse=True)
        column = column - int(found[0] < 0)
    occurs = np.bincount(column + 1)[1:] > 0
    numbers = np.concatenate([[-1], np.cumsum(occurs) - 1])
    return numbers[column + 1], int(np.count_nonzero(occurs))


def check_codes(codes: Any) -> np.ndarray:
    """Codes as (N, D) float64; raises DataError where they are not finite real numbers of at least two samples."""
    found = finite_codes(codes.toarray() if hasattr(codes, "toarray") else codes, "codes")
    if len(found) < 2:
        raise DataError(f"codes: expected (samples, dimensions), at least 2 and 1, got shape {found.shape}")
    return np.ascontiguousarray(found, dtype=np.float64)


def _factors(factors: Any) -> np.ndarray:
    try:
        array = np.asarray(factors)
    except ValueError as error:
        raise DataError("factors: expected rows of the same length, got ragged ones: mark an absent factor with -1") from error
    if array.ndim != 2 or array.shape[1] < 1:
        raise DataError(f"factors: expected (samples, factors), got shape {array.shape}")
    if array.dtype.kind not in "iu":
        whole = array.dtype.kind == "b" or (array.dtype.kind == "f" and bool((array == np.round(array)).all()))
        hint = "turn them into integers" if whole else "number the values of each factor 0, 1, ..."
        raise DataError(f"factors: expected integers, got {array.dtype}: {hint}")
    if array.size and array.min() < -1:
        raise DataError(f"factors: expected codes from 0, and -1 for absent, got {array.min()}")
    if array.size and array.max() > np.iinfo(np.int64).max:
        raise DataError(f"factors: expected numbers of values below 2^63, got {array.max()}")
    return array.astype(np.int64)


def read_codes(path: Path) -> np.ndarray:
    """Codes from a file such as the text study has, (N, D) float64.

    Raises:
        StoreError: it cannot be read. DataError: another header, rows that are not numbered 0, 1, ..., or no finite numbers.
    """
    import pyarrow as pa
    from pyarrow import csv

    path = Path(path)
    try:
        table = csv.read_csv(files.require_plain_file(path))
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
