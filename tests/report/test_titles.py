"""Titles are names as people say them."""

import pytest

from molyneux.core import Score
from molyneux.report.settings import run_title


@pytest.mark.parametrize(
    ("settings", "origin", "title"),
    [
        ({"learn.model.class_path": "molyneux.learn.MVAE", "data.arrays.path": "my/digits.npz"}, {}, "MVAE on digits"),
        ({"learn.model.class_path": "molyneux.learn.VAE"}, {"world": "ynoc-v1"}, "VAE on YNOC"),
        (
            {"learn.model.class_path": "a.FusionPredictor", "learn.model.init_args.fusion.class_path": "a.TensorFusion"},
            {"world": "av-mnist-v1"},
            "Fusion predictor (tensor fusion) on AV-MNIST",
        ),
        ({"learn.model.class_path": "my.load"}, {"world": "shapeworld-v2", "loaded_by": "my:load"}, "Your model on shapeworld"),
        ({}, {"world": "shapeworld-v2", "loaded_by": "tiny-clip"}, "tiny-clip on shapeworld"),
    ],
)
def test_titles(settings, origin, title):
    assert run_title(settings, [Score("a.b", 1.0, origin=origin)]) == title
