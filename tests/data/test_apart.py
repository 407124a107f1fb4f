"""Senses kept apart: no withheld pair reaches training, everything else stays."""

from pathlib import Path

import numpy as np
import pytest

from molyneux.core import ConfigError
from molyneux.data import Apart, CdSprites, Lacking, Separation
from molyneux.run import load_experiment
from molyneux.run.run.samples import Samples

HEARTS = {"shape": ("heart",)}
CONFIGS = Path(__file__).parents[2] / "configs"


@pytest.fixture(scope="module")
def source():
    return CdSprites(level=2, modalities=("image", "text", "touch")).source("train", 600, seed=4)


def hearts(batch, spec):
    return (batch.factors[:, spec.factor_index("shape")] == spec.factor("shape").code("heart")).numpy()


def masks(batch, spec):
    return np.stack([batch.mask(name).numpy() for name in spec.names], 1)


def test_samples_apart_have_one_of_the_sets_and_the_others_everything(source):
    spec = source.spec
    kept = Apart(source, Separation(sets=(("image", "text"), ("touch",)), where=HEARTS), seed=2)
    batch = kept.batch(np.arange(600))
    apart, present = hearts(batch, spec), masks(batch, spec)
    sets = {tuple(name for name, here in zip(spec.names, row, strict=True) if here) for row in present[apart]}
    assert sets == {("image", "text"), ("touch",)}
    assert present[~apart].all()
    share = present[apart][:, spec.names.index("touch")].mean()
    assert abs(share - 0.5) < 4 * 0.5 / apart.sum() ** 0.5
    assert (batch.views["image"] == source.batch(np.arange(600)).views["image"]).all()


def test_a_sample_has_the_same_set_in_any_batch_and_another_with_another_seed(source):
    separation = Separation(sets=(("image",), ("text",), ("touch",)))
    kept, spec = Apart(source, separation, seed=2), source.spec
    whole, rows = masks(kept.batch(np.arange(300)), spec), np.array([250, 3, 17])
    np.testing.assert_array_equal(masks(kept.batch(rows), spec), whole[rows])
    assert (whole.sum(1) == 1).all()
    assert (masks(Apart(source, separation, seed=3).batch(np.arange(300)), spec) != whole).any()
    assert kept.origin != Apart(source, separation, seed=3).origin
    assert kept.origin != Apart(source, Separation(sets=separation.sets, where=HEARTS), seed=2).origin


def test_what_was_missing_stays_missing(source):
    kept = Apart(Lacking(source, ["touch"]), Separation(sets=(("image", "touch"),)), seed=2)
    np.testing.assert_array_equal(masks(kept.batch(np.arange(5)), kept.spec), [[True, False, False]] * 5)


@pytest.mark.parametrize(
    ("sets", "where", "problem"),
    [
        ((), None, "sets: expected at least one set of modalities, got none"),
        ((("image",), ()), None, "sets: expected at least one modality in each set, got an empty one"),
        ((("imag",),), None, "sets: no modality 'imag'; did you mean \"image\""),
        ((("image",),), {"shap": ("heart",)}, "where: expected a factor or a target of task class, got 'shap'"),
        ((("image",),), {"shape": ("hart",)}, "where: shape: no value 'hart'"),
    ],
)
def test_what_cannot_be_kept_apart_is_refused(source, sets, where, problem):
    with pytest.raises(ConfigError) as caught:
        Apart(source, Separation(sets=sets, where=where), seed=1)
    assert problem in str(caught.value)


@pytest.mark.parametrize("split", ["train", "validation"])
def test_no_withheld_pair_of_a_study_reaches_training(split):
    from molyneux.run.studies.study import load_study

    study = load_study(CONFIGS / "studies" / "molyneux-question.yaml")
    for name in ("bridged", "felt-alone", "never-seen", "never-felt"):
        experiment = study.experiments(study.variant(name))[0]
        source = Samples(experiment.data, experiment.seed).source(split)
        batch = source.batch(np.arange(500))
        apart = hearts(batch, source.spec)
        image, touch = batch.mask("image").numpy(), batch.mask("touch").numpy()
        assert apart.any()
        assert not (image & touch)[apart].any()
        assert (image & touch)[~apart].all()
        assert image[apart].any() == (name != "never-seen")
        assert touch[apart].any() == (name != "never-felt")
    whole = Samples(experiment.data, experiment.seed).evaluated("test", Samples(experiment.data, experiment.seed).whole)
    assert not whole.batch(np.arange(50)).present or masks(whole.batch(np.arange(50)), whole.spec).all()


def test_a_file_names_what_is_wrong():
    with pytest.raises(ConfigError, match="no modality 'tough'"):
        experiment = load_experiment(CONFIGS / "touch.yaml", [("data.apart", {"sets": [["tough"]]})])
        Samples(experiment.data, 1).check()
