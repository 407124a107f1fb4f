"""The commands of trained models: `generate`, `predict`, and `read`, what readers see in a picture or a caption."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import molyneux.run as runs
from molyneux.cli.names import values
from molyneux.cli.parser import Arguments, answering, complain, say, say_json
from molyneux.core.errors import ConfigError, MolyneuxError, nearest

if TYPE_CHECKING:
    from molyneux.run import Generated, Predicted, ReadValue, TrainedModel

_MOST_DRAWN, _MOST_SHOWN = 64, 200
"""Pictures in the terminal; samples that are told, and read."""


def generate(arguments: Arguments) -> int:
    """`molyneux generate MODEL --text "..." --to image`: views of modalities, given others or from a prior."""
    options = arguments.options
    given = _given(arguments)
    if bool(given) == bool(options.from_prior or options.prior):
        raise ConfigError(
            "expected what to generate from, such as --text or --image, or --from-prior, got "
            f"{'both' if given else 'neither'}: give one of them"
        )
    _refuse_given(options.out, given)
    model = runs.open_model(options.model, trust=options.trust)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", runs.UnreadTextWarning)  # told below, once
        made = model.generate(
            options.to, count=options.count, seed=options.seed, prior=options.prior or "", raw=options.raw, inputs=given
        )
    written = made.save(options.out) if options.out is not None else None
    _warn(made.inputs, made.notes)
    _warn_of_pictures(model, given)
    if arguments.json:
        say_json({**made.to_json(), "out": None if written is None else str(written)})
        return 0
    _tell(model, made)
    if written is not None:
        say(f"Written: {written}")
    elif any(not model.spec.modality(name).symbols for name in made.names):
        say("Nothing is kept of what was drawn: name a file with --out")
    return 0


def predict(arguments: Arguments) -> int:
    """`molyneux predict MODEL --image a.png --audio b.wav`: what a predictor says, and what it says without a sense."""
    options = arguments.options
    given = _given(arguments)
    model = runs.open_model(options.model, trust=options.trust)
    _require_all(model, given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", runs.UnreadTextWarning)
        told_apart = len(given) > 1 and any(target.task != "agreement" for target in model.spec.targets)
        found = model.predict(inputs=given, apart=told_apart, raw=options.raw)
    _warn(found.inputs, found.notes)
    if arguments.json:
        say_json(found.to_json())
        return 0
    for row in range(min(len(found), _MOST_SHOWN)):
        say(f"{' + '.join(found.inputs[row].given)}: {_said(found, found.answers, row)}")
        for names, answers in found.parts.items():
            say(f"{' + '.join(names)} alone: {_said(found, answers, row, apart=True)}")
    if len(found) > _MOST_SHOWN:
        say(f"and {len(found) - _MOST_SHOWN:,} more")
    return 0


def _require_all(model: TrainedModel, given: Mapping[str, Any]) -> None:
    """Refuse a part of the modalities where their agreement is all that is asked for.

    Raises:
        ConfigError: names what is missing.
    """
    agreement = bool(model.spec.targets) and all(target.task == "agreement" for target in model.spec.targets)
    here = {model.modality(name).name for name in given}
    if missing := [name for name in model.modalities if agreement and name not in here]:
        raise ConfigError(f"{model.name} says whether {' and '.join(model.modalities)} agree: give {' and '.join(missing)} too")


def read(arguments: Arguments) -> int:
    """`molyneux read WORLD|MODEL FILE`: what the readers of a world read in a picture, a caption or a sound."""
    found = _read(arguments)
    if arguments.json:
        say_json(found.to_json())
        return 0
    for line in found.lines():
        say(line)
    return 0


def _read(arguments: Arguments) -> ReadValue:
    """What the world of a name, or that of a model, reads."""
    from molyneux.cli import index
    from molyneux.cli.worlds import find_world

    options, settings = arguments.options, dict(values(arguments))
    modality = options.modality or ""
    entry = index.find_class("worlds", options.world.partition("-v")[0])
    if entry is None and _is_model(options.world):
        if settings:
            raise ConfigError(f"expected no settings of a world beside a model, got --{next(iter(settings))}: it knows its own")
        return runs.open_model(options.world, trust=options.trust).read_value(options.view, modality=modality)
    if entry is None and "." not in options.world:
        known = [*index.world_names(), *runs.shipped_names()]
        raise ConfigError(f"expected a world or a trained model, got {options.world!r}; {nearest(options.world, known)}")
    if entry is None or "kind" in settings or "kind" not in entry.settings:
        return runs.read_value(find_world(options.world, settings), options.view, modality=modality)
    return _of_any_kind(options.world, settings, options.view, modality)


def _is_model(name: str) -> bool:
    """Whether a word names a trained model: one of the package, an address, or a folder."""
    return name in runs.shipped_names() or name.startswith("hf://") or Path(name).exists()


def _of_any_kind(name: str, settings: Mapping[str, Any], view: str, modality: str) -> ReadValue:
    """What a world that has several kinds of captions reads: its usual kind, or the first other one that reads all of it."""
    from molyneux.cli.worlds import find_world
    from molyneux.core.config import arguments as constructor

    world = find_world(name, settings)
    kinds = [part for item in get_args(constructor(type(world))["kind"].kind) for part in get_args(item) if isinstance(part, str)]
    failure: MolyneuxError | None = None
    found: ReadValue | None = None
    for kind in ("", *kinds):
        try:
            read = runs.read_value(find_world(name, {**settings, "kind": kind} if kind else settings), view, modality=modality)
        except MolyneuxError as error:
            failure = failure or error
            continue
        if not any(value is None for part in read.readings for value in part.values.values()):
            note = f"read as a sentence of --kind {kind}, which is not the usual one of {name}" if kind else ""
            return replace(read, notes=(*read.notes, note)) if note else read
        found = found or read
    if found is not None:
        return found
    assert failure is not None
    raise failure


def _given(arguments: Arguments) -> dict[str, Any]:
    """What is given, by modality; an option that is there several times is a list."""
    found: dict[str, list[str]] = {}
    for name, text in arguments.settings:
        found.setdefault(name, []).append(text)
    return {name: texts[0] if len(texts) == 1 else texts for name, texts in found.items()}


def _refuse_given(out: Path | None, given: Mapping[str, Any]) -> None:
    """Refuse to write over a file that is given."""
    texts = [text for value in given.values() for text in (value if isinstance(value, list) else [value]) if len(text) < 1_000]
    if out is not None and out.exists() and any(Path(text).exists() and out.samefile(text) for text in texts):
        raise ConfigError(f"--out: expected another file than what is given, got {out}")


def _warn(inputs: Sequence[Any], notes: Sequence[str]) -> None:
    for told in dict.fromkeys([*(text for one in inputs for text in one.unread.values()), *notes]):
        complain(f"molyneux: {told}")


def _warn_of_pictures(model: TrainedModel, given: Mapping[str, Any]) -> None:
    """Say which of the given pictures the readers of the world do not read: what a model says of them means little."""
    named = {model.modality(key).name: value for key, value in given.items() if not model.modality(key).symbols}
    pictures = {name: _first(value) for name, value in named.items() if name in model.readers}
    for number, readings in enumerate(model.read(inputs=pictures, first=True) if pictures else ()):
        for name, parts in readings.items():
            if missing := [factor for factor, value in parts[0].values.items() if value is None]:
                complain(
                    f"molyneux: {name} {number + 1}: the reader does not read {', '.join(missing)}: it may be none of the world"
                )


def _first(value: Any) -> Any:
    """Of several values, those that are told."""
    return value[:_MOST_SHOWN] if isinstance(value, list) else value


def _tell(model: TrainedModel, made: Generated) -> None:
    """Pictures, where the terminal shows them; then what is in each sample, the same lines once."""
    pictures = [name for name in made.names if model.spec.modality(name).kind == "image"]
    if pictures:
        from molyneux.cli.pictures import show

        with answering():
            show(made.images(pictures[0])[:_MOST_DRAWN])
    told = made[:_MOST_SHOWN]
    readings = told.readings(first=True)
    texts = {name: told.values(name) for name in made.names if model.spec.modality(name).symbols}
    lines = [_line(told, texts, row, readings[row]) for row in range(len(told))]
    for line, times in Counter(lines).items():
        say(line if len(lines) == 1 else f"{times} x {line}")
    if len(made) > _MOST_SHOWN:
        say(f"and {len(made) - _MOST_SHOWN:,} more")
    for name, reader in made.read_by().items():
        if name not in texts:
            say(f"{name} read by {reader}")


def _line(made: Generated, texts: Mapping[str, Sequence[Any]], row: int, readings: Mapping[str, Any]) -> str:
    """What a sample was made from, its texts, and what is read in the rest."""
    said = [f"{name}: {values[row]}" for name, values in texts.items()]
    said += [f"{name} shows {parts[0]}" for name, parts in readings.items() if name not in texts]
    source = f"{made.inputs[row]}: " if made.inputs else ""
    return f"{source}{'; '.join(said)}"


def _said(found: Predicted, answers: Mapping[str, Any], row: int, *, apart: bool = False) -> str:
    """What some answers say of one sample; from a part of what was given there is no agreement to tell."""
    told = (item for item in found.targets if not (apart and item.task == "agreement"))
    return "; ".join(found.line(item.name, answers, row) for item in told)
