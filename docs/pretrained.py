"""The models that come with the package: what each is, how large, and what it does, from its card and its scores."""

from __future__ import annotations

from molyneux.core import Spec, store
from molyneux.report.headlines import headlines
from molyneux.run import shipped_names
from molyneux.run.run.report import read_scores
from molyneux.run.trained.shipped import shipped_folder, shipped_summary


def pretrained_table() -> str:
    """One row for each model."""
    rows = []
    for name in shipped_names():
        folder = shipped_folder(name)
        assert folder is not None
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
        spec = Spec.from_json(store.read_json(folder / "model" / "spec.json"))
        does = "<br>".join(item.sentence for item in headlines(read_scores(folder), spec))
        rows.append(f"| `{name}` | {shipped_summary(name)} | {size:.1f} MB | {does} |")
    return "\n".join(["| name | what it is | size | what it does |", "| :--- | :--- | ---: | :--- |", *rows, ""])
