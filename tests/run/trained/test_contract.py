"""Every model of this package, in use: from every subset of what it knows, the same alone and among others."""

import inspect
from itertools import combinations

import numpy as np
import pytest
import torch

from molyneux import open_model
from molyneux.core import EstimatesLikelihood, Factor, Modality, NotApplicableError, Predicts, Spec, Target, views_of
from molyneux.learn import CVAE, MLD, predictors, vaes
from molyneux.learn.diffusion import CodeDiffusion
from molyneux.learn.predictors import MCTN, FusionPredictor, Predictor, SubsetPredictors, VAEAgreement
from molyneux.learn.vaes import Autoencoder

IMAGE, TEXT = Modality("image", "image", (3, 16, 16), "uint8"), Modality("text", "text", (6,), "uint8", tuple(" abcxyz"), 0)
TOUCH, DIGIT = Modality("touch", "series", (9, 2)), Modality("digit", "label", (), "int64", tuple("0123456789"))
SPEC = Spec((IMAGE, TEXT, TOUCH, DIGIT), (Factor("shape", ("a", "b")),))
LISTED = [getattr(vaes, name) for name in vaes.__all__]
LISTED = [item for item in LISTED if isinstance(item, type) and not inspect.isabstract(item)]
GENERATIVE = [item for item in LISTED if issubclass(item, Autoencoder)]
SETTINGS = {
    MLD: {"diffusion": CodeDiffusion(width=16, blocks=1, steps=3, redrawn=("text",)), "latent_dim": 4},
    CVAE: {"target": "image", "latent_dim": 4},
}
MODELS = [*GENERATIVE, MLD, CVAE]

PICTURE = Modality("scene", "image", (3, 16, 24), "uint8")
WORDS = ("", *(f"w{number}" for number in range(1, 9)))
CAPTION = Modality("caption", "text", (7,), "uint8", WORDS, padding=0, arities=tuple(number % 3 for number in range(9)))
ASKED = Spec((CAPTION, PICTURE), targets=(Target("true", "agreement"), Target("shape", "class", ("square", "circle"))))
CLASSES = [getattr(predictors, name) for name in predictors.__all__]
CLASSES = [item for item in CLASSES if isinstance(item, type) and issubclass(item, Predictor) and not inspect.isabstract(item)]
ASKING = [item for item in CLASSES if item not in (MCTN, SubsetPredictors, VAEAgreement)]
SMALL = {"PictureInLSTM": {"width": 16}}


def values(size, seed=0):
    """Values of every modality as people have them, by name."""
    rng = np.random.default_rng(seed)
    return {
        "image": [rng.integers(0, 256, (16, 16, 3), np.uint8) for _ in range(size)],
        "text": ["".join(rng.choice(list("abcxyz"), 4)) for _ in range(size)],
        "touch": [rng.standard_normal((9, 2)).astype(np.float32) for _ in range(size)],
        "digit": [str(rng.integers(10)) for _ in range(size)],
    }


@pytest.fixture(params=MODELS, ids=lambda item: item.__name__)
def model(request):
    kind = request.param
    torch.manual_seed(0)
    with torch.random.fork_rng():
        spec = SPEC.restrict(("image",)) if issubclass(kind, vaes.UnimodalAutoencoder) else SPEC
        return open_model(kind(spec, **SETTINGS.get(kind, {"latent_dim": 4})))


def same(one, other):
    return all(np.array_equal(one.arrays(name), other.arrays(name)) for name in one.names)


@pytest.mark.slow
def test_it_generates_from_every_subset_and_a_sample_is_the_same_alone(model):
    given = values(3)
    names = model.modalities
    targets = ["image"] if isinstance(model.module, CVAE) else list(names)
    for size in range(1, len(names) + 1):
        for subset in combinations(names, size):
            if isinstance(model.module, CVAE) and set(subset) == {"image"}:
                continue
            inputs = {name: given[name] for name in subset}
            many = model.generate(targets, inputs=inputs, count=2, seed=3)
            assert len(many) == 6
            assert same(many, model.generate(targets, inputs=inputs, count=2, seed=3))
            alone = model.generate(targets, inputs={name: parts[1] for name, parts in inputs.items()}, count=2, seed=3)
            for name in targets:
                assert np.array_equal(alone.arrays(name), many.arrays(name)[2:4])


def test_draws_of_the_prior_do_not_depend_on_how_many_there_are(model):
    if isinstance(model.module, CVAE):
        with pytest.raises(NotApplicableError, match="only given"):
            model.generate("image", count=2)
        return
    if not model.priors:
        with pytest.raises(NotApplicableError, match=r"with a prior|no prior"):
            model.generate("image", count=2)
        return
    for prior in ("", *model.priors):
        many = model.generate(list(model.modalities), count=40, seed=1, prior=prior)
        assert same(many, model.generate(list(model.modalities), count=40, seed=1, prior=prior))
        few = model.generate(list(model.modalities), count=3, seed=1, prior=prior)
        for name in model.modalities:
            assert np.array_equal(few.arrays(name), many.arrays(name)[:3])


def test_codes_are_encoded_decoded_and_scored_alone_as_among_others(model):
    given = {name: parts for name, parts in values(3).items() if name in model.modalities}
    codes = model.encode(inputs=given)
    one = model.encode(inputs={name: parts[2] for name, parts in given.items()})
    assert torch.equal(one.shared[0], codes.shared[2])
    targets = ["image"] if isinstance(model.module, CVAE) else list(model.modalities)
    made = model.decode(codes, targets)
    assert len(made) == 3
    assert np.array_equal(model.decode(codes[2:], targets).arrays(targets[0])[0], made.arrays(targets[0])[2])
    if isinstance(model.module, EstimatesLikelihood):
        scores = model.score(inputs=given, k=3)
        assert scores.shape == (3,)
        assert np.isfinite(scores).all()
        assert model.score(inputs={name: parts[2] for name, parts in given.items()}, k=3)[0] == scores[2]
    else:
        with pytest.raises(NotApplicableError, match="cannot score"):
            model.score(inputs=given)


def test_what_it_makes_goes_back_into_it(model):
    if "text" not in model.modalities and not model.priors:
        pytest.skip("an autoencoder of one modality, without a prior")
    names = ["image"] if isinstance(model.module, CVAE) else list(model.modalities)
    made = model.generate(names, inputs={"text": "abc"} if "text" in model.modalities else {}, count=3)
    back = {name: made.values(name) for name in names}
    assert all(len(parts) == 3 for parts in back.values())
    for name in names:
        again = views_of(model.spec.modality(name), back[name])
        assert np.array_equal(again.view.numpy(), made.arrays(name))


@pytest.mark.parametrize("kind", ASKING, ids=lambda item: item.__name__)
def test_a_predictor_answers_from_every_subset_and_a_sample_is_the_same_alone(kind):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = open_model(kind(ASKED, **SMALL.get(kind.__name__, {})))
    assert isinstance(model.module, Predicts)
    rng = np.random.default_rng(0)
    given = {"caption": ["w1", "w2 w3", "w4"], "scene": [rng.integers(0, 256, (16, 24, 3), np.uint8) for _ in range(3)]}
    for size in (1, 2):
        for subset in combinations(given, size):
            found = model.predict(inputs={name: given[name] for name in subset})
            assert len(found) == 3
            alone = model.predict(inputs={name: given[name][1] for name in subset})
            for target in ASKED.targets:  # some sort texts by length, so that their sums are of other sizes
                assert np.allclose(alone.answers[target.name][0], found.answers[target.name][1], rtol=0, atol=1e-6)
    whole = model.predict(inputs=given, apart=True)
    assert set(whole.parts) == {("caption",), ("scene",)}
    for row in whole.probabilities("shape"):
        assert sum(row.values()) == pytest.approx(1.0)
    assert all(word in ("agree", "disagree") for word in whole.best("true"))
    with pytest.raises(NotApplicableError, match="cannot generate"):
        model.generate("scene", inputs={"caption": "w1"})


def test_a_missing_input_of_one_sample_is_as_if_it_were_not_given():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = open_model(FusionPredictor(ASKED))
    rng = np.random.default_rng(0)
    pictures = [rng.integers(0, 256, (16, 24, 3), np.uint8) for _ in range(2)]
    both = model.predict(scene=pictures, caption=["w1", None])
    assert np.array_equal(both.answers["shape"][1], model.predict(scene=pictures[1]).answers["shape"][0])
    assert not np.array_equal(both.answers["shape"][0], model.predict(scene=pictures[0]).answers["shape"][0])


def test_noise_of_an_input_does_not_depend_on_what_it_lacks():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = open_model(vaes.MVAE(SPEC, latent_dim=4))
    mixed = model.generate("image", inputs={"text": ["abc", None], "digit": [None, 3]}, count=2, seed=1)
    assert np.array_equal(mixed.arrays()[:2], model.generate("image", inputs={"text": "abc"}, count=2, seed=1).arrays())
    assert np.array_equal(mixed.arrays()[2:], model.generate("image", inputs={"digit": "3"}, count=2, seed=1).arrays())


def test_nested_lists_of_numbers_are_arrays():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = open_model(vaes.MVAE(SPEC, latent_dim=4))
    given = values(2)
    for name, several in {
        "image": np.stack(given["image"]),
        "touch": np.stack(given["touch"]),
        "digit": np.array([3, 4]),
    }.items():
        codes = model.encode(inputs={name: several.tolist()}).shared
        assert torch.equal(codes, model.encode(inputs={name: several}).shared)
        some = model.encode(inputs={name: [several.tolist()[0], None], "text": "abc"}).shared
        assert torch.equal(some[:1], model.encode(inputs={name: several.tolist()[0], "text": "abc"}).shared)
