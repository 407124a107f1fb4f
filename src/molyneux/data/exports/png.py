"""Export as a folder of PNG pictures with JSON lines."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from molyneux.core import Batch, Modality, Source, Spec, Target, store
from molyneux.data.exports.samples import batches, filled_spec, images_of, png_bytes, strings
from molyneux.data.folders import appearing_folder


def export_png(
    source: Source,
    folder: Path | str,
    *,
    chunk: int = 1024,
    threads: int = 2,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Write `<modality>/<number>.png` for every image and one line per sample in `samples.jsonl`, all or nothing.

    A line has `views` by the name of the modality: the path of an image, the string of a text, and nested lists for the rest
    (six decimals); and, where there are any, `lengths`, `factors` and `targets` in words, and `quantities`. What is missing,
    absent or not known is null. `spec.json` is the Spec. Folders are named by `store.file_name`.

    Raises:
        SpecError: an image modality that PNG cannot hold. ConflictError: something stands at `folder`.
        StoreError: no space, no permission; nothing is left behind.
    """
    folder = Path(folder)
    spec = filled_spec(source)
    images = images_of(spec)
    digits = len(str(max(0, len(source) - 1)))
    with appearing_folder(folder) as part, ThreadPoolExecutor(threads) as pool:
        folders = {modality.name: part / store.file_name(modality.name) for modality in images}
        for place in folders.values():
            place.mkdir()
        with (part / "samples.jsonl").open("wb") as stream:
            for rows, batch in batches(source, chunk, progress):
                names = [f"{row:0{digits}d}.png" for row in rows.tolist()]
                paths = {m.name: _write(pool, folders[m.name], names, png_bytes(m, batch, pool)) for m in images}
                for line in described(spec, batch, paths):
                    stream.write(json.dumps(line, ensure_ascii=False, allow_nan=False).encode() + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        store.write_json(part / "spec.json", spec.to_json())


def _write(pool: Executor, folder: Path, names: list[str], contents: list[bytes | None]) -> list[str | None]:
    """Write the pictures that are there; their paths, from the folder above."""

    def write(name: str, content: bytes | None) -> str | None:
        if content is None:
            return None
        (folder / name).write_bytes(content)
        return f"{folder.name}/{name}"

    return list(pool.map(write, names, contents))


def described(spec: Spec, batch: Batch, paths: dict[str, list[str | None]]) -> list[dict[str, Any]]:
    """One record for each sample, as `export_png` writes them.

    Args:
        spec: the modalities, factors, quantities and targets that are told.
        batch: the samples.
        paths: by the name of an image modality, the path of each image.
    """
    parts: dict[str, dict[str, list[Any]]] = {
        "views": {m.name: paths[m.name] if m.name in paths else _view(m, batch, spec) for m in spec.modalities},
        "lengths": {name: counts.tolist() for name, counts in batch.lengths.items()},
        "targets": {target.name: _target(target, batch) for target in spec.targets},
    }
    if batch.factors is not None:
        codes = zip(spec.factors, batch.factors.T, strict=True)
        parts["factors"] = {factor.name: _words(factor.values, column, column >= 0) for factor, column in codes}
    if batch.quantities is not None:
        columns = zip(spec.quantities, batch.quantities.T, strict=True)
        parts["quantities"] = {quantity.name: _numbers(column, ~column.isnan()) for quantity, column in columns}
    filled = {part: named for part, named in parts.items() if named}
    return [
        {part: {name: column[row] for name, column in named.items()} for part, named in filled.items()}
        for row in range(len(batch))
    ]


def _view(modality: Modality, batch: Batch, spec: Spec) -> list[Any]:
    """A modality that is no image: strings, a label's words, or nested lists of numbers; None where it is missing."""
    view, present = batch.views[modality.name], batch.mask(modality.name)
    if modality.kind == "text":
        return strings(modality, batch, spec)
    return _words(modality.symbols, view, present) if modality.kind == "label" else _numbers(view.double(), present)


def _target(target: Target, batch: Batch) -> list[Any]:
    """A class's words, or (nested lists of) numbers; None where a target is not known."""
    values, known = batch.targets[target.name], batch.known_mask(target.name)
    return _words(target.symbols, values, known) if target.task == "class" else _numbers(values, known)


def _words(symbols: Sequence[str], codes: Tensor, present: Tensor) -> list[str | None]:
    return [symbols[code] if here else None for code, here in zip(codes.tolist(), present.tolist(), strict=True)]


def _numbers(values: Tensor, present: Tensor) -> list[Any]:
    """Numbers with six decimals where they have any; None where they are not `present`."""
    numbers = values.numpy()
    plain = np.round(numbers.astype(np.float64), 6).tolist() if numbers.dtype.kind == "f" else numbers.tolist()
    return [value if here else None for value, here in zip(plain, present.tolist(), strict=True)]
