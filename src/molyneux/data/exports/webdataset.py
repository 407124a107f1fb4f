"""Export as WebDataset shards: tar files of numbered samples that are read from the first byte to the last."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice
from pathlib import Path

from molyneux.core import ConfigError, Source, store
from molyneux.data.encodings.archives import File, sample_files, write_archive
from molyneux.data.encodings.facts import filled_spec
from molyneux.data.encodings.views import images_of
from molyneux.data.exports.chunks import batches
from molyneux.data.folders import appearing_folder
from molyneux.data.layout import names_of


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
    has no file. Modalities are named by `store.file_name`. The same samples give the same bytes. `store_shards` writes the same
    files by many processes, and reads them back.

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
    spec = filled_spec(source.spec, names_of(source))
    images_of(spec)
    with appearing_folder(folder) as part, ThreadPoolExecutor(threads) as pool:
        samples = (files for _, batch in batches(source, chunk, progress) for files in sample_files(spec, batch, pool))
        for number, files in enumerate(_grouped(samples, shard)):
            with (part / f"{prefix}-{number:06d}.tar").open("wb") as stream:
                write_archive(stream, number * shard, files)
                stream.flush()
                os.fsync(stream.fileno())
        store.write_json(part / "spec.json", spec.to_json())


def _grouped(samples: Iterator[list[File]], size: int) -> Iterator[Iterator[list[File]]]:
    """The samples in groups of at most `size`, each of which is read before the next."""
    for first in samples:
        yield chain([first], islice(samples, size - 1))
