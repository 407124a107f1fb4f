"""All that is wrong with a user's data at once; what they are read as, and what can be measured on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from molyneux.core import DataError, MolyneuxError, nearest
from molyneux.data.dataset import Split
from molyneux.data.own.arrays import ArrayDataset
from molyneux.data.own.checks.findings import DataCheck, DataProblem
from molyneux.data.own.checks.images import content_keys, image_problems, path_problems, surplus_files
from molyneux.data.own.checks.rows import CheckedRows, checked_rows
from molyneux.data.own.checks.values import label_problems, number_problems, repeated_rows, split_problems
from molyneux.data.own.content import ArrayView
from molyneux.data.own.dataset import OwnDataset
from molyneux.data.own.image_folder import ImageFolder
from molyneux.data.own.table import TableDataset
from molyneux.data.own.table_files import table_files

_MOST_BYTES = 1 << 30
"""Of arrays whose rows are compared."""


def check_data(data: OwnDataset, *, settings: str = "") -> DataCheck:
    """All problems of a user's files at once, with the lines, as an editor counts them.

    Nothing is raised for what the files hold. The rules are those by which the data are read, and at the end they are read.

    Args:
        data: of which the files are checked.
        settings: what is told of settings that were guessed.
    """
    found: list[DataProblem] = []
    try:
        notes = _found_in_files(data, found)
    except (MolyneuxError, OSError) as error:
        found.append(_as_finding(data, error))
        notes = []
    try:
        samples = dict(data.splits)
        notes = [*data.notes, *notes]
    except (MolyneuxError, OSError) as error:
        if not any(finding.severe for finding in found):
            found.append(_as_finding(data, error))
        return DataCheck(str(data.path), tuple(dict.fromkeys(found)), notes=tuple(notes), settings=settings)
    found += _of_labels(data, found)
    classes = {split: _codes(data, split) for split in samples}
    return DataCheck(
        str(data.path),
        tuple(dict.fromkeys(found)),
        samples,
        _classes(data, classes),
        tuple(_readable(data)),
        tuple(notes),
        settings,
    )


def _found_in_files(data: OwnDataset, found: list[DataProblem]) -> list[str]:
    """Add what is wrong with the files, and give notes."""
    if isinstance(data, TableDataset):
        return _check_table(data, found)
    if isinstance(data, ImageFolder):
        return _check_folder(data, found)
    return _check_arrays(data, found) if isinstance(data, ArrayDataset) else []


def _as_finding(data: OwnDataset, error: Exception) -> DataProblem:
    """What the reader of the data refuses."""
    place, _, text = str(error).partition(": ")
    named = str(data.path) in place and text
    return DataProblem("data that cannot be read", True, place if named else str(data.path), text if named else str(error))


def _check_table(data: TableDataset, found: list[DataProblem]) -> list[str]:
    rows = checked_rows(table_files(data.path))
    found += rows.findings
    numbers = [column for columns in data._groups.values() for column in columns]
    labels = list(dict.fromkeys([*data.labels, *data.targets]))
    answers = [*labels, *data.number_targets, *data.multilabel_targets]
    split = [data.split] if data.split else []
    for name in dict.fromkeys([*data.texts, *data.images, *numbers, *answers, *split]):
        if rows.columns and rows.column(name) is None:
            text = f"expected a column {name!r}; {nearest(name, rows.columns)}"
            found.append(DataProblem("a column that is missing", True, str(data.path), text))
    for name in [*numbers, *data.number_targets]:
        if name not in rows.lists:
            found += number_problems(name, rows.column(name) or [], _place(rows, name), comma="," not in rows.separators)
    _check_columns(rows, labels, data, found)
    files: list[Path | None] = []
    for name in data.images:
        if name in rows.lists:
            continue
        place = _place(rows, name)
        wrong, paths = path_problems(rows.column(name) or [], data._root, place)
        found += wrong
        found += image_problems(paths, place, one_size=data.image_size is None)
        files += paths
    if files:
        found += surplus_files(data._root, files)
    return _repeats(rows, [*data.texts, *data.images, *numbers], answers, data.split, found)


def _check_columns(rows: CheckedRows, labels: Sequence[str], data: OwnDataset, found: list[DataProblem]) -> None:
    """Labels and names of splits."""
    if data.split:
        found += split_problems(data.split, rows.column(data.split) or [], _place(rows, data.split))
    for name in labels:
        if name not in rows.lists:
            found += label_problems(name, rows.column(name) or [], _place(rows, name), missing=data.missing)


def _repeats(
    rows: CheckedRows, inputs: Sequence[str], answers: Sequence[str], split: str | None, found: list[DataProblem]
) -> list[str]:
    given = [values for name in inputs if (values := rows.column(name)) is not None]
    asked = [values for name in answers if (values := rows.column(name)) is not None]
    if not given or len({len(values) for values in [*given, *asked]}) > 1:
        return []
    keys = list(zip(*given, strict=True))
    told = list(zip(*asked, strict=True)) if asked else [()] * len(keys)
    findings, note = repeated_rows(
        [key if any(key) else None for key in keys],
        told,
        rows.place,
        splits=rows.column(split) if split else None,
        told=lambda values: ", ".join(map(repr, values)) if isinstance(values, tuple) else repr(values),
    )
    found += findings
    return [note] if note else []


def _place(rows: CheckedRows, name: str) -> Callable[[int], str]:
    return lambda row: rows.place(row, name)


def _check_folder(data: ImageFolder, found: list[DataProblem]) -> list[str]:
    images = data._images()
    place = lambda row: str(images[row])  # noqa: E731
    found += image_problems(images, place, one_size=data.image_size is None)
    if data._captions is not None:
        rows = checked_rows([data._captions])
        found += rows.findings
        title = "file_name" if "file" not in rows.columns and "file_name" in rows.columns else "file"
        for name in dict.fromkeys([title, *data.texts, *data.labels, *data.targets]):
            if rows.columns and rows.column(name) is None:
                text = f"expected a column {name!r}; {nearest(name, rows.columns)}"
                found.append(DataProblem("a column that is missing", True, str(data._captions), text))
        wrong, paths = path_problems(rows.column(title) or [], data.path, _place(rows, title))
        found += wrong
        known = {path.resolve() for path in paths if path is not None}
        for path in images:
            if path.resolve() not in known and rows.column(title) is not None:
                found.append(DataProblem("an image without a row", True, str(path), f"expected a row for it in {data._captions}"))
        _check_columns(rows, list(dict.fromkeys([*data.labels, *data.targets])), data, found)
    folders = [str(path.parent.relative_to(data.path)) for path in images]
    findings, note = repeated_rows(content_keys(images), folders, place, told=lambda folder: f"the folder {folder}")
    found += findings
    return [note] if note else []


def _check_arrays(data: ArrayDataset, found: list[DataProblem]) -> list[str]:
    content = data._content
    views = [view for view in content.views if isinstance(view, ArrayView)]
    if sum(view.array.nbytes for view in views) > _MOST_BYTES or not views:
        return []
    size = len(views[0].array)
    keys = [b"\0".join(np.asarray(view.array[row]).tobytes() for view in views) for row in range(size)]
    codes = np.stack([label.codes for label in content.labels], 1) if content.labels else np.zeros((size, 1), np.int64)
    factors = [label.factor for label in content.labels]

    def told(row: object) -> str:
        given = list(row) if isinstance(row, tuple) else []
        return (
            ", ".join(f"{f.name} {f.values[c] if c >= 0 else 'none'}" for f, c in zip(factors, given, strict=False)) or "no label"
        )

    findings, note = repeated_rows(keys, list(map(tuple, codes.tolist())), lambda row: f"{data.path}, row {row}", told=told)
    found += findings
    return [note] if note else []


def _of_labels(data: OwnDataset, found: Sequence[DataProblem]) -> Iterator[DataProblem]:
    """Labels of data that are no table, which were not looked at in columns: those of folders and arrays."""
    if isinstance(data, TableDataset):
        return
    content = data._content
    columns = set(data.labels) if isinstance(data, ImageFolder) else set()
    for label in content.labels:
        if label.factor.name not in columns:
            words = [label.factor.values[code] if code >= 0 else None for code in label.codes.tolist()]
            yield from label_problems(label.factor.name, words, _row_of(data, label.factor.name), missing=())


def _row_of(data: OwnDataset, name: str) -> Callable[[int], str]:
    return lambda row: f"{data.path}, row {row}, label {name!r}"


def _codes(data: OwnDataset, split: Split) -> np.ndarray:
    return data._content.codes(data._content.rows[split])


def _classes(data: OwnDataset, codes: Mapping[Split, np.ndarray]) -> dict[str, dict[str, dict[str, int]]]:
    """By label and value, how many samples each split has."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for place, factor in enumerate(data.spec.factors):
        counts = {split: np.bincount(each[:, place] + 1, minlength=len(factor.values) + 1)[1:] for split, each in codes.items()}
        found[factor.name] = {
            value: {split: int(each[number]) for split, each in counts.items()} for number, value in enumerate(factor.values)
        }
    return found


def _readable(data: OwnDataset) -> Iterator[str]:
    """What can be read in generated views, and which measures that makes possible."""
    spec = data.spec
    try:
        readers = data.readers()
    except DataError:
        readers = {}
    for modality in spec.modalities:
        if modality.name in readers:
            names = ", ".join(readers[modality.name].factors)
            yield f"{modality.name} is read exactly ({names}): coherence can be measured of it"
        elif not spec.factors:
            yield f"{modality.name} cannot be read, for no labels are named: name some in labels to measure coherence and probes"
        elif modality.symbols:
            yield f"{modality.name} is not read, for its texts do not determine a label: likelihood and probes can be measured"
        else:
            yield f"{modality.name} is read by a judge alone: train one with molyneux judge to measure coherence"
    if spec.targets:
        yield f"Targets: {', '.join(target.name for target in spec.targets)}: prediction and downstream can be measured"
    else:
        yield "No targets are named: supervised models and prediction need some"
