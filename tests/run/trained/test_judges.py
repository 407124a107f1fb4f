"""Judges in use: opened by name or file, listed with the models, and reading what people have."""

import pytest
from PIL import Image

from molyneux import open_judge
from molyneux.cli.listing import listing
from molyneux.core import ConfigError, DataError
from molyneux.learn.judges import shipped_file, shipped_judges

HEART = "docs/assets/generated/heart.png"


def test_judges_are_listed_with_the_models_and_opened_by_those_names():
    names = [f"{world} {modality}" for world, modality in shipped_judges()]
    listed = listing("pretrained")
    assert set(names) < set(listed)
    for name in names:
        judge = open_judge(name)
        assert all(factor in listed[name] for factor in judge.reads)
        assert "% right" in listed[name]


def test_a_judge_reads_pictures_as_people_have_them():
    judge = open_judge("cdsprites-v1 image")
    found = judge.read([HEART, Image.open(HEART)])
    assert found[0].values == found[1].values
    assert found[0].values["shape"] == "heart"
    assert not found[0].exact
    assert judge.read(Image.new("RGB", (64, 64)))[0].values["shape"] is None
    assert open_judge(shipped_file("cdsprites-v1", "image")).name == judge.name


def test_what_is_no_judge_or_no_picture_is_refused():
    with pytest.raises(ConfigError, match='did you mean "gebid-v1 image"'):
        open_judge("gebid image")
    with pytest.raises(DataError):
        open_judge("cdsprites-v1 image").read("no-such.png")
