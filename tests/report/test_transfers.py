"""What records say of transfer, by variant and path, with what was kept apart."""

import pytest

from molyneux.core import Score
from molyneux.report import KeptApart, StudyRun, kept_apart, transfer_variants

APART = {"data.apart.where.shape": ["heart"], "data.apart.sets": [["touch", "text"]]}


def run(name, settings, *shares, seed=1, reader="CaptionReader 1"):
    scores = [
        Score(
            "transfer.accuracy",
            value,
            interval=(value - 1, value + 1),
            n=100,
            unit="%",
            chance=100 / 3,
            higher_is_better=True,
            about={"factor": "shape", "group": group, **about},
            origin={"world": "cdsprites-v1", "readers": {"text": {"name": reader, "version": "1"}}},
        )
        for group, about, value in shares
    ]
    return StudyRun({"name": name, "seed": seed, "learn.model.class_path": "molyneux.learn.MLD", **settings}, tuple(scores))


NAMED = {"source": "touch", "target": "text"}
THROUGH = {"source": "touch", "via": "text", "target": "image"}


def test_what_was_kept_apart_is_told():
    kept = kept_apart({**APART, "data.missing.image": 1.0, "data.missing.touch": 0.5})
    assert kept == KeptApart({"shape": ("heart",)}, (("touch", "text"),), ("image",))
    assert kept.joined("touch", "text")
    assert not kept.joined("image")
    assert not KeptApart({}, (("image", "text"), ("touch", "text"))).joined("image", "touch")
    assert KeptApart({}).joined("image", "touch")
    assert not KeptApart({}, (), ("touch",)).joined("touch")
    assert kept_apart({"data.apart": None}) == KeptApart({})


def test_variants_have_paths_groups_and_seeds():
    runs = [
        run("all", {"data.apart": None}, ("apart", NAMED, 90.0)),
        run("never-seen", APART, ("apart", NAMED, 80.0), ("together", NAMED, 99.0), ("apart", THROUGH, 10.0)),
        run("never-seen", APART, ("apart", NAMED, 60.0), ("together", NAMED, 97.0), seed=2),
    ]
    every, seen = transfer_variants(runs)
    assert (every.name, every.seeds, every.kept.where, every.kept.sets) == ("all", 1, {"shape": ("heart",)}, ())
    assert (seen.name, seen.model, seen.world, seen.factor, seen.seeds) == ("never-seen", "MLD", "cdsprites-v1", "shape", 2)
    assert seen.apart[("touch", "text")].mean == pytest.approx(70)
    assert seen.together[("touch", "text")].mean == pytest.approx(98)
    assert seen.apart[("touch", "text", "image")].mean == pytest.approx(10)
    assert ("touch", "text", "image") not in seen.together


def test_runs_without_transfer_have_no_variants():
    assert transfer_variants([StudyRun({"name": "a"}, ())]) == ()
