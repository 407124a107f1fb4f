"""Scenes as a modality: the entities as a set of numbers, from which the truth of captions can be evaluated again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from molyneux.core import Batch, DataError, Modality
from molyneux.core.tooling.compiled import compiled
from molyneux.data.worlds.shapeworld.meaning.language.language import Language, parse_texts
from molyneux.data.worlds.shapeworld.meaning.truth.semantics import Semantics
from molyneux.data.worlds.shapeworld.meaning.truth.truth import truth
from molyneux.data.worlds.shapeworld.scenes.placement import SceneRows, fits
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES, Scenes

ATTRIBUTES = ("shape", "colour", "x", "y", "size", "distortion", "rotation", "shade")
"""The numbers of an entity: positions in `SHAPES` and `COLOURS`, then as in `Scenes`. Entities stand in the order of drawing."""


NO_SENTENCE = -2
"""The value of a text that is no sentence of the language: it is neither true, nor false, nor undetermined."""


def scene_modality(entities: int) -> Modality:
    """The modality `scene` of sets of at most so many entities, (entities, 8) float32; the length is how many there are."""
    return Modality("scene", "set", (entities, len(ATTRIBUTES)))


def view_of_scenes(scenes: Scenes) -> np.ndarray:
    """The entities of scenes, (n, E, 8) float32; exact, for numbers of scenes have few digits. 0 where there is none."""
    numbers = [scenes.shape, scenes.colour, scenes.centre[..., 0], scenes.centre[..., 1], scenes.size, scenes.distortion]
    view = np.stack([*numbers, scenes.rotation, scenes.shade], -1).astype(np.float32)
    return np.where(scenes.present[..., None], view, np.float32(0))


def scenes_of_view(view: np.ndarray, lengths: np.ndarray) -> Scenes:
    """The scenes of sets of entities, with their overlaps measured anew.

    Args:
        view: (n, E, 8), as `view_of_scenes` gives it.
        lengths: (n,) how many entities there are.

    Raises:
        DataError: another shape, or shapes and colours that there are not.
    """
    if view.ndim != 3 or view.shape[2] != len(ATTRIBUTES) or lengths.shape != (len(view),):
        raise DataError(f"expected entities (n, E, {len(ATTRIBUTES)}) and lengths (n,), got {view.shape} and {lengths.shape}")
    count, entities = view.shape[:2]
    if len(lengths) and not 0 <= lengths.min() <= lengths.max() <= entities:
        raise DataError(f"expected lengths of 0 to {entities} entities, got {lengths.min()} to {lengths.max()}")
    present = np.arange(entities) < lengths[:, None]
    numbers = np.where(present[..., None], view.astype(np.float64), 0.0)
    for column, known in enumerate((SHAPES, COLOURS)):
        values = numbers[..., column]
        if not (np.isin(values, np.arange(len(known)))).all():
            raise DataError(f"expected {ATTRIBUTES[column]}s as numbers of 0 to {len(known) - 1}, got others")
    sizes = np.where(present[..., None], numbers[..., 4:6], 1.0)
    rows = SceneRows(
        present,
        numbers[..., 0].astype(np.int8),
        numbers[..., 1].astype(np.int8),
        np.ascontiguousarray(numbers[..., 2:4]),
        np.ascontiguousarray(sizes[..., 0]),
        np.ascontiguousarray(sizes[..., 1]),
        np.ascontiguousarray(numbers[..., 6]),
        np.ascontiguousarray(numbers[..., 7]),
        np.zeros((count, entities, entities)),
    )
    _measure(rows)
    return Scenes(**rows._asdict())


def rows_by_semantics(batch: Batch, every: Sequence[Semantics], column: int | None) -> list[tuple[np.ndarray, Semantics]]:
    """The rows of a batch that each semantics is for.

    Args:
        batch: samples.
        every: the semantics of each kind of captions.
        column: of the factor that says of which kind samples are.

    Raises:
        DataError: the kinds have several and the batch has no factors.
    """
    if len(set(every)) == 1:
        return [(np.arange(len(batch)), every[0])]
    if batch.factors is None or column is None:
        raise DataError("expected the factor kind, for captions of these kinds are true by different rules, got no factors")
    kinds = batch.factors[:, column].numpy()
    return [(np.flatnonzero(kinds == place), semantics) for place, semantics in enumerate(every)]


def truth_of_captions(
    modality: Modality, texts: Tensor, scenes: Scenes, language: Language, semantics: Sequence[tuple[np.ndarray, Semantics]]
) -> np.ndarray:
    """Whether captions (B, T) as ids are true of scenes, one each, (B,) int8; `NO_SENTENCE` for what is none of the language.

    The `semantics` come with the rows that they are for. Raises DataError for ids that the modality does not have.
    """
    symbols = len(modality.symbols)
    if texts.numel() and not 0 <= int(texts.min()) <= int(texts.max()) < symbols:
        raise DataError(
            f"expected texts as ids of 0 to {symbols - 1}, the words of this world, got {int(texts.min())} to {int(texts.max())}"
        )
    parsed = parse_texts(modality, texts, language)
    out, readable = np.full(len(texts), NO_SENTENCE, np.int8), parsed.readable
    for some, one in semantics:
        chosen = some[readable[some]]
        if len(chosen):
            out[chosen] = truth(parsed.programs[chosen], scenes, one, rows=chosen)
    return out


@compiled
def _measure(rows: SceneRows) -> None:
    """Measure the overlaps of entities."""
    moved, before = np.empty((0, 0), np.bool_), np.empty((0, 0, 0))
    for row in range(len(rows.present)):
        for e in range(rows.present.shape[1]):
            if rows.present[row, e]:
                fits(row, e, rows, 2.0, 2.0, moved, before)
