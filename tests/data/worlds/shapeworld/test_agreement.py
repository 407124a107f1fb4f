"""`ShapeWorld`: captions agree with pictures in one half of the samples, and nothing but both together tells which."""

import numpy as np
import pytest
import torch

from molyneux.core import ConfigError
from molyneux.data import ShapeWorld
from molyneux.data.worlds.shapeworld.meaning.english import english
from molyneux.data.worlds.shapeworld.meaning.programs import programs_of, trees_of
from molyneux.data.worlds.shapeworld.meaning.truth import truth
from molyneux.data.worlds.shapeworld.scenes import COLOURS, SHAPES
from molyneux.data.worlds.shapeworld.settings import TEST_COMBINATIONS, VALIDATION_COMBINATIONS

KINDS = ("oneshape", "multishape", "spatial", "quantification")


@pytest.fixture(params=KINDS)
def world(request):
    return ShapeWorld(kind=request.param)


def words_of(world, batch):
    symbols = world.spec.modality("text").symbols
    captions = zip(batch.views["text"].tolist(), batch.lengths["text"].tolist(), strict=True)
    return [[symbols[one] for one in row[: length - 1]] for row, length in captions]


def test_half_agree_and_every_caption_and_picture_does_so_once(world):
    batch = world.batch(np.arange(400), split="train", seed=1)
    agreement = batch.targets["agreement"].view(-1, 4)
    assert (agreement == torch.tensor([1, 0, 0, 1])).all()
    text, image = batch.views["text"].view(100, 4, -1), batch.views["image"].flatten(1).view(100, 4, -1)
    assert torch.equal(text[:, 0], text[:, 2])
    assert torch.equal(text[:, 1], text[:, 3])
    assert torch.equal(image[:, 0], image[:, 1])
    assert torch.equal(image[:, 2], image[:, 3])
    assert (image[:, 0] != image[:, 2]).any(1).all()
    assert (text[:, 0] != text[:, 1]).any(1).all()
    forms = batch.factors[:, 0].view(100, 4)
    assert (forms == forms[:, :1]).all()
    assert len(forms[:, 0].unique()) == len(world.skeletons)


def test_agreement_is_the_truth_of_the_caption_as_it_is_read(world):
    batch = world.batch(np.arange(200), split="test", seed=2)
    numbers = np.arange(50)
    scenes, _, _ = world._pairs(numbers, "test", 2)
    rows = np.repeat(numbers, 4) + 50 * np.tile([0, 0, 1, 1], 50)
    programs = programs_of([english().read(words) for words in words_of(world, batch)])
    expected = np.where(batch.targets["agreement"].numpy() == 1, 1, -1)
    assert np.array_equal(truth(programs, scenes[rows]), expected)


@pytest.mark.parametrize("kind", ["oneshape", "spatial"])
def test_held_out_combinations(kind):
    world = ShapeWorld(kind=kind)
    held = {"validation": VALIDATION_COMBINATIONS, "test": TEST_COMBINATIONS}
    for split in ("train", "validation", "test"):
        scenes, _, _ = world._pairs(np.arange(3000), split, 0)
        for name, pairs in held.items():
            codes = [SHAPES.index(shape) * 8 + COLOURS.index(colour) for shape, colour in pairs]
            has = (np.isin(scenes.shape * 8 + scenes.colour, codes) & scenes.present).any(1)
            assert has.all() if name == split else split != "train" or not has.any()


@pytest.mark.parametrize(("kind", "test"), [("multishape", {6}), ("quantification", {8})])
def test_held_out_numbers(kind, test):
    world = ShapeWorld(kind=kind)
    values = [int(value) for value in world.spec.factor("entities").values]
    codes = {split: world.batch(np.arange(400), split=split, seed=0).factors[:, 1].tolist() for split in world.splits}
    seen = {split: {values[code] for code in found} for split, found in codes.items()}
    assert seen["test"] == test
    assert not seen["train"] & seen["test"]
    assert not seen["train"] & seen["validation"]


def test_captions_are_ids_with_an_end_and_a_length(world):
    modality, batch = world.spec.modality("text"), world.batch(np.arange(100), split="train", seed=4)
    assert len(modality.symbols) <= 45
    for row, length, words in zip(batch.views["text"], batch.lengths["text"], words_of(world, batch), strict=True):
        assert row[length - 1] == modality.end
        assert (row[length:] == modality.padding).all()
        assert words[-1] == "."
        assert english().say(english().read(words)) == words


def test_captions_are_written_as_the_grammar_says_them(world):
    """The writers fill words into fixed places; the grammar says every caption on its own."""
    _, captions, forms = world._pairs(np.arange(300), "train", 5)
    tokens, lengths = world._tokens(captions, np.tile(forms, 2))
    symbols = world.spec.modality("text").symbols
    for row, length, tree in zip(tokens.tolist(), lengths.tolist(), trees_of(captions), strict=True):
        assert [symbols[one] for one in row[: length - 1]] == english().say(tree)


def test_bad_settings():
    with pytest.raises(ConfigError, match=r"(?s)kind.*image_size: expected at least 8"):
        ShapeWorld(kind="twoshape", image_size=2)


def test_a_caption_that_is_none_of_its_forms_is_unreadable():
    world = ShapeWorld(kind="oneshape")
    view = world.batch(np.arange(4), split="train", seed=0).views["text"].clone()
    view[0, 0] = world.spec.modality("text").symbols.index("a")
    reading = world.readers()["text"].read(view)
    assert reading.codes[0] == -1
    assert "expected" in reading.reasons[0]
    assert (reading.codes[1:] >= 0).all()
