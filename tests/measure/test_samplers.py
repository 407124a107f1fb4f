import pytest
import torch

from molyneux.core import Codes, ConfigError, Modality, NotApplicableError, Posterior, Priors, Spec
from molyneux.learn import DMVAE
from molyneux.learn.priors import ExPostMixture
from molyneux.measure import Coherence, Fidelity, Samplers


def two_priors(tiny):
    """The prior of the loss draws one scene, the fitted one all of them."""

    class Model(tiny.Oracle):
        @property
        def priors(self):
            point = type(self.encode(tiny.Source(tiny.rows(1)).batch([0]), ("image",)).shared)
            return {"loss": lambda size: Posterior(point(torch.zeros(size, 1))), "fitted": self.prior}

    return Model()


def test_each_prior_has_its_scores(tiny):
    evaluation = tiny.evaluation(two_priors(tiny), features={"image": tiny.Features("image")})
    measured = Samplers()(evaluation)
    loss, fitted = ({"prior": name, "source": "prior"} for name in ("loss", "fitted"))
    assert tiny.find(measured, "samplers.strict", **loss).value == 100
    assert tiny.find(measured, "samplers.strict", **fitted).value == 100
    assert tiny.find(measured, "samplers.diversity", view="text", **loss).value == pytest.approx(1)
    assert tiny.find(measured, "samplers.diversity", view="text", **fitted).value > 5
    near = tiny.find(measured, "samplers.frechet", **fitted)
    assert tiny.find(measured, "samplers.frechet", **loss).interval[0] > near.interval[1]
    assert near.controls["real against real"] > 0


def test_the_scores_of_the_models_own_prior_are_those_of_coherence_and_fidelity(tiny):
    features = {"features": {"image": tiny.Features("image")}}
    measured, plain = Samplers()(tiny.evaluation(tiny.Oracle(), **features)), tiny.evaluation(tiny.Oracle(), **features)
    for family, measure in (("coherence.strict", Coherence()), ("fidelity.kid", Fidelity())):
        expected = tiny.find(measure(plain), family, source="prior")
        found = tiny.find(measured, f"samplers.{family.split('.')[1]}", prior="prior")
        assert (found.value, found.controls.keys()) == (expected.value, expected.controls.keys())


def test_what_cannot_be_compared_is_left_out(tiny):
    plain = tiny.evaluation(tiny.Oracle())
    assert not [score for score in Samplers()(plain).scores if score.name == "samplers.frechet"]
    with pytest.raises(NotApplicableError, match="samplers needs readers of two modalities, or features of one"):
        Samplers(coherence=False)(plain)
    with pytest.raises(ConfigError, match=r"samples: expected at least 80, got 2.*\n?.*expected coherence or fidelity"):
        Samplers(samples=2, coherence=False, fidelity=False)


def test_models_name_their_priors():
    spec = Spec((Modality("left", "tabular", (3,)), Modality("right", "tabular", (2,))))
    for prior, names in ((None, ["loss"]), (ExPostMixture(components=2), ["loss", "fitted"])):
        model = DMVAE(spec, latent_dim=2, prior=prior)
        assert isinstance(model, Priors)
        assert list(model.priors) == names
        assert model.priors[names[-1]](5).rsample(1).shared.shape == (1, 5, 2)


def test_private_codes_of_each_prior_are_read_in_views_generated_from_one_modality(tiny):
    scenes = type(tiny.Oracle().prior(1).shared)
    point = type(tiny.Oracle().encode(tiny.Source(tiny.rows(1)).batch([0]), ("image",)).shared)

    class Given:
        """The private code is the shared one."""

        given = staticmethod(point)

    class Model(tiny.Oracle):
        """Its image is decoded from a private code, which is the shared one in one of its priors."""

        def encode(self, batch, observed=None):
            return Posterior(super().encode(batch, observed).shared, {"image": scenes(len(batch))})

        def decode(self, codes, only=None):
            shown = {"image": codes.private["image"], "text": codes.shared}
            return {name: super(Model, self).decode(Codes(shown[name]), (name,))[name] for name in only}

        @property
        def priors(self):
            return {
                "loss": lambda size: Posterior(scenes(size), {"image": scenes(size)}),
                "fitted": lambda size: Posterior(scenes(size), {"image": Given()}),
            }

    measured = Samplers(cross=True, fidelity=False)(tiny.evaluation(Model()))
    about = {"source": "text", "target": "image"}
    assert tiny.find(measured, "samplers.strict", prior="fitted", **about).value == 100
    assert tiny.find(measured, "samplers.strict", prior="loss", **about).value < 60
    assert not [score for score in measured.scores if score.about.get("target") == "text"]
    without = Samplers(fidelity=False)(tiny.evaluation(Model()))
    assert not [score for score in without.scores if score.about["source"] != "prior"]
