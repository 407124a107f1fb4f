"""What the trainings of a study cost, beside its records: times differ from run to run, records do not."""

from __future__ import annotations

from pathlib import Path

from molyneux.core import History, store
from molyneux.run.experiment import Experiment

FILE = "costs.jsonl"


class Costs:
    """The cost of each training of a study: its steps, its seconds (validation included, measures not), and where it ran.

    Args:
        path: `costs.jsonl`; what is there counts, as it does of records.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows = {str(row["run"]): dict(row) for row in store.read_lines(path)} if store.is_file(path) else {}

    def add(self, folder: Path, experiment: Experiment) -> None:
        """Take in the training of a finished run, and write all costs; runs without a training have none."""
        history = folder / "model" / "history.csv"
        if not store.is_file(history):
            return
        last, machine = History.read_csv(history).rows[-1], store.read_json(folder / "machine.json")
        self._rows[folder.name] = {
            "run": folder.name,
            "name": experiment.resolved.get("name", ""),
            "steps": int(last["step"]),
            "seconds": round(last["seconds"], 3),
            "threads": experiment.learn.training.threads or machine["threads"],
            **{what: machine[what] for what in ("processor", "cores", "gpu")},
        }
        store.write_lines(self.path, [self._rows[run] for run in sorted(self._rows)])
