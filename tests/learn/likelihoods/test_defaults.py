from dataclasses import replace
from typing import get_args

import pytest
import torch

from molyneux.core import ConfigError, Kind, Modality, Spec, SpecError
from molyneux.learn.likelihoods import Bernoulli, Categorical, Laplace, Normal, default_likelihood, likelihood_scales

LETTERS = tuple(" abcdefghijklmnopqrstuvwxyz")
CDSPRITES = Spec(
    (Modality("image", "image", (3, 64, 64), "uint8"), Modality("text", "text", (45,), "uint8", LETTERS, 0)),
)
DIGITS = Spec((Modality("mnist", "image", (1, 28, 28), "uint8"), Modality("svhn", "image", (3, 32, 32), "uint8")))


def test_automatic_scales():
    assert likelihood_scales(CDSPRITES, "auto") == {"image": pytest.approx(0.098877, abs=1e-6), "text": 1.0}
    assert likelihood_scales(DIGITS, "auto") == {"mnist": 1.0, "svhn": pytest.approx(0.255208, abs=1e-6)}


def test_no_scales_and_numbers():
    assert likelihood_scales(CDSPRITES, "none") == {"image": 1.0, "text": 1.0}
    assert likelihood_scales(CDSPRITES, {"text": 5}) == {"image": 1.0, "text": 5.0}


def test_all_problems_at_once():
    with pytest.raises(ConfigError) as caught:
        likelihood_scales(CDSPRITES, {"imag": 1.0, "text": -1.0})
    assert len(caught.value.problems) == 2
    assert 'did you mean "image"?' in str(caught.value)
    with pytest.raises(ConfigError, match="automatic"):
        likelihood_scales(CDSPRITES, "automatic")


SHAPES = {"audio": (2, 9), "image": (3, 8, 8), "label": (), "series": (9, 2), "set": (5, 3), "tabular": (6,), "text": (7,)}
SHAPES["video"] = (4, 2, 3, 3)


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


@pytest.mark.parametrize("likelihood", [Normal(), Normal(scale="optimal"), Laplace(0.3), Bernoulli(), Categorical()])
@pytest.mark.parametrize("kind", ["audio", "series", "set", "text", "video"])
def test_a_view_of_a_length_has_the_probability_of_the_shorter_view(kind, likelihood):
    if kind not in likelihood.kinds:
        pytest.skip(f"{type(likelihood).__name__} does not describe {kind}")
    symbols = tuple("abc") if kind == "text" else ()
    whole = Modality("sense", kind, SHAPES[kind], "int64" if symbols else "float32", symbols)
    axis, batch, lengths = whole.length_axis, torch.Size((2, 3)), torch.tensor([2, 2, 2])
    short = replace(whole, shape=tuple(2 if place == axis else size for place, size in enumerate(whole.shape)))
    raw = torch.randn(6, likelihood.parameters(whole), *whole.shape)
    value = torch.randint(0, 3, (3, *whole.shape)) if symbols else torch.rand(3, *whole.shape)
    weight = torch.rand(batch)
    expected = likelihood.head(short)(raw.narrow(2 + axis, 0, 2), batch).fitted(value.narrow(1 + axis, 0, 2), weight)
    found = likelihood.head(whole)(raw, batch).masked(lengths).fitted(value, weight)
    torch.testing.assert_close(found.log_prob(value), expected.log_prob(value.narrow(1 + axis, 0, 2)))


def test_views_without_a_length_axis_have_no_lengths():
    modality = Modality("sense", "tabular", (6,))
    views = Normal().head(modality)(torch.randn(3, 1, 6), torch.Size((3,)))
    assert views.masked(None) is views
    with pytest.raises(SpecError, match="have none"):
        views.masked(torch.tensor([1, 2, 3]))
