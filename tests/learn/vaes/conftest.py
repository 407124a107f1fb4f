"""Small senses of every kind, and every model of the family built for them."""

import pytest
import torch

from molyneux.core import Batch, Modality, Spec
from molyneux.learn import vaes
from molyneux.learn.vaes import VAE, MultimodalVAE

SENSES = (
    Modality("image", "image", (3, 8, 12), "uint8"),
    Modality("text", "text", (6,), "uint8", tuple(" abc"), 0),
    Modality("touch", "series", (9, 2)),
    Modality("digit", "label", (), "int64", tuple("0123456789")),
    Modality("table", "tabular", (4,)),
    Modality("points", "set", (5, 2)),
)
LISTED = [getattr(vaes, name) for name in vaes.__all__]
MODELS = [item for item in LISTED if issubclass(item, MultimodalVAE) and item is not MultimodalVAE]


def draw(modality, size, generator):
    if modality.kind == "image":
        return torch.randint(0, 256, (size, *modality.shape), generator=generator, dtype=torch.uint8)
    if modality.symbols:
        ids = torch.randint(0, len(modality.symbols), (size, *modality.shape), generator=generator)
        return ids.to(torch.uint8 if modality.dtype == "uint8" else torch.int64)
    return torch.randn((size, *modality.shape), generator=generator)


@pytest.fixture(params=MODELS, ids=lambda model: model.__name__)
def model_class(request):
    return request.param


@pytest.fixture
def build():
    """Builds a model of the first `count` senses (a unimodal VAE of the first), the same at every call."""

    def make(model, count=2, *, seed=0, senses=None, **settings):
        torch.manual_seed(seed)
        chosen = senses or SENSES[: 1 if model is VAE else count]
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
