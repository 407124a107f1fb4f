"""Two-way choice: one thing in one sense, two things in another sense, and which of the two it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import ClassVar, Literal, final

import numpy as np

from molyneux.core import ConfigError, Encodes, NotApplicableError, Score, Spec, choice_problems, nearest
from molyneux.measure.code_controls import RAW, UNTRAINED, control_codes
from molyneux.measure.codes import CodeTable
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.scores import Recorder, mean_interval, percentiles

Distance = Literal["cosine", "euclidean"]

PERMUTED = "permuted pairing"
_RESAMPLES = 1000


@final
class TwoWayChoice(Measure):
    """Whether a model that is given one thing in one sense knows it from another thing in another sense, by its codes.

    The test of Held et al., "The newly sighted fail to match seen with felt" (Nature Neuroscience, 2011): a sample is given in
    the modality `source`; of two samples in the modality `target`, one has the same value of a factor (another sample of the same
    shape, say), the other one not. The one whose shared code is nearer is chosen; of two equally near ones, each is half chosen.
    Every sample is asked with every pair of others of its group.

    Scores: `two_way_choice.accuracy` in %, with `about` naming source, target, and the value of `by`; the mean over ordered pairs
    of values (pairs of shapes), and the interval that holds for new samples *and* new values: values are resampled, with all
    their samples (Owen, "The pigeonhole bootstrap", Annals of Applied Statistics, 2007). Chance is 50 %.

    Controls: `permuted pairing`, the answers that are right if the value of each thing is another one in the other sense; the
    `untrained net`; and `raw input`, where codes are as many principal components of each sense.

    Args:
        factor: name of the factor whose values are told apart.
        by: name of a factor by which samples are grouped, such as `role`; both things have the same value of it. None: one group.
        pairs: of modalities, source and target; all ordered pairs by default.
        distance: of codes.
        alike: name of a factor in which the values of both things have to agree, such as `pair`: then there is also
            `two_way_choice.alike_accuracy`, over these pairs of values alone.
        samples: at most so many of each group.

    Raises:
        ConfigError: an unknown distance, pairs that are none, or fewer than 4 samples.
    """

    name: ClassVar[str] = "two_way_choice"
    needs: ClassVar[tuple[type, ...]] = (Encodes,)

    def __init__(
        self,
        *,
        factor: str = "shape",
        by: str | None = None,
        pairs: Sequence[Sequence[str]] = (),
        distance: Distance = "cosine",
        alike: str | None = None,
        samples: int = 1000,
    ) -> None:
        problems = choice_problems(distance=(distance, ("cosine", "euclidean")))
        problems += [
            f"pairs: expected two different modalities, got {list(pair)}" for pair in pairs if len({*pair}) != 2 or len(pair) != 2
        ]
        problems += [f"samples: expected at least 4, got {samples}"] * (samples < 4)
        if problems:
            raise ConfigError(problems)
        self.factor, self.by, self.distance, self.alike, self.samples = factor, by, distance, alike, samples
        self.pairs = tuple((pair[0], pair[1]) for pair in pairs)

    def check(self, spec: Spec) -> None:
        """Raise ConfigError for unknown modalities, and for factors that are named beside the default and unknown."""
        known = [factor.name for factor in spec.factors]
        names = dict.fromkeys(name for pair in self.pairs for name in pair)
        problems = [f"pairs: no modality {name!r}; {nearest(name, spec.names)}" for name in names if name not in spec.names]
        for what, name in (("by", self.by), ("alike", self.alike)):
            if name is not None and name not in known:
                problems.append(f"{what}: no factor {name!r}; {nearest(name, known)}")
        if self.factor != "shape" and self.factor not in known:
            problems.append(f"factor: no factor {self.factor!r}; {nearest(self.factor, known)}")
        if problems:
            raise ConfigError(problems)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Every pair of modalities, in every group."""
        spec, tables = evaluation.spec, dict[str, CodeTable]()
        if self.factor not in [factor.name for factor in spec.factors]:
            raise NotApplicableError(f"two_way_choice needs the factor {self.factor}: name one of the source as `factor`")
        pairs = self.pairs or tuple(permutations(evaluation.available, 2))
        for name in dict.fromkeys(name for pair in pairs for name in pair if name in evaluation.available):
            tables[name] = evaluation.table((name,)).by_content()
        beside = {name: control_codes(evaluation, (name,), table, "mean").get("shared", {}) for name, table in tables.items()}
        scores = [
            score
            for source, target in pairs
            if source in tables and target in tables
            for score in self._scores(evaluation, source, target, tables, beside)
        ]
        if not scores:
            raise NotApplicableError("two_way_choice needs samples of two values in two modalities: measure on another source")
        return Measurement(tuple(scores))

    def _scores(
        self,
        evaluation: Evaluation,
        source: str,
        target: str,
        tables: Mapping[str, CodeTable],
        beside: Mapping[str, Mapping[str, np.ndarray]],
    ) -> Iterator[Score]:
        """Those of a pair of modalities, for each group that has two values."""
        spec, one, other = evaluation.spec, tables[source], tables[target]
        column = spec.factor_index(self.factor)
        groups = spec.factor(self.by).values if self.by is not None else ("",)
        place = None if self.by is None else spec.factor_index(self.by)
        for number, group in enumerate(groups):
            rows = [self._rows(table, column, place, number) for table in (one, other)]
            values = [table.factors[part, column] for table, part in zip((one, other), rows, strict=True)]
            codes = [table.means["shared"][part] for table, part in zip((one, other), rows, strict=True)]
            numbers = [table.rows[part] for table, part in zip((one, other), rows, strict=True)]
            right = self._right(codes, values, numbers)
            if right is None:
                continue
            controls = {PERMUTED: self._right(codes, [values[0], _permuted(values[1])], numbers)}
            for name in (UNTRAINED, RAW):
                if name in beside[source] and name in beside[target]:
                    found = [beside[sense][name][part] for sense, part in zip((source, target), rows, strict=True)]
                    width = min(part.shape[1] for part in found)
                    controls[name] = self._right([part[:, :width] for part in found], values, numbers)
            about = {"source": source, "target": target, **({} if self.by is None else {self.by: group})}
            recorder = Recorder(self.name, evaluation.rng(self.name, *about.values()), about, evaluation.provenance())
            yield _score(recorder, "accuracy", right, controls, len(numbers[0]))
            if self.alike is not None:
                kin = self._kin(spec.factor_index(self.alike), one, other, rows, values)
                if (right := _among(right, kin)) is not None:
                    del controls[PERMUTED]  # the values that stand for others are not alike
                    within = {name: _among(found, kin) for name, found in controls.items() if found is not None}
                    yield _score(recorder, "alike_accuracy", right, within, len(numbers[0]))

    def _kin(
        self, column: int, one: CodeTable, other: CodeTable, rows: Sequence[np.ndarray], values: Sequence[np.ndarray]
    ) -> np.ndarray:
        """Which pairs of values go with one value of the factor `alike`, (K, K) bool."""
        told = np.concatenate([table.factors[part, column] for table, part in zip((one, other), rows, strict=True)])
        _, first = np.unique(np.concatenate(values), return_index=True)
        return np.asarray(told[first][:, None] == told[first])

    def _rows(self, table: CodeTable, column: int, place: int | None, number: int) -> np.ndarray:
        """Places of the samples of a group, those first that the content of samples puts first."""
        inside = table.factors[:, column] >= 0
        if place is not None:
            inside &= table.factors[:, place] == number
        return np.flatnonzero(inside)[: self.samples]

    def _right(
        self, codes: Sequence[np.ndarray], values: Sequence[np.ndarray], numbers: Sequence[np.ndarray]
    ) -> np.ndarray | None:
        return two_way_choices(distances(codes[0], codes[1], self.distance), *values, same=numbers[0][:, None] == numbers[1])


def distances(one: np.ndarray, other: np.ndarray, kind: Distance = "euclidean") -> np.ndarray:
    """Distances (n, m) of codes (n, D) and (m, D), in an unknown unit: Euclidean, squared, or 1 minus the cosine.

    They are rounded to 9 digits: the others depend on the processor.
    """
    if kind == "cosine":
        one, other = (codes / np.maximum(np.linalg.norm(codes, axis=1, keepdims=True), 1e-12) for codes in (one, other))
        return np.asarray((1.0 - one @ other.T).round(9))
    squares = (one**2).sum(1)[:, None] + (other**2).sum(1) - 2.0 * one @ other.T
    largest = float(squares.max(initial=0.0))
    return np.asarray((squares / largest).round(9) if largest > 0 else squares)


def two_way_choices(
    away: np.ndarray, given: np.ndarray, choices: np.ndarray, *, same: np.ndarray | None = None
) -> np.ndarray | None:
    """How often the right one of two things is chosen, for each pair of values, (K, K) of 0..1; None without two values.

    Row and column are the value that is given and that of the wrong thing, in the order of the values; NaN where there is no
    such choice, as on the diagonal.

    Args:
        away: (n, m) distances of things that are given and things to choose from.
        given: (n,) codes of the values of the things that are given.
        choices: (m,) of those to choose from.
        same: (n, m) bool, what is the same sample in both senses, and so no right choice.
    """
    values = np.unique(np.concatenate([given, choices]))
    found = np.full((len(values), len(values)), np.nan)
    for row, value in enumerate(values):
        own, right = np.flatnonzero(given == value), choices == value
        parts = [
            _share(away[place, right if same is None else right & ~same[place]], away[place], choices, values) for place in own
        ]
        kept = [part for part in parts if part is not None]
        if kept:
            found[row] = np.mean(kept, 0)
            found[row, row] = np.nan
    return found if np.isfinite(found).any() else None


def _share(right: np.ndarray, away: np.ndarray, choices: np.ndarray, values: np.ndarray) -> np.ndarray | None:
    """Of one thing, by the value of the wrong one, (K,): how often a right one is nearer, ties half; None without a right one."""
    if not len(right):
        return None
    ordered = np.sort(right)
    nearer, not_farther = (np.searchsorted(ordered, away, side) for side in ("left", "right"))
    wins = (nearer + not_farther) / (2.0 * len(right))
    place, counts = np.searchsorted(values, choices), np.bincount(np.searchsorted(values, choices), minlength=len(values))
    total = np.bincount(place, wins, minlength=len(values))
    return np.where(counts > 0, total / np.maximum(counts, 1), np.nan)


def pairs_interval(right: np.ndarray, rng: np.random.Generator) -> tuple[float, float] | None:
    """The 95 % interval, in %, of the mean of shares (K, K) of pairs of values, for new values and new samples of them."""
    known = np.isfinite(right)
    if known.any(1).sum() and known.sum(1).max() <= 1:  # each value is asked with one other: pairs are resampled as wholes
        both = np.where(known, right, 0.0) + np.where(known.T, right.T, 0.0)
        pairs = known.astype(int) + known.T
        return mean_interval(100.0 * (both[np.triu(pairs > 0)] / pairs[np.triu(pairs > 0)]), rng, (0.0, 100.0))
    weights = rng.multinomial(len(right), np.full(len(right), 1 / len(right)), _RESAMPLES).astype(np.float64)
    total = np.einsum("ri,ij,rj->r", weights, np.where(known, right, 0.0), weights)
    pairs = np.einsum("ri,ij,rj->r", weights, known.astype(np.float64), weights)
    means = 100.0 * total[pairs > 0] / pairs[pairs > 0]
    found = percentiles(means) if len(means) else None
    each = 100.0 * np.array([row[np.isfinite(row)].mean() for row in right if np.isfinite(row).any()])
    return mean_interval(each, rng, (0.0, 100.0)) if found is None else found


def _score(recorder: Recorder, name: str, right: np.ndarray, controls: Mapping[str, np.ndarray | None], count: int) -> Score:
    """The mean over pairs of values, in %."""
    return recorder.score(
        name,
        _mean(right),
        interval=pairs_interval(right, recorder.rng),
        n=count,
        unit="%",
        bounds=(0.0, 100.0),
        chance=50.0,
        controls={control: value for control, part in controls.items() if (value := _mean(part)) is not None},
    )


def _among(right: np.ndarray, kin: np.ndarray) -> np.ndarray | None:
    """Shares (K, K) of pairs of values that are alike, NaN for all others; None where there is none."""
    found = np.where(kin, right, np.nan)
    return found if np.isfinite(found).any() else None


def _mean(right: np.ndarray | None) -> float | None:
    return None if right is None else 100.0 * float(right[np.isfinite(right)].mean())


def _permuted(values: np.ndarray) -> np.ndarray:
    """Each value replaced by the next one that occurs, the last by the first."""
    known = np.unique(values)
    return np.asarray(np.roll(known, -1)[np.searchsorted(known, values)])
