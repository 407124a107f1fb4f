"""Twins of published data sets go through a whole experiment: samples, training, measures and report."""

import pytest
import yaml

from molyneux.cli import main
from molyneux.data import write_twin


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("MIMIC", {}),
        ("CMUMOSI", {}),
        ("CMUMOSI", {"text": "characters"}),
        ("ENRICO", {"image_size": [16, 16]}),
        ("MMIMDb", {}),
        ("MMIMDb", {"text": "words", "length": 20}),
    ],
)
def test_a_twin_runs_through_everything(name, settings, tmp_path, capsys):
    write_twin(name, tmp_path / "twin", size=60, seed=1)
    experiment = {
        "seed": 1,
        "data": {"benchmark": {"class_path": name, "init_args": {"folder": str(tmp_path / "twin"), **settings}}},
        "learn": {"model": {"class_path": "MVAE", "init_args": {"latent_dim": 4}}, "steps": 2, "batch_size": 16},
        "measure": ["reconstruction"],
        "report": ["markdown"],
    }
    experiment["data"] |= dict.fromkeys(("train", "validation", "test"))
    (tmp_path / "twin.yaml").write_text(yaml.safe_dump(experiment))
    assert main(["run", str(tmp_path / "twin.yaml"), "--out", str(tmp_path / "run"), "--quiet"]) == 0, capsys.readouterr().err
    assert (tmp_path / "run" / "report" / "report.md").is_file()
