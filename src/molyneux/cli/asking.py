"""The command `ask`: two-way questions to a trained model, beside geometry and guessing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import molyneux.run as runs
from molyneux.cli.parser import Arguments, say, say_json
from molyneux.core.errors import ConfigError

if TYPE_CHECKING:
    from molyneux.run import RightShare, TwoWayAnswers, TwoWayQuestions

_KINDS = {"any two shapes": "", "two that are alike": "pair"}
"""Kinds of questions, and the factor in which both things agree."""
_SAMPLES, _GUESSING = 2_000, 0.5


def ask(arguments: Arguments) -> int:
    """`molyneux ask MODEL`: the share of right choices of the model, of geometry, of elongation alone, and of guessing."""
    options = arguments.options
    if options.questions < 1:
        raise ConfigError(f"--questions: expected at least 1, got {options.questions}")
    if options.picture is not None and options.picture.suffix.lower() != ".png":
        raise ConfigError(f"--picture: expected the name of a .png file, got {options.picture}")
    model = runs.open_model(options.model, trust=options.trust)
    asked = _questions(model, options)
    answers = {kind: _answers(model, questions) for kind, questions in asked.items()}
    if options.picture is not None:
        kind = list(_KINDS)[-1]
        runs.two_way_sheet(asked[kind], answers[kind][model.name], options.picture, name=model.name)
    if arguments.json:
        say_json(_as_json(asked, answers, options.picture))
        return 0
    for kind, questions in asked.items():
        say(f"{questions.source} is given, two of {questions.target}: which is it? {len(questions)} questions about {kind}")
        for name, found in answers[kind].items():
            say(f"  {name:20} {_told(found.share)}")
        say(f"  {'guessing':20} {100 * _GUESSING:.1f} %")
    say("In brackets: 95 % intervals, for new questions and new shapes")
    if options.picture is not None:
        say(f"Written: {options.picture}")
    return 0


def _questions(model: runs.TrainedModel, options: object) -> dict[str, TwoWayQuestions]:
    """The questions of each kind about test samples of the data of a model.

    Raises:
        ConfigError: it has no codes, or its data are no shapes that are seen and felt.
    """
    import numpy as np

    from molyneux.data import MolyneuxShapes

    world = model.dataset()
    if "encode" not in model.abilities or not isinstance(world, MolyneuxShapes) or not {"image", "touch"} <= {*model.modalities}:
        raise ConfigError(
            f"{model.name} cannot be asked which is which: expected a model with codes of the modalities image and touch of "
            "MolyneuxShapes, such as molyneux-shapes"
        )
    given: dict[str, object] = vars(options)
    roles = given["role"] or ("new" if world.bridging is not None else None)
    if roles is not None and world.bridging is None:
        raise ConfigError(f"--role: {model.name} was trained on shapes without roles: leave it out")
    seed, source = int(str(given["seed"])), str(given["given"])
    samples = world.source("test", _SAMPLES, seed=seed).batch(np.arange(_SAMPLES))
    return {
        kind: runs.two_way_questions(
            samples,
            model.spec,
            int(str(given["questions"])),
            source=source,
            target="image" if source == "touch" else "touch",
            where={} if roles is None else {"role": str(roles)},
            alike=alike,
            seed=seed,
        )
        for kind, alike in _KINDS.items()
    }


def _answers(model: runs.TrainedModel, questions: TwoWayQuestions) -> dict[str, TwoWayAnswers]:
    """Of the model, and of what needs none."""
    from molyneux.data import MolyneuxShapes

    world = model.dataset()
    assert isinstance(world, MolyneuxShapes)
    return {
        model.name: runs.answer_by_codes(model, questions),
        "geometry": runs.answer_by_outlines(world, questions),
        "elongation alone": runs.answer_by_outlines(world, questions, statistics=("elongation",)),
    }


def _told(share: RightShare) -> str:
    low, high = share.interval
    return f"{100 * share.share:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def _as_json(
    asked: dict[str, TwoWayQuestions], answers: dict[str, dict[str, TwoWayAnswers]], picture: Path | None
) -> dict[str, object]:
    return {
        "questions": {
            kind: {
                "source": questions.source,
                "target": questions.target,
                "count": len(questions),
                "guessing": _GUESSING,
                "right": {
                    name: {"share": found.share.share, "interval": list(found.share.interval)}
                    for name, found in answers[kind].items()
                },
            }
            for kind, questions in asked.items()
        },
        "picture": None if picture is None else str(picture),
    }
