"""Arguments that have become fields of a dataclass are still read under their earlier names, in Python and in files."""

import inspect
from dataclasses import dataclass
from typing import Annotated

import pytest
from torch import nn

from molyneux import learn
from molyneux.core import ConfigError
from molyneux.core.config import Factory, Supplied, arguments, build
from molyneux.core.config.earlier import same_settings
from molyneux.core.tooling.classes import ADDED, without_added
from molyneux.core.tooling.moved import moved, moved_arguments
from molyneux.data import (
    AVMNIST,
    CaptionSettings,
    CdSprites,
    FigureAttributes,
    GeBiD,
    HeldOut,
    HeldOutSplits,
    PictureSettings,
    Rendering,
    ShapeWorld,
    SpriteRendering,
    World,
)
from molyneux.learn import Answerer, DualEncoder, FusionPredictor, GradientBlending, ImageTextMatcher


@dataclass(frozen=True)
class Paper:
    """Two settings that belong together."""

    colour: str = "white"
    weight: int = 80


@dataclass(frozen=True)
class Stamp:
    """A group of settings that one was added to."""

    value: int = 1
    sticks: Annotated[bool, ADDED] = True


class Envelope:
    """A class that one setting was added to."""

    def __init__(self, *, size: int = 3, lined: Annotated[bool, ADDED] = False, stamp: Stamp = Stamp()) -> None:
        self.size, self.lined, self.stamp = size, lined, stamp


def test_settings_that_were_added_are_told_where_they_are_not_at_their_default():
    path = f"{__name__}.Envelope"
    plain = build(Envelope, path)
    assert plain.plain["init_args"] == {"size": 3, "stamp": {"value": 1}}
    given = build(Envelope, {"class_path": path, "init_args": {"lined": False, "stamp": {"sticks": True}}})
    assert given.plain == plain.plain
    other = build(Envelope, {"class_path": path, "init_args": {"lined": True, "stamp": {"sticks": False}}})
    assert other.plain["init_args"] == {"size": 3, "lined": True, "stamp": {"value": 1, "sticks": False}}
    assert (other.value.lined, other.value.stamp) == (True, Stamp(sticks=False))
    again = build(Envelope, other.plain)
    assert (again.plain, again.value.stamp) == (other.plain, other.value.stamp)
    with pytest.raises(ConfigError, match="lined: expected true or false"):
        build(Envelope, {"class_path": path, "init_args": {"lined": 2}})
    assert without_added(Stamp, {"sticks": True, "unknown": 1}) == {"unknown": 1}


class Letter:
    """Something with a group of settings."""

    @moved(colour="paper.colour", weight="paper.weight")
    def __init__(self, *, text: str = "", paper: Paper | None = None) -> None:
        self.text, self.paper = text, paper or Paper()


def test_an_earlier_name_is_the_field():
    assert Letter(text="a", weight=90).paper == Letter(text="a", paper=Paper(weight=90)).paper == Paper("white", 90)
    assert Letter().paper == Paper()
    assert list(arguments(Letter)) == ["text", "paper"] == [*inspect.signature(Letter).parameters]
    assert moved_arguments(Letter) == {"colour": "paper.colour", "weight": "paper.weight"}
    assert moved_arguments(Paper) == {}


def test_a_setting_under_both_names_is_refused():
    with pytest.raises(ConfigError, match=r"weight: is paper\.weight now: write it under paper"):
        Letter(paper=Paper(), weight=90)
    with pytest.raises(ConfigError, match=r"world\.init_args\.level: .*"):
        build(World, {"class_path": "CdSprites", "init_args": {"level": "x"}}, "world")
    both = {"class_path": "CdSprites", "init_args": {"textures": None, "rendering": {"anti_alias": True}}}
    with pytest.raises(ConfigError, match=r"world\.init_args\.textures: is rendering\.textures now: write it under rendering"):
        build(World, both, "world")


def test_an_unknown_name_is_refused_as_before():
    with pytest.raises(TypeError, match="unexpected keyword argument 'ink'"):
        Letter(ink="blue")


@pytest.mark.parametrize(
    ("earlier", "today"),
    [
        (
            {"class_path": "CdSprites", "init_args": {"level": 3, "colours": ["red", "blue"], "textures": None, "threads": 2}},
            CdSprites(
                level=3,
                attributes=FigureAttributes(colours=("red", "blue")),
                rendering=SpriteRendering(textures=None, threads=2),
            ),
        ),
        (
            {"class_path": "GeBiD", "init_args": {"sizes": ["large"], "touch_noise": 0.0}},
            GeBiD(attributes=FigureAttributes(sizes=("large",)), rendering=Rendering(touch_noise=0.0)),
        ),
        (
            {
                "class_path": "ShapeWorld",
                "init_args": {"image_size": 32, "test": {"counts": [3]}, "longest": 40},
            },
            ShapeWorld(
                held_out=HeldOutSplits(test=HeldOut(counts=(3,))),
                text=CaptionSettings(longest=40),
                image=PictureSettings(size=32),
            ),
        ),
    ],
    ids=["cdsprites", "gebid", "shapeworld"],
)
def test_files_with_earlier_names_are_the_same_world(earlier, today):
    built = build(World, earlier)
    assert built.value.settings == today.settings
    again = build(World, built.plain)
    assert again.plain == built.plain
    assert not moved_arguments(type(today)).keys() & (built.plain["init_args"].keys() - arguments(type(today)).keys())


def test_what_is_wrong_is_told_at_its_place_of_today():
    with pytest.raises(ConfigError, match=r"world\.init_args\.image\.size: expected an integer, got 'big'"):
        build(World, {"class_path": "ShapeWorld", "init_args": {"image_size": "big"}}, "world")
    with pytest.raises(ConfigError, match=r"world\.init_args\.text\.longest: expected captions of 4 to 1000 words"):
        build(World, {"class_path": "ShapeWorld", "init_args": {"longest": 2}}, "world")


MODEL = Annotated[Factory[nn.Module], Supplied(("spec",), "molyneux.learn")]


@pytest.mark.parametrize(
    ("name", "earlier", "today"),
    [
        (
            "FusionPredictor",
            {"target_weight": 2.0, "unsupervised": ["align"], "imputation": "MeanImputation", "modality_dropout": {"a": 0.2}},
            {
                "targets": {"weight": 2.0, "unsupervised": ["align"]},
                "missing": {"imputation": "MeanImputation", "dropout": {"a": 0.2}},
            },
        ),
        (
            "GradientBlending",
            {"heads": {"image": {"width": 9}}, "branch": "Concatenation", "blended": True},
            {"branches": {"heads": {"image": {"width": 9}}, "fusion": "Concatenation", "pooled": True}},
        ),
        (
            "Answerer",
            {"folder": "model", "dtype": "bfloat16", "device": "cpu", "batch_size": 3, "yes": ["True"]},
            {
                "folder": "model",
                "inference": {"dtype": "bfloat16", "batch_size": 3, "device": "cpu"},
                "questions": {"yes": ["True"]},
            },
        ),
    ],
)
def test_files_with_earlier_names_are_the_same_model(name, earlier, today):
    plain = build(MODEL, {"class_path": name, "init_args": earlier}).plain
    assert plain == build(MODEL, {"class_path": name, "init_args": today}).plain
    places = {key: place.split(".") for key, place in moved_arguments(getattr(learn, name)).items()}
    rest = {key: value for key, value in plain["init_args"].items() if key not in {group for group, _ in places.values()}}
    flat = {**rest, **{key: plain["init_args"][group][field] for key, (group, field) in places.items()}}
    assert same_settings({**plain, "init_args": flat}, plain)


@pytest.mark.parametrize(
    "kind", [CdSprites, GeBiD, ShapeWorld, AVMNIST, FusionPredictor, GradientBlending, Answerer, DualEncoder, ImageTextMatcher]
)
def test_constructors_are_short(kind):
    assert len(arguments(kind)) <= 8
