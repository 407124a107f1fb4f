"""Export as a folder of PNG pictures with JSON lines."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from molyneux.core import Batch, Source, Spec, store
from molyneux.data.exports.encoding import encode_batch, require_pictures
from molyneux.data.exports.reading import batches, filled_spec, images_of, plain, words
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

    A line holds, under the name of the modality, the path of an image, the string of a text, and nested lists for the rest
    (six decimals); `factors` and `target` in words; null for what is missing or absent. `spec.json` is the Spec.

    Raises:
        SpecError: an image modality that PNG cannot hold. ConflictError: something stands at `folder`.
        StoreError: no space, no permission; nothing is left behind.
    """
    spec = filled_spec(source)
    images = images_of(spec)
    for modality in images:
        require_pictures(modality)
    digits = len(str(max(0, len(source) - 1)))
    with appearing_folder(folder) as part, ThreadPoolExecutor(threads) as pool:
        for modality in images:
            (part / modality.name).mkdir()
        with (part / "samples.jsonl").open("wb") as stream:
            for rows, batch in batches(source, chunk, progress):
                names = [f"{row:0{digits}d}.png" for row in rows.tolist()]
                paths = {m.name: _write(pool, part / m.name, names, encode_batch(m, batch, pool)) for m in images}
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
    columns = {m.name: paths[m.name] if m.name in paths else plain(m, batch) for m in spec.modalities}
    if batch.factors is not None and spec.factors:
        codes = batch.factors.T.tolist()
        per_factor = {factor.name: words(factor.values, codes[column]) for column, factor in enumerate(spec.factors)}
        columns["factors"] = [dict(zip(per_factor, row, strict=True)) for row in zip(*per_factor.values(), strict=True)]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
