import re

import numpy as np
import pytest
import torch

from molyneux.core import Batch, DataError, Factor, Modality, Quantity, Spec, SpecError, Target, views

IMAGE = Modality("image", "image", (3, 8, 8), "uint8")
TEXT = Modality("text", "text", (5,), "uint8", (" ", "a", "b"), 0)
SERIES = Modality("BRK.B", "series", (6, 2))
SPEC = Spec(
    (IMAGE, TEXT, SERIES),
    (Factor("shape", ("square", "heart")),),
    (Target("answer", "class", ("no", "yes")), Target("force", "number", shape=(3,))),
    (Quantity("angle", (0.0, 360.0)),),
)


def make(size=4):
    generator = torch.Generator().manual_seed(0)
    image = torch.randint(0, 256, (size, 3, 8, 8), generator=generator, dtype=torch.uint8)
    text = torch.randint(0, 3, (size, 5), generator=generator, dtype=torch.uint8)
    return Batch(
        {"image": image, "text": text, "BRK.B": torch.rand(size, 6, 2, generator=generator)},
        {"image": torch.arange(size) != 1},
        torch.zeros(size, 1, dtype=torch.int64),
        {"BRK.B": torch.arange(size) + 1},
        {"answer": torch.arange(size) % 2, "force": torch.rand(size, 3, generator=generator)},
        {"force": torch.arange(size) > 0},
        torch.rand(size, 1, generator=generator),
    )


def test_indexing_moves_everything_together():
    batch = make().observe(["text"])
    part = batch[torch.tensor([2, 0])]
    assert len(part) == 2
    assert {name: len(tensor) for name, tensor in part.tensors().items()} == dict.fromkeys(batch.tensors(), 2)
    assert part.lengths["BRK.B"].tolist() == [3, 1]
    assert torch.equal(part.views["image"][1], batch.views["image"][0])
    assert not part.mask("image").any()
    assert part.mask("text").all()
    assert len(batch[1:]) == 3


def test_taken_apart_and_put_together_again():
    batch = make()
    again = Batch.from_tensors(batch.tensors()).check(SPEC)
    assert {name: tensor.tolist() for name, tensor in again.tensors().items()} == {
        name: tensor.tolist() for name, tensor in batch.tensors().items()
    }


def test_observe_masks_and_does_not_remove():
    batch = make().observe(["image"])
    assert set(batch.views) == set(SPEC.names)
    assert batch.mask("image").tolist() == [True, False, True, True]
    assert not batch.mask("text").any()


def test_what_lies_within_lengths_and_which_targets_are_known():
    batch = make()
    assert batch.positions("BRK.B", SPEC).sum(1).tolist() == [1, 2, 3, 4]
    assert batch.positions("text", SPEC).all()
    assert batch.known_mask("force").tolist() == [False, True, True, True]
    assert batch.known_mask("answer").all()
    with pytest.raises(SpecError, match="no lengths"):
        batch.positions("image", SPEC)


def test_check_names_both_sides():
    assert make().check(SPEC) is not None
    with pytest.raises(SpecError, match="expected modality text"):
        Batch({"image": make().views["image"]}).check(SPEC)
    with pytest.raises(SpecError, match=r"expected uint8 \(4, 3, 8, 8\), got torch.float32"):
        Batch({**make().views, "image": make().views["image"].float()}).check(SPEC)
    views_of, whole = make().views, torch.zeros(4, dtype=torch.int64)
    for wrong, says in (
        ({"factors": torch.zeros(4, 2, dtype=torch.int64)}, "factors"),
        ({"quantities": torch.zeros(4, 2)}, "quantities"),
        ({"targets": {"answer": whole}}, "expected target force"),
        ({"targets": {"answer": whole.float(), "force": torch.zeros(4, 3)}}, "target answer: expected int64"),
        ({"lengths": {"BRK.B": whole[:3]}}, r"the lengths of BRK.B: expected int64 \(4,\)"),
        ({"present": {"imgae": whole > 0}}, 'did you mean "image"'),
        ({"targets": make().targets, "known": {"anser": whole > 0}}, 'did you mean "answer"'),
    ):
        with pytest.raises(SpecError, match=says):
            Batch(views_of, **wrong).check(SPEC)


FULL = Spec(
    (
        Modality("left-camera", "series", (4, 2)),
        Modality("caption", "text", (5,), "uint8", tuple("abcd"), 0),
        Modality("a/b", "label", (), "int64", tuple("0123456789")),
    ),
    (Factor("shape", ("x", "y")),),
    (
        Target("mood", "class", ("sad", "glad", "neither")),
        Target("topics", "multilabel", ("war", "sport")),
        Target("price", "number", bounds=(0.0, None)),
        Target("match", "agreement"),
    ),
    (Quantity("angle", (0.0, 360.0), periodic=True),),
)


def full(**tensors):
    """Six samples that use everything a batch can have; sample 4 lacks all that can be lacking."""
    there = torch.arange(6) != 4
    parts = {
        "view.left-camera": torch.zeros(6, 4, 2),
        "view.caption": torch.zeros(6, 5, dtype=torch.uint8),
        "view.a/b": torch.arange(6),
        "length.left-camera": torch.full((6,), 3),
        "length.caption": torch.full((6,), 2),
        "factors": torch.full((6, 1), -1),
        "quantities": torch.full((6, 1), float("nan")),
        "target.mood": torch.arange(6) % 3,
        "target.topics": torch.ones(6, 2, dtype=torch.uint8),
        "target.price": torch.ones(6),
        "target.match": torch.arange(6) % 2,
        **{f"present.{name}": there for name in FULL.names},
        **{f"known.{target.name}": there for target in FULL.targets},
    }
    return Batch.from_tensors(parts | tensors)


def changed(name, place, value):
    tensor = full().tensors()[name].clone()
    tensor[place] = value
    return full(**{name: tensor})


POSITIONS = np.arange(100, 106)
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("name", "place", "value", "sentence"),
    [
        ("view.left-camera", (2, 1, 0), NAN, "modality left-camera: expected finite numbers, got NaN or infinity in sample 102"),
        ("view.left-camera", (2, 2, 1), -INF, "modality left-camera: expected finite numbers"),
        (
            "view.caption",
            (3, 1),
            4,
            "modality caption: expected ids 0..3 of its 4 symbols, got 4 in sample 103: correct the data",
        ),
        ("view.a/b", 5, -1, "modality a/b: expected ids 0..9 of its 10 symbols, got -1 in sample 105"),
        ("length.caption", 1, 6, "lengths of caption: expected 0..5, got 6 in sample 101"),
        ("target.mood", 0, 3, "target mood: expected codes 0..2, got 3 in sample 100: correct the data or mark the target"),
        ("target.topics", (0, 1), 2, "target topics: expected codes 0..1, got 2"),
        ("target.price", 2, -0.5, "target price: expected numbers within the bounds (0.0, None), got -0.5 in sample 102"),
        ("target.price", 2, NAN, "target price: expected numbers within the bounds (0.0, None), got nan in sample 102"),
        ("target.match", 2, 2, "target match: expected codes 0..1, got 2"),
        ("factors", (5, 0), 2, "factor shape: expected codes 0..1, or -1 where it is absent, got 2 in sample 105"),
        ("quantities", (5, 0), INF, "quantity angle: expected numbers from 0 to 360, or NaN where it is absent"),
        ("quantities", (5, 0), 360.5, "quantity angle: expected numbers from 0 to 360, or NaN where it is absent, got 360.5"),
    ],
)
def test_numbers_out_of_range_are_named(name, place, value, sentence):
    assert full().check_values(FULL, POSITIONS)
    with pytest.raises(DataError, match=re.escape(sentence)):
        changed(name, place, value).check_values(FULL, POSITIONS)


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("view.left-camera", 4, NAN),  # absent
        ("view.left-camera", (2, 3), INF),  # beyond the length
        ("view.caption", (1, 2), 9),
        ("view.a/b", 4, 77),
        ("length.caption", 4, -3),
        ("target.mood", 4, -1),
        ("target.price", 4, NAN),
        ("quantities", 4, 360.0),
        ("quantities", 3, NAN),
    ],
)
def test_what_is_masked_or_beyond_a_length_is_not_looked_at(name, place, value):
    changed(name, place, value).check_values(FULL, POSITIONS)


def test_views_go_to_the_model_and_back():
    batch = make()
    for modality in SPEC.modalities:
        stored = batch.views[modality.name]
        assert torch.equal(views.to_stored(modality, views.to_model(modality, stored)), stored)
    assert views.to_stored(IMAGE, torch.tensor([-1.0, 0.5, 2.0])).tolist() == [0, 128, 255]


def test_strings_lose_only_trailing_padding():
    ids = torch.tensor([[0, 1, 0, 2, 0], [0, 0, 0, 0, 0]])
    assert views.text_strings(TEXT, ids) == [" a b", ""]
    words = Modality("words", "text", (3,), "int64", ("<pad>", "big", "heart"), 0)
    assert views.text_strings(words, torch.tensor([[1, 2, 0]])) == ["big heart"]
    assert views.text_lengths(TEXT, ids).tolist() == [4, 0]


def test_sentences_are_ordinary_writing():
    symbols = ("<pad>", "<eos>", "there", "is", "a", "square", ",", ".", "n't", "(", ")")
    said = Modality("said", "text", (9,), "int64", symbols, 0, None, 1)
    rows = [[2, 3, 4, 5, 7, 1, 0, 0, 0], [4, 5, 6, 3, 8, 9, 5, 10, 7], [1, 0, 0, 0, 0, 0, 0, 0, 0], [5, 1, 5, 5, 5, 5, 5, 5, 5]]
    expected = ["There is a square.", "A square, isn't (square).", "", "Square"]
    assert views.text_sentences(said, torch.tensor(rows)) == expected
    assert views.text_sentences(said, torch.tensor(rows), torch.tensor([2, 9, 9, 9]))[0] == "There is"
    letters = torch.tensor([[0, 1, 0, 2, 0]])
    assert views.text_strings(TEXT, letters) == [" a b"]
    assert views.text_sentences(TEXT, letters) == ["A b"]


def test_a_text_ends_at_its_end():
    said = Modality("said", "text", (4,), "int64", ("<pad>", "<bos>", "<eos>", "big", "heart"), 0, 1, 2)
    ids = torch.tensor([[3, 4, 2, 0], [3, 2, 4, 2], [3, 4, 3, 4], [2, 0, 0, 0], [3, 0, 0, 0]])
    assert views.text_strings(said, ids) == ["big heart", "big", "big heart big heart", "", "big"]
    assert views.text_lengths(said, ids).tolist() == [2, 1, 4, 0, 1]
    assert views.counted_positions(said, ids).sum(-1).tolist() == [3, 2, 4, 1, 4]
    assert views.counted_positions(TEXT, torch.zeros(2, 5)).all()


def test_lengths_say_where_a_text_ends():
    ids, lengths = torch.tensor([[1, 2, 0, 1, 0], [0, 1, 2, 0, 0]]), torch.tensor([3, 2])
    assert views.text_lengths(TEXT, ids, lengths).tolist() == [3, 2]
    assert views.counted_positions(TEXT, ids, lengths).sum(-1).tolist() == [3, 2]
    said = Modality("said", "text", (4,), "int64", ("<pad>", "<bos>", "<eos>", "big", "heart"), 0, 1, 2)
    closed, cut = torch.tensor([[3, 4, 2, 0], [3, 4, 2, 0]]), torch.tensor([4, 2])
    assert views.text_lengths(said, closed, cut).tolist() == [2, 2]
    assert views.counted_positions(said, closed, cut).sum(-1).tolist() == [3, 2]
