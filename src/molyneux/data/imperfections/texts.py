"""Corruptions of texts: substituted symbols, typing errors, changed words.

MultiBench (Liang et al., NeurIPS 2021), appendix D.3.1, after Belinkov and Bisk (ICLR 2018). A word is a run of letters and
digits in a text of characters, and a symbol in a text of words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import torch
from torch import Tensor

from molyneux.core import ConfigError, Kind, Modality
from molyneux.core.views import text_lengths
from molyneux.data.imperfections.corruption import Corruption, ModalityBatch
from molyneux.data.imperfections.word_edits import DROP, EXCHANGE, OMIT, REPEAT, SHUFFLE, SWAP, edit_words

_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
"""The rows of a QWERTY keyboard, each half a key further to the right than the one above."""


@final
@dataclass(frozen=True, kw_only=True)
class Substitution(Corruption):
    """Symbols of a text are replaced by others, each with the strength as its probability, independently of the others.

    The other symbol is drawn from all but the symbol itself, padding, start and end; padding, start and end stay.
    """

    name: ClassVar[str] = "substitution"
    kinds: ClassVar[tuple[Kind, ...]] = ("text",)

    def change(self, part: ModalityBatch, strength: float) -> tuple[Tensor, Tensor | None]:
        """See `Corruption.change`."""
        modality, ids = part.modality, part.view.long()
        special = {modality.padding, modality.start, modality.end}
        usual = torch.tensor([symbol for symbol in range(len(modality.symbols)) if symbol not in special])
        if len(usual) < 2:
            raise ConfigError(f"{self.name}: expected at least two symbols that can stand for each other in {modality.name}")
        rank = torch.full((len(modality.symbols),), -1).scatter(0, usual, torch.arange(len(usual)))[ids]
        drawn = part.uniforms(modality.shape[0], 2)
        other = (drawn[..., 1] * (len(usual) - 1)).long()
        other = usual[other + (other >= rank)]
        replaced = (drawn[..., 0] < strength) & _counted(part) & (rank >= 0)
        return torch.where(replaced, other, ids).to(part.view.dtype), None


@final
@dataclass(frozen=True, kw_only=True)
class Typos(Corruption):
    """Letters are replaced by neighbours on a QWERTY keyboard, each with the strength as its probability.

    Only for texts of characters. Capital letters have capital neighbours; a letter without a neighbour in the alphabet stays.
    """

    name: ClassVar[str] = "typos"
    kinds: ClassVar[tuple[Kind, ...]] = ("text",)

    def fits(self, modality: Modality) -> bool:
        """Whether a modality is a text of characters, some of them beside each other on the keyboard."""
        return super().fits(modality) and _is_spelled(modality) and bool(_neighbours(modality)[1].any())

    def change(self, part: ModalityBatch, strength: float) -> tuple[Tensor, Tensor | None]:
        """See `Corruption.change`."""
        ids, (table, count) = part.view.long(), _neighbours(part.modality)
        drawn = part.uniforms(ids.shape[1], 2)
        some = count[ids]
        other = table[ids, (drawn[..., 1] * some).long()]
        hit = (drawn[..., 0] < strength) & _counted(part) & (some > 0)
        return torch.where(hit, other, ids).to(part.view.dtype), None


@dataclass(frozen=True, kw_only=True)
class WordChange(Corruption):
    """Words are changed, each with the strength as its probability, independently of the others.

    Lengths change with the words; what no longer fits into the text is cut off, and what comes free is filled as by `Dropout`.

    Args:
        modalities: which ones are corrupted; by default all that fit.
        shortest: words of fewer letters stay as they are.

    Raises:
        ConfigError: words are changed that are too short for it.
    """

    kinds: ClassVar[tuple[Kind, ...]] = ("text",)
    change_of: ClassVar[int]
    least: ClassVar[int] = 4
    """Letters that a word needs to be changed."""

    shortest: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require({f"shortest of at least {self.least} letters, got {self.shortest}": self.shortest >= self.least})

    def fits(self, modality: Modality) -> bool:
        """Whether a modality is a text of characters."""
        return super().fits(modality) and _is_spelled(modality)

    @property
    def count(self) -> int:
        """How many letters of a word are omitted or repeated."""
        return 1

    def change(self, part: ModalityBatch, strength: float) -> tuple[Tensor, Tensor | None]:
        """See `Corruption.change`."""
        fill, length = _fill_of(self.name, part), part.view.shape[1]
        inside = _counted(part)
        said = inside.sum(1)
        words, drawn = _words(part.modality, part.view.long(), inside).numpy(), part.uniforms(length, 2).numpy()
        order, kept = np.zeros(words.shape, np.int64), np.zeros(len(words), np.int64)
        edit_words(words, said.numpy(), drawn, strength, self.change_of, (self.count, self.shortest), order, kept)
        places, new = torch.arange(length), torch.from_numpy(kept).unsqueeze(1)
        behind = places - new + said.unsqueeze(1)  # what follows the words, such as the end, moves with them
        source = torch.where(places < new, torch.from_numpy(order), behind.clamp(max=length - 1))
        moved = part.view.gather(1, source).where((places < new) | (behind < length), fill).to(part.view.dtype)
        return moved, None if part.lengths is None else (part.lengths - said + new[:, 0]).clamp(max=length)


@final
@dataclass(frozen=True, kw_only=True)
class LetterSwap(WordChange):
    """Two neighbouring letters of a word change places, neither of them the first or the last."""

    name: ClassVar[str] = "letter-swap"
    change_of: ClassVar[int] = SWAP


@final
@dataclass(frozen=True, kw_only=True)
class LetterShuffle(WordChange):
    """The letters of a word between the first and the last stand in a random order."""

    name: ClassVar[str] = "letter-shuffle"
    change_of: ClassVar[int] = SHUFFLE


@final
@dataclass(frozen=True, kw_only=True)
class Omission(WordChange):
    """Letters of a word are left out, as in quick typing.

    Args:
        modalities: which ones are corrupted; by default all that fit.
        shortest: words of fewer letters stay as they are.
        letters: how many of a word.

    Raises:
        ConfigError: no letters, or more than the shortest words have.
    """

    name: ClassVar[str] = "omission"
    change_of: ClassVar[int] = OMIT
    least: ClassVar[int] = 2

    letters: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require({f"from 1 letter to fewer than the shortest {self.shortest}, got {self.letters}": self._fits_words})

    @property
    def _fits_words(self) -> bool:
        return 1 <= self.letters < self.shortest

    @property
    def count(self) -> int:
        """See `WordChange`."""
        return self.letters


@final
@dataclass(frozen=True, kw_only=True)
class StickyKeys(WordChange):
    """Letters of a word are written twice.

    Args:
        modalities: which ones are corrupted; by default all that fit.
        shortest: words of fewer letters stay as they are.
        letters: how many of a word.

    Raises:
        ConfigError: no letters, or more than the shortest words have.
    """

    name: ClassVar[str] = "sticky-keys"
    change_of: ClassVar[int] = REPEAT
    least: ClassVar[int] = 1

    letters: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        met = 1 <= self.letters <= self.shortest
        self._require({f"from 1 letter to the shortest {self.shortest}, got {self.letters}": met})

    @property
    def count(self) -> int:
        """See `WordChange`."""
        return self.letters


@final
@dataclass(frozen=True, kw_only=True)
class WordDropout(WordChange):
    """Words are left out, with the space behind them; in texts of words, `Dropout` does the same."""

    name: ClassVar[str] = "word-dropout"
    change_of: ClassVar[int] = DROP
    least: ClassVar[int] = 1

    shortest: int = 1


@final
@dataclass(frozen=True, kw_only=True)
class WordSwap(WordChange):
    """Words change places with the next word, also in texts of words; a word is moved once at most."""

    name: ClassVar[str] = "word-swap"
    change_of: ClassVar[int] = EXCHANGE
    least: ClassVar[int] = 1

    shortest: int = 1

    def fits(self, modality: Modality) -> bool:
        """Whether a modality is a text of words, or of characters with something between words."""
        return modality.kind == "text" and not (_is_spelled(modality) and all(map(str.isalnum, modality.symbols)))


def _special(modality: Modality) -> set[int | None]:
    return {modality.padding, modality.start, modality.end}


def _is_spelled(modality: Modality) -> bool:
    """Whether the symbols of a text are characters, some of them letters."""
    usual = [symbol for number, symbol in enumerate(modality.symbols) if number not in _special(modality)]
    return all(len(symbol) == 1 for symbol in usual) and any(map(str.isalnum, usual))


def _words(modality: Modality, ids: Tensor, inside: Tensor) -> Tensor:
    """The number of the word that each symbol is in, (B, L); -1 where it is in none."""
    special, spelled = _special(modality), _is_spelled(modality)
    kind = [number not in special and (symbol.isalnum() or not spelled) for number, symbol in enumerate(modality.symbols)]
    letters = torch.tensor(kind)[ids] & inside
    before = torch.nn.functional.pad(letters[:, :-1], (1, 0))
    begins = letters & ~before if spelled else letters
    return torch.where(letters, begins.cumsum(1), -1)


def _neighbours(modality: Modality) -> tuple[Tensor, Tensor]:
    """By symbol, the symbols on the keys beside it (S, 8), and how many there are (S,)."""
    places = {key: (column + 0.5 * row, row) for row, keys in enumerate(_KEYBOARD) for column, key in enumerate(keys)}
    ids = {symbol: number for number, symbol in enumerate(modality.symbols)}
    table, count = torch.zeros(len(modality.symbols), 8, dtype=torch.long), torch.zeros(len(modality.symbols), dtype=torch.long)
    for symbol, number in ids.items():
        x, y = places.get(symbol.lower(), (-9.0, -9.0))
        near = [key for key, (a, b) in places.items() if key != symbol.lower() and abs(a - x) <= 1 and abs(b - y) <= 1]
        found = [ids[key] for key in (key.upper() if symbol.isupper() else key for key in near) if key in ids]
        table[number, : len(found)], count[number] = torch.tensor(found, dtype=torch.long), len(found)
    return table, count


def without_symbols(name: str, part: ModalityBatch, lost: Tensor) -> tuple[Tensor, Tensor | None]:
    """Texts without the symbols that are lost (B, L), and their lengths."""
    fill = _fill_of(name, part)
    lost = lost & _counted(part)
    order = lost.byte().argsort(dim=1, stable=True)
    kept = part.view.shape[1] - lost.sum(1, keepdim=True)
    filled = part.view.gather(1, order).where(torch.arange(part.view.shape[1]) < kept, fill)
    return filled.to(part.view.dtype), None if part.lengths is None else part.lengths - lost.sum(1)


def _fill_of(name: str, part: ModalityBatch) -> int:
    """The symbol that fills what comes free at the end of a text.

    Raises:
        ConfigError: the text has no padding, no end and no lengths.
    """
    fill = part.modality.padding if part.modality.padding is not None else part.modality.end
    if fill is None and part.lengths is None:
        raise ConfigError(f"{name}: expected padding, an end or lengths for the text {part.modality.name}, got none of them")
    return 0 if fill is None else fill


def _counted(part: ModalityBatch) -> Tensor:
    """Which symbols of a text say something, (B, L) bool."""
    lengths = text_lengths(part.modality, part.view, part.lengths)
    return torch.arange(part.view.shape[1]) < lengths.unsqueeze(1)
