"""Galleries: exhibits of what a model reconstructs and generates, with what a reader reads in each view."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, final

import numpy as np
import torch
from torch import Tensor

from molyneux.core import (
    Batch,
    Cell,
    Codes,
    ConfigError,
    Decodes,
    Encodes,
    Factor,
    Gallery,
    Modality,
    NotApplicableError,
    Reader,
    Spec,
    values_of,
)
from molyneux.measure.coherence import Readings
from molyneux.measure.coherence.answers import asked_factors, read, read_all, reading_text
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import (
    Direction,
    Directions,
    Draw,
    check_directions,
    check_draw,
    decoded,
    directions,
    having,
    prior_codes,
)
from molyneux.measure.measures import Measure, Measurement, exhibit_name


@final
class Galleries(Measure):
    """Exhibits only: the first samples with their reconstructions and what is generated from them, and draws of the prior.

    - `cross`: the true views, each modality from itself, and in every direction.
    - `draws_<source>_to_<target>`: several posterior samples for one observation, for targets that are not text: what the
      source does not determine should vary.
    - `joint`: all modalities from one draw of the prior; of several, correct means that the readers agree.

    Args:
        rows: samples in each gallery.
        draws: posterior samples for one observation; 0 leaves these galleries out.
        draw: codes of `cross` from one posterior sample or from its mean.
        directions: see `Coherence`.

    Raises:
        ConfigError: rows below 1, draws below 0, or an unknown draw or directions.
    """

    name: ClassVar[str] = "galleries"
    needs: ClassVar[tuple[type, ...]] = (Encodes, Decodes)
    scored = False

    def __init__(self, *, rows: int = 8, draws: int = 5, draw: Draw = "sample", directions: Directions = "singles") -> None:
        if rows < 1 or draws < 0:
            raise ConfigError(f"expected rows of at least 1 and draws of at least 0, got {rows} and {draws}")
        self.rows = rows
        self.draws = draws
        self.draw = check_draw(draw)
        self.directions = check_directions(directions)

    def check(self, spec: Spec) -> None:
        """Raise ConfigError for too many directions or unknown modalities."""
        directions(spec, self.directions)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """All galleries."""
        start, whole, rows = self._samples(evaluation)
        batch = whole[rows.to(evaluation.device)]
        across = directions(evaluation.spec, self.directions, available=evaluation.available)
        itself = [Direction((name,), name) for name in evaluation.available]
        columns = {name: view_cells(evaluation, name, batch.views[name]) for name in evaluation.available}
        for direction in [*itself, *across]:
            encoded = evaluation.encoded(direction.observed, start, whole)
            assert encoded is not None  # these samples have all modalities
            place = torch.searchsorted(encoded.rows, rows)
            codes = encoded.codes(self.draw, evaluation.device)[place.to(evaluation.device)]
            cells = _generated_cells(evaluation, batch, direction, codes)
            columns[f"{direction.target} from {' and '.join(direction.observed)}"] = cells
        note = "True views, reconstructions, and views generated from other modalities, with what is read in each."
        note = f"{note} {evaluation.read_by(evaluation.available)}".strip()
        galleries = [_gallery("cross", "From one modality to another", note, columns)]
        if self.draws:
            numbers = [item for item in across if not evaluation.spec.modality(item.target).symbols]
            galleries += [self._variety(evaluation, batch, direction) for direction in numbers]
        galleries.append(self._joint(evaluation))
        return Measurement(exhibits=tuple(galleries))

    def _samples(self, evaluation: Evaluation) -> tuple[int, Batch, Tensor]:
        """The first batch in which samples have all available modalities: its start, itself, and the rows of these samples."""
        for start, batch in evaluation.batches():
            masks = torch.stack([batch.mask(name) for name in evaluation.available])
            rows = masks.all(0).nonzero().flatten()[: self.rows].cpu()
            if len(rows):
                return start, batch, rows
        raise NotApplicableError("no sample has all modalities: galleries show only such")

    def _variety(self, evaluation: Evaluation, batch: Batch, direction: Direction) -> Gallery:
        source = " and ".join(direction.observed)
        columns = {name: view_cells(evaluation, name, batch.views[name]) for name in direction.observed}
        noise = evaluation.generator(self.name, *direction.observed, direction.target)
        codes = evaluation.model.encode(having(batch, direction.observed), direction.observed).rsample(self.draws, noise)
        for number in range(self.draws):
            columns[f"draw {number + 1}"] = _generated_cells(evaluation, batch, direction, codes[number])
        name, title = (
            exhibit_name("draws", direction.observed, "to", direction.target),
            f"Several draws of {direction.target} from",
        )
        note = (
            "Every draw has a code of its own from the same posterior: what the source shows should stay, the rest should vary."
        )
        read = evaluation.read_by((*direction.observed, direction.target))
        return _gallery(name, f"{title} {source}", f"{note} {read}".strip(), columns)

    def _joint(self, evaluation: Evaluation) -> Gallery:
        names = evaluation.spec.names
        codes = prior_codes(evaluation.model, self.rows, evaluation.generator(self.name, "joint"))
        made = decoded(evaluation.model, codes, evaluation.spec, only=names)
        agree = _agreement(evaluation, made)
        columns = {name: view_cells(evaluation, name, made[name], correct=agree) for name in names}
        note = "Each row is one draw of the prior, decoded into every modality; correct means that the readers agree."
        if len(names) == 1:
            return _gallery("joint", "Drawn from the prior", evaluation.read_by(names), columns)
        return _gallery("joint", "Generated together", f"{note} {evaluation.read_by(names)}".strip(), columns)


def _generated_cells(evaluation: Evaluation, batch: Batch, direction: Direction, codes: Codes) -> list[Cell]:
    made = decoded(evaluation.model, codes, evaluation.spec, only=[direction.target])[direction.target]
    asked = asked_factors(evaluation, direction)
    return view_cells(evaluation, direction.target, made, truth=batch.factors, asked=asked)


def _agreement(evaluation: Evaluation, made: dict[str, Tensor]) -> list[bool] | None:
    """Whether all readers of jointly generated views agree; None where there are not two of them."""
    readings = Readings.of(read_all(evaluation, made))
    return readings.agreement.strict.tolist() if readings.factors else None


def _gallery(name: str, title: str, note: str, columns: dict[str, list[Cell]]) -> Gallery:
    return Gallery(name, title, note, tuple(columns), tuple(zip(*columns.values(), strict=True)))


def view_cells(
    evaluation: Evaluation,
    name: str,
    made: Tensor,
    *,
    truth: Tensor | None = None,
    asked: Collection[str] = (),
    correct: Sequence[bool] | None = None,
) -> list[Cell]:
    """One cell for each view, with what the reader of the modality `name` reads.

    Args:
        evaluation: has the reader.
        name: the modality.
        made: (N, *shape) stored views.
        truth: (N, all factors) true codes that a reading is compared with.
        asked: the factors that count; without any, nothing is said to be right or wrong.
        correct: verdicts known beforehand, in place of the comparison.
    """
    reader, cells = evaluation.reader(name), plain_cells(evaluation.spec.modality(name), made)
    if reader is None:
        return cells
    reading = reader.read(made.cpu())
    texts = [reading_text(reading, evaluation.spec.factors, row) for row in range(len(cells))]
    verdicts: Sequence[bool | None] = [None] * len(cells) if correct is None else correct
    if correct is None and truth is not None and asked:
        verdicts = read(reader, made, evaluation.spec, truth).select(list(asked)).strict.tolist()
    return [replace(cell, reading=text, correct=verdict) for cell, text, verdict in zip(cells, texts, verdicts, strict=True)]


def plain_cells(modality: Modality, made: Tensor) -> list[Cell]:
    """One cell for each view (N, *shape), without a reading."""
    if modality.symbols:
        return [Cell(text=text) for text in values_of(modality, made)]
    return [_cell(modality, view) for view in made.cpu()]


def _cell(modality: Modality, view: Tensor) -> Cell:
    """A cell with one view: images as they are, four frames of a video, numbers as a series (T, D)."""
    if modality.kind == "video":
        frames = view[torch.linspace(0, len(view) - 1, min(4, len(view))).round().long()]
        view = frames.permute(1, 2, 0, 3).flatten(2)
    if modality.kind in ("image", "video"):
        return Cell(view.numpy() if modality.dtype == "uint8" else (255 * view.clamp(0, 1)).round().numpy().astype(np.uint8))
    series = view.float().numpy()
    return Cell({"audio": series.T, "tabular": series[..., None]}.get(modality.kind, series), channels=modality.channels)


@dataclass(frozen=True)
class ReadSequence:
    """What a reader read in views that follow one another in rows.

    A step ends at a readable view and begins at the last readable one before it: a change that happens behind unreadable views
    is a change of the step that comes out of them.

    Args:
        factors: the factors that are read, F of them.
        codes: (..., S, F) what was read in each of S views of a row; -1 = absent or unreadable.
        readable: (..., S) whether the reader could read the view.
    """

    factors: tuple[Factor, ...]
    codes: np.ndarray
    readable: np.ndarray

    @property
    def before(self) -> np.ndarray:
        """(..., S - 1) number of the last readable view before each view but the first; -1 where there is none."""
        numbers = np.where(self.readable[..., :-1], np.arange(self.readable.shape[-1] - 1), -1)
        return np.asarray(np.maximum.accumulate(numbers, axis=-1))

    @property
    def known(self) -> np.ndarray:
        """(..., S - 1) whether a step ends at each view but the first: it is readable, and so is one before it."""
        return np.asarray(self.readable[..., 1:] & (self.before >= 0))

    @property
    def changed(self) -> np.ndarray:
        """(..., S - 1, F) whether a factor changes in the step that ends at a view; False where none does."""
        begun = np.take_along_axis(self.codes, np.maximum(self.before, 0)[..., None], axis=-2)
        return np.asarray((self.codes[..., 1:, :] != begun) & self.known[..., None])


def read_sequence(reader: Reader, spec: Spec, made: Tensor, *, shape: Sequence[int]) -> ReadSequence:
    """Read stored views.

    A view is unreadable if the reader gives a reason or reads nothing; -1 beside other codes is a factor that it does not have.

    Args:
        reader: reads.
        spec: names the factors.
        made: (N, *modality.shape) views.
        shape: the axes that N stands for, the last of which are the views of a row.
    """
    reading = reader.read(made.cpu())
    codes: np.ndarray = reading.codes.cpu().numpy()
    readable = np.asarray((codes >= 0).any(1))
    readable[list(reading.reasons)] = False
    factors = tuple(spec.factor(name) for name in reading.factors)
    return ReadSequence(factors, codes.reshape(*shape, len(factors)), readable.reshape(*shape))


def changes(sequence: ReadSequence) -> list[str]:
    """For each view of one row (S,), the factors that its step changed, such as `A: A9 → A1`.

    Empty for an unreadable view, for the first readable one, and for one that is read like the last readable one before.
    """
    found: list[list[str]] = [[] for _ in sequence.readable]
    before = sequence.before
    for step, column in np.argwhere(sequence.changed):
        factor = sequence.factors[column]
        codes = (sequence.codes[row, column] for row in (before[step], step + 1))
        old, new = (factor.values[code] if code >= 0 else "absent" for code in codes)
        found[step + 1].append(f"{factor.name}: {old} → {new}")
    return [", ".join(parts) for parts in found]


def stepped_cells(evaluation: Evaluation, name: str, made: Tensor) -> list[Cell]:
    """The views of one row (S, *shape) as cells, each with what its step changed after what is read."""
    cells, reader = view_cells(evaluation, name, made), evaluation.reader(name)
    if reader is None:
        return cells
    found = changes(read_sequence(reader, evaluation.spec, made, shape=(len(made),)))
    return [  # a reading that is the text itself is left out
        replace(cell, reading=text if cell.reading == cell.text else f"{cell.reading}; {text}") if text else cell
        for cell, text in zip(cells, found, strict=True)
    ]
