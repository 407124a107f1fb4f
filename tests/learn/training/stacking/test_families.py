"""Which models of the package are trained at once, and which are refused and why: every one of them."""

import inspect

import numpy as np
import pytest
import torch

from molyneux.core import Batch, ConfigError, Modality, Spec, Target
from molyneux.learn import ContrastiveEncoders, MaskedTransformer, Training, fit, predictors, vaes
from molyneux.learn.encoders.nets import Dense
from molyneux.learn.objectives import CCI, DIP, IWAE, MAT, BetaTCVAE, BetaVAE, DReG, FactorVAE
from molyneux.learn.training.stacking import StackMember, fit_stacked

WORDS = ("", *(f"w{number}" for number in range(1, 9)))
IMAGE = Modality("image", "image", (3, 8, 8), "uint8")
TEXT = Modality("text", "text", (7,), "uint8", WORDS, padding=0, arities=tuple(number % 3 for number in range(9)))
TOUCH = Modality("touch", "tabular", (5,))


class Samples:
    """Random views, and whether picture and text agree."""

    def __init__(self, *modalities, target=False, size=24):
        self.spec = Spec(modalities, targets=(Target("true", "agreement"),) if target else ())
        random = np.random.default_rng(0)
        self.views = {
            "image": torch.from_numpy(random.integers(0, 256, (size, *IMAGE.shape)).astype(np.uint8)),
            "text": torch.from_numpy(random.integers(1, 9, (size, *TEXT.shape)).astype(np.uint8)),
            "touch": torch.from_numpy(random.normal(size=(size, *TOUCH.shape)).astype(np.float32)),
        }
        self.true = torch.from_numpy(random.integers(0, 2, size))

    def __len__(self):
        return len(self.true)

    def batch(self, indices):
        at = torch.as_tensor(np.asarray(indices))
        targets = {"true": self.true[at]} if self.spec.targets else {}
        return Batch({name: self.views[name][at] for name in self.spec.names}, targets=targets)


def of_package(module, base):
    listed = [getattr(module, name) for name in module.__all__]
    return [item for item in listed if isinstance(item, type) and issubclass(item, base) and not inspect.isabstract(item)]


UNIMODAL = (FactorVAE(width=16, layers=2), CCI(), DIP("II"), BetaVAE(2.0), MAT(), BetaTCVAE(), IWAE(2), DReG(2))
VAES = {item.__name__: (item, {}) for item in of_package(vaes, vaes.Autoencoder)}
VAES |= {f"VAE {type(item).__name__}": (vaes.VAE, {"objective": item}) for item in UNIMODAL}
VAES |= {f"MMVAE {type(item).__name__}": (vaes.MMVAE, {"objective": item}) for item in (IWAE(2), DReG(2))}
APART = (predictors.MCTN, predictors.VAEAgreement)
"""Predictors that read other samples, or are built of another model."""
PREDICTORS = {item.__name__: (item, {}) for item in of_package(predictors, predictors.Predictor) if item not in APART}
CODES = {
    "ContrastiveEncoders": (ContrastiveEncoders, {"latent_dim": 4, "nets": {"image": Dense(16), "touch": Dense(16)}}),
    "MaskedTransformer": (MaskedTransformer, {}),
}
FAMILIES = {**VAES, **PREDICTORS, **CODES}


def samples_of(name):
    if name in PREDICTORS:
        return Samples(TEXT, IMAGE, target=True)
    if name in CODES:
        return Samples(IMAGE, TOUCH)
    return Samples(TOUCH) if issubclass(FAMILIES[name][0], vaes.UnimodalAutoencoder) else Samples(IMAGE, TEXT)


def build(name, spec, seed):
    kind, settings = FAMILIES[name]
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        if name in VAES:
            settings = {"latent_dim": 4, "nets": dict.fromkeys(spec.names, Dense(16)), **settings}
        return kind(spec, **settings)


def weights_after(name, how):
    """The weights of two models after three steps, by the function that trains them."""
    source = samples_of(name)
    models = [build(name, source.spec, seed) for seed in (0, 1)]
    common = {"steps": 3, "batch_size": 8, "optimizer": "sgd", "precision": "32", "schedule": "constant", "tensorboard": False}
    each = zip(models, (1e-3, 2e-3), (3, 4), strict=True)
    how([StackMember(model, source, None, Training(**common, learning_rate=rate), seed=seed) for model, rate, seed in each])
    return [model.state_dict() for model in models]


def alone(members):
    for item in members:
        fit(item.model, item.train, None, item.training, seed=item.seed)


WITHOUT_RULE = r"torch\.vmap cannot compute its loss \(Batching rule not implemented for aten::(lstm|gru)\.input"
IN_PLACE = r"torch\.vmap cannot compute its loss \(vmap: inplace arithmetic"
OWN_GRADIENT = r"torch\.vmap cannot compute its loss \(In order to use an autograd\.Function"
OTHER_GRADIENT = "its gradient of .* at once is not that alone"
RECURRENT = (
    *("Attention", "CoAttention", "CompactBilinear", "FiLM", "FusionPredictor", "JoinedVectors", "MAC", "RelationNetwork"),
    *("StackedAttention", "SubsetPredictors", "TextOnly"),
)
"""Predictors that read texts by recurrent nets, for which torch has no such rule."""
REFUSED = {
    "HSVAE": r"torch\.vmap cannot compute its loss \(draws by '_standard_gamma'\)",
    "JNF": OWN_GRADIENT,
    "VAE FactorVAE": OTHER_GRADIENT,
    "VAE MAT": r"torch\.vmap cannot compute its loss",
    "VAE BetaTCVAE": OWN_GRADIENT,
    "VAE DReG": OTHER_GRADIENT,
    "MMVAE DReG": OTHER_GRADIENT,
    "ConceptModules": IN_PLACE,
    "NeuralModules": IN_PLACE,
    "PictureInLSTM": r"torch\.vmap cannot compute its loss",
    "GradientBlending": r"model: expected one that does nothing of its own between epochs, got GradientBlending",
    **dict.fromkeys(RECURRENT, WITHOUT_RULE),
}


@pytest.mark.slow
@pytest.mark.kernels
@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_is_trained_at_once_as_alone_or_refused(name):
    if name in REFUSED:
        with pytest.raises(ConfigError, match=REFUSED[name]):
            weights_after(name, fit_stacked)
        return
    for together, own in zip(weights_after(name, fit_stacked), weights_after(name, alone), strict=True):
        for key, tensor in own.items():
            torch.testing.assert_close(together[key], tensor, rtol=1e-4, atol=1e-5, msg=lambda text, key=key: f"{key}: {text}")
