from typing import get_args

import pytest
import torch

from molyneux.core import Kind, Modality
from molyneux.learn.likelihoods import default_likelihood

SHAPES = {"audio": (2, 9), "image": (3, 8, 8), "label": (), "series": (9, 2), "set": (5, 3), "tabular": (6,), "text": (7,)}


@pytest.mark.parametrize("kind", get_args(Kind))
def test_every_kind_has_a_likelihood_that_fits(kind):
    symbols = tuple("abc") if kind in ("label", "text") else ()
    modality = Modality("sense", kind, SHAPES[kind], "int64" if symbols else "float32", symbols)
    likelihood = default_likelihood(modality)
    raw = torch.randn(6, likelihood.parameters(modality), *modality.shape)
    views = likelihood.head(modality)(raw, torch.Size((2, 3)))
    assert views.view.shape == (2, 3, *modality.shape)
    assert views.log_prob(views.view[0]).shape == (2, 3)
    assert views.sample().shape == (2, 3, *modality.shape)
