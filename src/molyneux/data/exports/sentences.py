"""Export of a world of sentences as the files that the published study reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from molyneux.core import ConfigError
from molyneux.data.folders import appearing_folder
from molyneux.data.sentence_files import FILES, ROOTS, STRUCTURES, VOCABULARY
from molyneux.data.worlds.sentences import SentenceWorld
from molyneux.data.worlds.sentences.language import END
from molyneux.data.worlds.world import Split


def export_sentences(
    world: SentenceWorld,
    folder: Path,
    *,
    seed: int = 0,
    chunk: int = 65_536,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Write every sentence of a world into `train.txt`, `valid.txt` and `test.txt`, all or nothing.

    A line is a sentence, its words separated by spaces. Beside them stand `root.txt` (`factor: word word ...`), `vocab.txt` (a
    word a line, of which the first has id 3) and, where the forms are structures, `structure.txt` (tags joined by `+`). With
    `split="published"` the sentences and the vocabulary are byte for byte those of the published generator (Zhang et al.,
    "Unsupervised Representation Disentanglement of Text", RepL4NLP 2021), with line feeds for line ends. `load_sentences` reads
    the folder back.

    Args:
        world: what to write.
        folder: where to; its parents are made.
        seed: of the order within each split.
        chunk: sentences made and written at once.
        progress: called with the number of sentences written since the last call.

    Raises:
        ConfigError: `chunk` below 1. ConflictError: something stands at `folder`.
        StoreError: no space, no permission; nothing is left behind.
    """
    if chunk < 1:
        raise ConfigError(f"expected chunk of at least 1, got {chunk}")
    with appearing_folder(folder) as part:
        for split, name in FILES.items():
            with (part / name).open("wb") as stream:
                for lines in _lines(world, split, seed, chunk):
                    stream.write(("\n".join(lines) + "\n").encode())
                    if progress is not None:
                        progress(len(lines))
                stream.flush()
                os.fsync(stream.fileno())
        _write_language(world, part)


def _lines(world: SentenceWorld, split: Split, seed: int, chunk: int) -> Iterator[list[str]]:
    """The sentences of a split in chunks."""
    symbols, size = pa.array(world.language.symbols), world.sizes[split]
    for start in range(0, size, chunk):
        ids = world.sentences(np.arange(start, min(start + chunk, size)), split=split, seed=seed).ids
        words = ids > END
        ends = np.concatenate([[0], words.sum(1).cumsum()]).astype(np.int32)
        sentences = pa.ListArray.from_arrays(pa.array(ends), symbols.take(pa.array(ids[words])))
        yield pc.binary_join(sentences, " ").to_pylist()


def _write_language(world: SentenceWorld, folder: Path) -> None:
    groups, forms = world.language.groups, world.language.forms
    (folder / ROOTS).write_bytes("".join(f"{group.name}: {' '.join(group.words)}\n" for group in groups).encode())
    (folder / VOCABULARY).write_bytes("\n".join(world.vocabulary).encode())
    if all("structure" in form.labels for form in forms):
        (folder / STRUCTURES).write_bytes("".join(f"{form.labels['structure']}\n" for form in forms).encode())
