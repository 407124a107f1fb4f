"""Daily prices of shares: what has gone before gives the next day's squared return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, final

import numpy as np
import pyarrow as pa
import pyarrow.csv
from pyarrow import compute

from molyneux.core import (
    Batch,
    ConfigError,
    DataError,
    Modality,
    Spec,
    StoreError,
    Target,
    choice_problems,
    files,
    nearest,
    store,
)
from molyneux.core.elementary import log
from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark, FileSamples, in_order, tensors
from molyneux.data.sources import require_positive

GROUPS: Mapping[str, tuple[str, ...]] = {
    "food": ("MCD", "SBUX", "HSY", "HRL"),
    "health": ("MRK", "WST", "CVS", "MCK", "ABT", "UNH", "TFX"),
    "tech": ("AAPL", "MSFT", "AMZN", "INTC", "AMD", "MSI"),
}
_TARGETS = {"food": "MCD", "health": "UNH", "tech": "MSFT"}
_WINDOWS, _TRAIN, _VALIDATION = 4_717, 3_200, 3_700
_PLACES = ("{}_data.csv", "{}.csv", "individual_stocks_5yr/{}_data.csv", "individual_stocks_5yr/{}.csv")

Group = Literal["food", "health", "tech"]
"""Shares that MultiBench puts together: its F&B, Health and Tech."""


@final
class Stocks(FileBenchmark):
    """Daily returns of several shares, to predict the squared return of one of them on the next day; Liang et al. (2021).

    Layout: a CSV file for each share, `<ticker>.csv` or `<ticker>_data.csv`, in the folder or in `individual_stocks_5yr` below
    it, with columns of the day and the opening price (`Date` and `Open`, in any case). Days that all shares have are used; a day
    on which a price is missing or not above 0 is left out.

    Each share is a modality, a series (`length`, 1) of the logarithms of opening prices divided by those of the day before. The
    target is the number `squared return` of `target`, on the day after the window. Windows follow each other day by day; the
    first 3,200 of 4,717 train, the next 500 validate, the rest tests, and as large shares of other numbers. All returns are
    divided by their standard deviation over the days before the end of the training windows, all shares together; the target by
    that of the training targets. As published, each window is then rounded to 25 steps from its smallest to its largest
    value, which are 26 different values, unless `levels` says otherwise.

    Args:
        folder: see `FileBenchmark`.
        group: shares by name: `food`, `health` or `tech`. A share of it without a file is an error; leave it out by `without`.
        tickers: any shares, in the place of a group.
        without: shares of the group that are left out, such as those that no file has; not the one that is predicted.
        target: whose squared return is predicted; by default MCD, UNH and MSFT for the groups, and the first of `tickers`.
        length: days of a window.
        levels: steps from the smallest to the largest value of a window, to which it is rounded: one value more than steps; null
            for no rounding.
    """

    name = "stocks-v1"
    licence = "as the source of the prices states; Yahoo's must not be passed on"
    origin = "MultiBench (Liang et al., NeurIPS 2021); prices of any source"
    page = "https://finance.yahoo.com"
    metric = "MSE"
    sizes = "3,200 / 500 / 1,017 windows of 5,218 days"
    folders = ("stocks", "individual_stocks_5yr")
    files = ()
    published_as = (
        "a CSV file for each share with columns Date and Open, such as those of https://finance.yahoo.com (not to be passed on) "
        "or of https://github.com/CNuge/kaggle-code (MIT licence, 2013 to 2018), or leave shares out by without"
    )

    def __init__(
        self,
        folder: Path | None = None,
        *,
        group: Group = "food",
        tickers: tuple[str, ...] | None = None,
        without: tuple[str, ...] = (),
        target: str | None = None,
        length: int = 500,
        levels: int | None = 25,
    ) -> None:
        problems = choice_problems(group=(group, tuple(GROUPS)))
        listed = tuple(tickers) if tickers is not None else GROUPS.get(group, ())
        shares = tuple(share for share in listed if share not in without)
        if tickers is not None and (not tickers or len(set(tickers)) < len(tickers)):
            problems.append(f"tickers: expected at least one, and none twice, got {list(tickers)}")
        problems += [
            f"without: no share {share!r}; {nearest(share, listed)}" for share in without if listed and share not in listed
        ]
        predicted = target or (_TARGETS.get(group, "") if tickers is None else next(iter(listed), ""))
        if predicted in without:
            problems.append(f"without: expected other shares than {predicted}, which is predicted: choose another target")
        elif shares and predicted not in shares:
            problems.append(f"target: expected one of {', '.join(shares)}, got {predicted!r}; {nearest(predicted, shares)}")
        try:
            require_positive(length=length, **({} if levels is None else {"levels": levels}))
        except ConfigError as error:
            problems += error.problems
        settings = {
            "group": group,
            "tickers": None if tickers is None else tuple(tickers),
            **({"without": tuple(without)} if without else {}),
            "target": target,
            "length": length,
            "levels": levels,
        }
        super().__init__(folder, settings, problems)
        self.shares = shares
        self.predicted = predicted

    @property
    def expected(self) -> tuple[str, ...]:
        """The file of each share, under the name that it has."""
        return tuple(self._file(share) for share in self.shares)

    def open(self, paths: Mapping[str, Path]) -> FileSamples:
        """See `FileBenchmark`."""
        tables = [self._prices(paths[self._file(share)]) for share in self.shares]
        prices = self._aligned(tables)
        returns, length = np.diff(log(prices), axis=0), int(self._settings["length"])
        windows = len(returns) - length
        ends = {"train": windows * _TRAIN // _WINDOWS, "validation": windows * _VALIDATION // _WINDOWS, "test": windows}
        if windows < 3 or min(np.diff([0, *ends.values()])) < 1:
            raise self.wrong(self.folder, f"more than {length + 10} days that all shares have (or set length)", f"{len(prices)}")
        squared = returns[length:, self.shares.index(self.predicted)] ** 2
        returns = returns / (returns[: length + ends["train"]].std(ddof=1) or 1.0)
        answers = (squared / (squared[: ends["train"]].std(ddof=1) or 1.0)).astype(np.float32)
        levels = self._settings["levels"]
        spec = Spec(
            tuple(Modality(share, "series", (length, 1)) for share in self.shares),
            targets=(Target("squared return", "number", bounds=(0.0, None)),),
        )

        def read(rows: np.ndarray) -> Batch:
            seen = returns[rows[:, None] + np.arange(length)]
            shown = (seen if levels is None else _rounded(seen, int(levels))).astype(np.float32)
            views = {share: shown[:, :, number, None] for number, share in enumerate(self.shares)}
            return Batch(tensors(**views), targets=tensors(**{"squared return": answers[rows]}))

        return FileSamples(spec, in_order(**ends), read)

    def _file(self, share: str) -> str:
        names = [place.format(share) for place in _PLACES]
        return next((name for name in names if store.is_file(self.folder / name)), names[0])

    def _prices(self, path: Path) -> tuple[np.ndarray, np.ndarray]:
        """Days, as text, and opening prices of a file, without those that are missing."""
        try:
            table = pa.csv.read_csv(files.require_plain_file(path))
        except FileNotFoundError as error:
            raise StoreError(f"expected the file {path}, which is not there") from error
        except (pa.ArrowInvalid, OSError) as error:
            raise DataError(f"{path}: expected a table with columns Date and Open, got none ({error})") from error
        columns = {name.strip().lower(): name for name in table.column_names}
        if missing := [name for name in ("date", "open") if name not in columns]:
            raise self.wrong(path, "the columns Date and Open", f"{', '.join(table.column_names)} without {', '.join(missing)}")
        opened = table.column(columns["open"])
        if not any(fits(opened.type) for fits in (pa.types.is_floating, pa.types.is_integer, pa.types.is_null)):
            raise self.wrong(path, "prices in the column Open", f"{opened.type}")
        values = compute.fill_null(compute.cast(opened, pa.float64()), np.nan).to_numpy()
        days = compute.cast(table.column(columns["date"]), pa.string()).to_numpy(zero_copy_only=False)
        usable = np.isfinite(values) & (values > 0)
        if not usable.any():
            raise self.wrong(path, "prices above 0 in the column Open", "none in any row")
        chosen, places = np.unique(days[usable].astype(str), return_index=True)
        if len(chosen) < usable.sum():
            raise self.wrong(path, "a row for each day", f"{usable.sum() - len(chosen)} days twice")
        return chosen, values[usable][places]

    def _aligned(self, tables: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        """Prices (days, shares) on the days that all have, rising."""
        days = tables[0][0]
        for other, _ in tables[1:]:
            days = np.intersect1d(days, other, assume_unique=True)
        if not len(days):
            raise self.wrong(self.folder, "days that all shares have, written alike", "none")
        return np.stack([values[np.searchsorted(own, days)] for own, values in tables], 1)


def _rounded(windows: np.ndarray, levels: int) -> np.ndarray:
    """Windows (B, T, N), each rounded to so many steps from its smallest to its largest value."""
    low, high = windows.min((1, 2), keepdims=True), windows.max((1, 2), keepdims=True)
    step = np.where(high > low, (high - low) / levels, 1.0)
    rounded: np.ndarray = np.round((windows - low) / step) * step + low
    return rounded
