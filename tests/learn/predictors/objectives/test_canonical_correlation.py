"""CanonicalCorrelation against SciPy, scikit-learn, the published check values and the contract of objectives."""

import pytest
import scipy.linalg
import torch
from sklearn.cross_decomposition import CCA

from molyneux.core import Batch, ConfigError, Modality, Progress, Spec, Target
from molyneux.learn.predictors import CanonicalCorrelation, FusionPredictor
from molyneux.learn.predictors.objectives.canonical_correlation import canonical_correlations

SPEC = Spec((Modality("a", "tabular", (4,)), Modality("b", "tabular", (3,))), targets=(Target("y", "class", ("no", "yes")),))


def samples(size, present=None, seed=0):
    random = torch.Generator().manual_seed(seed)
    views = {"a": torch.randn(size, 4, generator=random), "b": torch.randn(size, 3, generator=random)}
    return Batch(views, present or {}, targets={"y": torch.randint(0, 2, (size,), generator=random)})


def pair(size=200, widths=(3, 3)):
    random = torch.Generator().manual_seed(0)
    return [torch.randn(size, width, generator=random) for width in widths]


def test_check_values():
    first, _ = pair()
    spectrum = canonical_correlations(first, first)
    assert spectrum.sum().item() == pytest.approx(2.99706, abs=2e-4)
    assert (spectrum.double().square() + 1e-3).sqrt().sum().item() == pytest.approx(2.99856, abs=2e-4)  # as published


def test_the_singular_values_of_scipy():
    first, second = pair(50, (4, 2))
    second = second + first[:, :2]
    a, b = ((x - x.mean(0)).double().numpy() for x in (first, second))
    roots = [scipy.linalg.inv(scipy.linalg.sqrtm(x.T @ x / 49 + 1e-3 * torch.eye(x.shape[1]).numpy())) for x in (a, b)]
    expected = scipy.linalg.svdvals(roots[0] @ (a.T @ b / 49) @ roots[1])
    torch.testing.assert_close(canonical_correlations(first, second).double(), torch.from_numpy(expected), atol=1e-5, rtol=0)


def test_the_correlations_of_scikit_learn():
    first, second = pair(300, (3, 2))
    second = second + first[:, 1:]
    u, v = CCA(2, tol=1e-9, max_iter=5000).fit_transform(first.numpy(), second.numpy())
    expected = [torch.corrcoef(torch.tensor([u[:, i].tolist(), v[:, i].tolist()]))[0, 1].item() for i in range(2)]
    assert canonical_correlations(first, second, 1e-7).tolist() == pytest.approx(expected, abs=1e-3)


def test_gradients_are_finite_where_variances_and_correlations_are_equal():
    first = torch.eye(4).repeat(3, 1).requires_grad_()
    canonical_correlations(first, first.detach()).sum().backward()
    assert first.grad.isfinite().all()


@pytest.mark.parametrize("size", [1, 2, 12])
def test_contract(size):
    model = FusionPredictor(SPEC, objectives=(CanonicalCorrelation(weight=0.5),))
    loss = model.loss(samples(size), Progress(0, 1))
    loss.total.backward()
    term = loss.terms["correlation.a.b"]
    assert loss.total.item() == pytest.approx(loss.terms["nll.y"].item() - 0.5 * term.item(), rel=1e-4)
    assert (term == 0) == (size == 1)
    assert all(weight.grad is not None and weight.grad.isfinite().all() for weight in model.parameters())


def test_only_samples_with_both_count_in_any_order():
    model = FusionPredictor(SPEC, objectives=(CanonicalCorrelation(),)).eval()
    rows = torch.arange(12) < 8
    whole = samples(12, {"b": rows})
    term = model.loss(whole, Progress(0, 1)).terms["correlation.a.b"]
    order = torch.randperm(12, generator=torch.Generator().manual_seed(0))
    for same in (samples(12)[rows], whole[order]):
        found = model.loss(same, Progress(0, 1)).terms["correlation.a.b"]
        torch.testing.assert_close(found, term, rtol=2e-4, atol=0)  # 7 samples' freedom in 128 numbers: ill-conditioned


def test_refuses_settings_and_single_modalities():
    with pytest.raises(ConfigError, match="weight") as error:
        CanonicalCorrelation(weight=-1, regularization=0)
    assert len(error.value.problems) == 2
    with pytest.raises(ConfigError, match="2 modalities"):
        FusionPredictor(SPEC, modalities=("a",), objectives=(CanonicalCorrelation(),))


def test_independent_vectors_have_the_correlations_of_chance():
    """The sum for two independent normal samples (200, 3), where 3 would be the most: 0.19475."""
    random = torch.Generator().manual_seed(0)
    first, second = (torch.randn(200, 3, generator=random) for _ in range(2))
    assert canonical_correlations(first, second).sum().item() == pytest.approx(0.19475, abs=1e-4)
