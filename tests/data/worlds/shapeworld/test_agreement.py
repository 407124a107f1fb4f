"""`ShapeWorld`: captions agree with pictures in one half of the samples, and nothing but both together tells which."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from molyneux.core import Batch, ConfigError, DataError, Spec
from molyneux.core import views as core_views
from molyneux.data import HeldOut, SceneSettings, Semantics, ShapeWorld
from molyneux.data.worlds.shapeworld.kinds import KINDS
from molyneux.data.worlds.shapeworld.meaning.language.captions import parse, say
from molyneux.data.worlds.shapeworld.meaning.trees.programs import programs_of, trees_of
from molyneux.data.worlds.shapeworld.meaning.truth.truth import truth
from molyneux.data.worlds.shapeworld.scene_view import NO_SENTENCE
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES
from molyneux.data.worlds.shapeworld.scenes.settings import TEST_COMBINATIONS, VALIDATION_COMBINATIONS, within_places

PAPER = ("oneshape", "multishape", "spatial", "quantification")
ALL_VIEWS = ("image", "text", "meaning", "scene")


def expected(batch):
    return np.where(batch.targets["agreement"].numpy() == 1, 1, -1)


def sentences(world, batch):
    return core_views.text_strings(world.spec.modality("text"), batch.views["text"])


@pytest.mark.parametrize("kind", PAPER)
def test_half_agree_and_every_caption_and_picture_does_so_once(kind):
    world = ShapeWorld(kind=kind)
    batch = world.batch(np.arange(400), split="train", seed=1)
    agreement = batch.targets["agreement"].view(-1, 4)
    assert world.spec.targets[0].contrast == (2, 2)
    plain, turned = ((agreement == torch.tensor(order)).all(1) for order in ([1, 0, 0, 1], [0, 1, 1, 0]))
    assert (plain | turned).all()
    assert 30 < plain.sum() < 70  # the place of a sample does not tell
    text, image = batch.views["text"].view(100, 4, -1), batch.views["image"].flatten(1).view(100, 4, -1)
    assert torch.equal(text[:, 0], text[:, 2])
    assert torch.equal(text[:, 1], text[:, 3])
    assert torch.equal(image[:, 0], image[:, 1])
    assert torch.equal(image[:, 2], image[:, 3])
    assert (image[:, 0] != image[:, 2]).any(1).all()
    assert (text[:, 0] != text[:, 1]).any(1).all()


@pytest.mark.parametrize("variant", ["balanced", "foils", "published"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_samples_whose_truth_can_be_evaluated_from_the_views_alone(kind, variant):
    """Text and scene are read back: parsed, and measured anew from 32-bit numbers; factors of captions are read too."""
    world = ShapeWorld(kind=kind, variant=variant, views=ALL_VIEWS, image_size=16)
    split = "test" if kind in PAPER else "train"
    batch = world.batch(np.arange(40), split=split, seed=2).check(world.spec)
    assert np.array_equal(world.evaluate(batch).numpy(), expected(batch))
    reading = world.readers()["text"].read(batch.views["text"])
    assert torch.equal(reading.codes, batch.factors[:, :4])
    assert (batch.factors >= 0).all()
    assert batch.factors[:, world.spec.factor_index("truth")].tolist() == batch.targets["agreement"].tolist()
    scenes = world.scenes(np.arange(40), split=split, seed=2)
    programs = np.zeros((40, world.spec.modality("meaning").max_length), np.int16)
    programs[:] = batch.views["meaning"].numpy()
    assert np.array_equal(truth(programs, scenes, world.semantics_of(kind)), expected(batch))
    for tree, words in zip(trees_of(programs), sentences(world, batch), strict=True):
        assert " ".join(say(tree)) == words
        assert parse(words) == tree
    counts = world.spec.factor("entities").values
    assert [counts[code] for code in batch.factors[:, world.spec.factor_index("entities")]] == list(
        map(str, batch.lengths["scene"].tolist())
    )


@pytest.mark.parametrize("variant", ["balanced", "foils", "published"])
def test_a_sample_depends_on_its_number_alone(variant):
    world = ShapeWorld(kind=("spatial", "oneshape", "selection"), variant=variant, views=ALL_VIEWS, image_size=16)
    whole, rows = world.batch(np.arange(60), split="train", seed=3), np.array([41, 7, 7, 20])
    part = world.batch(rows, split="train", seed=3)
    assert whole.tensors().keys() == part.tensors().keys()
    for name, values in part.tensors().items():
        assert torch.equal(values, whole.tensors()[name][rows]), name
    assert len(world.batch(np.zeros(0, np.int64), split="train", seed=3)) == 0
    kinds = whole.factors[:, world.spec.factor_index("kind")]
    assert len(kinds.unique()) == 3


@pytest.mark.parametrize("language", ["english", "german"])
@pytest.mark.parametrize("kind", KINDS)
def test_paraphrases_and_negations_have_the_truth_of_their_caption_or_the_opposite_in_every_scene(kind, language):
    world = ShapeWorld(kind=kind, variant="related", views=("text", "meaning", "scene"), language=language)
    batch = world.batch(np.arange(90), split="train", seed=4).check(world.spec)
    assert world.spec.targets[0].meanings == ("same", "opposite")
    assert np.array_equal(world.evaluate(batch).numpy(), expected(batch))
    truths = batch.targets["agreement"].view(30, 3)
    assert torch.equal(truths[:, 0], truths[:, 1])
    assert torch.equal(truths[:, 0], 1 - truths[:, 2])
    known = batch.known["agreement"].view(30, 3)
    texts = batch.views["text"].view(30, 3, -1)
    assert torch.equal(known[:, 1], (texts[:, 0] != texts[:, 1]).any(1))
    assert known[:, [0, 2]].all()
    assert known[:, 1].float().mean() > 0.2
    # in other scenes too, as far as both are determined
    scenes = world.scenes(np.arange(300, 390), split="train", seed=4)
    first, same, opposite = (truth(batch.views["meaning"][place::3].numpy().astype(np.int16), scenes[::3]) for place in range(3))
    both = (first != 0) & (same != 0)
    assert both.any()
    assert np.array_equal(first[both], same[both])
    assert np.array_equal(first, -opposite)


def test_without_words_a_paraphrase_of_the_same_tree_is_none():
    world = ShapeWorld(kind="ratio", variant="related", views=("meaning",))
    batch = world.batch(np.arange(60), split="train", seed=4)
    trees = batch.views["meaning"].view(20, 3, -1)
    different = (trees[:, 0] != trees[:, 1]).any(1)
    assert torch.equal(batch.known["agreement"].view(20, 3)[:, 1], different)
    assert not different.all()


def test_one_vocabulary_serves_all_kinds_and_variants():
    worlds = [
        ShapeWorld(kind=kind, variant=variant, vocabulary="whole", longest=60, image_size=16)
        for kind, variant in (("oneshape", "balanced"), ("logical", "related"), ("count", "foils"))
    ]
    assert len({world.spec.modalities for world in worlds}) == 1
    for world in worlds:
        batch = world.batch(np.arange(12), split="train", seed=0)
        assert torch.equal(world.readers()["text"].read(batch.views["text"]).codes, batch.factors[:, :4])


def test_bytes_do_not_depend_on_the_hash_seed():
    code = (
        "import hashlib, numpy as np; from molyneux.data import ShapeWorld; "
        "w = ShapeWorld(kind=('logical', 'oneshape'), variant='foils', image_size=16); "
        "b = w.batch(np.arange(16), split='test', seed=1); "
        "print(w.spec.modality('text').symbols, *(hashlib.sha256(v.numpy().tobytes()).hexdigest() for v in b.tensors().values()))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},  # the kernels of this suite are compiled already
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


@pytest.mark.parametrize("kind", ["oneshape", "spatial"])
def test_held_out_combinations(kind):
    world = ShapeWorld(kind=kind)
    held = {split: one.combinations for split, one in world.held_out(kind).items()}
    for split in ("train", "validation", "test"):
        scenes = world.scenes(np.arange(4000), split=split, seed=0)
        assert world.scenes_of(split, kind).contains(scenes).all()
        for name, pairs in held.items():
            codes = [SHAPES.index(shape) * 8 + COLOURS.index(colour) for shape, colour in pairs]
            has = (np.isin(scenes.shape * 8 + scenes.colour, codes) & scenes.present).any(1)
            assert has.all() if name == split else split in ("validation", "test") or not has.any()


def test_the_test_split_of_oneshape_is_not_answered_by_one_attribute():
    """The three combinations of the paper share no colour and no shape: a scene's colour alone tells what its object is."""
    own, paper = (
        ShapeWorld(kind="oneshape").held_out("oneshape"),
        ShapeWorld(kind="oneshape", variant="published").held_out("oneshape"),
    )
    for split, pairs in (("validation", VALIDATION_COMBINATIONS), ("test", TEST_COMBINATIONS)):
        assert set(pairs) < set(own[split].combinations)
        assert paper[split].combinations == pairs
        shapes, colours = (set(names) for names in zip(*own[split].combinations, strict=True))
        assert len(own[split].combinations) == len(shapes) * len(colours) == 9
    world = ShapeWorld(kind="oneshape", variant="foils", views=("meaning",))
    batch = world.batch(np.arange(800), split="test", seed=1)
    denials = batch.factors[:, world.spec.factor_index("change")] == world.spec.factor("change").code("denial")
    assert denials.float().mean() < 0.45  # 87 % with three combinations


@pytest.mark.parametrize("variant", ["balanced", "foils", "bound"])
def test_neither_scenes_nor_captions_of_a_set_stand_in_a_fixed_order(variant):
    """A fixed order would tell by their places which scene was drawn first, and which caption is the foil."""
    world = ShapeWorld(kind="spatial", variant=variant, views=("meaning", "scene"))
    batch = world.batch(np.arange(1600), split="train", seed=2)
    agrees = batch.targets["agreement"].view(-1, 2, 2)
    own = agrees[:, 0].argmax(1)  # which caption the first scene has
    assert 0.42 < own.float().mean() < 0.58
    if variant == "foils":
        change = batch.factors[::4, world.spec.factor_index("change")]
        denials = change == world.spec.factor("change").code("denial")
        first = batch.views["meaning"][::4][denials][:, 0] == world.spec.modality("meaning").symbols.index("not-true")
        assert 0.2 < first.float().mean() < 0.8  # the foil of a denial stands first as often as second


def test_published_training_has_the_combinations_that_it_should_not_have():
    """Sheet, section 5.3: 6 of 56 combinations, about 10.7 % of ONESHAPE's training scenes."""
    scenes = ShapeWorld(kind="oneshape", variant="published").scenes(np.arange(6000), split="train", seed=0)
    codes = [SHAPES.index(shape) * 8 + COLOURS.index(colour) for shape, colour in (*VALIDATION_COMBINATIONS, *TEST_COMBINATIONS)]
    assert np.isin(scenes.shape[:, 0] * 8 + scenes.colour[:, 0], codes).mean() == pytest.approx(0.107, abs=0.012)
    second = ShapeWorld(kind="spatial", variant="published").scenes(np.arange(300), split="test", seed=0)
    assert {SHAPES[code] for code in second.shape.ravel()} == {shape for shape, _ in TEST_COMBINATIONS}
    assert {COLOURS[code] for code in second.colour.ravel()} == {colour for _, colour in TEST_COMBINATIONS}


@pytest.mark.parametrize(("kind", "test"), [("multishape", {6}), ("quantification", {8})])
def test_held_out_numbers(kind, test):
    world = ShapeWorld(kind=kind, variant="published")
    values = [int(value) for value in world.spec.factor("entities").values]
    column = world.spec.factor_index("entities")
    codes = {split: world.batch(np.arange(400), split=split, seed=0).factors[:, column].tolist() for split in world.splits}
    seen = {split: {values[code] for code in found} for split, found in codes.items()}
    assert seen["test"] == test
    assert not seen["train"] & (seen["test"] | seen["validation"])


def test_held_out_places_sizes_patterns_and_lengths():
    corner, small = ((0.0, 0.0, 0.5, 0.5),), ((0.1, 0.13),)
    world = ShapeWorld(
        kind="relational",
        validation=HeldOut(patterns=(("left", "red"), ("above",)), lengths=(7, 8)),
        test=HeldOut(places=corner, sizes=small),
        views=("text", "meaning"),
    )
    assert world.spec.names == ("text", "meaning")
    train, test = (world.scenes(np.arange(800), split=split, seed=0) for split in ("train", "test"))
    for scenes, has in ((train, False), (test, True)):
        inside = (within_places(scenes.centre, corner) & scenes.present).any(1)
        few = ((scenes.size >= 0.1) & (scenes.size <= 0.13) & scenes.present).any(1)
        assert inside.all() if has else not inside.any()
        assert few.all() if has else not few.any()
    for split, has in (("train", False), ("validation", True)):
        batch = world.batch(np.arange(400), split=split, seed=0)
        captions = [set(tree.polish) for tree in trees_of(batch.views["meaning"].numpy().astype(np.int16))]
        matching = {{"left", "red"} <= caption or "above" in caption for caption in captions}
        lengths = set(batch.lengths["text"].tolist())
        assert matching == {has}
        assert lengths <= {7, 8} if has else not lengths & {7, 8}


@pytest.mark.parametrize(
    ("settings", "only"),
    [
        ({"kind": "spatial"}, {"change": ("mirrored", "flipped"), "nouns": ("full",)}),
        ({"kind": "spatial", "variant": "published"}, {"change": ("direction",)}),
        ({"kind": "oneshape", "variant": "published"}, {"truth": ("true",), "nouns": ("hypernym",)}),
        ({"kind": "quantification", "variant": "published"}, {"symbol": ("bare-most",)}),
        ({"kind": ("count", "logical"), "variant": "foils"}, {"kind": ("count",), "change": ("number changed",)}),
        ({"kind": ("multishape", "spatial", "existential")}, {"entities": ("3",)}),
        ({"kind": "multishape", "variant": "foils"}, {"entities": ("3", "2")}),
        ({"kind": "multishape", "variant": "published", "pictures": 4}, {"entities": ("3",)}),
        ({"kind": "relational", "variant": "related"}, {"nouns": ("full",)}),
        ({"kind": "relational"}, {"type": ("relation",), "negated": ("yes",), "symbol": ("closer", "farther")}),
    ],
)
def test_a_partition_is_drawn_alone(settings, only):
    world = ShapeWorld(**settings, only=only, image_size=16)
    batch = world.batch(np.arange(40), split="train", seed=0)
    for name, values in only.items():
        factor = world.spec.factor(name)
        codes = set(batch.factors[:, world.spec.factor_index(name)].tolist())
        assert {factor.values[code] for code in codes} <= set(values)


def test_noise_is_that_of_the_paper():
    """Normal, cut off at one standard deviation: what is left of a standard deviation of 0.1 is 0.054."""
    plain, noisy = (
        ShapeWorld(kind="oneshape", noise=noise).batch(np.arange(0, 400, 2), split="train", seed=0) for noise in (0, None)
    )
    before, after = (batch.views["image"].double() / 255 for batch in (plain, noisy))
    gray = (before > 0.2) & (before < 0.8)
    difference = (after - before)[gray]
    assert difference.abs().max() <= 0.1 + 0.5 / 255
    assert difference.mean() == pytest.approx(0, abs=1e-3)
    assert difference.std() == pytest.approx(0.0539, abs=1e-3)
    assert torch.equal(plain.views["text"], noisy.views["text"])


def test_german_captions_mean_the_same():
    english, german = (
        ShapeWorld(kind="logical", language=name, views=ALL_VIEWS, image_size=16) for name in ("english", "german")
    )
    batches = [world.batch(np.arange(24), split="train", seed=5) for world in (english, german)]
    assert torch.equal(batches[0].views["meaning"], batches[1].views["meaning"])
    assert np.array_equal(german.evaluate(batches[1]).numpy(), expected(batches[1]))
    assert "ist" in german.spec.modality("text").symbols


def test_captions_of_a_model_are_evaluated():
    world = ShapeWorld(kind="multishape", variant="published", views=ALL_VIEWS, image_size=16)
    batch = world.batch(np.arange(30), split="train", seed=0)
    text = batch.views["text"].clone()
    text[0] = 0
    text[1, :2] = text[1, :2].flip(0)
    batch.views["text"][:] = text
    found = world.evaluate(batch).numpy()
    assert found[:2].tolist() == [NO_SENTENCE, NO_SENTENCE]
    assert NO_SENTENCE not in (-1, 0, 1)  # what is no sentence is neither true, nor false, nor undetermined
    assert np.array_equal(found[2:], expected(batch)[2:])
    reading = world.readers()["text"].read(text)
    assert (reading.codes[:2] == -1).all()
    assert "expected" in reading.reasons[1]


def test_spec_and_settings_are_plain_data():
    world = ShapeWorld(kind=("count", "oneshape"), test=HeldOut(counts=(6,)), semantics=Semantics(distance=0.2))
    assert Spec.from_json(json.loads(json.dumps(world.spec.to_json()))) == world.spec
    json.dumps(world.settings)
    assert world.visible("text") == ("type", "symbol", "negated", "nouns")
    assert world.spec.factor("kind").values == ("count", "oneshape")


def test_vocabularies_of_the_paper():
    """Sheet, section 7: 22, 22, 28 and 38 words and the padding; captions of 6, 6, 12 and 7 words."""
    for kind, words, longest in zip(PAPER, (22, 22, 28, 38), (6, 6, 12, 7), strict=True):
        for variant in ("published", "balanced"):
            text = ShapeWorld(kind=kind, variant=variant).spec.modality("text")
            assert (len(text.symbols), text.max_length) == (words + 1, longest)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "twoshape", "image_size": 2, "views": ("sound",)}, r"(?s)unknown kind 'twoshape'.*unknown view.*8 to 1024"),
        ({"variant": "fair"}, "variant"),
        ({"kind": ()}, "expected at least one"),
        ({"noise": 2.0, "longest": 1}, r"(?s)noise: .*longest: "),
        ({"only": {"colour": ("red",)}}, "unknown factor 'colour'"),
        ({"only": {"change": ("turned",), "nouns": ()}}, r"(?s)change has no value 'turned'.*expected values of nouns, got none"),
        ({"only": {"truth": ("true",)}}, "every set has a true and a false caption"),
        ({"test": HeldOut(counts=(1, 2, 3, 5))}, "every number of entities"),
        ({"test": HeldOut(patterns=(("redd",),))}, "'redd' is no symbol of meaning"),
        ({"validation": HeldOut(lengths=(70,))}, "captions have at most 6 words"),
        ({"kind": "existential", "test": HeldOut(places=((0.5, 0, 0.4, 1),))}, "expected left, top, right and bottom"),
        (
            {"scenes": SceneSettings(size=(0.1, 0.2)), "test": HeldOut(sizes=((0.05, 0.3),))},
            "all widths of 0.1 to 0.2 are excluded",
        ),
    ],
)
def test_settings_that_cannot_be_used(settings, message):
    with pytest.raises(ConfigError, match=message):
        ShapeWorld(**settings)


def test_captions_that_are_too_long_are_refused_in_bounded_time():
    world = ShapeWorld(kind="logical", longest=5)
    with pytest.raises(
        ConfigError, match=r"was found for at least \d of 2 samples in 1023 scenes each; .*longest \(5 words\) refused all"
    ):
        world.batch(np.arange(8), split="train", seed=0)


def test_programs_of_sentences_are_those_of_the_samples():
    world = ShapeWorld(kind="complex", views=("text", "meaning"))
    batch = world.batch(np.arange(40), split="train", seed=0)
    read = programs_of([parse(words) for words in sentences(world, batch)], world.spec.modality("meaning").max_length)
    assert np.array_equal(read, batch.views["meaning"].numpy())


@pytest.mark.parametrize("kinds", [("relational", "spatial"), ("spatial", "relational")])
def test_captions_of_several_kinds_are_evaluated_by_the_rules_of_their_own(kinds):
    world = ShapeWorld(kind=kinds, variant="published", views=("text", "scene"))
    batch = world.batch(np.arange(600), split="train", seed=1)
    assert np.array_equal(world.evaluate(batch).numpy(), expected(batch))
    with pytest.raises(DataError, match="expected the factor kind"):
        world.evaluate(Batch(batch.views, lengths=batch.lengths))


@pytest.mark.parametrize("kind", ["spatial", "relational", "single_attribute", "negation"])
def test_the_patterns_of_the_documentation_can_be_held_out(kind):
    world = ShapeWorld(kind=kind, test=HeldOut(patterns=[("left", "circle")]), views=("meaning",))
    for split in ("test", "train"):
        batch = world.batch(np.arange(200), split=split, seed=3)
        captions = [set(tree.polish) for tree in trees_of(batch.views["meaning"].numpy().astype(np.int16))]
        assert {{"left", "circle"} <= caption for caption in captions} == {split == "test"}


def test_what_test_alone_holds_out_is_not_in_validation_either():
    corner = ((0.0, 0.0, 0.4, 0.4),)
    world = ShapeWorld(kind="relational", test=HeldOut(places=corner))
    for split, has in (("train", False), ("validation", False), ("test", True)):
        scenes = world.scenes(np.arange(400), split=split, seed=0)
        inside = (within_places(scenes.centre, corner) & scenes.present).any(1)
        assert inside.all() if has else not inside.any()
