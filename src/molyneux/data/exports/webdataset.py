"""Export as WebDataset shards: tar files of numbered samples that are read from the first byte to the last."""

from __future__ import annotations

import json
import os
import tarfile
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from io import BytesIO
from itertools import chain, islice
from pathlib import Path

import numpy as np

from molyneux.core import Batch, ConfigError, Modality, Source, Spec, store
from molyneux.data.exports.png import described
from molyneux.data.exports.samples import batches, filled_spec, images_of, png_bytes, strings
from molyneux.data.folders import appearing_folder

File = tuple[str, bytes]
"""The ending of a file's name, and its content."""


def export_webdataset(
    source: Source,
    folder: Path | str,
    *,
    prefix: str = "samples",
    shard: int = 10_000,
    chunk: int = 1024,
    threads: int = 2,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Write `<prefix>-000000.tar`, `<prefix>-000001.tar`, ... and `spec.json`, all or nothing.

    The files of a sample begin with its number: `000000007.image.png` for an image, `.txt` for a text or a label, `.npy` for the
    rest; and `000000007.json` with factors and targets in words, quantities and lengths, where there are any. What a sample lacks
    has no file. Modalities are named by `store.file_name`. The same samples give the same bytes.

    Args:
        source: the samples.
        folder: where the shards appear.
        prefix: of their names, such as the split.
        shard: samples in one of them, at most.
        chunk: samples made at once.
        threads: that pack images.
        progress: called with the number of samples written since the last call.

    Raises:
        ConfigError: `shard` below 1. SpecError: an image modality that PNG cannot hold.
        ConflictError: something stands at `folder`. StoreError: no space, no permission; nothing is left behind.
    """
    folder = Path(folder)
    if shard < 1:
        raise ConfigError(f"expected shard of at least 1, got {shard}")
    spec = filled_spec(source)
    images_of(spec)
    with appearing_folder(folder) as part, ThreadPoolExecutor(threads) as pool:
        samples = (files for _, batch in batches(source, chunk, progress) for files in _samples(spec, batch, pool))
        for number, files in enumerate(_grouped(samples, shard)):
            _write(part / f"{prefix}-{number:06d}.tar", number * shard, files)
        store.write_json(part / "spec.json", spec.to_json())


def _grouped(samples: Iterator[list[File]], size: int) -> Iterator[Iterator[list[File]]]:
    """The samples in groups of at most `size`, each of which is read before the next."""
    for first in samples:
        yield chain([first], islice(samples, size - 1))


def _write(path: Path, first: int, samples: Iterator[list[File]]) -> None:
    """One shard, whose samples are numbered from `first` on."""
    with path.open("wb") as stream:
        with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for row, files in enumerate(samples, first):
                for ending, content in files:
                    entry = tarfile.TarInfo(f"{row:09d}.{ending}")
                    entry.size = len(content)
                    archive.addfile(entry, BytesIO(content))
        stream.flush()
        os.fsync(stream.fileno())


def _samples(spec: Spec, batch: Batch, pool: Executor) -> Iterator[list[File]]:
    """The files of each sample: ending and content."""
    columns = [_contents(modality, batch, spec, pool) for modality in spec.modalities]
    nothing: dict[str, list[str | None]] = {name: [None] * len(batch) for name in spec.names}
    for row, told in enumerate(described(spec, batch, nothing)):
        fact = {part: values for part, values in told.items() if part != "views"}
        files = [(ending, contents[row]) for ending, contents in columns]
        found = [(ending, content) for ending, content in files if content is not None]
        if fact:
            found.append(("json", json.dumps(fact, ensure_ascii=False, allow_nan=False).encode()))
        yield found


def _contents(modality: Modality, batch: Batch, spec: Spec, pool: Executor) -> tuple[str, list[bytes | None]]:
    """Ending and content of the files of one modality; None where a sample lacks it."""
    name = store.file_name(modality.name)
    if modality.kind == "image":
        return f"{name}.png", png_bytes(modality, batch, pool)
    if modality.kind == "text":
        return f"{name}.txt", [None if text is None else text.encode() for text in strings(modality, batch, spec)]
    present, view = batch.mask(modality.name).tolist(), batch.views[modality.name].numpy()
    if modality.kind == "label":
        words = [modality.symbols[code].encode() for code in view.tolist()]
        return f"{name}.txt", [word if here else None for word, here in zip(words, present, strict=True)]
    return f"{name}.npy", [_array(value) if here else None for value, here in zip(view, present, strict=True)]


def _array(value: np.ndarray) -> bytes:
    stream = BytesIO()
    np.lib.format.write_array(stream, np.ascontiguousarray(value), allow_pickle=False)
    return stream.getvalue()
