"""Scores of what was read: strict, features, accuracy of each factor and value, letters, each with its controls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from molyneux.core import Cell, Factor, Gallery, Score
from molyneux.measure.coherence.answers import ReadCodes, best_constant, features_chance, strict_chance
from molyneux.measure.coherence.letters import ConstantText, LetterAccuracy
from molyneux.measure.generation import Direction
from molyneux.measure.measures import exhibit_name
from molyneux.measure.scores import Recorder, percent

CEILING = "judge ceiling"


def answer_scores(
    answers: ReadCodes, ceiling: ReadCodes | None, recorder: Recorder, beside: Mapping[str, ReadCodes] = MappingProxyType({})
) -> list[Score]:
    """Strict, Features and the accuracy of each factor, with uniform guesses as chance and the best constant as control.

    Args:
        answers: what was read in generated views.
        ceiling: what the same reader reads in the true views of the same samples, the same factors; None where no sample has such
            a view.
        recorder: writes the scores.
        beside: what the same reader reads in views that need no model, by the name of the control (`view_controls`).
    """
    combination, values = best_constant(answers)
    above = {**beside, **({} if ceiling is None else {CEILING: ceiling})}
    return agreement_scores(
        answers,
        {"constant": values, **above},
        recorder,
        strict_controls={"constant": combination, **above},
        chance=(strict_chance(answers), features_chance(answers)),
        factor_chance=[100 / len(factor.values) for factor in answers.factors],
    )


def agreement_scores(
    answers: ReadCodes,
    controls: Mapping[str, ReadCodes],
    recorder: Recorder,
    *,
    chance: tuple[float, float],
    factor_chance: Sequence[float],
    strict_controls: Mapping[str, ReadCodes] | None = None,
) -> list[Score]:
    """Strict (%), Features (of the number of factors) and the accuracy (%) of each factor.

    Args:
        answers: what is scored.
        controls: what it is compared with, the same factors.
        recorder: writes the scores.
        chance: of Strict (0..1) and of Features.
        factor_chance: of each accuracy, in %.
        strict_controls: what Strict is compared with; `controls` by default.
    """
    count = len(answers.factors)
    strict = {name: percent(other.strict) for name, other in (strict_controls or controls).items()}
    features = {name: float(other.features.mean()) for name, other in controls.items()}
    scores = [
        recorder.share("strict", answers.strict, chance=100 * chance[0], controls=strict),
        recorder.mean(
            "features", answers.features, unit=f"of {count}", bounds=(0.0, float(count)), chance=chance[1], controls=features
        ),
    ]
    for column, factor in enumerate(answers.factors):
        compared = {name: percent(other.column(column)) for name, other in controls.items()}
        scores.append(
            recorder.on(factor=factor.name).share(
                "accuracy", answers.column(column), chance=factor_chance[column], controls=compared
            )
        )
    return scores


def value_scores(
    answers: ReadCodes, ceiling: ReadCodes | None, recorder: Recorder, beside: Mapping[str, ReadCodes] = MappingProxyType({})
) -> list[Score]:
    """How often each true value of each factor is read correctly; the note says what it is most often mistaken for."""
    scores, compared = [], {**beside, **({} if ceiling is None else {CEILING: ceiling})}
    for column, factor in enumerate(answers.factors):
        for code, value in enumerate(factor.values):
            rows = answers.truth[:, column] == code
            if not rows.any():
                continue
            read = answers.read[rows, column]
            score = recorder.on(factor=factor.name, value=value).share(
                "value_accuracy",
                read == code,
                chance=100 / len(factor.values),
                controls={
                    name: percent(other.right[other.truth[:, column] == code, column])
                    for name, other in compared.items()
                    if (other.truth[:, column] == code).any()
                },
                note=_mistake(read, code, factor.values),
            )
            scores.append(score)
    return scores


def unreadable_score(
    answers: ReadCodes, ceiling: ReadCodes | None, recorder: Recorder, beside: Mapping[str, ReadCodes] = MappingProxyType({})
) -> Score:
    """Share of generated views of which some factor asked for could not be read, with that of true views as control."""
    compared = {**beside, **({} if ceiling is None else {CEILING: ceiling})}
    controls = {name: percent(other.unreadable) for name, other in compared.items()}
    return recorder.share("unreadable", answers.unreadable, higher_is_better=False, controls=controls)


def forced_score(
    answers: ReadCodes, ceiling: ReadCodes | None, recorder: Recorder, beside: Mapping[str, ReadCodes] = MappingProxyType({})
) -> Score:
    """Strict coherence as published, by a reader that has to choose a value: means of many images count where they mislead it."""
    compared = {**beside, **({} if ceiling is None else {CEILING: ceiling})}
    controls = {"constant": percent(best_constant(answers)[0].strict)}
    controls |= {name: percent(other.without_abstaining.strict) for name, other in compared.items()}
    strict = answers.without_abstaining.strict
    return recorder.share("strict_forced", strict, chance=100 * strict_chance(answers), controls=controls)


def judge_scores(
    exact: tuple[ReadCodes, ReadCodes | None],
    judged: tuple[ReadCodes, ReadCodes | None],
    recorder: Recorder,
    beside: Mapping[str, ReadCodes] = MappingProxyType({}),
) -> list[Score]:
    """Strict coherence as a judge reads it beside an exact reader, and how often both say the same of all factors.

    Where a model draws nothing that can be read, both say so and agree in all views; so agreement is also told of those views of
    which at least one of them reads every factor.

    Args:
        exact: what the exact reader read in generated views, and in the true views of the same samples (None without).
        judged: the same of the judge.
        recorder: writes the scores.
        beside: what the judge reads in views that need no model.
    """
    made, true = judged
    controls = {"constant": percent(best_constant(made)[0].strict)}
    controls |= {name: percent(other.strict) for name, other in beside.items()}
    agreed, readable = {}, {}
    if true is not None and exact[1] is not None:
        controls[CEILING] = percent(true.strict)
        agreed[CEILING] = percent(_same(exact[1], true))
        if (shown := _readable(exact[1], true)).any():
            readable[CEILING] = percent(_same(exact[1], true)[shown])
    strict = recorder.share("strict_judge", made.strict, chance=100 * strict_chance(made), controls=controls)
    same, shown = _same(exact[0], made), _readable(exact[0], made)
    both = recorder.share("readers_agree", same, higher_is_better=None, controls=agreed)
    some = recorder.share("readers_agree_readable", same[shown], higher_is_better=None, controls=readable)
    return [strict, both, some]


def _readable(one: ReadCodes, other: ReadCodes) -> np.ndarray:
    """(N,) whether at least one of two readers reads every factor that is asked for."""
    return np.asarray(~one.select([factor.name for factor in other.factors]).unreadable | ~other.unreadable)


def _same(one: ReadCodes, other: ReadCodes) -> np.ndarray:
    """(N,) whether two readers say the same, or both nothing, of every factor."""
    return np.asarray((one.select([factor.name for factor in other.factors]).read == other.read).all(1))


def by_inputs(
    answers: Mapping[Direction, ReadCodes],
    ceilings: Mapping[str, ReadCodes],
    recorder: Callable[[int], Recorder],
    *,
    samples: int,
    beside: Mapping[Direction, Mapping[str, ReadCodes]] = MappingProxyType({}),
) -> list[Score]:
    """Strict coherence by the number of modalities that views are generated from: the mean over all directions with as many.

    Where all readers can be forced to choose a value, also as if they had to.

    Args:
        answers: what was read, by direction.
        ceilings: what is read in the true views, by modality.
        recorder: writes the scores of a number of inputs.
        samples: how many are measured on; where all have all modalities, the interval is over their means.
        beside: what is read in views that need no model, by direction.
    """
    groups = defaultdict[int, list[Direction]](list)
    for direction in answers:
        groups[len(direction.observed)].append(direction)
    found = []
    for inputs, directions in sorted(groups.items()):
        parts = [answers[direction] for direction in directions]
        true = [
            ceilings[direction.target].select([factor.name for factor in part.factors])
            for direction, part in zip(directions, parts, strict=True)
            if direction.target in ceilings
        ]
        write, own = recorder(inputs), [beside.get(direction, {}) for direction in directions]
        compared = {name: [part[name] for part in own] for name in own[0] if all(name in part for part in own)}
        compared |= {CEILING: true} if len(true) == len(parts) else {}
        found.append(_over_directions("strict_by_inputs", parts, compared, write, samples=samples))
        if all(part.forced is not None for part in parts):
            parts = [part.without_abstaining for part in parts]
            compared = {name: [part.without_abstaining for part in some] for name, some in compared.items()}
            found.append(_over_directions("strict_forced_by_inputs", parts, compared, write, samples=samples))
    return found


def _over_directions(
    name: str, parts: Sequence[ReadCodes], compared: Mapping[str, Sequence[ReadCodes]], write: Recorder, *, samples: int
) -> Score:
    """The mean of strict coherence over directions, of answers to generated views, and to those of each control."""
    strict = [part.strict for part in parts]
    controls = {"constant": float(np.mean([percent(best_constant(part)[0].strict) for part in parts]))}
    controls |= {control: float(np.mean([percent(part.strict) for part in some])) for control, some in compared.items()}
    fields = {"unit": "%", "bounds": (0.0, 100.0), "controls": controls, "note": f"{len(parts)} directions"}
    chance = 100 * float(np.mean([strict_chance(part) for part in parts]))
    if all(len(right) == samples for right in strict):
        return write.mean(name, 100 * np.mean(strict, axis=0), chance=chance, **fields)
    value = float(np.mean([percent(right) for right in strict]))
    return write.score(name, value, n=min(map(len, strict)), chance=chance, **fields)


def letter_scores(letters: LetterAccuracy, constant: ConstantText, recorder: Recorder) -> list[Score]:
    """Letters as published (over the true length) and over the padded length. Chance is the best constant text."""
    rows = (("letters", letters.published, constant.published), ("letters_padded", letters.padded, constant.padded))
    return [
        recorder.mean(name, 100 * values, unit="%", bounds=(0.0, 100.0), chance=100 * best, controls={"constant": 100 * best})
        for name, values, best in rows
    ]


def _mistake(read: np.ndarray, code: int, values: tuple[str, ...]) -> str:
    wrong = read[read != code]
    if not len(wrong):
        return ""
    counts = np.bincount(wrong + 1, minlength=len(values) + 1)
    worst = int(counts.argmax())
    name = "unreadable" if worst == 0 else values[worst - 1]
    return f"most often mistaken for: {name} ({100 * counts[worst] / len(read):.1f} %)"


_SHOWN = 4


def confusion(codes: np.ndarray, truth: np.ndarray, values: int) -> np.ndarray:
    """Counts of (true, read) pairs, (V, V + 1); the last column counts the unreadable. Absent ones are left out.

    Args:
        codes: (N,) codes read, -1 = unreadable.
        truth: (N,) true codes, -1 = absent.
        values: V, number of values of the factor.
    """
    asked = truth >= 0
    read = np.where(codes < 0, values, codes)[asked]
    return np.bincount(truth[asked] * (values + 1) + read, minlength=values * (values + 1)).reshape(values, values + 1)


def confusion_gallery(answers: ReadCodes, direction: Direction, reader: str) -> Gallery:
    """A gallery with one row for each value asked for: what was read instead, most frequent first, and by which reader."""
    found = [row for column, factor in enumerate(answers.factors) for row in _rows(answers, column, factor)]
    most = max((len(row) for row in found), default=1)
    source, target = " and ".join(direction.observed), direction.target
    return Gallery(
        name=exhibit_name("confusion", direction.observed, "to", target),
        title=f"Confusions: {target} generated from {source}",
        note=f"Each row is a true value; the cells are what was read and how often, most frequent first. Read by {reader}.",
        columns=("asked for", *(f"read {place}" for place in range(1, most))),
        rows=tuple((*row, *[Cell()] * (most - len(row))) for row in found),
    )


def _rows(answers: ReadCodes, column: int, factor: Factor) -> list[tuple[Cell, ...]]:
    """Cells of each value that is asked for, only those of what was read."""
    counts = confusion(answers.read[:, column], answers.truth[:, column], len(factor.values))
    names = (*factor.values, "unreadable")
    rows = []
    for code, row in enumerate(counts):
        if not row.sum():
            continue
        cells = [Cell(text=f"{factor.name}: {factor.values[code]}")]
        for place in np.argsort(-row, kind="stable")[: min(_SHOWN, np.count_nonzero(row))]:
            cells.append(Cell(text=f"{names[place]} {100 * row[place] / row.sum():.1f} %", correct=bool(place == code)))
        rows.append(tuple(cells))
    return rows
