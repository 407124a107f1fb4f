"""The commands of trained models: `generate`, `predict`, and `read`, what readers see in a picture or a caption."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import molyneux.run as runs
from molyneux.cli.names import values
from molyneux.cli.parser import Arguments, answering, complain, say, say_json
from molyneux.core.errors import ConfigError

if TYPE_CHECKING:
    from molyneux.run import Generated, Predicted, TrainedModel

_WIDTH, _MOST_SHOWN = 64, 200
"""Columns of a picture in the terminal; samples whose texts are told."""


def generate(arguments: Arguments) -> int:
    """`molyneux generate MODEL --text "..." --to image`: views of modalities, given others or from a prior."""
    options = arguments.options
    given = _given(arguments)
    if bool(given) == bool(options.from_prior or options.prior):
        raise ConfigError(
            "expected what to generate from, such as --text or --image, or --from-prior, got "
            f"{'both' if given else 'neither'}: give one of them"
        )
    model = runs.open_model(options.model, trust=options.trust)
    targets = options.to or _others(model, given)
    made = model.generate(
        targets, count=options.count, seed=options.seed, prior=options.prior or "", raw=options.raw, inputs=given
    )
    written = made.save(options.out) if options.out is not None else None
    _warn(made.samples)
    if arguments.json:
        say_json({**made.to_json(), "out": None if written is None else str(written)})
        return 0
    _tell(model, made)
    if written is not None:
        say(f"Written: {written}")
    return 0


def predict(arguments: Arguments) -> int:
    """`molyneux predict MODEL --image a.png --audio b.wav`: what a predictor says, and what it says without a sense."""
    options = arguments.options
    given = _given(arguments)
    model = runs.open_model(options.model, trust=options.trust)
    found = model.predict(inputs=given, apart=len(given) > 1, raw=options.raw)
    _warn(found.samples)
    if arguments.json:
        say_json(found.to_json())
        return 0
    for row in range(len(found)):
        say(f"{' + '.join(found.samples[row].given)}: {_said(found, found.answers, row)}")
        for names, answers in found.parts.items():
            say(f"{' + '.join(names)} alone: {_said(found, answers, row)}")
    return 0


def read(arguments: Arguments) -> int:
    """`molyneux read WORLD FILE`: what the readers of a world read in a picture, a caption or a sound."""
    from molyneux.cli.worlds import find_world

    options = arguments.options
    found = runs.read_value(find_world(options.world, dict(values(arguments))), options.view, modality=options.modality or "")
    if arguments.json:
        say_json(found.to_json())
        return 0
    for line in found.lines():
        say(line)
    return 0


def _given(arguments: Arguments) -> dict[str, Any]:
    """What is given, by modality; an option that is there several times is a list."""
    found: dict[str, list[str]] = {}
    for name, text in arguments.settings:
        found.setdefault(name, []).append(text)
    return {name: texts[0] if len(texts) == 1 else texts for name, texts in found.items()}


def _others(model: TrainedModel, given: Mapping[str, Any]) -> list[str]:
    """The modalities that are not given; an only text that is given by its kind is given too."""
    kinds = {item.kind for item in model.spec.modalities if item.name not in given} & set(given)
    return [item.name for item in model.spec.modalities if item.name not in given and item.kind not in kinds] or list(
        model.modalities
    )


def _warn(samples: Sequence[Any]) -> None:
    for told in dict.fromkeys(text for sample in samples for text in sample.unread.values()):
        complain(f"molyneux: {told}")


def _tell(model: TrainedModel, made: Generated) -> None:
    """Pictures, where the terminal shows them; then what is in each sample, the same lines once."""
    pictures = [name for name in made.names if model.spec.modality(name).kind == "image"]
    if pictures:
        from molyneux.cli.pictures import show

        with answering():
            show(runs.picture_sheet(made.images(pictures[0])))
    readings = made.readings(quick=True)
    lines = [_line(model, made, row, readings[row]) for row in range(min(len(made), _MOST_SHOWN))]
    for line, times in Counter(lines).items():
        say(line if len(lines) == 1 else f"{times} x {line}")
    if len(made) > _MOST_SHOWN:
        say(f"and {len(made) - _MOST_SHOWN:,} more")


def _line(model: TrainedModel, made: Generated, row: int, readings: Mapping[str, Any]) -> str:
    """What a sample was made from, its texts, and what is read in the rest."""
    texts = [f"{name}: {made.values(name)[row]}" for name in made.names if model.spec.modality(name).symbols]
    read = [f"{name} shows {parts[0]}" for name, parts in readings.items() if not model.spec.modality(name).symbols]
    source = f"{made.samples[row]}: " if made.samples else ""
    return f"{source}{'; '.join([*texts, *read])}"


def _said(found: Predicted, answers: Mapping[str, Any], row: int) -> str:
    return "; ".join(found.line(item.name, answers, row) for item in found.targets)
