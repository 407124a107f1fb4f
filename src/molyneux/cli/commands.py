"""The commands of experiments and studies: `run`, `learn`, `report`, `sweep` and `schema`, and `doctor`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import molyneux.run as runs  # its names are imported when they are used: a report needs few of them
from molyneux.cli.names import values
from molyneux.cli.parser import Arguments, complain, say, say_json, told_warnings
from molyneux.cli.progress import AnswerConsole, answer_width, shown, sweep_shown

if TYPE_CHECKING:
    from molyneux.core.workers import Workers
    from molyneux.run import Experiment, Outcome, Step, SweepOutcome

_ALL: tuple[Step, ...] = ("data", "learn", "measure", "report")


def run(arguments: Arguments) -> int:
    """`molyneux run CONFIG`: all steps of an experiment."""
    options, settings = arguments.options, values(arguments)
    if options.seed is not None:
        settings.append(("seed", options.seed))
    if options.continue_from is not None:
        place: Path = options.continue_from
        settings.append(("learn.start_from", str(place if place.exists() else runs.shipped_folder(str(place)) or place)))
    with told_warnings():
        experiment = runs.load_experiment(options.config, settings)
    return _run(arguments, experiment, options.out or runs.default_folder(experiment), _ALL)


def learn(arguments: Arguments) -> int:
    """`molyneux learn RUN`: the samples and the model of a run."""
    return some_steps(arguments, "data", "learn")


def report(arguments: Arguments) -> int:
    """`molyneux report RUN`: the pages of a run; of its folder only the records are read."""
    path: Path = arguments.options.run
    if path.suffix in (".yaml", ".yml"):
        return some_steps(arguments, "report")
    with shown(quiet=arguments.options.quiet or arguments.json) as progress:
        outcome = runs.report_run(path, progress=progress)
    print_outcome(arguments, outcome)
    return 0


def sweep(arguments: Arguments) -> int:
    """`molyneux sweep STUDY`: many experiments; status 1 if a run failed."""
    options = arguments.options
    with told_warnings():
        study = runs.load_study(options.study)
    folder = options.out or Path("runs") / study.name
    results = options.results or Path("studies") / "results" / study.name
    with sweep_shown(quiet=options.quiet or arguments.json) as progress:
        outcome = runs.run_study(
            study,
            folder,
            results,
            jobs=options.jobs,
            on=options.on,
            gpus=options.gpus,
            storage=options.storage,
            part=options.part,
            stack=options.stack,
            progress=progress,
        )
    _print_sweep(arguments, outcome)
    return 1 if outcome.failed else 0


def schema(arguments: Arguments) -> int:
    """`molyneux schema`: the JSON Schema of experiment or study files."""
    say_json(runs.study_schema() if arguments.options.study else runs.experiment_schema())
    return 0


def doctor(arguments: Arguments) -> int:
    """`molyneux doctor`: what this machine has, and whether everything works; status 1 if something does not."""
    found = runs.examine()
    if arguments.json:
        say_json(found.to_json())
    else:
        for line in found.lines():
            say(line)
    return 1 if found.problems else 0


def some_steps(arguments: Arguments, *steps: Step, workers: Workers | None = None) -> int:
    """Some steps of the run in a folder, or of the experiment in a file."""
    path: Path = arguments.options.run
    if path.suffix in (".yaml", ".yml"):
        experiment = runs.load_experiment(path)
        return _run(arguments, experiment, runs.default_folder(experiment), steps, workers)
    return _run(arguments, runs.open_experiment(path, trust=arguments.options.trust), path, steps, workers)


def _run(
    arguments: Arguments, experiment: Experiment, folder: Path, steps: Sequence[Step], workers: Workers | None = None
) -> int:
    with shown(quiet=arguments.options.quiet or arguments.json) as progress:
        processes = getattr(arguments.options, "processes", 1)
        outcome = runs.run_experiment(experiment, folder, steps=steps, workers=workers, processes=processes, progress=progress)
    print_outcome(arguments, outcome)
    return 0


def print_outcome(arguments: Arguments, outcome: Outcome) -> None:
    """The scores as a table or as JSON, and where everything is."""
    if arguments.json:
        scores = [score.to_json() for score in outcome.scores]
        found = {"folder": str(outcome.folder), "pages": [str(page) for page in outcome.pages], "scores": scores}
        say_json({**found, **({"notes": list(outcome.notes)} if outcome.notes else {})})
        return
    for note in outcome.notes:
        say(f"Note: {note}")
    if outcome.scores:
        from molyneux.report import MOST_LINES, terminal_summary  # takes a second to import, as all that draws

        width, others = answer_width(), len(outcome.notes) + len(outcome.pages) + 1
        rest = "the report" if outcome.pages else "the answer with --json"
        shown = terminal_summary(outcome.scores, outcome.settings, width=width, lines=MOST_LINES - others, rest=rest)
        AnswerConsole(width=width).print(shown)
        splits = {score.origin.get("split", "test") for score in outcome.scores}
        if splits != {"test"}:
            say(f"Measured on the split: {', '.join(sorted(splits))}")
    if outcome.folder != Path():
        say(f"Run: {outcome.folder}")
    for page in outcome.pages:
        say(f"Report: {page}")


def _print_sweep(arguments: Arguments, outcome: SweepOutcome) -> None:
    for item in outcome.failed:
        complain(f"molyneux: {item.folder} failed: {item.error}")
    for note in outcome.notes:
        complain(f"molyneux: trained one by one: {note}")
    recorded, pruned = len(outcome.recorded), len(outcome.pruned)
    done = len(outcome.finished) - len(outcome.failed) - pruned
    if arguments.json:
        failed = {str(item.folder): item.error for item in outcome.failed}
        pages = [str(page) for page in outcome.pages]
        counts = {"done": done, "recorded": recorded, "pruned": pruned}
        say_json({"results": str(outcome.results), "pages": pages, **counts, "failed": failed})
        return
    stopped = f", {pruned} pruned" if pruned else ""
    say(f"Runs: {done} done{f' ({recorded} from records)' if recorded else ''}{stopped}, {len(outcome.failed)} failed")
    for page in outcome.pages:
        say(f"Report: {page}")
