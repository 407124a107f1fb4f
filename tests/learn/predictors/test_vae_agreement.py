"""A multimodal VAE as an agreement model: its estimates are probabilities, and its threshold is fitted."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from molyneux.core import Batch, ConfigError, Modality, Predicts, Progress, Representation, Spec, SpecError, Target, Trainable
from molyneux.core.config import Factory
from molyneux.learn import DMVAE, MMVAE, MVAE, MoPoE, Training, fit, load_weights, save_model
from molyneux.learn.encoders.nets import Recurrent
from molyneux.learn.predictors import VAEAgreement
from molyneux.learn.predictors.vae_agreement import logistic_fit
from molyneux.learn.priors import ExPostMixture

START = Progress(0, 10)
SPEC = Spec(
    (Modality("scene", "image", (3, 8, 8), "uint8"), Modality("word", "text", (2,), "uint8", tuple(" rgb"), 0)),
    targets=(Target("true", "agreement"),),
)
KINDS = {
    "MVAE": (MVAE, {}),
    "MMVAE": (MMVAE, {}),
    "MoPoE": (MoPoE, {}),
    "DMVAE": (DMVAE, {"private_dim": 2}),
    "MVAE-recurrent": (MVAE, {"nets": {"word": Recurrent()}}),
}


@pytest.fixture(params=KINDS)
def model(request):
    kind, settings = KINDS[request.param]
    torch.manual_seed(0)
    return VAEAgreement(SPEC, vae=Factory(kind, {"latent_dim": 3, **settings}), k=4).eval()


class Colours:
    """Pictures of one colour, and the name of a colour, twice, that fits half of them."""

    spec = SPEC

    def __init__(self, size, seed=0):
        rng = np.random.default_rng(seed)
        shown, named = rng.integers(0, 3, size), rng.integers(0, 3, size)
        named = np.where(rng.random(size) < 0.25, shown, named)
        self.ids = torch.from_numpy(np.stack([named + 1, named + 1], 1).astype(np.uint8))
        pixels = 200 * np.eye(3)[shown][:, :, None, None] + rng.integers(0, 55, (size, 3, 8, 8))
        self.pixels = torch.from_numpy(pixels.astype(np.uint8))
        self.truth = torch.from_numpy((shown == named).astype(np.int64))

    def __len__(self):
        return len(self.ids)

    def batch(self, indices):
        at = torch.as_tensor(np.asarray(indices))
        return Batch({"scene": self.pixels[at], "word": self.ids[at]}, targets={"true": self.truth[at]})


def test_it_has_the_abilities_of_a_predictor_and_every_weight_of_the_vae_learns(model):
    assert all(isinstance(model, ability) for ability in (Trainable, Predicts, Representation))
    batch = Colours(32).batch(range(32))
    model.train()
    model.loss(batch, START, torch.Generator().manual_seed(0)).total.backward()
    for name, parameter in model.named_parameters():
        assert (parameter.grad is not None and parameter.grad.abs().max() > 0) == name.startswith("vae."), name


def test_only_pairs_that_agree_train_it(model):
    batch = Colours(32).batch(range(32))
    known = torch.arange(32) % 3 > 0
    agree = known & (batch.targets["true"] == 1)
    found = model.loss(replace(batch, known={"true": known}), START, torch.Generator().manual_seed(0)).total
    alone = model.vae.loss(batch[agree], START, torch.Generator().manual_seed(0)).total
    torch.testing.assert_close(found, alone)
    nothing = model.loss(replace(batch, known={"true": torch.zeros(32, dtype=torch.bool)}), START).total
    assert nothing == 0
    nothing.backward()


def test_estimates_are_probabilities_over_all_texts(model):
    """Summed over all 16 texts, p(text | picture) is 1 exactly, and p(text) is 1 but for the noise of its codes."""
    ids = torch.tensor(list(product(range(4), repeat=2)), dtype=torch.uint8)
    batch = Batch({"scene": Colours(1).pixels.expand(16, -1, -1, -1), "word": ids})
    model.k = 5000
    with torch.no_grad():
        given, alone = (model._estimate(batch, name).exp().sum().item() for name in ("scene", "word"))
    assert given == pytest.approx(1, abs=1e-4)
    assert alone == pytest.approx(1, abs=0.05)


def test_samples_of_a_batch_do_not_see_each_other_and_what_is_missing_tells_nothing(model):
    batch = Colours(10).batch(range(10))
    whole = model.predict(batch)["true"].logits
    torch.testing.assert_close(model.predict(batch[3:4])["true"].logits[0], whole[3], rtol=1e-4, atol=1e-4)
    order = torch.randperm(10)
    torch.testing.assert_close(model.predict(batch[order])["true"].logits, whole[order], rtol=1e-4, atol=1e-4)
    mask = torch.arange(10) < 5
    for name in SPEC.names:
        partly = model.represent(replace(batch, present={name: mask}))["shared"][:, 0]
        torch.testing.assert_close(partly[mask], model.represent(batch)["shared"][mask, 0], rtol=1e-4, atol=1e-4)
        assert (partly[~mask] == 0).all()
        assert (model.predict(batch, [name])["true"].logits == 0).all()
    assert model.predict(batch[:0])["true"].logits.shape == (0,)


def test_weights_can_be_stored_and_loaded(model, tmp_path):
    batch = Colours(10).batch(range(10))
    before = model.predict(batch)["true"].logits
    save_model(model, tmp_path, {})
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1)
    load_weights(model, tmp_path)
    assert torch.equal(model.predict(batch)["true"].logits, before)


@pytest.mark.slow
def test_it_learns_which_colour_a_word_names(tmp_path):
    torch.manual_seed(0)
    model = VAEAgreement(SPEC, vae=Factory(MMVAE, {"latent_dim": 4, "beta": 0.1}))
    train, test = Colours(512), Colours(300, seed=1)
    quick = {"tensorboard": False, "device": "cpu", "precision": "32"}
    training = Training(steps=100, batch_size=64, learning_rate=3e-3, keep="last", **quick)
    fit(model, train, None, training, tmp_path, seed=0)
    batch = test.batch(range(300))
    answers = model.predict(batch)["true"].probs > 0.5
    assert (answers == (batch.targets["true"] == 1)).float().mean() > 0.9
    assert model.answers.outputs["true"].last.weight.item() > 0


def test_the_logistic_regression_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    scores = rng.normal(2, 3, 500)
    truth = (rng.random(500) < 1 / (1 + np.exp(-(0.8 * scores - 1)))).astype(np.float64)
    standard = (scores - scores.mean()) / scores.std(ddof=1)
    theirs = LogisticRegression(C=1 / (1e-3 * 500)).fit(standard[:, None], truth)
    slope, offset = logistic_fit(torch.from_numpy(scores), torch.from_numpy(truth))
    assert slope * scores.std(ddof=1) == pytest.approx(theirs.coef_[0, 0], rel=1e-3)
    assert offset + slope * scores.mean() == pytest.approx(theirs.intercept_[0], abs=1e-3)
    separated = logistic_fit(torch.arange(20.0).double(), (torch.arange(20) > 9).double())
    assert np.isfinite(separated).all()
    assert logistic_fit(torch.zeros(5).double(), torch.ones(5).double()) == (1.0, 0.0)
    assert logistic_fit(torch.zeros(0).double(), torch.zeros(0).double()) == (1.0, 0.0)


def test_what_cannot_be_used_is_refused():
    vae = Factory(MVAE, {"latent_dim": 2})
    with pytest.raises(ConfigError, match="k: expected at least 1, got 0"):
        VAEAgreement(SPEC, vae=vae, k=0)
    with pytest.raises(SpecError, match=r"one target of the task agreement, but the samples have shape \(class\)"):
        VAEAgreement(replace(SPEC, targets=(Target("shape", "class", ("a", "b")),)), vae=vae)
    with pytest.raises(ConfigError, match=r"vae\.init_args\.prior: expected none"):
        VAEAgreement(SPEC, vae=Factory(MVAE, {"latent_dim": 2, "prior": ExPostMixture(components=2)}))
