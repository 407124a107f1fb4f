"""Truth of captions: rules of the published system one by one, and against a brute-force evaluator on random scenes and trees."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from molyneux.core import ConfigError, DataError
from molyneux.data.worlds.shapeworld.meaning.language.captions import parse
from molyneux.data.worlds.shapeworld.meaning.trees.programs import programs_of, trees_of
from molyneux.data.worlds.shapeworld.meaning.trees.trees import SYMBOLS, Tree
from molyneux.data.worlds.shapeworld.meaning.truth.semantics import Semantics
from molyneux.data.worlds.shapeworld.meaning.truth.truth import truth, truth_table
from molyneux.data.worlds.shapeworld.scenes.scenes import AREAS, SHAPES


def load(name):
    spec = importlib.util.spec_from_file_location(f"shapeworld_{name}", Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


brute_force, random = load("brute_force"), load("conftest")

PAPER, PUBLISHED = Semantics.paper(), Semantics.published()


def value(scenes, *polish, semantics=None):
    tree = Tree.from_polish(" ".join(polish).split())
    return int(truth(programs_of([tree]), scenes, semantics)[0])


@pytest.mark.parametrize("semantics", [Semantics(), PUBLISHED, PAPER], ids=["own", "published", "paper"])
@pytest.mark.parametrize("few", [1, 2, 8])
def test_as_the_brute_force_evaluator_says(semantics, few):
    rng = np.random.default_rng(few)
    scenes = random.draw_scenes(rng, 700, entities=7, shapes=few, colours=few)
    trees = [random.draw_tree(rng) for _ in range(700)]
    found = truth(programs_of(trees), scenes, semantics)
    expected = [
        brute_force.Evaluator(brute_force.entities_of(scenes, row), semantics).statement(tree) for row, tree in enumerate(trees)
    ]
    wrong = [(row, str(trees[row]), int(found[row]), expected[row]) for row in np.flatnonzero(found != expected)]
    assert not wrong, wrong[:3]
    assert {-1, 0, 1} == set(found.tolist())


def test_every_symbol_has_been_compared():
    rng = np.random.default_rng(0)
    drawn = {name for _ in range(4000) for name in random.draw_tree(rng).polish}
    assert drawn == set(SYMBOLS)


def test_not_true_turns_every_determined_value_round():
    rng = np.random.default_rng(5)
    scenes = random.draw_scenes(rng, 500, shapes=2, colours=2)
    trees = [random.draw_tree(rng) for _ in range(500)]
    denied = [Tree("not-true", (tree,)) for tree in trees]
    assert np.array_equal(truth(programs_of(denied), scenes), -truth(programs_of(trees), scenes))


def test_what_a_predicate_denies_is_what_it_rejects(scene):
    two = scene(("red", "square", 0.2, 0.5), ("blue", "circle", 0.8, 0.5))
    assert value(two, "exists square left circle") == 1
    assert value(two, "exists square not left circle") == -1
    assert value(two, "exists circle not left square") == 1
    assert value(two, "exists red not blue") == 1


def test_areas_of_the_specification():
    expected = [0.04, 0.02, 0.0173205, 0.0262866, 0.0222222, 0.0314159, 0.0157080, 0.0157080]
    found = [AREAS[i] * 0.2**2 / (2 if name in ("rectangle", "ellipse") else 1) for i, name in enumerate(SHAPES)]
    assert found == pytest.approx(expected, abs=5e-8)


def test_margins_of_spatial_relations(scene):
    near = scene(("red", "square", 0.45, 0.5), ("blue", "circle", 0.5, 0.5))
    assert value(near, "exists square left circle") == 0  # less than 0.1 apart
    assert value(near, "exists square left circle", semantics=PAPER) == 1
    steep = scene(("red", "square", 0.3, 0.1), ("blue", "circle", 0.5, 0.9))
    assert value(steep, "exists square left circle") == 0  # to the left, but more than 45 degrees aside
    assert value(steep, "exists square left circle", semantics=PAPER) == -1
    assert value(steep, "exists square right circle") == -1
    assert value(steep, "exists square above circle") == 1


def test_an_entity_is_not_its_own_reference(scene):
    alone = scene(("red", "square", 0.5, 0.5))
    for relation in ("left", "smaller", "same-shape", "darker", "behind"):
        assert value(alone, f"exists square {relation} circle") == -1  # no reference at all
        assert value(alone, f"exists square {relation} square") == 0  # the only one is the subject
    assert value(alone, "exists square besides square") == -1
    two = scene(("red", "square", 0.2, 0.5), ("red", "square", 0.8, 0.5))
    assert value(two, "exists square left square") == 1
    assert value(two, "count-eq-2 square left square") == -1
    assert value(two, "exists square besides square") == 1


def test_closest_beats_all_others(scene):
    row = scene(
        ("red", "circle", 0.3, 0.5), ("blue", "circle", 0.5, 0.5), ("green", "circle", 0.9, 0.5), ("white", "square", 0.1, 0.5)
    )
    assert value(row, "exists closest circle square red") == 1
    assert value(row, "exists closest circle square blue") == -1  # farther than red, though closer than green
    assert value(row, "exists farthest circle square green") == 1
    assert value(row, "exists farthest circle square blue") == -1


def test_selectors_presuppose_what_they_pick_from(scene):
    three = scene(("red", "circle", 0.1, 0.5), ("blue", "circle", 0.5, 0.5), ("green", "circle", 0.9, 0.5))
    assert value(three, "exists leftmost circle red") == 1
    assert value(three, "exists leftmost circle green") == -1
    for statement in ("exists left-of-two circle red", "exists unique circle red", "exists leftmost square red"):
        assert value(three, statement) == 0
        assert value(three, f"not-true {statement}") == 0
        assert value(three, statement, semantics=PUBLISHED) == -1
    assert value(three, "or exists unique circle red exists circle red") == 1


def test_vacuous_quantification(scene):
    none = scene(("red", "square", 0.5, 0.5))
    published = {
        "ratio-eq-1": -1,
        "ratio-neq-1": 1,
        "ratio-eq-0": 1,
        "ratio-lt-half": 1,
        "ratio-geq-half": -1,
    }
    for quantifier, expected in published.items():
        assert value(none, f"{quantifier} triangle red", semantics=PUBLISHED) == expected
        assert value(none, f"{quantifier} triangle red") == (1 if quantifier == "ratio-eq-0" else 0)
    assert value(none, "count-leq-2 triangle red") == 1
    assert value(none, "of-3 count-leq-2 triangle red") == -1


NEAR_SYNONYMS = (
    ("exactly zero circles are red", "no circle is red", "it is not true that a circle is red", "fewer than one circle is red"),
    (
        "a circle is red",
        "some circles are red",
        "at least one circle is red",
        "there is a red circle",
        "more than zero circles are red",
    ),
    ("all circles are red", "every circle is red", "exactly all of the circles are red"),
    ("not all circles are red", "less than all of the circles are red"),
    ("one more of the circles than of the crosses is red", "one more circle than crosses is red"),
    ("more circles than crosses are red", "fewer crosses than circles are red"),
    ("as many circles as crosses are red", "exactly as many crosses as circles are red"),
)


@pytest.mark.parametrize("sentences", NEAR_SYNONYMS)
def test_near_synonyms_are_true_of_the_same_scenes(scene, sentences):
    """Also where there is no circle: what compares numbers presupposes nothing, what compares shares presupposes a circle."""
    scenes = (
        scene(("red", "square", 0.5, 0.5)),
        scene(("red", "circle", 0.2, 0.5)),
        scene(("red", "circle", 0.2, 0.5), ("blue", "circle", 0.8, 0.5)),
        scene(("blue", "circle", 0.2, 0.5), ("red", "cross", 0.8, 0.5)),
        scene(("red", "circle", 0.2, 0.5), ("red", "cross", 0.8, 0.5)),
    )
    for one in scenes:
        assert len({value(one, " ".join(parse(f"{sentence}.").polish)) for sentence in sentences}) == 1


def test_what_compares_numbers_presupposes_nothing(scene):
    square = scene(("red", "square", 0.5, 0.5))
    expected = {"exactly zero circles are red": 1, "no circle is red": 1, "a circle is red": -1, "some circles are red": -1,
                "all circles are red": 0, "most circles are red": 0, "half as many squares as circles are red": 0,
                "more squares than circles are red": 1, "as many circles as crosses are red": 1}  # fmt: skip
    for sentence, truth_value in expected.items():
        assert value(square, " ".join(parse(f"{sentence}.").polish)) == truth_value, sentence


def test_quantifiers_of_the_specification(scene):
    three = scene(("red", "square", 0.1, 0.5), ("blue", "square", 0.5, 0.5), ("green", "square", 0.9, 0.5))
    assert value(three, "ratio-eq-third square red") == 1  # 1/3 is exactly a third
    assert value(three, "ratio-gt-third square red") == -1
    assert value(three, "ratio-lt-half square red") == 1
    assert value(three, "bare-most square not red") == 1
    assert value(three, "of-3 count-eq-1 square red") == 1
    assert value(three, "of-2 count-eq-1 square red") == -1
    assert value(three, "2-fewer-than red square square") == 1
    assert value(three, "times-lt-half red square square") == 1
    five = scene(*((colour, "square", 0.1 * i, 0.5) for i, colour in enumerate(("red",) * 3 + ("blue",) * 2)))
    assert value(five, "bare-most square red") == 1  # 0.6
    assert value(five, "bare-most square blue") == -1
    two = scene(("red", "square", 0.1, 0.5), ("blue", "square", 0.9, 0.5))
    assert value(two, "bare-most square red") == 0  # between 0.5 and 0.6


def test_sizes_and_shades_are_compared_within_a_kind(scene):
    sizes = scene(("red", "square", 0.2, 0.2), ("red", "circle", 0.8, 0.8), ("red", "square", 0.2, 0.8), size=[0.3, 0.1, 0.2])
    assert value(sizes, "exists square bigger square") == 1
    assert value(sizes, "exists square bigger circle") == 0  # other shapes are not compared
    assert value(sizes, "exists circle bigger square") == -1
    assert value(sizes, "exists biggest square red") == 1
    shades = scene(("red", "square", 0.2, 0.2), ("red", "circle", 0.8, 0.8), shade=[-0.3, 0.1])
    assert value(shades, "exists square darker circle") == 1
    assert value(shades, "exists circle darker square") == -1


def test_depth_is_the_order_of_drawing_where_entities_overlap(scene):
    covering = np.array([[0.0, 0.2], [0.3, 0.0]])
    stacked = scene(("red", "square", 0.5, 0.5), ("blue", "circle", 0.55, 0.5), overlap=covering)
    assert value(stacked, "exists circle in-front square") == 1
    assert value(stacked, "exists square behind circle") == 1
    assert value(stacked, "exists square in-front circle") == -1
    little = scene(("red", "square", 0.5, 0.5), ("blue", "circle", 0.55, 0.5), overlap=covering / 4)
    assert value(little, "exists circle in-front square") == 0
    apart = scene(("red", "square", 0.1, 0.5), ("blue", "circle", 0.9, 0.5))
    assert value(apart, "exists circle in-front square") == -1


def test_connectives(scene):
    world = scene(("red", "square", 0.45, 0.5), ("blue", "circle", 0.5, 0.5))
    statements = {1: "there-is square", 0: "exists square left circle", -1: "there-is cross"}
    for first, one in statements.items():
        for second, two in statements.items():
            assert value(world, f"and {one} {two}") == min(first, second)
            assert value(world, f"or {one} {two}") == max(first, second)
            assert value(world, f"if {one} {two}") == max(first, -second)
            assert value(world, f"iff {one} {two}") == first * second
            assert value(world, f"either {one} {two}") == -first * second


def test_all_captions_of_all_scenes():
    rng = np.random.default_rng(1)
    scenes, trees = random.draw_scenes(rng, 20, shapes=2, colours=2), [random.draw_tree(rng) for _ in range(15)]
    table = truth_table(programs_of(trees), scenes)
    assert table.shape == (20, 15)
    for column, tree in enumerate(trees):
        assert np.array_equal(table[:, column], truth(programs_of([tree] * 20), scenes))


def test_trees_come_back_from_codes():
    rng = np.random.default_rng(2)
    trees = [random.draw_tree(rng) for _ in range(300)]
    assert trees_of(programs_of(trees, 80)) == trees
    with pytest.raises(DataError, match="at most 3 symbols"):
        programs_of(trees, 3)
    with pytest.raises(DataError, match="codes of 0 to"):
        trees_of(np.array([[999]]))


@pytest.mark.parametrize("codes", [[5], [0, 0], [999, 0], [1, 1, 1]], ids=["a noun", "nothing", "unknown", "left over"])
def test_codes_that_are_no_statement(scene, codes):
    with pytest.raises(DataError, match="row 0 are no statement"):
        truth(np.array([codes]), scene(("red", "square", 0.5, 0.5)))


def test_bad_semantics():
    with pytest.raises(ConfigError, match=r"(?s)area: expected a number of at least 0, got -1.*vacuous"):
        Semantics(area=-1, vacuous="maybe")
