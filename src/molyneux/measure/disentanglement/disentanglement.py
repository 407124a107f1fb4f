"""Disentanglement of a model's codes: which dimension has information about which factor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, final

import numpy as np

from molyneux.core import Cell, ConfigError, Encodes, Gallery, NotApplicableError, Score, about_names
from molyneux.measure.code_controls import control_codes
from molyneux.measure.codes import CodeTable
from molyneux.measure.disentanglement.information import adjusted_information
from molyneux.measure.disentanglement.metric import Variant
from molyneux.measure.disentanglement.scoring import Repeats, check_variants, find_metrics, score_table
from molyneux.measure.disentanglement.table import DEAD, CheckedCodes, check_dead, tabulate
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import Draw, check_draw
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.scores import Recorder


@final
class Disentanglement(Measure):
    """Metrics of disentanglement of every code of a model, given each modality alone and all together.

    `disentanglement.NAME` with `about` naming source, code, variant and, for parts of a mean, the factor; see `score_codes` for
    chance, control and interval. On the samples as they are two more controls say what needs no training: `untrained net`, the
    same metric of the same code of the net with the weights it starts with, and `raw input`, of as many principal components of
    the observed views. Each takes as long as the metric itself, which is computed eight times and more without them. Factors that
    take fewer than two values among the samples are left out, and the notes say so.
    The gallery shows the information of each dimension about each factor beyond chance.

    `dci` and its forests take most of the time (`benchmarks/disentanglement.py`).

    Args:
        metrics: names of metrics; all by default.
        variants: `recommended`, `published`, `paper`, `dlib`; those that a metric does not have are left out.
        draw: measure posterior means or samples.
        presence: whether the presence of a factor that some samples lack is a factor of its own.
        dead: share of the largest variance below which a dimension is dead and left out.
        samples: at most so many samples.
        permutations: of the codes, for the chance level.
        resamples: random halves of the samples, for the interval; 0 for none.

    Raises:
        ConfigError: unknown metric, variant or draw, or sizes that are too small.
    """

    name: ClassVar[str] = "disentanglement"
    needs: ClassVar[tuple[type, ...]] = (Encodes,)

    def __init__(
        self,
        *,
        metrics: Sequence[str] | None = None,
        variants: Sequence[Variant] = ("recommended",),
        draw: Draw = "mean",
        presence: bool = False,
        dead: float = DEAD,
        samples: int = 10_000,
        permutations: int = 3,
        resamples: int = 10,
    ) -> None:
        check_dead(dead)
        if samples < 20:
            raise ConfigError(f"samples: expected at least 20, got {samples}")
        self.metrics = find_metrics(metrics)
        self.variants = check_variants(variants)
        self.draw = check_draw(draw)
        self.presence = presence
        self.dead = dead
        self.samples = samples
        self.repeats = Repeats(permutations=permutations, resamples=resamples)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """All metrics of every code."""
        if not evaluation.spec.factors:
            raise NotApplicableError("disentanglement needs known factors: choose another source")
        tables = evaluation.tables(self.samples)
        scores: list[Score] = []
        rows: list[tuple[str, dict[str, float]]] = []
        for observed, found in tables.items():
            others = control_codes(evaluation, observed, found, self.draw)
            for code, values in found.codes(self.draw).items():
                table, left = self._table(values, found, evaluation)
                beside = {name: self._table(control, found, evaluation)[0] for name, control in others.get(code, {}).items()}
                origin = {**evaluation.provenance(), "draw": self.draw, "presence": self.presence, "dead": self.dead, **left}
                recorder = Recorder(self.name, evaluation.rng(self.name), {"source": about_names(observed), "code": code}, origin)
                for metric in self.metrics:
                    for variant in (variant for variant in self.variants if variant in metric.variants):
                        scores += score_table(
                            table,
                            metric,
                            variant,
                            repeats=self.repeats,
                            recorder=recorder,
                            seed=evaluation.seed,
                            controls=beside,
                        )
                rows += _rows(table, f"{code} given {' and '.join(observed)}")
        return Measurement(tuple(scores), (_gallery(rows),))

    def _table(self, values: np.ndarray, found: CodeTable, evaluation: Evaluation) -> tuple[CheckedCodes, dict[str, list[str]]]:
        """Codes and the factors that vary, and the names of those that do not."""
        names = [factor.name for factor in evaluation.spec.factors][: found.factors.shape[1]]
        varied = [
            column for column in range(len(names)) if len(np.unique(found.factors[found.factors[:, column] >= 0, column])) > 1
        ]
        if not varied:
            raise NotApplicableError("no factor takes two values among the samples: measure on another source")
        factors, kept = found.factors[:, varied], [names[column] for column in varied]
        left = [name for name in names if name not in kept]
        return tabulate(values, factors, names=kept, presence=self.presence, dead=self.dead), {"left out": left} if left else {}


def _rows(table: CheckedCodes, title: str) -> list[tuple[str, dict[str, float]]]:
    """Information of each live dimension about each factor; nothing where there are too few samples."""
    try:
        known = adjusted_information(table.live)
    except NotApplicableError:
        return []
    dimensions = np.flatnonzero(table.alive)
    return [
        (f"{title}, {dimension + 1}", dict(zip(table.names, row.tolist(), strict=True)))
        for dimension, row in zip(dimensions, known, strict=True)
    ]


def _gallery(rows: Sequence[tuple[str, dict[str, float]]]) -> Gallery:
    columns = tuple(dict.fromkeys(name for _, known in rows for name in known))
    return Gallery(
        name="disentanglement",
        title="Information of each dimension about each factor",
        note="Information beyond chance as a share of the factor's entropy; 1 determines it. Dead dimensions are left out.",
        columns=("dimension", *columns),
        rows=tuple((Cell(text=title), *(Cell(text=_share(known, name)) for name in columns)) for title, known in rows),
    )


def _share(known: dict[str, float], name: str) -> str:
    return f"{known[name]:.2f}" if known.get(name) else ""
