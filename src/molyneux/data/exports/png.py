"""Export as a folder of PNG pictures with JSON lines."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from molyneux.core import Batch, Source, Spec, store
from molyneux.data.exports.samples import batches, codes_as_words, filled_spec, images_of, plain, plain_target, png_bytes
from molyneux.data.folders import appearing_folder


def export_png(
    source: Source,
    folder: Path,
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
                for line in _lines(spec, batch, paths):
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


def _lines(spec: Spec, batch: Batch, paths: dict[str, list[str | None]]) -> list[dict[str, Any]]:
    parts: dict[str, dict[str, list[Any]]] = {
        "views": {m.name: paths[m.name] if m.name in paths else plain(m, batch, spec) for m in spec.modalities},
        "lengths": {name: counts.tolist() for name, counts in batch.lengths.items()},
        "targets": {target.name: plain_target(target, batch) for target in spec.targets},
    }
    if batch.factors is not None:
        codes = batch.factors.T.tolist()
        parts["factors"] = {f.name: codes_as_words(f.values, codes[column]) for column, f in enumerate(spec.factors)}
    if batch.quantities is not None:
        values = batch.quantities.double().T.tolist()
        parts["quantities"] = {
            quantity.name: [None if value != value else round(value, 6) for value in values[column]]
            for column, quantity in enumerate(spec.quantities)
        }
    filled = {part: columns for part, columns in parts.items() if columns}
    return [
        {part: {name: column[row] for name, column in columns.items()} for part, columns in filled.items()}
        for row in range(len(batch))
    ]
