"""What the numbers of a study are compared with: chance and controls, for all settings where they agree, else for each one.

An untrained net, or the draws of a model that are not paired, differ from setting to setting. A number that stands for several of
them is the same for all, as it is written, and every one of them has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from molyneux.report import wording
from molyneux.report.study.seeds import OverSeeds
from molyneux.report.tables import Entry
from molyneux.report.tables.table import DASH, ceiling, reference_entry
from molyneux.report.wording import places, write, write_interval

BESIDE = 4
"""Pages of more settings than this give the range of a control that differs; CSV has what each setting has."""

RANGES = "Where chance or a control differs between settings, the last rows give its range."
Column = Sequence[OverSeeds | None]
"""A score of every group of a part."""


def agreed(cells: Column, number: Callable[[OverSeeds], float | None]) -> float | None:
    """The number that all groups with a value have, such as their chance; None where it differs as written, or one has none."""
    known = _known(cells)
    numbers = [number(cell) for cell in known]
    decimals = places(known[0].first) if known else 0
    return numbers[0] if len({write(each, decimals) for each in numbers}) == 1 else None


def shared_chance(cells: Column) -> float | None:
    """The chance that all groups have."""
    return agreed(cells, lambda cell: cell.chance)


def shared_ceiling(cells: Column) -> float | None:
    """The accuracy of the judge that all groups have."""
    return agreed(cells, lambda cell: ceiling(cell.controls))


@dataclass(frozen=True)
class References:
    """Chance and controls of a table whose groups are rows and whose scores are columns.

    Args:
        columns: of the table, of each at least one group has the score.
    """

    columns: Sequence[Column]

    def own(self, group: int, label: str) -> list[tuple[tuple[Entry, ...], bool]]:
        """The rows below a group: of every control that differs between groups, what this one has; and whether pages show it."""
        rows = []
        for name in self._names:
            numbers = [_number(column[group], name) for column in self.columns]
            apart = [value is None for value in self._agreed[name]]
            if any(differs and number is not None for differs, number in zip(apart, numbers, strict=True)):
                entries = [
                    reference_entry(first.first, number if differs else None)
                    for first, number, differs in zip(self._firsts, numbers, apart, strict=True)
                ]
                rows.append(((Entry(f"{label}, {_title(name)}", tone="muted"), *entries), name not in self._ranges))
        return rows

    def shared(self) -> list[tuple[Entry, ...]]:
        """The last rows: what is the same for all groups, and the range of what pages do not show for each."""
        rows = []
        for name in self._names:
            entries = [
                _range(column, name) if value is None and name in self._ranges else reference_entry(first.first, value)
                for column, first, value in zip(self.columns, self._firsts, self._agreed[name], strict=True)
            ]
            if any(entry is not DASH for entry in entries):
                rows.append((Entry(_title(name), tone="muted"), *entries))
        return rows

    @property
    def notes(self) -> tuple[str, ...]:
        """What ranges are; nothing where there are none."""
        return (RANGES,) if any(map(self._differs, self._ranges)) else ()

    def _differs(self, name: str) -> bool:
        return any(
            value is None and _numbers(column, name) for column, value in zip(self.columns, self._agreed[name], strict=True)
        )

    @cached_property
    def _ranges(self) -> set[str]:
        """The controls whose range pages give: all of many groups, else those that differ by less than samples tell apart."""
        if len(self.columns[0]) > BESIDE:
            return set(self._names)
        return {name for name in self._names if all(_is_narrow(column, name) for column in self.columns)}

    @cached_property
    def _firsts(self) -> list[OverSeeds]:
        return [next(filter(None, column)) for column in self.columns]

    @cached_property
    def _names(self) -> list[str]:
        """Chance, controls as they come, and ceilings last."""
        names = dict.fromkeys(name for column in self.columns for cell in column if cell for name in cell.controls)
        return ["", *sorted(names, key=lambda name: "ceiling" in name)]

    @cached_property
    def _agreed(self) -> dict[str, list[float | None]]:
        return {name: [_of_all(column, name) for column in self.columns] for name in self._names}


def _of_all(column: Column, name: str) -> float | None:
    return agreed(column, lambda cell: _number(cell, name))


def _number(cell: OverSeeds | None, name: str) -> float | None:
    """A control of a group, or its chance under an empty name; None of a group without a value."""
    if cell is None or not cell.values:
        return None
    return cell.controls.get(name) if name else cell.chance


def _title(name: str) -> str:
    return wording.control(name) if name else "chance"


def _known(column: Column) -> list[OverSeeds]:
    return [cell for cell in column if cell is not None and cell.values]


def _numbers(column: Column, name: str) -> list[float]:
    return [number for cell in column if (number := _number(cell, name)) is not None]


def _is_narrow(column: Column, name: str) -> bool:
    """Whether a control differs by less than half of the widest interval over samples that a group has of the score itself.

    All groups with a value have it.
    """
    numbers, known = _numbers(column, name), _known(column)
    if not numbers:
        return True
    widest = max((cell.pooled[1] - cell.pooled[0] for cell in known if cell.pooled), default=0.0)
    return len(numbers) == len(known) and max(numbers) - min(numbers) < widest / 2


def _range(column: Column, name: str) -> Entry:
    """The least and the greatest number, and how many groups have one, where not all have."""
    numbers, known = _numbers(column, name), _known(column)
    if not numbers:
        return DASH
    decimals, ends = places(known[0].first), (min(numbers), max(numbers))
    same = write(ends[0], decimals) == write(ends[1], decimals)
    detail = "" if len(numbers) == len(known) else f"{len(numbers)} of {len(known)} settings"
    return Entry(write(ends[0], decimals) if same else write_interval(ends, decimals), detail, tone="muted")
