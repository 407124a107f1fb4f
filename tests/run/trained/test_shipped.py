"""The models that come with the package: sizes, and their recorded scores found again on fresh samples."""

import os
from dataclasses import replace

import pytest

from molyneux.data import World
from molyneux.measure import CodeUse, Coherence, Prediction, TwoWayChoice, evaluate
from molyneux.report.tables import whole_predictions
from molyneux.run import open_evaluation, open_experiment, verify_export
from molyneux.run.run.folder import RunFolder
from molyneux.run.run.report import read_scores
from molyneux.run.trained.shipped import shipped_card, shipped_folder, shipped_names

MOST, MOST_IN_ALL = 9_000_000, 30_000_000
"""Bytes of one model, and of all."""
SAMPLES = 1_000


def size(name):
    return sum(path.stat().st_size for path in shipped_folder(name).rglob("*") if path.is_file())


def test_they_are_small():
    sizes = {name: size(name) for name in shipped_names()}
    assert sizes
    assert all(one <= MOST for one in sizes.values()), sizes
    assert sum(sizes.values()) <= MOST_IN_ALL


def recorded(name):
    return read_scores(shipped_folder(name))


@pytest.mark.parametrize("name", shipped_names())
def test_each_has_a_card_and_checksums(name):
    verify_export(shipped_folder(name))
    card = shipped_card(name)
    for part in ("## Training data", "## Scores", "## Use", "## Licence", "molyneux run"):
        assert part in card
    assert ("## What it does" in card) == any(
        any(part in score.name for part in ("coherence.strict", "prediction", "disentanglement.mig", "two_way_choice"))
        for score in recorded(name)
    )


@pytest.mark.parametrize("name", shipped_names())
def test_its_folder_is_still_that_of_its_experiment(name):
    """Also where a setting was added since: it is at its default."""
    experiment = open_experiment(shipped_folder(name))
    if experiment.data.world or os.environ.get("MOLYNEUX_DATA"):
        assert RunFolder(shipped_folder(name), experiment).model.complete


@pytest.mark.slow
@pytest.mark.parametrize("name", shipped_names())
def test_the_recorded_scores_are_found_again(name):
    folder = shipped_folder(name)
    experiment = open_experiment(folder)
    world = isinstance(experiment.data.dataset, World) if os.environ.get("MOLYNEUX_DATA") or experiment.data.world else None
    if world is None:
        pytest.skip("needs the files of its data set, in the folder that MOLYNEUX_DATA names")
    evaluation = replace(open_evaluation(folder), samples=SAMPLES, train=None)
    if world:
        evaluation = replace(evaluation, source=experiment.data.dataset.source("test", SAMPLES, seed=99))
        evaluation = replace(evaluation, reference=None)
    scores = recorded(name)
    measures = {score.name.partition(".")[0] for score in scores}
    known = (Coherence(joint=False, values=False), Prediction(), CodeUse(), TwoWayChoice(by="role"))
    chosen = [item for item in known if item.name in measures]
    found = {(score.name, str(sorted(score.about.items()))): score for score in evaluate(chosen, [evaluation]).scores}
    compared = [score for score in scores if score.name in ("coherence.strict", "code_use.distortion", "two_way_choice.accuracy")]
    compared = [score for score in [*compared, *whole_predictions(scores)] if score.about.get("source") != "prior"]
    assert compared
    pairs = [(old, found.get((old.name, str(sorted(old.about.items()))))) for old in compared]
    pairs = [(old, new) for old, new in pairs if new is not None and new.interval and old.interval]
    assert pairs
    for old, new in pairs:
        assert new.interval[0] <= old.interval[1], (old.about, old.value, new.value)
        assert old.interval[0] <= new.interval[1], (old.about, old.value, new.value)
