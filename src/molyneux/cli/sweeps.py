"""`molyneux sweep`: a study of many runs."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, TaskID

from molyneux.cli.minutes import SweepMinutes
from molyneux.cli.output import complain, say, say_json
from molyneux.cli.parser import Arguments
from molyneux.cli.progress import bar_columns
from molyneux.run import SweepOutcome, SweepProgress, load_study, run_study


def sweep(arguments: Arguments) -> int:
    """`molyneux sweep STUDY`; 1 if a run failed."""
    options = arguments.options
    study = load_study(options.study)
    folder = options.out or Path("runs") / study.name
    results = options.results or Path("studies") / "results" / study.name
    with _shown(quiet=options.quiet or arguments.json) as progress:
        outcome = run_study(study, folder, results, jobs=options.jobs, progress=progress)
    _tell(arguments, outcome)
    return 1 if outcome.failed else 0


def _tell(arguments: Arguments, outcome: SweepOutcome) -> None:
    for item in outcome.failed:
        complain(f"molyneux: {item.folder} failed: {item.error}")
    done, recorded = len(outcome.finished) - len(outcome.failed), len(outcome.recorded)
    if arguments.json:
        failed = {str(item.folder): item.error for item in outcome.failed}
        pages = [str(page) for page in outcome.pages]
        say_json({"results": str(outcome.results), "pages": pages, "done": done, "recorded": recorded, "failed": failed})
        return
    say(f"Runs: {done} done{f' ({recorded} from records)' if recorded else ''}, {len(outcome.failed)} failed")
    for page in outcome.pages:
        say(f"Report: {page}")


@contextmanager
def _shown(*, quiet: bool) -> Iterator[SweepProgress]:
    if quiet:
        yield _Silent()
        return
    if not sys.stderr.isatty():
        yield SweepMinutes()
        return
    with Progress(*bar_columns(), console=Console(stderr=True), refresh_per_second=2, expand=True) as bars:
        yield _Bars(bars)


class _Silent:
    """Says nothing."""

    def plan(self, runs: int) -> None:
        """More runs."""

    def run(self, name: str, step: str, done: int, total: int) -> None:
        """Where a run stands."""


class _Bars:
    """One bar for the study and one for each run under way."""

    def __init__(self, bars: Progress) -> None:
        self._bars, self._lock = bars, threading.Lock()
        self._all = bars.add_task("study", total=0, note="")
        self._runs: dict[str, TaskID] = {}
        self._planned = self._ended = self._failed = 0

    def plan(self, runs: int) -> None:
        """So many more runs are to be done."""
        with self._lock:
            self._planned += runs
            self._draw()

    def run(self, name: str, step: str, done: int, total: int) -> None:
        """Where a run stands."""
        with self._lock:
            if step in ("done", "failed"):
                self._ended, self._failed = self._ended + 1, self._failed + (step == "failed")
                if name in self._runs:
                    self._bars.remove_task(self._runs.pop(name))
                self._draw()
                return
            if name not in self._runs:
                self._runs[name] = self._bars.add_task(name, total=None, note="")
            self._bars.update(self._runs[name], completed=done, total=total or None, note=step)

    def _draw(self) -> None:
        note = f"{self._ended}/{self._planned} runs" + (f", {self._failed} failed" if self._failed else "")
        self._bars.update(self._all, completed=self._ended, total=self._planned, note=note)
