"""Galleries of what a model makes: seen, reconstructed, generated across and jointly, with what is read in it."""

from __future__ import annotations

from typing import ClassVar, final

import torch
from torch import Tensor

from molyneux.core import Batch, Cell, ConfigError, Decodes, Encodes, Gallery, NotApplicableError
from molyneux.measure.coherence import Answers, Direction, Readings
from molyneux.measure.coherence.reading import asked_factors, read
from molyneux.measure.evaluation import Evaluation, Measure, Measurement
from molyneux.measure.galleries.cells import view_cells
from molyneux.measure.generation import Draw, check_draw, decoded, having, posterior_codes, prior_codes


@final
class Galleries(Measure):
    """Exhibits only: the first samples with all that is made of them, and joint draws of the prior.

    - `cross`: the true views, each modality from itself, and each from each other.
    - `draws_<source>_to_<target>`: several posterior samples for one observation, for targets that are not text: what the
      source does not say should vary.
    - `joint`: all modalities from one draw of the prior; right means that the readers agree.

    Args:
        rows: samples in each gallery.
        draws: posterior samples for one observation; 0 leaves these galleries out.
        draw: codes of `cross` from one posterior sample or from its mean.

    Raises:
        ConfigError: rows below 1, draws below 0, or an unknown draw.
    """

    name: ClassVar[str] = "galleries"
    needs: ClassVar[tuple[type, ...]] = (Encodes, Decodes)

    def __init__(self, *, rows: int = 8, draws: int = 5, draw: Draw = "sample") -> None:
        if rows < 1 or draws < 0:
            raise ConfigError(f"expected rows of at least 1 and draws of at least 0, got {rows} and {draws}")
        self.rows = rows
        self.draws = draws
        self.draw = check_draw(draw)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """All galleries."""
        batch = self._samples(evaluation)
        names = evaluation.spec.names
        across = [Direction((source,), target) for source in names for target in names if source != target]
        galleries = [self._cross(evaluation, batch, across)]
        if self.draws:
            numbers = [item for item in across if not evaluation.spec.modality(item.target).symbols]
            galleries += [self._variety(evaluation, batch, direction) for direction in numbers]
        if len(names) > 1:
            galleries.append(self._joint(evaluation))
        return Measurement(exhibits=tuple(galleries))

    def _samples(self, evaluation: Evaluation) -> Batch:
        """The first samples that have all modalities."""
        for _, batch in evaluation.batches():
            part = having(batch, evaluation.spec.names)
            if len(part):
                return part[: self.rows]
        raise NotApplicableError("no sample has all modalities: galleries show only such")

    def _cross(self, evaluation: Evaluation, batch: Batch, across: list[Direction]) -> Gallery:
        names = evaluation.spec.names
        columns = {name: _true_cells(evaluation, batch, name) for name in names}
        directions = [*(Direction((name,), name) for name in names), *across]
        for direction in directions:
            made = _made(evaluation, batch, direction, self.draw)
            columns[f"{direction.target} from {direction.observed[0]}"] = _asked_cells(evaluation, batch, direction, made)
        return _gallery(
            "cross",
            "From one sense to another",
            "True views, reconstructions, and views made from another sense alone, with what is read in each.",
            columns,
        )

    def _variety(self, evaluation: Evaluation, batch: Batch, direction: Direction) -> Gallery:
        source = direction.observed[0]
        columns = {source: _true_cells(evaluation, batch, source)}
        for number in range(1, self.draws + 1):
            made = _made(evaluation, batch, direction, "sample", number)
            columns[f"draw {number}"] = _asked_cells(evaluation, batch, direction, made)
        return _gallery(
            f"draws_{source}_to_{direction.target}",
            f"Several draws of {direction.target} from {source}",
            "Every draw has a code of its own from the same posterior: what is said should stay, the rest should vary.",
            columns,
        )

    def _joint(self, evaluation: Evaluation) -> Gallery:
        names = evaluation.spec.names
        codes = prior_codes(evaluation.model, self.rows, evaluation.generator(self.name, "joint"))
        made = decoded(evaluation.model, codes, evaluation.spec, only=names)
        agree = _agreement(evaluation, made)
        columns = {name: view_cells(evaluation, name, made[name], correct=agree) for name in names}
        note = "Each row is one draw of the prior, decoded into every sense; right means that the readers agree."
        return _gallery("joint", "Generated together", note, columns)


def _true_cells(evaluation: Evaluation, batch: Batch, name: str) -> list[Cell]:
    return view_cells(evaluation, name, batch.views[name])


def _asked_cells(evaluation: Evaluation, batch: Batch, direction: Direction, made: Tensor) -> list[Cell]:
    asked = asked_factors(evaluation, direction)
    return view_cells(evaluation, direction.target, made, truth=batch.factors, asked=asked)


def _made(evaluation: Evaluation, batch: Batch, direction: Direction, draw: Draw, number: int = 0) -> Tensor:
    noise = evaluation.generator("galleries", *direction.observed, direction.target, number)
    codes = posterior_codes(evaluation.model.encode(batch, direction.observed), draw, noise)
    return decoded(evaluation.model, codes, evaluation.spec, only=[direction.target])[direction.target]


def _agreement(evaluation: Evaluation, made: dict[str, Tensor]) -> list[bool] | None:
    """Whether all readers of jointly generated views agree; None where there are not two of them."""
    answers: dict[str, Answers] = {}
    for name, view in made.items():
        reader = evaluation.reader(name)
        if reader is not None:
            nothing_asked = torch.full((len(view), len(evaluation.spec.factors)), -1)
            answers[name] = read(reader, view, nothing_asked, evaluation.spec)
    if len(answers) < 2 or not Readings.of(answers).factors:
        return None
    return [bool(row.all()) for row in Readings.of(answers).agree]


def _gallery(name: str, title: str, note: str, columns: dict[str, list[Cell]]) -> Gallery:
    return Gallery(name, title, note, tuple(columns), tuple(zip(*columns.values(), strict=True)))
