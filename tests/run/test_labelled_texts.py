"""An experiment on a benchmark of labelled texts: trained on and measured like a world; missing files are reported."""

import pytest

from molyneux.core import ConfigError
from molyneux.run import read_experiment, run_experiment


@pytest.fixture
def settings(tmp_path):
    (tmp_path / "classes.txt").write_text("World\nSports\nBusiness\nSci/Tech\n")
    rows = [f'"{row % 4 + 1}","Title {row}","about topic{row % 4} and more"' for row in range(400)]
    (tmp_path / "test.csv").write_text("\n".join(rows) + "\n")
    return {
        "data": {
            "benchmark": {"class_path": "AGNews", "init_args": {"folder": str(tmp_path), "length": 8, "per_class": [50, 20, 20]}},
            "train": None,
            "validation": 80,
            "test": None,
        },
        "learn": {"model": {"class_path": "VAE", "init_args": {"latent_dim": 4}}, "steps": 4, "batch_size": 50},
        "measure": [
            {"class_path": "Downstream", "init_args": {"shots": [5]}},
            {"class_path": "Homotopy", "init_args": {"pairs": 3}},
        ],
        "report": ["markdown"],
    }


def test_labelled_texts_are_trained_on_and_measured(settings, tmp_path):
    outcome = run_experiment(read_experiment(settings), tmp_path / "run")
    scores = {score.name: score for score in outcome.scores}
    assert scores["downstream.accuracy"].controls["bag of words"] == 100
    assert scores["downstream.accuracy"].origin["world"] == "ag-news-v1"
    assert str(tmp_path) not in str(scores["downstream.few_shot"].to_json())
    assert "From sample to sample: text" in (outcome.folder / "report" / "report.md").read_text()


def test_missing_files_and_too_few_samples_are_told(settings, tmp_path):
    with pytest.raises(ConfigError, match="at most the 80 samples of the split test, got a size of 81"):
        read_experiment(settings, [("data.test", 81)])
    (tmp_path / "test.csv").unlink()
    with pytest.raises(ConfigError, match="publish as ag_news_csv"):
        read_experiment(settings)
