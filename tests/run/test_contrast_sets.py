"""A model from outside on a published data set that only tests."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from molyneux.run.outside import measure_model

MODEL = '''
from torch.distributions import Bernoulli


class Looks:
    """The picture is grey where the first caption is right; every caption has its first word in another place."""

    def predict(self, batch, observed=None):
        sign = 2.0 * (batch.views["text"][:, 0] == 4) - 1
        grey = batch.views["image"].float().mean((1, 2, 3)) / 128 - 1
        alone = observed is not None and len(observed) == 1
        return {"agreement": Bernoulli(logits=-sign if alone else sign * grey)}


def load(spec):
    assert spec.modality("text").symbols[4:] == ("a", "b")
    return Looks()
'''


def test_a_model_from_outside_is_measured_on_the_only_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "images").mkdir()
    with (tmp_path / "examples.jsonl").open("w") as stream:
        for number in range(20):
            names = {f"image_{side}": f"ex_{number}_img_{side}" for side in (0, 1)}
            stream.write(json.dumps({**names, "caption_0": "a b", "caption_1": "b a", "collapsed_tag": "Object"}) + "\n")
            for side, name in enumerate(names.values()):
                light = 200 if (side == 0) == (number < 15) else 50  # the last five pairs of pictures are exchanged
                Image.fromarray(np.full((9, 7, 3), light, np.uint8)).save(tmp_path / "images" / f"{name}.png")
    (tmp_path / "looking.py").write_text(MODEL)
    monkeypatch.syspath_prepend(str(tmp_path))
    benchmark = {"class_path": "Winoground", "init_args": {"folder": str(tmp_path), "image_size": [4, 4]}}
    data = {
        "data": {"benchmark": benchmark, "train": None, "validation": None, "test": None},
        "measure": ["contrasts", "prediction"],
    }
    scores = measure_model("looking:load", data, out=tmp_path / "out").scores
    found = {score.name: score for score in scores if score.about == {"target": "agreement"}}
    assert {name: score.value for name, score in found.items()} == dict.fromkeys(
        ("contrasts.text", "contrasts.image", "contrasts.group", "contrasts.pairs"), 75.0
    )
    assert found["contrasts.group"].controls == {"image only": 0.0, "text only": 0.0}
    assert next(score for score in scores if score.about.get("value") == "Object").n == 20
    assert (tmp_path / "out" / "report" / "report.md").is_file()
