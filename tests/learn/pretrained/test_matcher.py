"""Image-text matchers against their own class called directly."""

import pytest
import torch

from molyneux.core import Encodes, Predicts
from molyneux.learn import ImageTextMatcher

KINDS = [("blip", "BlipForImageTextRetrieval"), ("vilt", "ViltForImageAndTextRetrieval")]


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_logits_are_those_of_the_class_whatever_the_batch(tiny, folder, name, kind):
    import transformers

    given = tiny.batch()
    model = ImageTextMatcher(tiny.SPEC, folder(name), threshold=0.0)
    own = getattr(transformers, kind).from_pretrained(folder(name), local_files_only=True).eval()
    pairs = model.pairs(given)
    found = []
    for picture, text in zip(pairs.picture, pairs.text, strict=True):
        prepared = model.processor(images=pairs.pictures[picture], text=pairs.texts[text], return_tensors="pt")
        with torch.no_grad():
            scores = own(**prepared)
        found.append(torch.log_softmax(scores.itm_score[0], 0).diff()[0] if name == "blip" else scores.logits[0, 0])
    logits = torch.stack(found)
    assert logits.std() > 1e-4
    for size in (1, 3, 32):
        model = ImageTextMatcher(tiny.SPEC, folder(name), batch_size=size)
        assert torch.allclose(model.predict(given)["agreement"].logits, logits, atol=1e-5)
    assert isinstance(model, Predicts)
    assert not isinstance(model, Encodes)
    alone = model.agreement(given, ["text"])
    assert torch.allclose(alone[0], alone[2], atol=1e-6)
    assert not torch.allclose(alone[0], logits[0], atol=1e-6)


def test_a_picture_is_encoded_once_for_all_its_texts(tiny, folder):
    model, seen = ImageTextMatcher(tiny.SPEC, folder("blip")), []
    model.model.vision_model.register_forward_hook(lambda module, given, made: seen.append(len(made.last_hidden_state)))
    model.agreement(tiny.batch())
    assert seen == [4]
