"""What is said in segments of videos: raw words in the files of MultiBench, of the CMU Multimodal SDK and of UR-FUNNY."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from molyneux.core import DataError, files, store
from molyneux.core.errors import short
from molyneux.data.formats.hdf5_files import Hdf5Texts, find_dataset, open_hdf5, require_h5py
from molyneux.data.formats.limits import require_unpacked
from molyneux.data.formats.restricted_pickle import read_pickle

_SIGNATURE = b"\x89HDF\r\n\x1a\n"
GROUP, PAUSE, _SENTENCE = "words", "sp", "punchline_sentence"
_NUMBERED = re.compile(r"(.+)\[(\d{1,9})\]", re.DOTALL)


class Segment(NamedTuple):
    """The id of a sample: the name of a segment; or that of a video, with the seconds at which the segment starts and ends."""

    name: str
    interval: tuple[float, float] | None = None


class _Word(NamedTuple):
    start: float
    end: float
    word: str


def segments_of(found: Any, count: int, where: str) -> list[Segment]:
    """The ids of the samples of a file of features.

    Args:
        found: a list or array of names, or of rows of one name, or of rows of the name of a video, a start and an end.
        count: how many samples there are.
        where: what an error calls it.

    Raises:
        DataError: it is something else.
    """
    rows = found.tolist() if isinstance(found, np.ndarray) else list(found) if isinstance(found, list | tuple) else None
    if rows is None or len(rows) != count:
        got = type(found).__name__ if rows is None else f"{len(rows)}"
        raise DataError(f"{where}: expected an id for each of the {count} samples, by which their words are found, got {got}")
    return [_segment(row, f"{where} {number}") for number, row in enumerate(rows)]


def spoken_words(path: Path, ids: Sequence[Segment], *, segments: Path | None = None) -> list[str | None]:
    """The words of segments, with a blank between them, None where the file has none.

    Args:
        path: one of these, which is told by its content:

            - HDF5 as `mosi.hdf5`: `words/<segment>/features`, texts (L, 1), and for ids with seconds `intervals` (L, 2).
              Computational sequences of the CMU Multimodal SDK (`.csd`) have them below `words/data`. A segment is called
              `<video>[<number>]`; sequences by `<video>` alone, such as `CMU_MOSI_TimestampedWords.csd`, need `segments`.
              Words at every time that overlaps that of a segment are its words, as in the alignment of the SDK.
            - A pickle as `humor_raw_text.pkl`: a dictionary of lists of words by id; or as `language_sdk.pkl`: a dictionary of
              dictionaries with a `punchline_sentence`.

            The pause `sp` is left out, as published.
        ids: (N,) the segments.
        segments: computational sequence whose `<video>/intervals` (S, 2) are the seconds of the segments by their number, such as
            `CMU_MOSI_Opinion_Labels.csd`.

    Raises:
        StoreError: a file cannot be read. DataError: it holds something else, or not the words of a single segment.
    """
    try:
        with files.open_plain(path) as stream:
            hierarchical = stream.read(len(_SIGNATURE)) == _SIGNATURE
    except OSError as error:
        raise store.read_error(error, path) from error
    texts, known = _of_hdf5(path, ids, segments) if hierarchical else _of_pickle(path, ids)
    if ids and all(text is None for text in texts):
        raise DataError(
            f"{path}: expected words of segments such as {short(ids[0].name)!r}, got those of {known}: take the file that "
            "belongs to the features"
        )
    return texts


def _segment(row: Any, where: str) -> Segment:
    parts = row if isinstance(row, list | tuple) else [row]
    if len(parts) == 1:
        return Segment(_name(parts[0], where))
    if len(parts) != 3:
        raise DataError(f"{where}: expected a name, or the name of a video, a start and an end, got {short(row)}")
    try:
        start, end = (float(part) for part in parts[1:])
    except (TypeError, ValueError) as error:
        raise DataError(f"{where}: expected a start and an end in seconds, got {short(parts[1:])}") from error
    return Segment(_name(parts[0], where), (start, end))


def _name(found: Any, where: str) -> str:
    """A name; numbers and bytes are spelled as texts."""
    if isinstance(found, bytes):
        return found.decode("utf-8", "replace")
    if isinstance(found, float) and found.is_integer():
        return str(int(found))
    if not isinstance(found, str | int) or isinstance(found, bool):
        raise DataError(f"{where}: expected a name or a number, got {type(found).__name__} {short(found)}")
    return str(found)


def _joined(words: Sequence[str]) -> str:
    return " ".join(word for word in words if word != PAUSE)


def _of_pickle(path: Path, ids: Sequence[Segment]) -> tuple[list[str | None], str]:
    """The texts of segments, and a few ids that the file has."""
    mapped, found = read_pickle(path)
    if not isinstance(found, Mapping):
        raise DataError(f"{path}: expected a dictionary of words by id, got {type(found).__name__}")
    known = {_name(key, f"{path}, key"): value for key, value in found.items()}
    total, texts = 0, list[str | None]()
    for segment in ids:
        if segment.name not in known:
            texts.append(None)
            continue
        words = _listed(known[segment.name], f"{path}, {short(segment.name)!r}")
        total += sum(map(len, words)) + len(words)  # the same long word may stand in many places of a small file
        require_unpacked(path, mapped.size, total)
        texts.append(_joined(words))
    return texts, _some(known)


def _listed(value: Any, where: str) -> list[str]:
    if isinstance(value, Mapping):
        value = value.get(_SENTENCE)
    words = [value] if isinstance(value, str) else value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        raise DataError(f"{where}: expected a list of words, or a dictionary with {_SENTENCE!r}, got {type(value).__name__}")
    return list(words)


def _some(names: Mapping[str, Any]) -> str:
    return ", ".join(repr(short(name)) for name in list(names)[:3]) or "none"


def _of_hdf5(path: Path, ids: Sequence[Segment], segments: Path | None) -> tuple[list[str | None], str]:
    """The texts of segments, and a few ids that the file has."""
    cut = (
        None if segments is None else _Intervals(segments, {found[1] for one in ids if (found := _NUMBERED.fullmatch(one.name))})
    )
    with open_hdf5(path) as file:
        sequence = _Sequence(path, file)
        return [sequence.said(segment, cut) for segment in ids], _some(sequence.entries)


class _Sequence:
    """The words of an open HDF5 file, by segment or by video."""

    def __init__(self, path: Path, file: Any) -> None:
        self._path, self._texts = path, Hdf5Texts(path)
        self.entries = _entries(file, path, GROUP)
        self._members: dict[str, list[str]] = {}
        for name in self.entries:
            numbered = _NUMBERED.fullmatch(name)
            self._members.setdefault(numbered[1] if numbered else name, []).append(name)
        self._timed: dict[str, list[_Word]] = {}

    def said(self, segment: Segment, cut: _Intervals | None) -> str | None:
        """The words of a segment; None where there are none."""
        if segment.interval is not None:
            return self._between(segment.name, *segment.interval)
        if segment.name in self.entries:
            return _joined(self._texts.read(self.entries[segment.name], "features", self._where(segment.name)))
        numbered = _NUMBERED.fullmatch(segment.name)
        if numbered is None or numbered[1] not in self.entries:
            return None
        if cut is None:
            raise DataError(
                f"{self._path}: expected words by segment, such as {short(segment.name)!r}, got those of the whole video: name "
                "the computational sequence of labels, which has the seconds of the segments, as segments_file"
            )
        interval = cut.of(numbered[1], int(numbered[2]))
        return None if interval is None else self._between(numbered[1], *interval)

    def _between(self, video: str, start: float, end: float) -> str | None:
        if video not in self._members:
            return None
        if video not in self._timed:
            words = {word for name in self._members[video] for word in self._words(name)}  # segments may overlap
            self._timed[video] = sorted(words)
        return _joined([word.word for word in self._timed[video] if word.end > start and word.start < end])

    def _words(self, name: str) -> list[_Word]:
        group, where = self.entries[name], self._where(name)
        words = self._texts.read(group, "features", where)
        times = find_dataset(group, "intervals", (None, 2), where)[()]
        if len(times) != len(words):
            raise DataError(f"{where}: expected an interval for each of the {len(words)} words, got {len(times)}")
        return [_Word(float(start), float(end), word) for (start, end), word in zip(times, words, strict=True)]

    def _where(self, name: str) -> str:
        return f"{self._path}, {GROUP}, {short(name)!r}"


class _Intervals:
    """The seconds of the segments of videos, as a computational sequence of labels has them."""

    def __init__(self, path: Path, videos: set[str]) -> None:
        self._by_video = dict[str, np.ndarray]()
        with open_hdf5(path) as file:
            entries = _entries(file, path, None)
            for video in sorted(videos & entries.keys()):
                self._by_video[video] = find_dataset(entries[video], "intervals", (None, 2), f"{path}, {short(video)!r}")[()]

    def of(self, video: str, number: int) -> tuple[float, float] | None:
        """Start and end of a segment; None where there is none."""
        times = self._by_video.get(video)
        return None if times is None or number >= len(times) else (float(times[number, 0]), float(times[number, 1]))


def _entries(file: Any, path: Path, name: str | None) -> dict[str, Any]:
    """The groups of a computational sequence by id: those of the group of this name, or of the only group of a file."""
    h5py = require_h5py()
    names = list(file)
    root = file.get(name) if name in names else file[names[0]] if len(names) == 1 else None
    if not isinstance(root, h5py.Group):
        wanted = "one group" if name is None else f"a group {name!r}, or one group alone"
        raise DataError(f"{path}: expected {wanted}, got {', '.join(map(repr, names[:5])) or 'none'}")
    if isinstance(root.get("data"), h5py.Group) and "features" not in root["data"]:
        root = root["data"]
    return {key: found for key, found in root.items() if isinstance(found, h5py.Group)}
