"""What was converted so that a person's files could be read is kept with the run, and said."""

import json
from pathlib import Path

import pytest

from molyneux.cli import main
from molyneux.core import store
from molyneux.run import load_experiment, run_experiment

SETTINGS = """
data:
  table: {path: PATH, tabular: [weight], labels: [kind]}
learn:
  model: {class_path: MVAE, init_args: {latent_dim: 2}}
  steps: 1
  batch_size: 4
measure: [latent_probe]
"""


@pytest.mark.parametrize(("separator", "said"), [(";", ["read as separated by semicolons"]), (",", [])])
def test_a_run_keeps_and_says_what_was_converted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], separator: str, said: list[str]
) -> None:
    rows = [f"weight{separator}kind", *(f"{row}.5{separator}{'ab'[row % 2]}" for row in range(60))]
    (tmp_path / "items.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "items.yaml").write_text(SETTINGS.replace("PATH", str(tmp_path / "items.csv")))
    outcome = run_experiment(load_experiment(tmp_path / "items.yaml"), tmp_path / "run")
    assert len(outcome.notes) == len(said)
    assert all(part in note for part, note in zip(said, outcome.notes, strict=True))
    assert store.read_json(tmp_path / "run" / "samples" / "recipe.json").get("notes", []) == list(outcome.notes)
    assert main(["run", str(tmp_path / "items.yaml"), "--out", str(tmp_path / "run")]) == 0
    shown = capsys.readouterr().out
    assert ("Note: " in shown) == bool(said)
    assert main(["run", str(tmp_path / "items.yaml"), "--out", str(tmp_path / "run"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out).get("notes", []) == list(outcome.notes)
