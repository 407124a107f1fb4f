"""Small modalities of every kind, and every model of the family built for them."""

import importlib.util
import inspect
import sys
from pathlib import Path

import pytest
import torch

from molyneux.core import Batch, Modality, Spec
from molyneux.learn import representations, vaes
from molyneux.learn.objectives import CCI, DIP, ELBO, IWAE, MAT, BetaTCVAE, BetaVAE, DReG, FactorVAE
from molyneux.learn.priors import ExPostMixture
from molyneux.learn.priors.conditional import ConditionalMixture
from molyneux.learn.vaes import (
    AE,
    CMVAE,
    DMVAE,
    HELVAE,
    JMVAE,
    MMVAE,
    MMVM,
    MVAE,
    TELBO,
    VAE,
    Aggressive,
    Autoencoder,
    CoDEVAE,
    GPoE,
    MMVAEPlus,
    MoPoE,
    PointAutoencoder,
    UnimodalAutoencoder,
)

MODALITIES = (
    Modality("image", "image", (3, 8, 12), "uint8"),
    Modality("text", "text", (6,), "uint8", tuple(" abc"), 0),
    Modality("touch", "series", (9, 2)),
    Modality("digit", "label", (), "int64", tuple("0123456789")),
    Modality("table", "tabular", (4,)),
    Modality("points", "set", (5, 2)),
)
LISTED = [getattr(part, name) for part in (vaes, representations) for name in part.__all__]
MODELS = [item for item in LISTED if isinstance(item, type) and issubclass(item, Autoencoder) and not inspect.isabstract(item)]


def beside(name):
    """A file of this folder, as a module."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


OBJECTIVES = (
    BetaVAE(beta=2.0, free_bits=0.01),
    CCI(capacity=3.0),
    CCI(capacity=3.0, per="batch"),
    BetaTCVAE(),
    BetaTCVAE(alpha=2.0, samples=500, estimator="stratified"),
    FactorVAE(width=16, layers=2),
    DIP(),
    DIP("II"),
    MAT(),
    MAT(mmd="paired"),
    ELBO(2.0, capacity=3.0),
    IWAE(3),
)


def variant(kind, name, **defaults):
    """A model as a user of these settings sees it; `beta` takes the place of an objective."""

    class Variant(kind):
        def __init__(self, spec, **settings):
            rest = {key: value for key, value in defaults.items() if key != "objective" or "beta" not in settings}
            super().__init__(spec, **{**rest, **settings})

    Variant.__name__ = name
    return Variant


LINEAR = beside("linear_models")
VARIANTS = [
    beside("mvtcae").MVTCAE,
    *[variant(item, f"{item.__name__}-IWAE", objective=IWAE(2)) for item in (CMVAE, DMVAE, HELVAE, MMVAE, MVAE, MoPoE)],
    *[variant(item, f"{item.__name__}-DReG", objective=DReG(2)) for item in (DMVAE, MMVAE, MMVAEPlus, MMVM, VAE)],
    variant(GPoE, "GPoE-sampled", subsets="sampled"),
    variant(MVAE, "MVAE-drawn", subsets="drawn"),
    variant(CoDEVAE, "CoDEVAE-drawn", subsets="drawn"),
    variant(HELVAE, "HELVAE-exact", pooling="exact"),
    variant(MMVM, "MMVM-estimated", divergence="monte_carlo", standard=0.25),
    *[variant(item, f"{item.__name__}-IWAE", objective=IWAE(2)) for item in (JMVAE, TELBO)],
    variant(DMVAE, "DMVAE-private-prior", private_prior=ConditionalMixture(2, width=8)),
    variant(DMVAE, "DMVAE-private-prior-DReG", private_prior=ConditionalMixture(2, width=8), objective=DReG(2)),
    variant(MMVAE, "MMVAE-ELBO", objective=ELBO(free_bits=0.01)),
    *[variant(VAE, f"VAE-{type(item).__name__}-{number}", objective=item) for number, item in enumerate(OBJECTIVES)],
    variant(VAE, "VAE-aggressive", aggressive=Aggressive(1, fraction=1.0)),
    variant(AE, "AE-fitted", prior=ExPostMixture(components=2, samples=50)),
]


def draw(modality, size, generator):
    if modality.kind == "image":
        return torch.randint(0, 256, (size, *modality.shape), generator=generator, dtype=torch.uint8)
    if modality.symbols:
        ids = torch.randint(0, len(modality.symbols), (size, *modality.shape), generator=generator)
        return ids.to(torch.uint8 if modality.dtype == "uint8" else torch.int64)
    return torch.randn((size, *modality.shape), generator=generator)


@pytest.fixture(params=[*MODELS, *VARIANTS], ids=lambda model: model.__name__)
def any_model(request):
    """Every model with every objective."""
    return request.param


@pytest.fixture(params=[*MODELS, VARIANTS[0], VARIANTS[-1]], ids=lambda model: model.__name__)
def model_class(request):
    """Every model, the autoencoder also with a fitted prior."""
    return request.param


@pytest.fixture(
    params=[item for item in MODELS if not issubclass(item, UnimodalAutoencoder | PointAutoencoder)],
    ids=lambda model: model.__name__,
)
def multimodal_class(request):
    """Every model of several modalities whose codes have a density."""
    return request.param


@pytest.fixture
def linear():
    """Models with linear nets, and their exact likelihoods."""
    return LINEAR


@pytest.fixture
def build():
    """Builds a model of the first `count` modalities, the same at every call; of one modality: the first, or number `count`."""

    def make(model, count=2, *, seed=0, modalities=None, turns=False, **settings):
        torch.manual_seed(seed)
        one = MODALITIES[count - 1 : count] if turns else MODALITIES[:1]
        chosen = modalities or (one if issubclass(model, UnimodalAutoencoder) else MODALITIES[:count])
        return model(Spec(tuple(chosen)), latent_dim=4, **settings).eval()

    return make


@pytest.fixture
def batch_of():
    """Random samples of a spec; a modality is missing with some probability, and then its content is the worst there is."""

    def make(spec, size=10, *, seed=0, missing=0.0):
        generator = torch.Generator().manual_seed(seed)
        views = {modality.name: draw(modality, size, generator) for modality in spec.modalities}
        if not missing:
            return Batch(views)
        present = {name: torch.rand(size, generator=generator) >= missing for name in views}
        for name, view in views.items():
            view[~present[name]] = float("nan") if view.is_floating_point() else 0
        return Batch(views, present)

    return make
