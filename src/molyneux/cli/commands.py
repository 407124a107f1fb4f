"""The commands: each gets the arguments, does the work and returns the exit status."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from molyneux.cli.arguments import values
from molyneux.cli.judges import judge
from molyneux.cli.listing import listing
from molyneux.cli.output import say, say_json
from molyneux.cli.parser import Arguments
from molyneux.cli.progress import shown
from molyneux.cli.samples import data
from molyneux.cli.sweeps import sweep
from molyneux.report import summary_table
from molyneux.run import Experiment, Outcome, Step, default_folder, load_experiment, open_experiment, run_experiment

_ALL: tuple[Step, ...] = ("data", "learn", "measure", "report")


def run(arguments: Arguments) -> int:
    """`molyneux run CONFIG`."""
    options, settings = arguments.options, values(arguments)
    if options.seed is not None:
        settings.append(("seed", options.seed))
    experiment = load_experiment(options.config, settings)
    return _run(arguments, experiment, options.out or default_folder(experiment), _ALL)


def some_steps(*steps: Step) -> Callable[[Arguments], int]:
    """`molyneux learn|measure|report RUN`: these steps of the run in a folder, or of the experiment in a file."""

    def command(arguments: Arguments) -> int:
        path: Path = arguments.options.run
        if path.suffix in (".yaml", ".yml"):
            experiment = load_experiment(path)
            return _run(arguments, experiment, default_folder(experiment), steps)
        return _run(arguments, open_experiment(path), path, steps)

    return command


def list_things(arguments: Arguments) -> int:
    """`molyneux list KIND`."""
    lines = listing(arguments.options.kind)
    if arguments.json:
        say_json(lines)
        return 0
    width = max((len(name) for name in lines), default=0)
    for name, summary in lines.items():
        say(f"{name:<{width}}  {summary}".rstrip())
    return 0


COMMANDS: dict[str, Callable[[Arguments], int]] = {
    "data": data,
    "judge": judge,
    "learn": some_steps("data", "learn"),
    "list": list_things,
    "measure": some_steps("measure"),
    "report": some_steps("report"),
    "run": run,
    "sweep": sweep,
}
"""By name."""


def _run(arguments: Arguments, experiment: Experiment, folder: Path, steps: Sequence[Step]) -> int:
    with shown(quiet=arguments.options.quiet or arguments.json) as progress:
        outcome = run_experiment(experiment, folder, steps=steps, progress=progress)
    _tell(arguments, experiment, outcome)
    return 0


def _tell(arguments: Arguments, experiment: Experiment, outcome: Outcome) -> None:
    if arguments.json:
        scores = [score.to_json() for score in outcome.scores]
        say_json({"folder": str(outcome.folder), "pages": [str(page) for page in outcome.pages], "scores": scores})
        return
    if outcome.scores:
        Console().print(summary_table(outcome.scores, experiment.resolved))
    say(f"Run: {outcome.folder}")
    for page in outcome.pages:
        say(f"Report: {page}")
