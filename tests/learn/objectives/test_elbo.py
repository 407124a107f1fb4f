import pytest
import torch

from molyneux.learn.objectives import Evidence, negative_elbo


def test_divergence_is_counted_once():
    # Four reconstruction terms of -10 nats and two divergences of 1, for three samples: 120 + 6 in sum, 42 in the mean.
    evidence = Evidence({name: torch.full((3,), 10.0) for name in "abcd"}, {"shared": torch.ones(3), "private.a": torch.ones(3)})
    loss = negative_elbo(evidence, scales=dict.fromkeys("abcd", 1.0), beta=1.0)
    assert 3 * loss.total.item() == pytest.approx(126.0)


def test_scales_and_beta_weigh_the_loss_and_not_its_terms():
    distortion = torch.tensor([1.0, 3.0], requires_grad=True)
    evidence = Evidence({"image": distortion, "text": torch.tensor([5.0, 5.0])}, {"shared": torch.tensor([2.0, 4.0])})
    loss = negative_elbo(evidence, scales={"image": 0.5, "text": 2.0}, beta=4.0)
    assert loss.total.item() == pytest.approx(0.5 * 2 + 2.0 * 5 + 4.0 * 3)
    terms = {name: term.item() for name, term in loss.terms.items()}
    assert terms == {"distortion.image": 2.0, "distortion.text": 5.0, "rate.shared": 3.0}
    assert not any(term.requires_grad for term in loss.terms.values())
    loss.total.backward()
    assert distortion.grad.tolist() == [0.25, 0.25]
