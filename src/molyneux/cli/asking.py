"""The command `ask`: two-way questions to a trained model, beside geometry and guessing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import molyneux.run as runs
from molyneux.cli.parser import Arguments, say, say_json
from molyneux.core.errors import ConfigError

if TYPE_CHECKING:
    from molyneux.run import RightShare, TwoWayAnswers, TwoWayQuestions

_KINDS = {"any": "", "alike": "pair"}
"""Kinds of questions, and the factor in which both things agree."""
_SHAPES = {"any": "any two shapes", "alike": "two alike shapes"}
_ROLES = {
    "new": "that are new to both senses",
    "felt": "that were only felt in training",
    "seen": "that were only seen in training",
    "parted": "that were seen and felt in training, never together",
    "bridged": "that were seen and felt together in training",
}
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
        say_json(_as_json(model, asked, answers, options))
        return 0
    given = "One is felt, two are seen" if options.given == "touch" else "One is seen, two are felt"
    role = _ROLES.get(_role(model, options) or "", "")
    for kind, questions in asked.items():
        about = " ".join(part for part in (_SHAPES[kind], role) if part)
        say(f"{given}: which is it? {len(questions)} questions about {about}, seed {options.seed}")
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
    role = _role(model, options)
    if role is not None and world.bridging is None:
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
            where={} if role is None else {"role": role},
            alike=alike,
            seed=seed,
        )
        for kind, alike in _KINDS.items()
    }


def _role(model: runs.TrainedModel, options: object) -> str | None:
    """The role of the shapes that are asked about: new ones where nothing is said; None of a world without roles."""
    said: str | None = vars(options)["role"]
    return said or ("new" if getattr(model.dataset(), "bridging", None) is not None else None)


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
    model: runs.TrainedModel,
    asked: dict[str, TwoWayQuestions],
    answers: dict[str, dict[str, TwoWayAnswers]],
    options: object,
) -> dict[str, object]:
    """Shares in %, by kind of question and who answers."""
    given: dict[str, object] = vars(options)
    return {
        "model": model.name,
        "given": given["given"],
        "role": _role(model, options),
        "seed": given["seed"],
        "guessing": 100 * _GUESSING,
        "questions": {
            kind: {
                "count": len(questions),
                "right": {
                    name.replace(" ", "_"): {
                        "value": round(100 * found.share.share, 2),
                        "interval": [round(100 * end, 2) for end in found.share.interval],
                    }
                    for name, found in answers[kind].items()
                },
            }
            for kind, questions in asked.items()
        },
        "picture": None if given["picture"] is None else str(given["picture"]),
    }
