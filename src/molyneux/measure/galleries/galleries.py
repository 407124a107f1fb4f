"""Galleries and traversals: exhibits of what a model reconstructs and generates."""

from __future__ import annotations

from typing import ClassVar, final

import torch
from torch import Tensor

from molyneux.core import Batch, Cell, Codes, ConfigError, Decodes, Encodes, Gallery, NotApplicableError, Spec
from molyneux.measure.codes import CodeTable, from_named
from molyneux.measure.coherence import Readings
from molyneux.measure.coherence.answers import asked_factors, read_all
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.galleries.cells import stepped_cells, view_cells
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

_FIRST = 1000
"""Samples over which the variance of codes is taken."""


@final
class Galleries(Measure):
    """Exhibits only: the first samples with their reconstructions and what is generated from them, and draws of the prior.

    - `cross`: the true views, each modality from itself, and in every direction.
    - `draws_<source>_to_<target>`: several posterior samples for one observation, for targets that are not text: what the
      source does not determine should vary.
    - `joint`: all modalities from one draw of the prior; correct means that the readers agree.

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
    scored: ClassVar[bool] = False

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
        galleries = [_gallery("cross", "From one modality to another", note, columns)]
        if self.draws:
            numbers = [item for item in across if not evaluation.spec.modality(item.target).symbols]
            galleries += [self._variety(evaluation, batch, direction) for direction in numbers]
        if len(evaluation.spec.names) > 1:
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
        return _gallery(
            exhibit_name("draws", direction.observed, "to", direction.target),
            f"Several draws of {direction.target} from {source}",
            "Every draw has a code of its own from the same posterior: what the source shows should stay, the rest should vary.",
            columns,
        )

    def _joint(self, evaluation: Evaluation) -> Gallery:
        names = evaluation.spec.names
        codes = prior_codes(evaluation.model, self.rows, evaluation.generator(self.name, "joint"))
        made = decoded(evaluation.model, codes, evaluation.spec, only=names)
        agree = _agreement(evaluation, made)
        columns = {name: view_cells(evaluation, name, made[name], correct=agree) for name in names}
        note = "Each row is one draw of the prior, decoded into every modality; correct means that the readers agree."
        return _gallery("joint", "Generated together", note, columns)


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


@final
class Traversals(Measure):
    """Exhibits only: one gallery for each modality, with one row for each dimension of the code that is moved.

    All other dimensions stay at the posterior mean of one sample given all modalities. Rows are ordered by the variance of
    the posterior mean over samples; dead dimensions come last. A modality shows the shared code and its own private one. Where
    there is a reader, each view says which factors its step changed.

    Args:
        steps: values along a dimension.
        limit: from -limit to limit.
        dimensions: at most so many rows.
        sample: position of the sample whose code is moved.

    Raises:
        ConfigError: steps below 2, dimensions below 1, a negative sample, or a limit that is not positive.
    """

    name: ClassVar[str] = "traversals"
    needs: ClassVar[tuple[type, ...]] = (Encodes, Decodes)
    scored: ClassVar[bool] = False

    def __init__(self, *, steps: int = 7, limit: float = 3.0, dimensions: int = 10, sample: int = 0) -> None:
        if steps < 2 or dimensions < 1 or sample < 0 or not limit > 0:
            raise ConfigError(
                "expected steps of at least 2, dimensions of at least 1, sample of at least 0 and a positive limit, "
                f"got {steps}, {dimensions}, {sample} and {limit}"
            )
        self.steps = steps
        self.limit = limit
        self.dimensions = dimensions
        self.sample = sample

    def measure(self, evaluation: Evaluation) -> Measurement:
        """One gallery for each modality."""
        table = evaluation.table(evaluation.available, max(_FIRST, self.sample + 1))
        return Measurement(exhibits=tuple(self._gallery(evaluation, name, table) for name in evaluation.available))

    def _gallery(self, evaluation: Evaluation, name: str, table: CodeTable) -> Gallery:
        values = torch.linspace(-self.limit, self.limit, self.steps)
        rows = []
        for code, dimension in self._ordered(table, name):
            codes = self._codes(table, code, dimension, values.to(evaluation.device))
            made = decoded(evaluation.model, codes, evaluation.spec, only=[name])[name]
            rows.append((Cell(text=f"{code} {dimension + 1}"), *stepped_cells(evaluation, name, made)))
        return Gallery(
            name=exhibit_name("traversal", name),
            title=f"One dimension at a time: {name}",
            note="The other dimensions stay at the code of one sample. The dimensions that vary most come first. "
            "After what is read, each view says what its step changed.",
            columns=("", *(f"{value:+.1f}" for value in values.tolist())),
            rows=tuple(rows),
        )

    def _ordered(self, table: CodeTable, name: str) -> list[tuple[str, int]]:
        """The dimensions that reach a modality, by falling variance of their mean."""
        found = {
            (code, dimension): float(variance)
            for code, means in table.means.items()
            if code in ("shared", f"private.{name}")
            for dimension, variance in enumerate(means.var(0))
        }
        return sorted(found, key=lambda place: -found[place])[: self.dimensions]

    def _codes(self, table: CodeTable, code: str, dimension: int, values: torch.Tensor) -> Codes:
        """The code of the sample, once for each value (S, D), with one dimension moved."""
        row = min(self.sample, len(table.factors) - 1)
        moved = {part: torch.from_numpy(means[row]).to(values).repeat(len(values), 1) for part, means in table.means.items()}
        moved[code][:, dimension] = values
        return from_named(moved)
