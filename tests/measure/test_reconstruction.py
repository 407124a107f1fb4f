import math

import numpy as np
import pytest
import torch
from scipy.ndimage import correlate1d, gaussian_filter

from molyneux.core import Modality, SpecError
from molyneux.measure import Reconstruction
from molyneux.measure.reconstruction import compare, ssim

SOURCES = [("image", "image"), (("image", "text"), "image"), ("text", "text"), (("image", "text"), "text")]


def test_what_comes_back_whole_is_perfect(tiny):
    measured = Reconstruction()(tiny.evaluation(tiny.Oracle()))
    for source, target in SOURCES:
        about = {"source": source, "target": target}
        assert tiny.find(measured, "reconstruction.strict", **about).value == 100.0
        if target == "image":
            assert tiny.find(measured, "reconstruction.mse", **about).value == 0.0
            assert tiny.find(measured, "reconstruction.ssim", **about).value == pytest.approx(1.0)
            likelihood = tiny.find(measured, "reconstruction.log_likelihood", **about)
            assert likelihood.value == pytest.approx(-192 * (math.log(0.1) + 0.5 * math.log(2 * math.pi)), rel=1e-5)
        else:
            assert tiny.find(measured, "reconstruction.letters", **about).value == 100.0
            assert tiny.find(measured, "reconstruction.exact", **about).value == 100.0
            assert tiny.find(measured, "reconstruction.log_likelihood", **about).value == pytest.approx(0.0, abs=1e-6)
    assert {(score.about["source"], score.about["target"]) for score in measured.scores} == set(SOURCES)


def test_controls_are_the_best_constant_views(tiny):
    evaluation = tiny.evaluation(tiny.Oracle())
    measured = Reconstruction()(evaluation)
    rows = evaluation.source.rows
    pictures = tiny.views["image"][rows].double().numpy() / 255
    mse = tiny.find(measured, "reconstruction.mse", source="image", target="image")
    assert mse.controls["constant"] == pytest.approx(pictures.var(0).mean(), rel=1e-3)
    assert not mse.higher_is_better
    texts = tiny.views["text"][rows].numpy()
    _, counts = np.unique(texts, axis=0, return_counts=True)
    exact = tiny.find(measured, "reconstruction.exact", source="text", target="text")
    assert exact.controls["constant"] == pytest.approx(100 * counts.max() / len(rows))
    entropy = 0.0
    for column in texts.T:
        shares = np.unique(column, return_counts=True)[1] / len(column)
        entropy -= float(shares @ np.log(shares))
    likelihood = tiny.find(measured, "reconstruction.log_likelihood", source="text", target="text")
    assert likelihood.controls["constant"] == pytest.approx(-entropy)
    letters = tiny.find(measured, "reconstruction.letters", source="text", target="text")
    assert 30 < letters.controls["constant"] < 60


def test_the_best_constant_model_scores_the_constant_control(tiny):
    evaluation = tiny.evaluation(tiny.Oracle())
    rows = evaluation.source.rows
    mean = (tiny.views["image"][rows].double() / 255).mean(0).float()

    class Average(tiny.Oracle):
        def decode(self, codes, only=None):
            made = super().decode(codes, only)
            if "image" in made:
                made["image"].base_dist.loc = mean.expand_as(made["image"].base_dist.loc)
            return made

    measured = Reconstruction(draw="mean")(tiny.evaluation(Average()))
    for name in ("reconstruction.mse", "reconstruction.ssim"):
        score = tiny.find(measured, name, source="image")
        assert score.value == pytest.approx(score.controls["constant"], abs=1e-6)
    strict = tiny.find(measured, "reconstruction.strict", source="image")
    assert (strict.value, strict.controls["judge ceiling"]) == (0.0, 100.0)


def test_absent_modalities_are_left_out(tiny):
    rows = tiny.rows(500)
    source = tiny.Source(rows, present={"image": np.arange(500) % 2 == 0})
    measured = Reconstruction()(tiny.evaluation(tiny.Oracle(), source=source))
    assert tiny.find(measured, "reconstruction.mse", source="image").n == 250
    assert tiny.find(measured, "reconstruction.mse", source=("image", "text")).n == 250
    assert tiny.find(measured, "reconstruction.exact", source="text").n == 500


def test_numbers_and_labels():
    series = Modality("touch", "series", (4, 2), "float32")
    made, truth = torch.zeros(3, 4, 2), torch.ones(3, 4, 2) * torch.tensor([0.0, 1.0, 2.0])[:, None, None]
    assert compare(series, made, truth)["mse"].tolist() == [0.0, 1.0, 4.0]
    label = Modality("digit", "label", (), "int64", ("one", "two"))
    assert compare(label, torch.tensor([0, 1]), torch.tensor([0, 0]))["exact"].tolist() == [100.0, 0.0]


def reference(first, second):
    """Equation 13 with SciPy's Gaussian filter (radius 5), where the window lies inside."""

    def smooth(image):
        return gaussian_filter(image, 1.5, truncate=5 / 1.5)[5:-5, 5:-5]

    mean_a, mean_b = smooth(first), smooth(second)
    var_a, var_b = smooth(first**2) - mean_a**2, smooth(second**2) - mean_b**2
    both = smooth(first * second) - mean_a * mean_b
    numerator = (2 * mean_a * mean_b + 1e-4) * (2 * both + 9e-4)
    return (numerator / ((mean_a**2 + mean_b**2 + 1e-4) * (var_a + var_b + 9e-4))).mean()


@pytest.mark.parametrize("shape", [(3, 32, 32), (1, 28, 40)])
def test_ssim_agrees_with_scipy(shape):
    rng = np.random.default_rng(0)
    first = rng.random((4, *shape))
    second = np.clip(first + 0.3 * rng.normal(size=first.shape), 0, 1)
    expected = [np.mean([reference(a, b) for a, b in zip(*pair, strict=True)]) for pair in zip(first, second, strict=True)]
    found = ssim(torch.from_numpy(first), torch.from_numpy(second))
    assert found.numpy() == pytest.approx(expected, abs=1e-9)


def test_ssim_of_small_pictures_take_the_largest_odd_window():
    rng = np.random.default_rng(1)
    first, second = rng.random((2, 8, 8))
    weights = np.exp(-0.5 * ((np.arange(7) - 3) / 1.5) ** 2)
    weights /= weights.sum()

    def smooth(image):
        return correlate1d(correlate1d(image, weights, 0), weights, 1)[3:-3, 3:-3]

    mean_a, mean_b = smooth(first), smooth(second)
    var_a, var_b = smooth(first**2) - mean_a**2, smooth(second**2) - mean_b**2
    both = smooth(first * second) - mean_a * mean_b
    numerator = (2 * mean_a * mean_b + 1e-4) * (2 * both + 9e-4)
    expected = (numerator / ((mean_a**2 + mean_b**2 + 1e-4) * (var_a + var_b + 9e-4))).mean()
    found = ssim(torch.from_numpy(first)[None, None], torch.from_numpy(second)[None, None])
    assert found.item() == pytest.approx(expected)


def test_ssim_equal_pictures_are_alike_and_the_order_does_not_matter():
    pictures = torch.rand(2, 5, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    assert ssim(pictures[0], pictures[0]).numpy() == pytest.approx(np.ones(5), abs=1e-6)
    assert torch.allclose(ssim(*pictures), ssim(*pictures.flip(0)))
    assert (ssim(*pictures) < 0.5).all()


def test_ssim_needs_equal_shapes():
    with pytest.raises(SpecError, match="of one shape"):
        ssim(torch.zeros(1, 3, 16, 16), torch.zeros(1, 3, 16, 15))
