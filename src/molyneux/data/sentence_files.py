"""Sentences from and to files in the format of the published study of text."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch

from molyneux.core import Batch, ConfigError, DataError, Spec, StoreError, choice_problems, files, nearest, store
from molyneux.data.dataset import Split
from molyneux.data.folders import appearing_folder
from molyneux.data.sources import ArraySource, require_positive
from molyneux.data.worlds.sentences import SentenceWorld
from molyneux.data.worlds.sentences.language import (
    END,
    PADDING,
    SPECIAL,
    Definition,
    FiniteLanguage,
    Form,
    Place,
    WordGroup,
    label_problems,
)
from molyneux.data.worlds.sentences.sentence_reader import SentenceReader

_FILES: Mapping[Split, str] = {"train": "train.txt", "validation": "valid.txt", "test": "test.txt"}
_ROOTS, _STRUCTURES, _VOCABULARY = "root.txt", "structure.txt", "vocab.txt"


def load_sentences(
    folder: Path | str, *, factors: Definition = "ordered", nuisances: Sequence[str] = ()
) -> dict[Split, ArraySource]:
    """The sentences of `train.txt`, `valid.txt` and `test.txt`, as far as these files are there, in memory and in their order.

    Words are numbered as in `vocab.txt`, from 3, after the special symbols; views, factors and absence are those of
    `SentenceWorld`. `root.txt` names the factors and their words; words that it does not have belong to no factor, and a factor
    of one word is none. Where there is a `structure.txt`, every sentence has to have one of its structures; else the sentences
    themselves show the forms. Line ends and byte-order marks may be those of Windows. The files are those of Zhang et al.,
    "Unsupervised Representation Disentanglement of Text" (RepL4NLP 2021), https://github.com/lanzhang128/disentanglement;
    `export_sentences` writes them for a world.

    Args:
        folder: where the files lie.
        factors: `ordered` or `positions`, see `PartsOfSpeech`.
        nuisances: further factors: "structure", where there is a `structure.txt`.

    Raises:
        ConfigError: unknown `factors` or `nuisances`. StoreError: a file is missing or cannot be read.
        DataError: names file and line of a word that `vocab.txt` does not have, and of a sentence that no structure fits.
    """
    folder = Path(folder)
    folder = Path(folder)
    structured = store.is_file(folder / _STRUCTURES)
    problems = choice_problems(factors=(factors, ("ordered", "positions")))
    if problems := problems + label_problems(nuisances, ("structure",) if structured else ()):
        raise ConfigError(problems)
    groups = _groups(folder / _ROOTS)
    words = _vocabulary(folder / _VOCABULARY, groups)
    found = {split: _ids(folder / name, words) for split, name in _FILES.items() if store.is_file(folder / name)}
    if not found:
        raise StoreError(f"expected at least one of {', '.join(_FILES.values())} in {folder}, got none: put the sentences there")
    try:
        forms = _structures(folder / _STRUCTURES, groups) if structured else _observed(list(found.values()), groups, words)
        language = FiniteLanguage(groups, forms, definition=factors, nuisances=tuple(nuisances), words=words)
        reader = SentenceReader(language)
    except ConfigError as error:
        raise DataError(f"{folder}: {error}") from error
    return {split: _source(folder / _FILES[split], ids, reader, language) for split, ids in found.items()}


def _groups(path: Path) -> tuple[WordGroup, ...]:
    """Factors and their words."""
    groups = []
    for number, line in enumerate(text_lines(path), 1):
        name, colon, words = line.partition(":")
        if not colon or not name.strip() or not words.split():
            raise DataError(f"{path}, line {number}: expected 'factor: word word ...', got {line!r}")
        groups.append(WordGroup(name.strip(), tuple(words.split())))
    if len({group.name for group in groups}) != len(groups) or not groups:
        raise DataError(f"{path}: expected at least one factor and no two of one name, got {[group.name for group in groups]}")
    return tuple(groups)


def _vocabulary(path: Path, groups: Sequence[WordGroup]) -> tuple[str, ...]:
    words: dict[str, int] = {}
    for number, line in enumerate(text_lines(path), 1):
        word = line.strip()
        if word.split() != [word] or word in SPECIAL or word in words:
            raise DataError(f"{path}, line {number}: expected one word, and none twice, got {word!r}")
        words[word] = number
    if missing := [word for group in groups for word in group.words if word not in words]:
        raise DataError(f"{path}: expected all words of {_ROOTS}, got none of {', '.join(missing[:5])}: add the words")
    return tuple(words)


def text_lines(path: Path) -> list[str]:
    """The lines of a file without their ends, nor the byte-order mark that some editors put before the first.

    Raises:
        StoreError: the file cannot be read. DataError: it is no text in UTF-8.
    """
    try:
        text = files.read_plain(path, most=store.MOST_LINES).decode("utf-8-sig")
    except OSError as error:
        raise store.read_error(error, path) from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: expected text in UTF-8: {error}") from error
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def _ids(path: Path, words: Sequence[str]) -> np.ndarray:
    """The symbols of a file's sentences, (n, longest + 1), with `<eos>` and padding."""
    lines = text_lines(path)
    if not lines:
        raise DataError(f"{path} is empty: expected a sentence a line")
    split = pc.split_pattern(pa.array([line.rstrip() for line in lines]), " ")
    lengths = np.diff(split.offsets.to_numpy())
    flat = pc.index_in(split.flatten(), pa.array(words))
    if flat.null_count:
        place = int(np.flatnonzero(flat.is_null().to_numpy(zero_copy_only=False))[0])
        number = int(np.searchsorted(split.offsets.to_numpy(), place, side="right"))
        word = split.flatten()[place].as_py()
        what = (
            f"{word!r} is not in {_VOCABULARY}; {nearest(word, words)}" if word else "expected words with single spaces between"
        )
        raise DataError(f"{path}, line {number}: {what}")
    ids = np.full((len(lines), int(lengths.max()) + 1), PADDING, np.uint8 if len(words) + len(SPECIAL) <= 256 else np.int64)
    ids[np.arange(ids.shape[1]) < lengths[:, None]] = flat.to_numpy() + len(SPECIAL)
    ids[np.arange(len(ids)), lengths] = END
    return ids


def _structures(path: Path, groups: Sequence[WordGroup]) -> tuple[Form, ...]:
    """The forms of a file of structures."""
    known = {group.name: group.words for group in groups}
    forms = []
    for number, line in enumerate(text_lines(path), 1):
        tags = line.strip().split("+")
        if unknown := [tag for tag in tags if tag not in known]:
            raise DataError(f"{path}, line {number}: {unknown[0]!r} is no factor of {_ROOTS}; {nearest(unknown[0], known)}")
        places = tuple(Place("free", known[tag], tag) for tag in tags)
        forms.append(Form(places, tuple(dict.fromkeys(tags)), {"structure": "+".join(tags)}))
    if not forms:
        raise DataError(f"{path} is empty: expected a structure a line, or no such file")
    return tuple(forms)


def _observed(found: Sequence[np.ndarray], groups: Sequence[WordGroup], words: Sequence[str]) -> tuple[Form, ...]:
    """The forms that sentences show: the same words, but for those of one group."""
    owner = {word: group for group in groups for word in group.words}
    symbols = np.arange(len(words) + len(SPECIAL), dtype=np.uint32)
    for group in groups:
        own = [number for number, word in enumerate(words, len(SPECIAL)) if owner.get(word) is group]
        symbols[own] = own[0] if own else 0
    length = max(ids.shape[1] for ids in found)
    outlines = [np.pad(symbols[ids], ((0, 0), (0, length - ids.shape[1]))) for ids in found]
    rows = np.concatenate([_different(outline) for outline in outlines])
    forms = [_form([words[symbol - len(SPECIAL)] for symbol in row if symbol > END], owner, groups) for row in _different(rows)]
    return tuple(form for form in forms if form.size(groups)) or tuple(forms)


def _different(rows: np.ndarray) -> np.ndarray:
    """The rows (m, length) that differ, in the order of their first occurrence; Arrow's table of hashes is fast."""
    content = pa.py_buffer(np.ascontiguousarray(rows))
    each = pa.FixedSizeBinaryArray.from_buffers(pa.binary(rows.strides[0]), len(rows), [None, content])
    return np.frombuffer(b"".join(each.unique().to_pylist()), rows.dtype).reshape(-1, rows.shape[1])


def _form(words: Sequence[str], owner: Mapping[str, WordGroup], groups: Sequence[WordGroup]) -> Form:
    """The form of a sentence."""
    places = [Place("free", owner[word].words, owner[word].name) if word in owner else Place("fixed", (word,)) for word in words]
    used = {place.group for place in places}
    return Form(tuple(places), tuple(group.name for group in groups if group.name in used))


def _source(path: Path, ids: np.ndarray, reader: SentenceReader, language: FiniteLanguage) -> ArraySource:
    """The sentences of a file with what the reader reads in them."""
    beyond = np.flatnonzero((ids[:, language.length :] != PADDING).any(1))
    if len(beyond):
        words = f"{language.length - 1} words, as the longest structure has"
        raise DataError(f"{path}, line {beyond[0] + 1}: expected at most {words}")
    view = np.full((len(ids), language.length), PADDING, ids.dtype)
    view[:, : ids.shape[1]] = ids[:, : language.length]
    codes, accepted = reader.codes(view)
    if not accepted.all():
        row = int(np.flatnonzero(~accepted)[0])
        raise DataError(f"{path}, line {row + 1}: {reader.read(torch.from_numpy(view[row : row + 1])).reasons[0]}")
    spec = Spec((language.modality,), language.factors)
    return ArraySource(spec, Batch({"text": torch.from_numpy(view)}, factors=torch.from_numpy(codes)))


def export_sentences(
    world: SentenceWorld,
    folder: Path | str,
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
        progress: called with the size of each chunk once it is written.

    Raises:
        ConfigError: `chunk` below 1. ConflictError: something stands at `folder`.
        StoreError: no space, no permission; nothing is left behind.
    """
    folder = Path(folder)
    require_positive(chunk=chunk)
    with appearing_folder(folder) as part:
        for split, name in _FILES.items():
            with (part / name).open("wb") as stream:
                for lines in _sentences(world, split, seed, chunk):
                    stream.write(("\n".join(lines) + "\n").encode())
                    if progress is not None:
                        progress(len(lines))
                stream.flush()
                os.fsync(stream.fileno())
        _write_language(world, part)


def _sentences(world: SentenceWorld, split: Split, seed: int, chunk: int) -> Iterator[list[str]]:
    """The sentences of a split in chunks."""
    symbols, size = pa.array(world.language.symbols), world.splits[split]
    for start in range(0, size, chunk):
        ids = world.sentences(np.arange(start, min(start + chunk, size)), split=split, seed=seed).ids
        words = ids > END
        ends = np.concatenate([[0], words.sum(1).cumsum()]).astype(np.int32)
        sentences = pa.ListArray.from_arrays(pa.array(ends), symbols.take(pa.array(ids[words])))
        yield pc.binary_join(sentences, " ").to_pylist()


def _write_language(world: SentenceWorld, folder: Path) -> None:
    groups, forms = world.language.groups, world.language.forms
    (folder / _ROOTS).write_bytes("".join(f"{group.name}: {' '.join(group.words)}\n" for group in groups).encode())
    (folder / _VOCABULARY).write_bytes("\n".join(world.vocabulary).encode())
    if all("structure" in form.labels for form in forms):
        (folder / _STRUCTURES).write_bytes("".join(f"{form.labels['structure']}\n" for form in forms).encode())
