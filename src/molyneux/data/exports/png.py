"""Export as a folder of PNG pictures with JSON lines."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

from molyneux.core import Source, store
from molyneux.data.encodings.facts import described, filled_spec
from molyneux.data.encodings.views import images_of, png_bytes
from molyneux.data.exports.chunks import batches
from molyneux.data.folders import appearing_folder
from molyneux.data.layout import names_of


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
    spec = filled_spec(source.spec, names_of(source))
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
