"""`molyneux judge`: a learned reader for the views of a world."""

from __future__ import annotations

from collections.abc import Mapping

from molyneux.cli.arguments import values
from molyneux.cli.output import say, say_json
from molyneux.cli.parser import Arguments
from molyneux.cli.progress import shown
from molyneux.cli.worlds import find_world
from molyneux.core.config import arguments as constructor
from molyneux.data import World
from molyneux.learn.judges import file_digest
from molyneux.run import make_judge


def judge(arguments: Arguments) -> int:
    """`molyneux judge WORLD MODALITY`."""
    options = arguments.options
    worlds = _levels(arguments)
    with shown(quiet=options.quiet or arguments.json) as progress:
        progress.begin("judge", "training")
        made = make_judge(
            worlds,
            options.modality,
            options.out,
            samples=options.samples,
            seed=options.seed,
            settings=dict(values(arguments)),
            progress=progress,
        )
    if arguments.json:
        record = {"accuracy": made.record.accuracy, "doubts": made.record.doubts, "samples": made.record.samples}
        say_json({"judge": str(options.out), "digest": file_digest(options.out), **record})
        return 0
    for level, accuracy in made.record.accuracy.items():
        what = {"right": accuracy, **made.doubts(tuple(accuracy))}
        rows = (f"{title}: {', '.join(f'{factor} {share:.2%}' for factor, share in row.items())}" for title, row in what.items())
        say(f"{f'level {level}: ' if level else ''}{'; '.join(rows)}")
    say(f"Judge: {options.out}")
    return 0


def _levels(arguments: Arguments) -> Mapping[str, World]:
    """The world at each of its levels; the world alone if it has none, or if one is asked for."""
    given = dict(values(arguments))
    world = find_world(arguments.options.world, given)
    takes = constructor(type(world))
    if "modalities" in takes:
        given.setdefault("modalities", [arguments.options.modality])
    if "level" not in takes or "level" in given:
        return {str(given.get("level", "")): find_world(arguments.options.world, given)}
    return {str(level): find_world(arguments.options.world, {**given, "level": level}) for level in range(1, 6)}
