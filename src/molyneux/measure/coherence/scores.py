"""From answers to scores: Strict, Features, accuracy of each factor and value, Letters, each with its controls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from molyneux.core import Score
from molyneux.measure.coherence.answers import Answers, best_constant, features_chance, strict_chance
from molyneux.measure.coherence.letters import ConstantText, Letters
from molyneux.measure.estimates import mean, share

_CEILING = "judge ceiling"


def answer_scores(
    answers: Answers, ceiling: Answers, rng: np.random.Generator, *, about: Mapping[str, str], origin: Mapping[str, Any]
) -> list[Score]:
    """Strict, Features and the accuracy of each factor.

    Args:
        answers: what was read in generated views.
        ceiling: what the same reader reads in the true views of the same samples.
        rng: the stream that resamples.
        about: the direction.
        origin: recorded with every score.
    """
    combination, values = best_constant(answers)
    count = len(answers.factors)
    strict = share(
        "coherence.strict",
        answers.strict,
        about=about,
        chance=100 * strict_chance(answers),
        controls={"constant": 100 * float(combination.strict.mean()), _CEILING: 100 * float(ceiling.strict.mean())},
        origin=origin,
    )
    features = mean(
        "coherence.features",
        answers.features,
        rng=rng,
        about=about,
        unit=f"of {count}",
        bounds=(0.0, float(count)),
        chance=features_chance(answers),
        controls={"constant": float(values.features.mean()), _CEILING: float(ceiling.features.mean())},
        origin=origin,
    )
    return [strict, features, *_factor_scores(answers, values, ceiling, about=about, origin=origin)]


def _factor_scores(
    answers: Answers, constant: Answers, ceiling: Answers, *, about: Mapping[str, str], origin: Mapping[str, Any]
) -> list[Score]:
    scores = []
    for column, factor in enumerate(answers.factors):
        rows = answers.asked[:, column]
        scores.append(
            share(
                "coherence.accuracy",
                answers.right[rows, column],
                about={**about, "factor": factor.name},
                chance=100 / len(factor.values),
                controls={
                    "constant": _percent(constant.right[rows, column]),
                    _CEILING: _percent(ceiling.right[ceiling.asked[:, column], column]),
                },
                origin=origin,
            )
        )
    return scores


def value_scores(answers: Answers, ceiling: Answers, *, about: Mapping[str, str], origin: Mapping[str, Any]) -> list[Score]:
    """How often each true value of each factor is read rightly; the note says what it is most often mistaken for."""
    scores = []
    for column, factor in enumerate(answers.factors):
        for code, value in enumerate(factor.values):
            rows, true_rows = answers.truth[:, column] == code, ceiling.truth[:, column] == code
            if not rows.any():
                continue
            read = answers.read[rows, column]
            scores.append(
                share(
                    "coherence.value_accuracy",
                    read == code,
                    about={**about, "factor": factor.name, "value": value},
                    chance=100 / len(factor.values),
                    controls={_CEILING: _percent(ceiling.right[true_rows, column])},
                    origin=origin,
                    note=_mistake(read, code, factor.values),
                )
            )
    return scores


def unreadable_score(answers: Answers, *, about: Mapping[str, str], origin: Mapping[str, Any]) -> Score:
    """How many generated views could not be read, at least in part."""
    failed = ((answers.read < 0) & answers.asked).any(1)
    return share("coherence.unreadable", failed, about=about, higher_is_better=False, origin=origin)


def letter_scores(
    letters: Letters,
    constant: ConstantText,
    rng: np.random.Generator,
    *,
    about: Mapping[str, str],
    origin: Mapping[str, Any],
) -> list[Score]:
    """Letters as published (over the true length) and over the padded length. Chance is the best constant text."""
    rows = (("letters", letters.published, constant.published), ("letters_padded", letters.padded, constant.padded))
    return [
        mean(
            f"coherence.{name}",
            100 * values,
            rng=rng,
            about=about,
            unit="%",
            bounds=(0.0, 100.0),
            chance=100 * best,
            controls={"constant": 100 * best},
            origin=origin,
        )
        for name, values, best in rows
    ]


def _percent(right: np.ndarray) -> float:
    return 100 * float(right.mean()) if len(right) else 0.0


def _mistake(read: np.ndarray, code: int, values: tuple[str, ...]) -> str:
    wrong = read[read != code]
    if not len(wrong):
        return ""
    counts = np.bincount(wrong + 1, minlength=len(values) + 1)
    worst = int(counts.argmax())
    name = "unreadable" if worst == 0 else values[worst - 1]
    return f"most often mistaken for: {name} ({100 * counts[worst] / len(read):.1f} %)"
