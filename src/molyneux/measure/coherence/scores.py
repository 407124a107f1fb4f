"""From answers to scores: Strict, Features, accuracy of each factor and value, Letters, each with its controls."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from molyneux.core import Factor, Score
from molyneux.measure.coherence.answers import Answers, best_constant, features_chance, strict_chance
from molyneux.measure.coherence.letters import ConstantText, Letters
from molyneux.measure.recorder import Recorder, percent

CEILING = "judge ceiling"


def answer_scores(answers: Answers, ceiling: Answers, recorder: Recorder) -> list[Score]:
    """Strict, Features and the accuracy of each factor.

    Args:
        answers: what was read in generated views.
        ceiling: what the same reader reads in the true views of the same samples, the same factors.
        recorder: writes the scores.
    """
    combination, values = best_constant(answers)
    totals = agreement_scores(
        answers.factors,
        answers.strict,
        answers.features,
        recorder,
        chance=(strict_chance(answers), features_chance(answers)),
        controls={"constant": (combination.strict, values.features), CEILING: (ceiling.strict, ceiling.features)},
    )
    return [*totals, *_factor_scores(answers, values, ceiling, recorder)]


def agreement_scores(
    factors: tuple[Factor, ...],
    strict: np.ndarray,
    features: np.ndarray,
    recorder: Recorder,
    *,
    chance: tuple[float, float],
    controls: Mapping[str, tuple[np.ndarray, np.ndarray]],
) -> list[Score]:
    """Strict (%) and Features (of the number of factors), with chance and controls given as (strict, features)."""
    count = len(factors)
    return [
        recorder.share(
            "strict", strict, chance=100 * chance[0], controls={name: percent(rows) for name, (rows, _) in controls.items()}
        ),
        recorder.mean(
            "features",
            features,
            unit=f"of {count}",
            bounds=(0.0, float(count)),
            chance=chance[1],
            controls={name: float(rows.mean()) for name, (_, rows) in controls.items()},
        ),
    ]


def _factor_scores(answers: Answers, constant: Answers, ceiling: Answers, recorder: Recorder) -> list[Score]:
    scores = []
    for column, factor in enumerate(answers.factors):
        rows, true_rows = answers.asked[:, column], ceiling.asked[:, column]
        controls = {"constant": percent(constant.right[rows, column]), CEILING: percent(ceiling.right[true_rows, column])}
        write = recorder.on(factor=factor.name)
        scores.append(write.share("accuracy", answers.right[rows, column], chance=100 / len(factor.values), controls=controls))
    return scores


def value_scores(answers: Answers, ceiling: Answers, recorder: Recorder) -> list[Score]:
    """How often each true value of each factor is read rightly; the note says what it is most often mistaken for."""
    scores = []
    for column, factor in enumerate(answers.factors):
        for code, value in enumerate(factor.values):
            rows, true_rows = answers.truth[:, column] == code, ceiling.truth[:, column] == code
            if not rows.any():
                continue
            read = answers.read[rows, column]
            score = recorder.on(factor=factor.name, value=value).share(
                "value_accuracy",
                read == code,
                chance=100 / len(factor.values),
                controls={CEILING: percent(ceiling.right[true_rows, column])},
                note=_mistake(read, code, factor.values),
            )
            scores.append(score)
    return scores


def unreadable_score(answers: Answers, ceiling: Answers, recorder: Recorder) -> Score:
    """How many generated views could not be read in some factor asked for, beside how many true ones."""
    controls = {CEILING: percent(ceiling.unreadable)}
    return recorder.share("unreadable", answers.unreadable, higher_is_better=False, controls=controls)


def forced_score(answers: Answers, ceiling: Answers, recorder: Recorder) -> Score:
    """Strict as published, by a reader that has to choose a value: means of many pictures count where they fool it."""
    forced, true = answers.without_refusal, ceiling.without_refusal
    controls = {"constant": percent(best_constant(answers)[0].strict), CEILING: percent(true.strict)}
    return recorder.share("strict_forced", forced.strict, chance=100 * strict_chance(answers), controls=controls)


def letter_scores(letters: Letters, constant: ConstantText, recorder: Recorder) -> list[Score]:
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
