"""Strings as ids of a text's symbols, and symbols of labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from molyneux.core.characters import composed
from molyneux.core.conversion.given import Notes, as_array, is_array, place_of
from molyneux.core.errors import DataError, suggestion
from molyneux.core.spec import Modality

LONGEST = 1_000_000
"""Characters of a text that are looked at; a longer one is refused at once."""

_UNKNOWN, _REPLACEMENT = "<unk>", "\N{REPLACEMENT CHARACTER}"
_WORDS = re.compile(r"\w+|\S", re.UNICODE)
_CODEPOINTS = 0x110000
_SHOWN = 12


def is_spelled(modality: Modality) -> bool:
    """Whether the symbols of a text are characters; else they are words, with spaces between."""
    return all(len(symbol) == 1 for symbol in modality.symbols)


def text_views(modality: Modality, values: object) -> tuple[Tensor, Tensor | None, Notes]:
    """See `views_of`: ids (N, L) of strings, and their lengths where only these say where a text ends."""
    notes, strings = Notes(), _strings(modality, values)
    if strings is None:
        return _given_ids(modality, values), None, notes
    rows = _characters(modality, strings, notes) if is_spelled(modality) else _words(modality, strings, notes)
    flat, counts = rows
    length = modality.max_length
    ending = modality.end
    if len(long := np.flatnonzero(counts > length)):
        place, unit = int(long[0]), "characters" if is_spelled(modality) else "words"
        raise DataError(
            f"{place_of(modality, place, len(strings))}: expected at most {length} {unit}, got {counts[place]:,}: shorten it"
        )
    filling = modality.padding if modality.padding is not None else ending
    if filling is None and (counts < length).any():
        place = int(np.flatnonzero(counts < length)[0])
        raise DataError(
            f"{place_of(modality, place, len(strings))}: expected {length} symbols, for this modality has no padding, got "
            f"{counts[place]}: write as many"
        )
    ids = np.full((len(strings), length), filling or 0, modality.dtype)
    ids[np.arange(length) < counts[:, None]] = flat
    if ending is not None:
        short = np.flatnonzero(counts < length)
        ids[short, counts[short]] = ending
    told = ending is None and not is_spelled(modality)
    return torch.from_numpy(ids), torch.from_numpy(counts) if told else None, notes


def label_views(modality: Modality, values: object) -> tuple[Tensor, None, Notes]:
    """See `views_of`: ids (N,) of symbols, or of whole numbers, which are ids."""
    notes = Notes()
    if is_array(values):
        ids = as_array(values, place_of(modality, None))
        return _checked_ids(modality, ids.reshape(-1) if ids.ndim < 2 else ids), None, notes
    strings = _strings(modality, values)
    assert strings is not None
    known = {symbol: number for number, symbol in enumerate(modality.symbols)}
    folded, found = _folded(known), []
    for place, text in enumerate(strings):
        symbol = composed(text).strip()
        number = known.get(symbol, folded.get(symbol.casefold()))
        if number is None:
            raise DataError(
                f"{place_of(modality, place, len(strings))}: expected one of its {len(known)} symbols, got {_shown(text)}"
                f"{_advice(symbol, modality.symbols)}"
            )
        found.append(number)
    return _checked_ids(modality, np.array(found, np.int64)), None, notes


def _strings(modality: Modality, values: object) -> list[str] | None:
    """The strings that were given; None for ids."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "UO" and values.ndim <= 1:
        values = values.tolist()
    if isinstance(values, str):
        values = [values]
    if is_array(values):
        return None
    if not isinstance(values, list | tuple):
        raise DataError(f"{place_of(modality, None)}: expected a string or a list of strings, got a {type(values).__name__}")
    for place, text in enumerate(values):
        if not isinstance(text, str):
            got = "None" if text is None else f"a {type(text).__name__}"
            raise DataError(f"{place_of(modality, place)}: expected a string, got {got}: give each value as a string")
        if len(text) > LONGEST:
            raise DataError(
                f"{place_of(modality, place)}: expected at most {LONGEST:,} characters, got {len(text):,}: shorten the text"
            )
    return [str(text) for text in values]


def _given_ids(modality: Modality, values: object) -> Tensor:
    """Ids (N, L) that were given as an array (L,) or (N, L) of whole numbers."""
    at, length = place_of(modality, None), modality.max_length
    ids = as_array(values, at)
    if ids.ndim not in (1, 2) or ids.shape[-1] != length:
        raise DataError(f"{at}: expected a string, or ids of shape ({length},) or (N, {length}), got shape {ids.shape}")
    return _checked_ids(modality, ids.reshape(-1, length))


def _checked_ids(modality: Modality, ids: np.ndarray) -> Tensor:
    at, count = place_of(modality, None), len(modality.symbols)
    if ids.dtype.kind not in "iu":
        raise DataError(f"{at}: expected ids as whole numbers, got {ids.dtype}: give strings, or numbers from 0 to {count - 1}")
    if modality.kind == "label" and ids.ndim != 1:
        raise DataError(f"{at}: expected one id for each value, got shape {ids.shape}")
    if ids.min() < 0 or ids.max() >= count:
        wrong = ids.min() if ids.min() < 0 else ids.max()
        raise DataError(f"{at}: expected ids from 0 to {count - 1}, got {wrong}: give strings, or correct the ids")
    return torch.from_numpy(ids.astype(modality.dtype))


def _characters(modality: Modality, strings: Sequence[str], notes: Notes) -> tuple[np.ndarray, np.ndarray]:
    """Ids (M,) of all characters in a row, and the number of characters of each text, (N,)."""
    texts = [composed(text) for text in strings]
    counts = np.array([len(text) for text in texts], np.int64)
    counts, texts = _without_blank_ends(modality, texts, counts)
    points = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
    table = np.full(_CODEPOINTS, -1, np.int32)
    known = {symbol: number for number, symbol in enumerate(modality.symbols)}
    for symbol, number in known.items():
        table[ord(symbol)] = number
    flat = table[points]
    if not (flat < 0).any():
        return flat, counts
    rows = np.repeat(np.arange(len(texts)), counts)
    for point in dict.fromkeys(points[flat < 0].tolist()):
        other, what = _replacement(chr(point), known)
        at = np.flatnonzero(points == point)
        if other is None:
            row = int(rows[at[0]])
            place = int(at[0] - counts[:row].sum())
            _refuse_character(modality, texts[row], place, row, len(texts))
        else:
            flat[at] = known[other]
            notes.add(what, *np.unique(rows[at]).tolist())
    return flat, counts


def _without_blank_ends(modality: Modality, texts: list[str], counts: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Texts that are too long without the blanks at their ends, which only say that nothing follows."""
    for place in np.flatnonzero(counts > modality.max_length).tolist():
        texts[place] = texts[place].rstrip()
        counts[place] = len(texts[place])
    return counts, texts


def _replacement(character: str, known: Mapping[str, int]) -> tuple[str | None, str]:
    """What is written for a character that the alphabet lacks, None for nothing, and what that is called."""
    for other, what in (
        (character.lower(), "capital letters became small ones"),
        (character.upper(), "small letters became capital ones"),
    ):
        if other in known:
            return other, what
    if character.isspace() and " " in known:
        return " ", "line breaks and other blanks became spaces"
    if _REPLACEMENT in known:
        return _REPLACEMENT, "characters that the alphabet lacks became U+FFFD"
    return None, ""


def _refuse_character(modality: Modality, text: str, place: int, row: int, total: int) -> None:
    before = text[max(0, place - 20) : place + 20]
    raise DataError(
        f"{place_of(modality, row, total)}: expected characters of its alphabet ({_alphabet(modality)}), got {text[place]!r} at "
        f"place {place + 1}, in {before!r}: leave it out or write it otherwise"
    )


def _alphabet(modality: Modality) -> str:
    """The characters of an alphabet, those in a row as a range.

    >>> _alphabet(Modality("text", "text", (4,), "uint8", (" ", "a", "b", "c", "e"), 0))
    "' ', a-c, e"
    """
    points = sorted(ord(symbol) for symbol in modality.symbols)
    ranges = list[list[int]]()
    for point in points:
        if ranges and point == ranges[-1][1] + 1 and chr(point).isalnum():
            ranges[-1][1] = point
        else:
            ranges.append([point, point])

    def shown(point: int) -> str:
        return chr(point) if chr(point).isalnum() else repr(chr(point))

    told = [shown(low) if low == high else f"{shown(low)}-{shown(high)}" for low, high in ranges]
    return ", ".join(told[: 2 * _SHOWN]) + (f" and {len(told) - 2 * _SHOWN} more" if len(told) > 2 * _SHOWN else "")


def _words(modality: Modality, strings: Sequence[str], notes: Notes) -> tuple[np.ndarray, np.ndarray]:
    """Ids (M,) of all words in a row, and the number of words of each text, (N,)."""
    special = {modality.padding, modality.start, modality.end}
    known = {symbol: number for number, symbol in enumerate(modality.symbols) if number not in special}
    folded = _folded(known)
    resolved: dict[str, tuple[int, ...]] = {word: (number,) for word, number in known.items()}
    flat, counts = list[int](), np.zeros(len(strings), np.int64)
    for row, text in enumerate(strings):
        start = len(flat)
        for place, word in enumerate(composed(text).split(), 1):
            ids = resolved.get(word)
            if ids is None:
                ids, what = _resolved(word, known, folded)
                if ids is None:
                    raise DataError(
                        f"{place_of(modality, row, len(strings))}: expected words of its vocabulary, got {_shown(what)} as word "
                        f"{place}{_advice(what, known)}"
                    )
                if what:
                    notes.add(what, row)
                else:
                    resolved[word] = ids
            flat.extend(ids)
        counts[row] = len(flat) - start
    return np.array(flat, np.int64), counts


def _resolved(word: str, known: Mapping[str, int], folded: Mapping[str, int]) -> tuple[tuple[int, ...] | None, str]:
    """Ids of a run of characters that is no word as it stands; with None, the part that is unknown, else what was converted."""
    if (number := folded.get(word.casefold())) is not None:
        return (number,), ""
    found, what = list[int](), ""
    for part in _WORDS.findall(word):
        number = known.get(part, folded.get(part.casefold()))
        if number is None and _UNKNOWN in known:
            number, what = known[_UNKNOWN], f"words that the vocabulary lacks became {_UNKNOWN}"
        if number is None:
            return None, word if len(_WORDS.findall(word)) == 1 or not part[0].isalnum() else part
        found.append(number)
    return tuple(found), what


def _folded(known: Mapping[str, int]) -> dict[str, int]:
    """Numbers of symbols by their spelling without capital letters; those of which two are spelled alike are left out."""
    found: dict[str, int] = {}
    for symbol, number in known.items():
        folded = symbol.casefold()
        found[folded] = number if found.get(folded, number) == number else -1
    return {folded: number for folded, number in found.items() if number >= 0}


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}...")


def _advice(word: str, known: Iterable[str]) -> str:
    """The nearest known word, or some of them."""
    names = sorted(known)
    if close := suggestion(word[:80], names):
        return close
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f"; known: {', '.join(names[:_SHOWN])}{more}"
