"""What worlds make of texts of people: all their captions, other orders, what is open, unknown or contradictory."""

import inspect
from pathlib import Path

import numpy as np
import pytest
import torch

from molyneux.core import DataError, Modality, Understands, values_of
from molyneux.core.views import text_strings
from molyneux.data import (
    CdSprites,
    FigureAttributes,
    GeBiD,
    Letters,
    PartsOfSpeech,
    ShapeWorld,
    SpokenDigits,
    World,
    Ynoc,
    worlds,
)
from molyneux.data.benchmarks.digits.samples import WORDS

NOWHERE = Path("nowhere")
MADE = {
    **{f"CdSprites-{level}": lambda level=level: CdSprites(level=level) for level in range(1, 6)},
    **{f"GeBiD-{level}": lambda level=level: GeBiD(level=level) for level in range(1, 6)},
    "Letters": Letters,
    "PartsOfSpeech": PartsOfSpeech,
    "ShapeWorld": lambda: ShapeWorld(kind="multishape", views=("text", "meaning")),
    "ShapeWorld-quantification": lambda: ShapeWorld(kind="quantification", views=("text", "meaning")),
    "ShapeWorld-german": lambda: ShapeWorld(kind="spatial", views=("text", "meaning"), language="german"),
    "SpokenDigits": lambda: SpokenDigits(NOWHERE),
    "Ynoc": lambda: Ynoc(vocabulary="realistic"),
}


@pytest.fixture(params=MADE)
def world(request):
    return MADE[request.param]()


def generator():
    return np.random.default_rng(3)


def some_captions(world):
    """Captions of a world, and the ids of each; all of a world in levels."""
    if isinstance(world, SpokenDigits):
        return list(WORDS), None
    if isinstance(world, CdSprites | GeBiD):
        return list(world.grammar.captions), torch.from_numpy(world.grammar.ids)
    batch = world.batch(np.arange(200), split="test", seed=1)
    return text_strings(world.spec.modality("text"), batch.views["text"], batch.lengths.get("text")), batch.views["text"]


def test_every_world_with_texts_is_here():
    names = {name.partition("-")[0] for name in MADE}
    for name in worlds.__all__:
        kind = getattr(worlds, name)
        if inspect.isclass(kind) and issubclass(kind, World) and kind is not World:
            assert (name in names) == hasattr(kind, "understand"), name


def test_a_caption_comes_back_as_it_is(world):
    captions, ids = some_captions(world)
    assert isinstance(world, Understands)
    for number, caption in enumerate(captions):
        found = world.understand(caption)
        assert found.complete
        assert found.consistent
        assert found.explained() == ""
        assert found.nearest == caption
        completed = found.caption(generator())
        assert completed.text == caption
        assert completed.drawn == {}
        if ids is not None and number < 300:
            assert world.views_of_caption(caption)["text"].view[0].equal(ids[number])


def test_case_and_punctuation_make_no_difference(world):
    for caption in some_captions(world)[0][:50]:
        plain, joined = f"  {caption.removesuffix(' .')}  ", caption.replace(" .", ".").replace(" ,", ",")
        capitals = [caption.upper()] if caption.isascii() else []  # in German, SS may be two letters
        for other in (caption.title(), plain, joined, *capitals):
            found = world.understand(other)
            assert found.complete, (other, found)
            assert found.caption(generator()).text == caption


ODD = [
    "",
    "   ",
    "\N{SLIGHTLY SMILING FACE}",
    "\N{HEBREW LETTER ALEF}",
    "nul\0",
    "\ud83d",
    "a" * 10_000,
    "word " * 5000,
    "<eos>",
    "%s {}",
]


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_odd_texts_are_one_sentence_or_open(world, text):
    found = world.understand(text)
    assert not found.complete
    assert found.open or found.explained()
    assert "\n" not in found.explained()
    assert len(found.explained()) < 600


def test_what_is_no_text_is_refused(world):
    for wrong in (None, 3, b"heart", ["heart"]):
        with pytest.raises(DataError, match="expected a text, got a"):
            world.understand(wrong)


def test_views_of_what_is_no_caption_are_refused(world):
    for wrong in ("", "nothing of this", "a " * 5000):
        with pytest.raises(DataError) as caught:
            world.views_of_caption(wrong)
        assert "\n" not in str(caught.value)


def test_meanings_are_those_of_the_world():
    for name in ("ShapeWorld", "ShapeWorld-quantification", "ShapeWorld-german"):
        world = MADE[name]()
        batch = world.batch(np.arange(100), split="train", seed=2)
        captions = text_strings(world.spec.modality("text"), batch.views["text"], batch.lengths["text"])
        for row, caption in enumerate(captions):
            views = world.views_of_caption(caption)
            for modality in ("text", "meaning"):
                assert views[modality].view[0].equal(batch.views[modality][row])
                assert views[modality].lengths[0] == batch.lengths[modality][row]
    image_only = ShapeWorld(kind="multishape", views=("image",))
    assert set(image_only.views_of_caption("there is a red square .")) == {"text", "meaning"}


SPRITES = CdSprites(level=5)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a small red heart, top left", ("small", "red", "heart", "at top left", None)),
        ("Red heart. small!", ("small", "red", "heart", None, None)),
        ("heart at the top-left on a light background", (None, None, "heart", "at top left", "on light")),
        ("A LARGE HEART, please: bottom right corner; dark", ("big", None, "heart", "at bottom right", "on dark")),
        ("left top, on the light ground, a tiny red heart-shaped figure", ("small", "red", "heart", "at top left", "on light")),
        ("the upper right has a heart", (None, None, "heart", "at top right", None)),
        ("a heart", (None, None, "heart", None, None)),
        ("red and red", (None, "red", None, None, None)),
    ],
)
def test_values_in_any_order(text, values):
    found = SPRITES.understand(text)
    wanted = {name: value for name, value in zip(SPRITES.caption_factors, values, strict=True) if value}
    assert found.values == wanted
    assert found.consistent
    assert set(found.open) == set(SPRITES.caption_factors) - set(wanted)
    completed = found.caption(generator())
    assert completed == found.caption(generator())
    assert set(completed.drawn) == set(found.open)
    again = SPRITES.understand(completed.text)
    assert again.complete
    assert again.values == {**wanted, **completed.drawn}


def test_a_part_of_a_value_leaves_what_fits():
    found = SPRITES.understand("a heart at the left")
    assert found.open["position"] == ("at top left", "at bottom left")
    drawn = {found.caption(np.random.default_rng(seed)).drawn["position"] for seed in range(30)}
    assert drawn == {"at top left", "at bottom left"}


def test_contradictions_and_unknown_words_are_told():
    found = SPRITES.understand("small red blue heart")
    assert found.conflicts == {"colour": ("red", "blue")}
    assert "colour may be 'red' or 'blue', not both" in found.explained()
    with pytest.raises(DataError, match="not both; the nearest caption is 'small red heart"):
        found.caption(generator())
    assert SPRITES.understand("top bottom heart").conflicts["position"]
    found = SPRITES.understand("small red hart at top left on light")
    assert found.unknown == {"hart": "heart"}
    assert not found.consistent
    assert found.nearest == "small red heart at top left on light"
    assert found.explained() == (
        "'small red hart at top left on light': unknown word 'hart' (heart?); the nearest caption is "
        "'small red heart at top left on light'"
    )
    with pytest.raises(DataError, match=r"unknown word 'hart' \(heart\?\)"):
        SPRITES.views_of_caption("small red hart at top left on light")


def test_what_is_open_is_drawn_from_the_training_split():
    world = CdSprites(level=3, held_out=[{"shape": "heart", "colour": "red"}])
    drawn = {world.understand("a heart").caption(np.random.default_rng(seed)).drawn["colour"] for seed in range(60)}
    assert "red" not in drawn
    assert len(drawn) == 4
    assert world.understand("red heart").caption(generator()).text.endswith("red heart")  # only the split heldout has it


def test_own_values_of_several_words_and_of_two_factors():
    own = FigureAttributes(colours={"red": (255, 0, 0), "dark red": (99, 0, 0), "black": (9, 9, 9)}, sizes=None)
    world = CdSprites(level=5, attributes=own)
    for caption in world.grammar.captions:
        assert world.understand(caption).nearest == caption
    found = world.understand("dark red heart on dark")
    assert (found.values["colour"], found.values["background"]) == ("dark red", "on dark")
    shapes = GeBiD(level=5, attributes=FigureAttributes(colours={"black": (1, 1, 1), "white": (254, 254, 254)}))
    found = shapes.understand("white circle on a black background")
    assert (found.values["colour"], found.values["background"]) == ("white", "on black")


@pytest.mark.parametrize(
    "text", ["There is a red square", "a red square", "A RED SQUARE!", "red square", '"There is a red square."']
)
def test_sentences_without_their_frame(text):
    found = MADE["ShapeWorld"]().understand(text)
    assert found.complete
    assert found.caption(generator()).text == "there is a red square ."


def test_where_a_sentence_stops():
    world = MADE["ShapeWorld"]()
    found = world.understand("there is a red squaaar.")
    assert found.unknown == {"squaaar": "square"}
    assert "read up to 'squaaar'" in found.problem
    assert "after 'there is a red', expected 'and', 'circle'" in world.understand("there is a red .").problem
    assert found.nearest == "there is a red square ."
    assert world.understand("ther is a redd square").nearest == "there is a red square ."
    unknown = world.understand("most squares are red")
    assert "most" in unknown.unknown
    with pytest.raises(DataError, match="unknown word 'squaaar' \\(square\\?\\)"):
        found.caption(generator())


@pytest.mark.parametrize(
    ("text", "word"), [("seven", "seven"), ("7", "seven"), ("The digit SEVEN!", "seven"), ("number one", "one"), ("sevn", None)]
)
def test_digits(text, word):
    found = MADE["SpokenDigits"]().understand(text)
    if word is None:
        assert found.unknown == {"sevn": "seven"}
        assert found.nearest == "seven"
    else:
        assert found.caption(generator()).text == word
        view = MADE["SpokenDigits"]().views_of_caption(word)["text"].view
        assert values_of(Modality("text", "text", (5,), "uint8", (" ", *sorted(set("".join(WORDS)))), 0), view) == [word]


def test_sentences_by_their_words():
    world = MADE["Ynoc"]()
    found = world.understand("Emma, baker, paris")
    assert found.values == {"name": "Emma", "occupation": "baker", "city": "Paris"}
    caption = found.caption(generator()).text
    assert world.understand(caption).values == {**found.values, **found.caption(generator()).drawn}
    assert world.understand("emma, engineer, 2011, oslo").caption(generator()).text == "in 2011 , Emma was an engineer in Oslo ."
    assert Letters().understand("D4 a3, b2 C1").caption(generator()).text == "A3 B2 C1 D4"
    assert PartsOfSpeech().understand("dogs want cats").caption(generator()).text == "dogs want cats ."
    assert PartsOfSpeech().understand("dogs wnat cats.").unknown == {"wnat": "want"}
