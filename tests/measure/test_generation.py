from types import SimpleNamespace

import torch

from molyneux.core import Modality
from molyneux.measure.generation import stored_view

TEXT = Modality("text", "text", (5,), "uint8", ("<pad>", "<bos>", "<eos>", "a", "b"), 0, 1, 2)


def test_what_stands_after_the_end_of_a_text_becomes_padding():
    mode = torch.tensor([[3, 2, 4, 2, 3], [3, 4, 3, 4, 3], [2, 2, 2, 2, 2]])
    made = stored_view(TEXT, SimpleNamespace(mode=mode))
    assert made.dtype == torch.uint8
    assert made.tolist() == [[3, 2, 0, 0, 0], [3, 4, 3, 4, 3], [2, 0, 0, 0, 0]]


def test_texts_without_an_end_stay_as_they_are():
    mode = torch.tensor([[3, 2, 4, 2, 3]])
    assert stored_view(Modality("text", "text", (5,), "uint8", TEXT.symbols, 0), SimpleNamespace(mode=mode)).equal(mode.byte())


def test_a_distribution_that_says_what_to_show_is_taken_at_its_word():
    shown = torch.tensor([[3, 4, 2, 0, 0]])
    assert stored_view(TEXT, SimpleNamespace(view=shown, mode=shown + 1)).equal(shown.byte())
