"""What is masked can reach no weight and no score: other content in its place gives the same model and numbers."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from molyneux.core import Batch, Source, Spec, Target
from molyneux.core.config import Factory
from molyneux.data import ArraySource, CdSprites, Missing, load
from molyneux.learn import MVAE, FusionPredictor, JoinedVectors, Training, fit
from molyneux.learn.encoders import BagOfWords
from molyneux.learn.predictors.imputations import VAEImputation
from molyneux.measure import Calibration, Emap, Evaluation, Prediction, Reconstruction, Shapley, evaluate

WORLD = CdSprites(level=2, image_size=32)
SHAPE = Target("shape", "class", WORLD.spec.factor("shape").values)
SPEC = replace(WORLD.spec, targets=(SHAPE,))


def complete(split: Any, size: int) -> ArraySource:
    """Samples whose target is a factor."""
    batch = load(WORLD.source(split, size, seed=1)).batch(np.arange(size))
    assert batch.factors is not None
    shape = batch.factors[:, WORLD.spec.factor_index("shape")]
    return ArraySource(SPEC, replace(batch, targets={"shape": shape}))


class Filled:
    """The samples of a source with something else where a mask says that nothing is."""

    def __init__(self, source: Source, shift: int) -> None:
        self.source, self.shift, self.spec = source, shift, source.spec

    def __len__(self) -> int:
        return len(self.source)

    def batch(self, indices: np.ndarray) -> Batch:
        batch = self.source.batch(indices)
        views = {}
        for name, view in batch.views.items():
            limit = len(self.spec.modality(name).symbols) or 256
            mask = batch.mask(name).reshape(-1, *[1] * (view.ndim - 1))
            views[name] = torch.where(mask, view, ((view.long() + self.shift) % limit).to(view.dtype))
        return replace(batch, views=views)


MODELS: dict[str, Callable[[Spec], Any]] = {
    "vae": lambda spec: MVAE(spec, latent_dim=4),
    "predictor": lambda spec: JoinedVectors(spec, joining="concat", words=BagOfWords(8)),
    "imputed": lambda spec: FusionPredictor(
        spec, encoders={"text": BagOfWords(8)}, imputation=VAEImputation(Factory(MVAE, {"latent_dim": 3})), modality_dropout=0.3
    ),
}
PROTOCOLS = {
    "at random": {"rates": {"image": 0.6, "text": 0.6}},
    "by sense": {"rates": {"image": 0.9}},
    "by class": {"rates": {"text": 0.9}, "where": {"shape": ["heart"]}},
    "at rates by class": {"rates": {"text": 0.4, "image": 0.3}, "by": {"shape": {"heart": 2.0, "square": 0.5}}},
}


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", MODELS)
def test_masked_views_reach_no_weight_and_no_score(name: str, protocol: str, tmp_path: Path) -> None:
    training = Training(steps=3, batch_size=40, precision="32", threads=1, keep="last", tensorboard=False)
    weights, numbers = [], []
    for shift in (0, 77):
        train, test = (
            Filled(Missing(complete(s, n), seed=1, **PROTOCOLS[protocol]), shift) for s, n in (("train", 120), ("test", 60))
        )
        assert not train.batch(np.arange(120)).mask(next(iter(PROTOCOLS[protocol]["rates"]))).all()
        torch.manual_seed(0)
        model = MODELS[name](SPEC)
        fit(model, train, test, training, tmp_path / str(shift), seed=1)
        weights.append(model.state_dict())
        measures = [Reconstruction()] if name == "vae" else [Prediction(), Calibration(), Shapley(), Emap(combinations=400)]
        found = evaluate(measures, Evaluation(model, test, train=train, seed=1)).scores
        numbers.append([(score.name, score.about, score.value, score.interval, score.n) for score in found])
    assert all(torch.equal(weights[0][key], weights[1][key]) for key in weights[0])
    assert numbers[0] == numbers[1]
    assert any(value is not None for _, _, value, _, _ in numbers[0])


def test_the_content_does_differ() -> None:
    source = Missing(complete("test", 20), {"image": 0.9}, seed=1)
    one, other = (Filled(source, shift).batch(np.arange(20)) for shift in (0, 77))
    assert not torch.equal(one.views["image"], other.views["image"])
