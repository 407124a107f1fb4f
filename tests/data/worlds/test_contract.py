"""What every world promises, for every world that the folder's list names."""

import inspect
import json
import pickle

import numpy as np
import pytest
import torch

from molyneux.core import ConfigError, DataError, Dataset, Reader, Source, Spec
from molyneux.data import CdSprites, GeBiD, Interactions, ShapeClasses, SimulatedPush, World, worlds
from molyneux.data.worlds.captioned_world import CaptionedWorld
from molyneux.data.worlds.rendering_reader import RenderingReader

WORLDS = [
    item
    for name in worlds.__all__
    if inspect.isclass(item := getattr(worlds, name)) and issubclass(item, World) and item is not World
]


@pytest.fixture(params=WORLDS, ids=lambda kind: kind.__name__)
def kind(request):
    return request.param


@pytest.fixture
def world(kind):
    if issubclass(kind, CaptionedWorld):
        return kind(modalities=("image", "text", "touch"))
    return kind(views=("image", "scene")) if kind is ShapeClasses else kind()


def same(one, other):
    return all(torch.equal(one.views[name], other.views[name]) for name in one.views) and torch.equal(one.factors, other.factors)


def test_is_final_and_takes_keywords_only(kind):
    kinds = {parameter.kind for parameter in inspect.signature(kind).parameters.values()}
    assert kinds == {inspect.Parameter.KEYWORD_ONLY}
    assert not kind.__subclasses__()
    assert inspect.getdoc(kind)
    assert all(isinstance(getattr(kind, name), str) for name in ("name", "licence", "origin"))


def test_is_a_data_set_that_knows_its_splits(world):
    assert isinstance(world, Dataset)
    assert list(world.splits)[:3] == ["train", "validation", "test"]
    assert set(world.splits) <= {"train", "validation", "test"}
    for split, size in world.splits.items():
        assert len(world.source(split, 5)) == 5
        if size is None:
            with pytest.raises(ConfigError, match=f"split {split} of {world.name} is endless: name a size"):
                world.source(split)
        else:
            assert len(world.source(split)) == size
            with pytest.raises(ConfigError, match=f"at most the {size:,} samples"):
                world.source(split, size + 1)
        with pytest.raises(DataError, match=r"numbers .*from 0"):
            world.batch(np.array([-1 if size is None else size]), split=split, seed=0)
    with pytest.raises(ConfigError, match="holds no combination out"):
        world.source("heldout", 5)


def test_batches_fit_the_spec(world):
    source = world.source("test", 9, seed=1)
    assert isinstance(source, Source)
    batch = source.batch(np.array([8, 0, 8])).check(source.spec)
    limits = torch.tensor([len(factor.values) for factor in source.spec.factors])
    assert ((batch.factors >= -1) & (batch.factors < limits)).all()
    assert Spec.from_json(json.loads(json.dumps(world.spec.to_json()))) == world.spec
    assert len(source.batch(np.arange(0)).check(source.spec)) == 0


def test_same_seed_same_bytes_in_any_order(world):
    whole = world.batch(np.arange(60), split="train", seed=3)
    rows = np.random.default_rng(0).permutation(60)
    assert same(world.batch(rows, split="train", seed=3), whole[torch.from_numpy(rows)])
    assert same(world.batch(np.arange(17, 40), split="train", seed=3), whole[17:40])
    assert same(pickle.loads(pickle.dumps(world)).batch(np.arange(60), split="train", seed=3), whole)
    for split, seed in (("train", 4), ("test", 3), ("validation", 3)):
        assert not same(world.batch(np.arange(60), split=split, seed=seed), whole)


@pytest.mark.parametrize("kind", [kind for kind in WORLDS if issubclass(kind, CaptionedWorld)])
def test_held_out_never_leaks(kind):
    value = kind().spec.factor("shape").values[0]
    world = kind(held_out=[{"shape": value}])
    column = world.spec.factor_index("shape")
    for split in ("train", "validation", "test", "heldout"):
        codes = world.scenes(np.arange(100_000), split=split, seed=0).factors[:, column]
        assert ((codes == 0) == (split == "heldout")).all()


def test_readers_read_the_truth(world):
    if isinstance(world, Interactions | SimulatedPush):
        assert not world.readers(), "noise leaves no exact reader"
        return
    batch = world.batch(np.arange(2000), split="test", seed=1)
    assert world.readers()
    for name, reader in world.readers().items():
        assert isinstance(reader, Reader)
        assert reader.modality == name
        reading = reader.read(batch.views[name])
        columns = [world.spec.factor_index(factor) for factor in reading.factors]
        truth = batch.factors[:, columns]
        right = (reading.codes == truth).all(1).float().mean()
        assert right >= (0.999 if isinstance(reader, RenderingReader) else 1)  # pictures have noise: a few are refused
        assert torch.equal(reading.codes[reading.codes >= 0], truth[reading.codes >= 0])
        assert set(reader.factors) == set(world.visible(name))


def test_name_and_settings_are_plain(kind):
    assert kind().name.rpartition("-v")[2].isdigit()
    record = kind().settings
    assert json.loads(json.dumps(record)) == record
    others = {"level": 1, "split_seed": 1, "image_size": 32, "noise": 0.1, "scales": "none", "variant": "foils"}
    other = {next(name for name in others if name in inspect.signature(kind).parameters): None}
    other = {name: others[name] for name in other}
    assert kind(**other).settings != record


def test_sources_that_cannot_be_used(world):
    with pytest.raises(ConfigError, match='did you mean "train"'):
        world.source("trian", 3, seed=0)
    with pytest.raises(ConfigError, match="size of at least 1"):
        world.source("train", 0, seed=0)


@pytest.mark.parametrize(
    ("world", "image", "touch"),
    [
        (CdSprites(level=5), ("size", "colour", "shape", "position", "background"), ("size", "shape", "position")),
        (GeBiD(level=5), ("size", "colour", "shape", "position", "background"), ("size", "shape", "position")),
        (CdSprites(level=1), ("shape",), ("shape",)),
        (CdSprites(level=1, caption_level=3), ("shape",), ("shape",)),
    ],
)
def test_factors_that_a_view_shows(world, image, touch):
    assert set(world.visible("image")) == set(image)
    assert set(world.visible("touch")) == set(touch)
    assert world.visible("text") == world.readers()["text"].factors
