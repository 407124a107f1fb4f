"""Traversals: what each dimension of the code does to every sense."""

from __future__ import annotations

from typing import ClassVar, final

import torch

from molyneux.core import Cell, Codes, ConfigError, Decodes, Encodes, Gallery
from molyneux.measure.evaluation import Evaluation, Measure, Measurement
from molyneux.measure.galleries.steps import stepped_cells
from molyneux.measure.generation import decoded
from molyneux.measure.latents import CodeTable, collect_codes

_ENOUGH = 1000


@final
class Traversals(Measure):
    """Exhibits only: one gallery for each modality, one row for each dimension, most telling dimensions first.

    All other dimensions stay at the posterior mean of one sample given all modalities. Rows are ordered by the variance of
    the posterior mean over samples; dead dimensions come last. A modality shows the shared code and its own private one. Where
    somebody reads it, each view says which factors its step changed.

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
        table = collect_codes(evaluation, evaluation.spec.names, max(_ENOUGH, self.sample + 1))
        return Measurement(exhibits=tuple(self._gallery(evaluation, name, table) for name in evaluation.spec.names))

    def _gallery(self, evaluation: Evaluation, name: str, table: CodeTable) -> Gallery:
        values = torch.linspace(-self.limit, self.limit, self.steps)
        rows = []
        for code, dimension in self._telling(table, name):
            codes = self._codes(table, code, dimension, values.to(evaluation.device))
            made = decoded(evaluation.model, codes, evaluation.spec, only=[name])[name]
            rows.append((Cell(text=f"{code} {dimension + 1}"), *stepped_cells(evaluation, name, made)))
        return Gallery(
            name=f"traversal_{name}",
            title=f"One dimension at a time: {name}",
            note="The other dimensions stay at the code of one sample. The most telling dimensions come first. "
            "What a step changed stands after what is read.",
            columns=("", *(f"{value:+.1f}" for value in values.tolist())),
            rows=tuple(rows),
        )

    def _telling(self, table: CodeTable, name: str) -> list[tuple[str, int]]:
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
        shared = moved.pop("shared")
        return Codes(shared, {part.removeprefix("private."): private for part, private in moved.items()})
