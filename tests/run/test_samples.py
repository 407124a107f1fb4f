"""Conditions of an experiment as sources, and how many measured views also occur in training, counted from the bytes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from molyneux.core import Condition, ConfigError, Source
from molyneux.core.config import Factory
from molyneux.data import CdSprites, GeBiD, Missing, ShapeWorld, Subset, store_samples
from molyneux.data.imperfections import Erasing, GaussianNoise
from molyneux.run import ConditionSettings, Outcome, read_experiment, run_experiment
from molyneux.run.run.samples import Samples, conditions, save_view_digests, train_overlap
from molyneux.run.run.sections import DataSettings


def share_of(test: Source, train: Source, name: str) -> float:
    """By brute force."""
    views = [source.batch(np.arange(len(source))).views[name].numpy() for source in (train, test)]
    known = {view.tobytes() for view in views[0]}
    return 100 * float(np.mean([view.tobytes() in known for view in views[1]]))


@pytest.mark.parametrize("world", [CdSprites(level=1), GeBiD(level=1)], ids=["cdsprites", "gebid"])
def test_the_share_is_that_of_equal_bytes(world: Any, tmp_path: Path) -> None:
    train, test = world.source("train", 1500, seed=1), world.source("test", 300, seed=1)
    save_view_digests(train, tmp_path)
    found = train_overlap(test, tmp_path, 10_000)
    assert found == {name: pytest.approx(share_of(test, train, name), abs=0.006) for name in ("image", "text")}
    assert found["text"] == 100
    assert train_overlap(test, tmp_path, 100) == train_overlap(Subset(test, np.arange(100)), tmp_path, 10_000)
    assert train_overlap(train, tmp_path, 10_000) == {"image": 100.0, "text": 100.0}


def test_first_levels_repeat_themselves_and_textured_ones_do_not(tmp_path: Path) -> None:
    shares = {}
    for world in (CdSprites(level=1), CdSprites(level=3, image_size=32), GeBiD(level=1)):
        folder = tmp_path / f"{world.name}-{world.settings['level']}"
        save_view_digests(world.source("train", 1500, seed=1), folder)
        shares[folder.name] = train_overlap(world.source("test", 300, seed=1), folder, 300)["image"]
    assert 1 < shares["cdsprites-v1-1"] < 20
    assert shares["cdsprites-v1-3"] == 0
    assert shares["gebid-v1-1"] > 99


def test_a_view_that_was_missing_was_not_seen(tmp_path: Path) -> None:
    train = CdSprites(level=1).source("train", 400, seed=1)
    save_view_digests(Missing(train, {"image": 0.5}, seed=1), tmp_path)
    found = train_overlap(train, tmp_path, 400)
    assert 40 < found["image"] < 62
    assert found["text"] == 100


def test_of_too_many_samples_nothing_is_kept_or_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train = CdSprites(level=1).source("train", 400, seed=1)
    monkeypatch.setattr("molyneux.run.run.samples._MOST_DIGESTS", 399)
    save_view_digests(train, tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert train_overlap(train, tmp_path, 400) == {}


def test_a_run_records_and_reports_it(finished: Outcome) -> None:
    assert {score.origin["train_overlap"]["word"] for score in finished.scores} == {100.0}
    assert {score.origin["train_overlap"]["point"] for score in finished.scores} == {0.0}
    assert "Measured views that also occur in training: word 100.0 %" in (finished.folder / "report" / "report.md").read_text()


def test_a_model_that_was_made_before_has_no_share(finished: Outcome, experiment: Any, tmp_path: Path) -> None:
    assert train_overlap(experiment.samples.source("test"), tmp_path, 10) == {}
    assert run_experiment(experiment, finished.folder).scores == finished.scores


def test_conditions_are_the_samples_as_they_are_and_then_those_of_the_settings() -> None:
    world = CdSprites(level=2, held_out=[{"shape": "heart", "size": "big"}])
    asked = (
        ConditionSettings(corruption=GaussianNoise(), strengths=(0.0, 0.5, 1.0)),
        ConditionSettings(corruption=Erasing(modalities=("image",)), strengths=(0.25,)),
        ConditionSettings(missing=("image",)),
        ConditionSettings(split="heldout"),
    )
    samples = Samples(DataSettings(world=Factory(CdSprites, {"level": 2})), 1)
    found = conditions("test", asked, lambda split: world.source(split, 8, seed=1), samples)
    assert [condition.about for condition in found] == [
        {},
        {"corruption": GaussianNoise.name, "strength": "0"},
        {"corruption": GaussianNoise.name, "strength": "0.5"},
        {"corruption": GaussianNoise.name, "strength": "1"},
        {"corruption": Erasing.name, "corrupted": "image", "strength": "0.25"},
        {"missing": ("image",)},
        {"split": "heldout"},
    ]
    plain, none, *noisy, erased, lacking, heldout = [condition.source.batch(np.arange(8)) for condition in found]
    assert torch.equal(plain.views["image"], none.views["image"])
    assert not any(torch.equal(plain.views["image"], other.views["image"]) for other in (*noisy, erased))
    assert not lacking.mask("image").any()
    assert torch.equal(lacking.views["text"], plain.views["text"])
    assert heldout.factors is not None
    with pytest.raises(ConfigError, match="unknown modality 'sound'"):
        conditions("test", [ConditionSettings(missing=("sound",))], lambda split: world.source(split, 8), samples)


def test_modalities_missing_at_rates_are_conditions_with_strengths() -> None:
    world = CdSprites(level=2)
    asked = (
        ConditionSettings(missing=("image",), strengths=(0.3, 1.0)),
        ConditionSettings(missing=("image", "text"), strengths=(0.5,), where={"shape": ("heart",)}),
        ConditionSettings(missing=("image",), strengths=(0.5,), by={"shape": {"heart": 2.0, "square": 0.0}}),
    )
    samples = Samples(DataSettings(world=Factory(CdSprites, {"level": 2})), 1)
    found = conditions("test", asked, lambda split: world.source(split, 900, seed=1), samples)
    assert [condition.about for condition in found] == [
        {},
        {"corruption": "missing", "corrupted": "image", "strength": "0.3"},
        {"corruption": "missing", "corrupted": "image", "strength": "1"},
        {"corruption": "missing where shape is heart", "corrupted": ("image", "text"), "strength": "0.5"},
        {"corruption": "missing by shape (heart x 2, square x 0)", "corrupted": "image", "strength": "0.5"},
    ]
    _, some, every, hearts, unlike = [condition.source.batch(np.arange(900)) for condition in found]
    assert abs(some.mask("image").double().mean() - 0.7) < 0.06
    assert not every.mask("image").any()
    assert every.mask("text").all()
    assert hearts.factors is not None
    heart = hearts.factors[:, world.spec.factor_index("shape")] == world.spec.factor("shape").code("heart")
    assert hearts.mask("image")[~heart].all()
    assert abs(hearts.mask("image")[heart].double().mean() - 2 / 3) < 0.1  # at least one of the two is left
    assert unlike.factors is not None
    square = unlike.factors[:, world.spec.factor_index("shape")] == world.spec.factor("shape").code("square")
    assert unlike.mask("image")[square].all()
    assert not unlike.mask("image")[heart].any()
    with pytest.raises(ConfigError, match="where: expected missing modalities and their rates"):
        ConditionSettings(missing=("image",), where={"shape": ("heart",)})
    with pytest.raises(ConfigError, match="by: expected missing modalities and their rates"):
        ConditionSettings(missing=("image",), by={"shape": {"heart": 0.5}})
    with pytest.raises(ConfigError, match="strengths: expected strengths with a corruption or missing modalities"):
        ConditionSettings(split="heldout", strengths=(0.5,))
    with pytest.raises(ConfigError, match="missing_where: expected the rates"):
        DataSettings(world=Factory(CdSprites, {"level": 2}), missing_where={"shape": ("heart",)})


def test_training_validation_and_test_lack_modalities_independently() -> None:
    def share(split: str, **settings: Any) -> float:
        data = DataSettings(world=Factory(CdSprites, {"level": 2}), train=600, validation=600, test=600, **settings)
        return float(Samples(data, 1).source(split).batch(np.arange(600)).mask("image").double().mean())

    for train, validation, expected in (
        ({"image": 0.8}, None, (0.2, 0.2)),
        ({"image": 0.8}, {"image": 0.3}, (0.2, 0.7)),
        ({"image": 0.8}, {}, (0.2, 1.0)),
        ({}, {"image": 0.5}, (1.0, 0.5)),
    ):
        settings = {"missing": train, "missing_validation": validation}
        assert share("train", **settings) == pytest.approx(expected[0], abs=0.06)
        assert share("validation", **settings) == pytest.approx(expected[1], abs=0.06)
        assert share("test", **settings) == 1
    every = dict.fromkeys(CdSprites(level=2).spec.factor("shape").values, 0.0)
    assert share("train", missing={"image": 0.8}, missing_by={"shape": every}) == 1
    with pytest.raises(ConfigError, match="missing_by: expected the rates"):
        DataSettings(world=Factory(CdSprites, {"level": 2}), missing_by={"shape": every})


def test_a_condition_may_be_another_world_with_the_same_modalities() -> None:
    usual = {"kind": "spatial", "vocabulary": "whole", "longest": 20, "image_size": 16}
    samples = Samples(DataSettings(world=Factory(ShapeWorld, usual), test=24), 1)

    def found(**changes: Any) -> list[Condition]:
        other = ConditionSettings(world=Factory(ShapeWorld, usual | changes), name="other")
        return conditions("validation", [other], lambda split: samples.evaluated(split, samples.whole), samples)

    base, turned = found(only={"change": ("mirrored",)})
    assert turned.about == {"partition": "other"}
    assert len(turned.source) == len(base.source) == 2000
    assert turned.source.spec.modalities == base.source.spec.modalities
    change = turned.source.spec.factor_index("change")
    assert len(turned.source.batch(np.arange(24)).factors[:, change].unique()) == 1
    assert found(variant="related")[1].source.spec.targets[0].meanings == ("same", "opposite")
    with pytest.raises(ConfigError, match=r"conditions\.0: world: expected the modalities of the samples as they are.*\(text\)"):
        found(vocabulary="own")
    with pytest.raises(ConfigError, match="a name for a condition with another world"):
        ConditionSettings(world=Factory(ShapeWorld, usual))


def test_the_condition_of_the_training_split_has_samples_that_were_not_trained_on(settings: dict[str, Any]) -> None:
    settings["measure"] = {"measures": ["coherence"], "conditions": [{"split": "train"}]}
    experiment = read_experiment(settings)
    trained, unseen = experiment.samples.source("train"), experiment.samples.unseen()
    assert (len(trained), len(unseen)) == (600, 300)
    longer = experiment.data.dataset.source("train", 900, seed=experiment.seed).batch(np.arange(600, 900))
    assert torch.equal(unseen.batch(np.arange(300)).views["point"], longer.views["point"])


def test_unseen_samples_begin_with_a_whole_row() -> None:
    data = DataSettings(world=Factory(ShapeWorld, {"kind": "oneshape"}), train=101, test=30)
    samples = Samples(data, 1)
    row = samples.whole("train").spec.targets[0].row_size
    start = -(-101 // row) * row
    expected = data.dataset.source("train", 200, seed=1).batch(np.arange(start, start + 30))
    assert torch.equal(samples.unseen().batch(np.arange(30)).views["text"], expected.views["text"])


def test_of_stored_samples_those_are_unseen_that_are_not_asked_for(tmp_path: Path) -> None:
    world = CdSprites(level=1)
    for split, size in (("train", 50), ("validation", 10), ("test", 10)):
        store_samples(world.source(split, size, seed=1), tmp_path / split)
    found = Samples(DataSettings(folder=tmp_path, train=44, validation=None, test=None), 1).unseen()
    assert len(found) == 6
    assert torch.equal(
        found.batch(np.arange(6)).views["image"], world.source("train", 50, seed=1).batch(np.arange(44, 50)).views["image"]
    )
    with pytest.raises(ConfigError, match=r"beyond the 50 that are trained on, got none: lower data\.train"):
        Samples(DataSettings(folder=tmp_path, train=None, validation=None, test=None), 1).unseen()
