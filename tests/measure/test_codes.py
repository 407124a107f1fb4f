"""Measures of codes, on a model whose codes are known."""

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA

from molyneux.core import ConfigError, DataError, NotApplicableError, Posterior
from molyneux.measure import LatentProbe, PosteriorGap, Projection
from molyneux.measure.projection import principal_directions


class Normal:
    """A diagonal normal distribution (B, D)."""

    def __init__(self, mean, scale):
        self.mean, self.scale = mean, torch.as_tensor(scale).expand_as(mean)

    def rsample(self, sample_shape=(), generator=None):
        return self.mean + self.scale * torch.randn(*sample_shape, *self.mean.shape, generator=generator)

    def log_prob(self, value):
        return torch.distributions.Normal(self.mean, self.scale, validate_args=False).log_prob(value).sum(-1)


class Coder:
    """Shared codes: shape as two dimensions, one of noise, one dead. The private code of the image holds the tilt."""

    def encode(self, batch, observed=None):
        shape, _, tilt = batch.factors.float().T
        angle = 2 * np.pi * shape / 3
        zero = torch.zeros_like(shape)
        noise = 0.2 * torch.randn(len(shape), generator=torch.Generator().manual_seed(0))
        mean = torch.stack([angle.cos(), angle.sin(), noise, zero], 1)
        scale = 0.1 if "image" in observed else 0.5
        private = Normal(tilt[:, None], 0.01) if "image" in observed else Normal(zero[:, None], 1.0)
        return Posterior(Normal(mean, torch.tensor([scale, scale, 1.0, 1.0])), {"image": private})

    def prior(self, size):
        return Posterior(Normal(torch.zeros(size, 4), 1.0), {"image": Normal(torch.zeros(size, 1), 1.0)})

    def decode(self, codes, only=None):
        raise NotImplementedError


class Broken(Coder):
    """Codes of the image that are not numbers for one sample: the mean, or what is drawn."""

    def __init__(self, part):
        self.part = part

    def encode(self, batch, observed=None):
        found = super().encode(batch, observed)
        private = found.private["image"]
        where = torch.arange(len(private.mean))[:, None] == 3
        mean, scale = (torch.where(where & (self.part == name), torch.nan, getattr(private, name)) for name in ("mean", "scale"))
        return Posterior(found.shared, {"image": Normal(mean, scale)})


@pytest.fixture
def evaluation(tiny):
    return tiny.evaluation(Coder(), n=2000)


def test_codes_are_collected_in_order_with_the_private_ones_of_what_is_observed(evaluation, tiny):
    table = evaluation.table(("image",), 300)
    assert set(table.means) == set(table.samples) == set(table.rates) == {"shared", "private.image"}
    assert table.means["shared"].shape == (300, 4)
    assert np.array_equal(table.means["private.image"][:, 0], table.factors[:, 2])
    assert np.array_equal(table.factors, tiny.combinations[evaluation.source.rows[:300]])
    assert set(evaluation.table(("text",)).means) == {"shared"}


def test_probes_find_what_is_in_a_code_and_nothing_else(evaluation, tiny):
    measured = LatentProbe()(evaluation)

    def score(code, factor, source="image"):
        return tiny.find(measured, "latent_probe.accuracy", source=source, code=code, factor=factor)

    assert score("shared", "shape").value == 100.0
    assert score("private.image", "tilt").value == 100.0
    assert score("shared", "shape", "text").value == 100.0
    for code, factor in (("shared", "size"), ("shared", "tilt"), ("private.image", "shape")):
        low, high = score(code, factor).interval
        assert low - 2 <= score(code, factor).chance <= high + 2
    shape = score("shared", "shape")
    assert (shape.n, shape.chance, shape.unit) == (1000, pytest.approx(100 / 3), "%")
    assert shape.controls["majority"] == pytest.approx(100 / 3, abs=5)


def test_probes_of_samples_read_what_a_decoder_gets(evaluation, tiny):
    measured = LatentProbe(draw="sample")(evaluation)
    about = {"code": "shared", "factor": "shape"}
    text, image = (tiny.find(measured, "latent_probe.accuracy", source=name, **about).value for name in ("text", "image"))
    assert 80 < text < image == 100.0


def test_probes_skip_absent_factors(tiny):
    rows = tiny.rows(200)
    factors = tiny.combinations[rows].copy()
    factors[::2, 0], factors[:, 2] = -1, 1
    measured = LatentProbe()(tiny.evaluation(tiny.Oracle(), source=tiny.Source(rows, factors=factors)))
    assert tiny.find(measured, "latent_probe.accuracy", source="image", code="shared", factor="shape").n == 50
    constant = tiny.find(measured, "latent_probe.accuracy", source="image", code="shared", factor="tilt")
    assert constant.value is None
    assert constant.note == "the samples show fewer than two values of the factor"


def test_the_gap_of_known_codes(evaluation, tiny):
    measured = PosteriorGap()(evaluation)

    def score(name, **about):
        return tiny.find(measured, f"posterior_gap.{name}", **{"code": "shared", **about})

    rate = score("rate", source="image").value
    mean_square = 1 + 0.04
    assert rate == pytest.approx(2 * (-0.5 - np.log(0.1) + 0.005) + 0.5 * mean_square, abs=0.15)
    active = score("active_units", source="image")
    assert active.value == 3
    assert active.interval is None  # all resamples have three, which does not tell what others have
    for name in ("marginal_kl", "gaussian_kl"):
        distance = score(name, source="image")
        assert 0 < distance.controls["same distribution"] < 0.02 < distance.value
    assert score("active_units", source="image").bounds == (0.0, 4.0)
    variances = np.array([0.51, 0.51, 1.04, 1.0])
    expected = 0.5 * (variances - 1 - np.log(variances)).sum()
    marginal = score("marginal_kl", source="image")
    assert marginal.value == pytest.approx(expected, abs=0.04)
    assert marginal.interval[0] <= marginal.value <= marginal.interval[1]
    assert score("gaussian_kl", source="image").value == pytest.approx(expected, abs=0.05)
    near = score("sliced_wasserstein", source="text", reference="prior")
    far = score("sliced_wasserstein", source="image", reference="prior")
    assert near.controls["same distribution"] < near.value < far.value
    assert score("sliced_wasserstein", source="text", reference=("image", "text")).value > 0.05
    private = score("sliced_wasserstein", source="image", reference=("image", "text"), code="private.image")
    assert private.value < 0.05


def test_the_gap_is_listed_by_dimension(evaluation):
    (gallery,) = PosteriorGap()(evaluation).exhibits
    assert gallery.columns == ("dimension", "image", "text", "image and text")
    assert [row[0].text for row in gallery.rows] == ["shared 1", "shared 2", "shared 3", "shared 4", "private.image 1"]
    assert gallery.rows[4][2].text == ""
    assert gallery.rows[0][1].text.endswith("nats")


def test_degenerate_codes_have_no_gap_and_a_reason(tiny):
    measured = PosteriorGap()(tiny.evaluation(tiny.Oracle(), source=tiny.Source(np.zeros(50, dtype=int))))
    score = tiny.find(measured, "posterior_gap.gaussian_kl", source="image")
    assert score.value is None
    assert "fill no space" in score.note


def test_projections_share_their_axes_and_carry_every_factor(evaluation, tiny):
    scatters = Projection(samples=500)(evaluation).exhibits
    assert [scatter.name for scatter in scatters] == ["projection_image_text", "projection_text", "projection_image"]
    assert {scatter.points.shape for scatter in scatters} == {(500, 2)}
    assert set(scatters[0].colours) == set(scatters[0].values) == {"shape", "size", "tilt"}
    codes = evaluation.table(("image", "text"), 500).means["shared"]
    reference = np.abs(PCA(2).fit_transform(codes))
    assert np.abs(scatters[0].points) == pytest.approx(reference, abs=1e-5)
    assert np.allclose(scatters[0].points, scatters[1].points)


def test_tsne_is_a_function_of_the_seed(tiny):
    evaluation = tiny.evaluation(Coder(), n=60)
    first, second = (Projection(method="tsne", samples=60)(evaluation).exhibits[0].points for _ in range(2))
    assert np.array_equal(first, second)
    assert np.isfinite(first).all()


def test_codes_of_one_dimension_lie_on_a_line():
    origin, directions = principal_directions(np.arange(10.0)[:, None])
    assert origin == pytest.approx([4.5])
    assert directions.tolist() == [[1.0, 0.0]]


def test_bad_settings_and_unsuited_sources(tiny):
    for make, message in (
        (lambda: LatentProbe(samples=3), "samples: expected at least 20, got 3"),
        (lambda: LatentProbe(regularization=0.0), "regularization: expected a positive number"),
        (lambda: Projection(method="umap"), "unknown method 'umap'"),
        (lambda: Projection(samples=1), "samples: expected at least 10, got 1"),
    ):
        with pytest.raises(ConfigError, match=message):
            make()
    nobody = np.zeros(20, dtype=bool)
    source = tiny.Source(tiny.rows(20), present={"text": nobody})
    *found, absent = LatentProbe()(tiny.evaluation(Coder(), source=source)).scores
    assert {score.about["source"] for score in found} == {"image"}
    assert (absent.value, absent.about, absent.note) == (None, {"modality": "text"}, "not applicable: no sample has text")
    source = tiny.Source(tiny.rows(20), present={"text": nobody, "image": nobody})
    with pytest.raises(NotApplicableError, match="no sample has any modality"):
        LatentProbe()(tiny.evaluation(Coder(), source=source))


@pytest.mark.parametrize(("part", "what"), [("mean", "codes"), ("scale", "samples of the codes")])
def test_codes_that_are_not_finite_are_refused_by_name_row_and_dimension(tiny, part, what):
    evaluation = tiny.evaluation(Broken(part), n=200)
    message = (
        rf"^{what} private.image given image: expected finite numbers, got 2 .*, the first \(nan\) in row 3, dimension 0: correct"
    )
    for measure in (LatentProbe(draw="mean" if part == "mean" else "sample"), PosteriorGap(), Projection()):
        with pytest.raises(DataError, match=message):
            measure(evaluation)
    assert evaluation.table(("text",)).means["shared"].shape == (200, 4)
