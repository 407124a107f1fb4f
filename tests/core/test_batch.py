import pytest
import torch

from molyneux.core import Batch, Factor, Modality, Spec, SpecError, views

IMAGE = Modality("image", "image", (3, 8, 8), "uint8")
TEXT = Modality("text", "text", (5,), "uint8", (" ", "a", "b"), 0)
SPEC = Spec((IMAGE, TEXT), (Factor("shape", ("square", "heart")),))


def make(size=4):
    generator = torch.Generator().manual_seed(0)
    image = torch.randint(0, 256, (size, 3, 8, 8), generator=generator, dtype=torch.uint8)
    text = torch.randint(0, 3, (size, 5), generator=generator, dtype=torch.uint8)
    return Batch({"image": image, "text": text}, factors=torch.zeros(size, 1, dtype=torch.int64))


def test_indexing_moves_everything_together():
    batch = make().observe(["text"])
    part = batch[torch.tensor([2, 0])]
    assert len(part) == 2
    assert torch.equal(part.views["image"][1], batch.views["image"][0])
    assert not part.mask("image").any()
    assert part.mask("text").all()
    assert len(batch[1:]) == 3


def test_observe_masks_and_does_not_remove():
    batch = make().observe(["image"])
    assert set(batch.views) == {"image", "text"}
    assert batch.mask("image").all()
    assert not batch.mask("text").any()


def test_check_names_both_sides():
    assert make().check(SPEC) is not None
    with pytest.raises(SpecError, match="expected modality text"):
        Batch({"image": make().views["image"]}).check(SPEC)
    with pytest.raises(SpecError, match=r"expected uint8 \(4, 3, 8, 8\), got torch.float32"):
        Batch({**make().views, "image": make().views["image"].float()}).check(SPEC)
    with pytest.raises(SpecError, match="factors"):
        Batch(make().views, factors=torch.zeros(4, 2, dtype=torch.int64)).check(SPEC)


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
