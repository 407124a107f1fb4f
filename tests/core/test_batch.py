import pytest
import torch

from molyneux.core import Batch, Factor, Modality, Quantity, Spec, SpecError, Target, views

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
