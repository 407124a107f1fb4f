"""Models from outside by their folders: what is measured, what is recorded, and what is refused."""

import importlib.util
from pathlib import Path

import pytest

from molyneux.core import ConfigError
from molyneux.run import measure_model

TINY = Path(__file__).parents[1] / "learn" / "pretrained" / "tiny_models.py"
DATA = {"data": {"world": {"class_path": "ShapeWorld", "init_args": {"kind": "oneshape", "image_size": 24}}}}
SMALL = [("data.train", 40), ("data.test", 32), ("model.batch_size", 8)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Gives the folder of a tiny model by its name."""
    pytest.importorskip("transformers")
    spec = importlib.util.spec_from_file_location("tiny_models", TINY)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    root = tmp_path_factory.mktemp("folders")
    return lambda name: root / name if (root / name).exists() else getattr(module, name)(root / name)


@pytest.mark.slow
def test_a_dual_encoder_is_measured_with_a_threshold_of_the_training_samples(folder, tmp_path):
    found = measure_model(str(folder("clip")), DATA, overrides=SMALL, out=tmp_path / "measured")
    by_name = {}
    for score in found.scores:
        by_name.setdefault(score.name, []).append(score)
    accuracies = {score.about["source"]: score for score in by_name["prediction.accuracy"]}
    assert set(accuracies) == {"image", "text", ("image", "text")}
    assert accuracies["text"].value == pytest.approx(50.0)  # each caption is true once and false once
    assert accuracies["image"].value == pytest.approx(50.0)
    (above,) = by_name["prediction.above_unbound"]  # how far it is above perfect counts that are not bound
    both = accuracies["image", "text"]
    assert above.value == pytest.approx(both.value - both.controls["unbound"])
    assert "accuracy" in above.note
    assert "above unbound counts" in (tmp_path / "measured" / "report" / "report.html").read_text().lower()
    origin = accuracies["text"].origin
    assert (origin["architecture"], origin["model"], origin["loaded_by"]) == ("CLIPModel", "DualEncoder", "clip")
    assert origin["threshold_samples"] == 40
    assert len(origin["weights"]) == 64
    assert found.settings["learn"]["model"] == {
        "class_path": "molyneux.learn.DualEncoder",
        "init_args": {
            "folder": str(folder("clip")),
            "threshold": "fitted",
            "image": "",
            "text": "",
            "target": "",
            "inference": {"dtype": "float32", "device": "auto", "batch_size": 8},
        },
    }
    assert found.settings["name"] == "clip"
    assert {"breakdown.accuracy", "calibration.brier", "forced_choice"} <= set(by_name)
    assert (tmp_path / "measured" / "report" / "report.html").stat().st_size > 1000


def test_a_threshold_that_is_given_is_kept(folder):
    settings = {**DATA, "measure": ["prediction"], "model": {"threshold": 1e9}}
    found = measure_model(str(folder("clip")), settings, overrides=SMALL)
    (recall,) = [s for s in found.scores if s.name == "prediction.balanced_accuracy" and s.about["source"] == ("image", "text")]
    assert recall.value == 50.0  # it never says yes
    assert recall.origin["threshold"] == 1e9
    assert "threshold_samples" not in recall.origin


@pytest.mark.parametrize("name", ["blip", "llava"])
def test_matchers_and_answerers_run_through_the_page(folder, name, tmp_path):
    found = measure_model(str(folder(name)), DATA, overrides=SMALL, out=tmp_path / "measured")
    values = {score.name: score.value for score in found.scores if score.about.get("source") == ("image", "text")}
    assert 0 <= values["prediction.accuracy"] <= 100
    if name == "llava":
        assert found.scores[0].origin["prompt"] == 'Is this statement about the image true? "{caption}" Answer with yes or no.'


def test_settings_that_cannot_be_used_are_refused(folder, tmp_path):
    with pytest.raises(ConfigError, match=r'^model\.inference\.batch_sise: unknown setting.*did you mean "batch_size"'):
        measure_model(str(folder("clip")), DATA, overrides=[("model.inference.batch_sise", 8)])
    with pytest.raises(ConfigError, match=r"^model\.prompt: unknown setting"):
        measure_model(str(folder("clip")), DATA, overrides=[("model.prompt", "Is it {caption}?")])  # of an answerer
    with pytest.raises(ConfigError, match=r"^model\.inference\.batch_size: expected at least 1, got 0") as told:
        measure_model(str(folder("clip")), DATA, overrides=[*SMALL, ("model.batch_size", 0)])
    assert len(told.value.problems) == 1
    with pytest.raises(ConfigError, match="expected settings of the model, got 3"):
        measure_model(str(folder("clip")), {**DATA, "model": 3})
    with pytest.raises(
        ConfigError, match=r"model: expected settings \(prompt\) of a folder alone: let the function load set them"
    ):
        measure_model("toy_loader:load", DATA, overrides=[("model.prompt", "Is it {caption}?")])
    with pytest.raises(
        ConfigError, match=r"expected module:function, such as my_models:load, or a folder of transformers, got 'here'"
    ):
        measure_model("here", DATA)
    with pytest.raises(ConfigError, match=r"--model: expected a folder with config\.json"):
        measure_model(str(tmp_path), DATA)
