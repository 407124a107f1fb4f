"""Samples as the files of a WebDataset archive, a tar file of numbered samples, and back."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from io import BytesIO
from typing import IO, Any

import numpy as np

from molyneux.core import Batch, DataError, Modality, Spec, store
from molyneux.core.errors import short
from molyneux.data.encodings.facts import described, facts_of
from molyneux.data.encodings.views import array_bytes, arrays, pictures, png_bytes, strings, text_ids

File = tuple[str, bytes]
"""The ending of a file's name, and its content."""

FACTS = "json"
"""The ending of what is known of a sample besides its views."""

_BLOCK = 512
"""Bytes of which a tar file consists."""


def ending_of(modality: Modality) -> str:
    """The ending of the files of a modality, such as `image.png`."""
    kind = {"image": "png", "text": "txt", "label": "txt"}.get(modality.kind, "npy")
    return f"{store.file_name(modality.name)}.{kind}"


def sample_files(spec: Spec, batch: Batch, pool: Executor) -> Iterator[list[File]]:
    """The files of each sample: ending and content. What a sample lacks has none.

    Args:
        spec: of the samples, without what the batch does not carry.
        batch: the samples.
        pool: its threads pack images.
    """
    columns = [(ending_of(modality), _contents(modality, batch, spec, pool)) for modality in spec.modalities]
    nothing: dict[str, list[str | None]] = {name: [None] * len(batch) for name in spec.names}
    for row, told in enumerate(described(spec, batch, nothing, decimals=None)):
        fact = {part: values for part, values in told.items() if part != "views"}
        files = [(ending, contents[row]) for ending, contents in columns]
        found = [(ending, content) for ending, content in files if content is not None]
        if fact:
            found.append((FACTS, json.dumps(fact, ensure_ascii=False, allow_nan=False).encode()))
        yield found


def write_archive(stream: IO[bytes], first: int, samples: Iterable[list[File]]) -> None:
    """Write a tar file of samples that are numbered from `first` on; the same samples give the same bytes."""
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for row, files in enumerate(samples, first):
            for ending, content in files:
                entry = tarfile.TarInfo(f"{row:09d}.{ending}")
                entry.size = len(content)
                archive.addfile(entry, BytesIO(content))


def _contents(modality: Modality, batch: Batch, spec: Spec, pool: Executor) -> list[bytes | None]:
    """The content of the files of one modality; None where a sample lacks it."""
    if modality.kind == "image":
        return png_bytes(modality, batch, pool)
    if modality.kind == "text":
        return [None if text is None else text.encode() for text in strings(modality, batch, spec)]
    present, view = batch.mask(modality.name).tolist(), batch.views[modality.name].numpy()
    if modality.kind == "label":
        return [modality.symbols[code].encode() if here else None for code, here in zip(view.tolist(), present, strict=True)]
    return [array_bytes(value) if here else None for value, here in zip(view, present, strict=True)]


def archive_index(data: np.ndarray, first: int, count: int, endings: Sequence[str]) -> np.ndarray:
    """Where the files of the samples of an archive lie: (count, endings, 2) int64, offset and bytes; offset -1 for no file.

    Args:
        data: (N,) uint8, the archive.
        first: number of its first sample.
        count: of its samples.
        endings: of the files that are looked for.

    Raises:
        ValueError: it is no archive of such samples.
    """
    found = np.full((count, len(endings), 2), -1, np.int64)
    places = {ending: place for place, ending in enumerate(endings)}
    place, end = 0, len(data)
    while place + _BLOCK <= end:
        head = data[place : place + _BLOCK].tobytes()
        if not head[0]:
            return found
        key, _, ending = head[:100].rstrip(b"\0").decode().partition(".")
        size, row = int(head[124:136].rstrip(b" \0"), 8), int(key) - first
        place += _BLOCK
        if not 0 <= row < count or ending not in places or head[156:157] != b"0" or not 0 <= size <= end - place:
            raise ValueError(f"it has the file {key}.{ending} of {size:,} bytes")
        found[row, places[ending]] = place, size
        place += -(-size // _BLOCK) * _BLOCK
    raise ValueError("it ends early")


def archive_arrays(
    contents: Mapping[str, Sequence[bytes | None]], spec: Spec, names: Sequence[str], where: str
) -> dict[str, np.ndarray]:
    """The arrays (`data.layout`) of samples of an archive.

    Args:
        contents: of the files of the samples, by their ending; None for no file.
        spec: of the samples, as `sample_files` was given it.
        names: of the arrays.
        where: what an error calls them.

    Raises:
        DataError: a file is missing, damaged, or not of such samples.
    """
    found = dict[str, np.ndarray]()
    for modality in spec.modalities:
        files = contents[ending_of(modality)]
        here = np.array([content is not None for content in files], bool)
        if f"present.{modality.name}" in names:
            found[f"present.{modality.name}"] = here
        elif not here.all():
            raise DataError(f"{where}: expected {modality.name} in every sample, got none in some")
        found[f"view.{modality.name}"] = _view(modality, files, where)
    if len(names) > len(found):
        found |= facts_of([_record(content, where) for content in contents[FACTS]], spec, names, where)
    return {name: found[name] for name in names}


def _view(modality: Modality, contents: Sequence[bytes | None], where: str) -> np.ndarray:
    if modality.kind == "image":
        return pictures(modality, contents, where)
    if modality.kind not in ("text", "label"):
        return arrays(modality, contents, where)
    try:
        words = [None if content is None else content.decode() for content in contents]
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: expected texts of {modality.name}, got other bytes ({short(error)})") from error
    if modality.kind == "text":
        return text_ids(modality, words, where)
    codes = {None: 0} | {symbol: code for code, symbol in enumerate(modality.symbols)}
    if strange := [word for word in words if word not in codes]:
        raise DataError(f"{where}: expected words of {modality.name}, got {short(strange[0])}")
    return np.array([codes[word] for word in words], modality.dtype)


def _record(content: bytes | None, where: str) -> Mapping[str, Any]:
    try:
        found = json.loads(content or b"null")
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: expected a record of each sample, got {short(error)}") from error
    if not isinstance(found, dict):
        raise DataError(f"{where}: expected a record of each sample, got none or something else")
    return found
