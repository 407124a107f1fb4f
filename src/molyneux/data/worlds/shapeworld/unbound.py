"""The unbound control of ShapeWorld: perfect counts of colours and of shapes, and the caption, but no object and no place."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

import numpy as np

from molyneux.core import Batch, DataError, Modality, Quantity, Source
from molyneux.core.tooling.compiled import compiled
from molyneux.data.worlds.shapeworld.meaning.language.language import Language, parse_texts
from molyneux.data.worlds.shapeworld.meaning.trees.programs import COLOUR_CODES, COMPARATOR, QUANTITY, SHAPE_CODES, instructions
from molyneux.data.worlds.shapeworld.meaning.trees.trees import CODES
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES, Scenes

_SYMBOLS, _NOUNS, _PER_NOUN = 40, 8, 5
"""How many symbols and nouns of a caption are told at most, and how many numbers of each noun."""

_ANY, _BOTH = CODES["any"], CODES["both"]


def counted_quantities(most: int) -> tuple[Quantity, ...]:
    """How many entities of each colour and of each shape a scene of at most so many entities has."""
    return tuple(Quantity(name, (0.0, float(most)), "entities") for name in (*COLOURS, *SHAPES))


def counts_of(scenes: Scenes) -> np.ndarray:
    """The numbers of `counted_quantities` of n scenes, (n, colours + shapes) float32."""
    columns = [
        (scenes.present & (attribute == value)).sum(1)
        for attribute, names in ((scenes.colour, COLOURS), (scenes.shape, SHAPES))
        for value in range(len(names))
    ]
    return np.stack(columns, 1).astype(np.float32)


@final
class UnboundCounts:
    """What a reader knows that counts colours and shapes without an error and binds nothing; satisfies `core.Control`.

    Of a scene it is told how many entities have each colour and how many have each shape, but not which shape has which colour,
    nor any place, size or shade. Of the caption it is told everything: its symbols in Polish notation, with "a colour" and "a
    shape" in place of every colour and shape, and for each noun how many entities have its colour, how many its shape, and
    between which bounds and near what number those that have both must therefore lie.

    Args:
        target: name of the target of agreement.
        text: the modality of captions; None where there is none.
        language: of the captions.
        samples: gives so many training samples of a seed, with captions and counts.
    """

    def __init__(self, target: str, text: Modality | None, language: Language, *, samples: Callable[[int, int], Source]) -> None:
        self.target, self._text, self._language, self._samples = target, text, language, samples

    def samples(self, size: int, *, seed: int) -> Source:
        """Training samples to learn from."""
        return self._samples(size, seed)

    def features(self, batch: Batch) -> np.ndarray:
        """What it is told of samples, (B, F) float64; NaN for what a short caption, or one that is no sentence, has not.

        Raises:
            DataError: the batch has no counts, or no caption.
        """
        if batch.quantities is None or batch.quantities.shape[1] != len(COLOURS) + len(SHAPES):
            raise DataError("expected the counts of colours and shapes as quantities of the batch, got none: use a ShapeWorld")
        counts, programs = batch.quantities.double().cpu().numpy(), self._programs(batch)
        table = instructions()
        collapsed = programs.copy()
        collapsed[np.isin(programs, COLOUR_CODES)] = COLOUR_CODES[0]
        collapsed[np.isin(programs, SHAPE_CODES)] = SHAPE_CODES[0]
        nouns = np.full((len(programs), _NOUNS * _PER_NOUN), np.nan)
        _nouns_of(programs.astype(np.int64), counts, _places(), nouns)
        symbols = np.where(programs > 0, collapsed.astype(np.float64), np.nan)
        first = programs[:, :2]
        entities = counts[:, : len(COLOURS)].sum(1, keepdims=True)
        return np.concatenate([entities, counts, symbols, table[first, COMPARATOR], table[first, QUANTITY], nouns], 1)

    def _programs(self, batch: Batch) -> np.ndarray:
        """The captions in Polish notation, (B, `_SYMBOLS`) int16."""
        if "meaning" in batch.views:
            programs = batch.views["meaning"].cpu().numpy().astype(np.int16)
        elif self._text is not None and self._text.name in batch.views:
            programs = parse_texts(self._text, batch.views[self._text.name].cpu(), self._language).programs
        else:
            raise DataError("expected captions, as text or as meaning, got none: name one of them in `views`")
        out = np.zeros((len(programs), _SYMBOLS), np.int16)
        width = min(_SYMBOLS, programs.shape[1])
        out[:, :width] = programs[:, :width]
        return out


def _places() -> np.ndarray:
    """By code, the column of the count of a colour or a shape; -1 for other symbols."""
    found = np.full(len(CODES) + 1, -1)
    for place, name in enumerate((*COLOURS, *SHAPES)):
        found[CODES[name]] = place
    return found


@compiled
def _nouns_of(programs: np.ndarray, counts: np.ndarray, places: np.ndarray, out: np.ndarray) -> None:
    """Of each noun: entities of its colour and of its shape, at least and at most how many have both, and by chance."""
    colours = 8
    for row in range(len(programs)):
        place, noun = 0, 0
        entities = 0.0
        for number in range(colours):
            entities += counts[row, number]
        while place < programs.shape[1] and programs[row, place] != 0 and noun < _NOUNS:
            code = programs[row, place]
            place += 1
            if places[code] < 0 and code not in (_ANY, _BOTH):
                continue
            colour, shape = entities, entities
            if code == _BOTH:
                if place + 1 >= programs.shape[1]:
                    break
                colour, shape = counts[row, places[programs[row, place]]], counts[row, places[programs[row, place + 1]]]
                place += 2
            elif code != _ANY and places[code] < colours:
                colour = counts[row, places[code]]
            elif code != _ANY:
                shape = counts[row, places[code]]
            start = noun * _PER_NOUN
            out[row, start], out[row, start + 1] = colour, shape
            out[row, start + 2], out[row, start + 3] = max(0.0, colour + shape - entities), min(colour, shape)
            out[row, start + 4] = colour * shape / max(1.0, entities)
            noun += 1
