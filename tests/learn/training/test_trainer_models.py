"""Every shipped model is trained by the one trainer, and goes on exactly where it stopped."""

import importlib.util
import inspect
from pathlib import Path

import numpy as np
import pytest
import torch

from molyneux.core import Batch, Modality, Spec
from molyneux.learn import Training, fit, load_weights, save_model, vaes
from molyneux.learn.objectives import CCI, DIP, IWAE, MAT, BetaTCVAE, BetaVAE, Cyclical, FactorVAE, WarmupSteps
from molyneux.learn.training import fit_progress

LISTED = [getattr(vaes, name) for name in vaes.__all__]
MODELS = [
    item for item in LISTED if isinstance(item, type) and issubclass(item, vaes.Autoencoder) and not inspect.isabstract(item)
]


def own_model():
    """A model in a file of a user's own."""
    spec = importlib.util.spec_from_file_location("mvtcae", Path(__file__).parents[1] / "vaes" / "mvtcae.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.MVTCAE


SETTINGS = {item.__name__: (item, {}) for item in MODELS} | {
    f"VAE {number} {type(objective).__name__}": (vaes.VAE, {"objective": objective})
    for number, objective in enumerate(
        [
            FactorVAE(width=16, layers=2),
            CCI(capacity=WarmupSteps(3, value=2.0)),
            DIP("II"),
            BetaVAE(Cyclical(2), free_bits=0.05),
            MAT(),
            BetaTCVAE(samples=32, estimator="stratified"),
        ]
    )
}
SETTINGS["MVTCAE"] = (own_model(), {})
SETTINGS["MVAE IWAE"] = (vaes.MVAE, {"objective": IWAE(2)})
SETTINGS["VAE aggressive"] = (vaes.VAE, {"aggressive": vaes.Aggressive(2, fraction=0.5)})


class SceneSource:
    def __init__(self, names, size=32):
        random = np.random.default_rng(0)
        views = {
            "image": torch.from_numpy(random.integers(0, 256, (size, 3, 28, 28)).astype(np.uint8)),
            "text": torch.from_numpy(random.integers(0, 4, (size, 6)).astype(np.uint8)),
        }
        modalities = (Modality("image", "image", (3, 28, 28), "uint8"), Modality("text", "text", (6,), "uint8", tuple(" abc"), 0))
        self.spec = Spec(modalities).restrict(names)
        self.views = {name: views[name] for name in names}

    def __len__(self):
        return 32

    def batch(self, indices):
        at = torch.as_tensor(np.asarray(indices))
        return Batch({name: view[at] for name, view in self.views.items()})


def build(name, spec, seed=0):
    kind, settings = SETTINGS[name]
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return kind(spec, latent_dim=4, **settings)


class StopError(Exception):
    pass


class StopAtStep3:
    """Stops a training in the midst of its second epoch."""

    def step(self, done, total, samples_per_second, seconds_left):
        if done == 3:
            raise StopError

    def epoch(self, row):
        pass


@pytest.mark.slow
@pytest.mark.kernels
@pytest.mark.parametrize("name", SETTINGS)
def test_trains_resumes_and_is_saved(name, tmp_path, monkeypatch):
    monkeypatch.setattr(fit_progress, "_TOLD_EVERY", 0.0)
    source = SceneSource(("text",) if issubclass(SETTINGS[name][0], vaes.UnimodalAutoencoder) else ("image", "text"))
    training = Training(epochs=2, batch_size=16, tensorboard=False, keep="last", checkpoint_seconds=0.0)
    whole, broken, loaded = (build(name, source.spec, seed) for seed in (0, 0, 1))
    history = fit(whole, source, source, training, tmp_path / "whole", seed=1)
    assert {"train/loss", "validation/loss"} < set(history.rows[0])
    with pytest.raises(StopError):
        fit(build(name, source.spec), source, source, training, tmp_path / "broken", seed=1, progress=StopAtStep3())
    fit(broken, source, source, training, tmp_path / "broken", seed=1)
    save_model(broken, tmp_path / "model", {"class_path": name})
    load_weights(loaded, tmp_path / "model")
    for key, tensor in whole.state_dict().items():
        assert torch.equal(tensor, loaded.state_dict()[key]), key
