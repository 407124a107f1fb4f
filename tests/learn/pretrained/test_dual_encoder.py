"""Dual encoders against their own class called directly, one pair at a time."""

import numpy as np
import pytest
import torch

from molyneux.core import ConfigError, Encodes, Modality, NotApplicableError, Predicts, Representation, Spec
from molyneux.core.views import text_sentences
from molyneux.learn import DualEncoder
from molyneux.learn.pretrained import picture_text_model
from molyneux.learn.pretrained.folder import set_padding


def direct(tiny, path, kind, **padding):
    """The logit of each sample and the codes of pictures and texts, by the class itself."""
    import transformers
    from PIL import Image

    model = getattr(transformers, kind).from_pretrained(path, local_files_only=True).eval()
    words = transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)
    prepare = transformers.AutoImageProcessor.from_pretrained(path, backend="pil", local_files_only=True)
    given = tiny.batch()
    texts = text_sentences(tiny.SPEC.modality("text"), given.views["text"])
    logits, codes = [], []
    for text, levels in zip(texts, given.views["image"], strict=True):
        picture = prepare(Image.fromarray(levels.permute(1, 2, 0).numpy()), return_tensors="pt")
        with torch.no_grad():
            found = model(**picture, **words(text, return_tensors="pt", **padding))
        logits.append(found.logits_per_image.item())
        codes.append(torch.cat([found.image_embeds, found.text_embeds]))
    return torch.tensor(logits), torch.stack(codes)


KINDS = [("clip", "CLIPModel", {}), ("siglip", "SiglipModel", {"padding": "max_length", "max_length": 64})]


@pytest.mark.parametrize(("name", "kind", "padding"), KINDS)
def test_logits_and_codes_are_those_of_the_class_whatever_the_batch(tiny, folder, name, kind, padding):
    given = tiny.batch()
    logits, codes = direct(tiny, folder(name), kind, **padding)
    for size in (1, 3, 32):
        model = DualEncoder(tiny.SPEC, folder(name), threshold=0.5, batch_size=size)
        assert torch.allclose(model.predict(given)["agreement"].logits, logits - 0.5, atol=1e-5)
    assert logits.std() > 0.01
    assert isinstance(model, Predicts)
    assert isinstance(model, Encodes)
    assert isinstance(model, Representation)
    assert torch.allclose(model.encode(given, ["image"]).mean.shared, codes[:, 0], atol=1e-5)
    assert torch.allclose(model.represent(given)["shared"], codes.mean(1), atol=1e-5)
    order = torch.randperm(len(given), generator=torch.Generator().manual_seed(1))
    assert torch.allclose(model.agreement(given[order]), model.agreement(given)[order], atol=1e-6)
    assert model.agreement(given[:0]).shape == (0,)


def test_what_is_missing_is_the_mean_colour_and_the_empty_text(tiny, folder):
    model, given = DualEncoder(tiny.SPEC, folder("clip"), threshold=0.0), tiny.batch()
    blank = model.inputs(images=[model.blank])["pixel_values"]
    assert blank.abs().max() < 0.02  # half of one of 255 levels, over a standard deviation of a quarter
    alone = model.agreement(given, ["text"])
    assert torch.equal(alone[0], alone[2])  # the same text with another picture
    assert alone[0] != alone[1]
    absent = given.observe(["text"])
    assert torch.equal(model.agreement(absent), alone)
    pictures = model.agreement(given, ["image"])
    assert torch.equal(pictures[0], pictures[1])
    empty = model.pairs(given, ["image"])
    assert empty.texts == [""]
    code = model.encode(absent).mean.shared
    assert torch.allclose(code, model.encode(given, ["text"]).mean.shared)
    with pytest.raises(NotApplicableError, match="encodes image and text, got"):
        model.encode(given, [])


def test_each_picture_text_and_pair_is_computed_once(tiny, folder, monkeypatch):
    model, given = DualEncoder(tiny.SPEC, folder("clip"), threshold=0.0, batch_size=2), tiny.batch()
    seen = []
    model.model.vision_model.register_forward_hook(lambda module, *rest: seen.append("picture"))
    model.model.text_model.register_forward_hook(lambda module, *rest: seen.append("text"))
    first = model.agreement(given[:6])  # four pictures and four texts in six samples
    assert seen == ["picture"] * 2 + ["text"] * 2
    seen.clear()
    assert torch.equal(model.agreement(given)[:6], first)  # two pairs more, of one picture and two texts
    assert seen == ["picture", "text"]
    seen.clear()
    model.predict(given)
    assert seen == []
    monkeypatch.setattr(picture_text_model, "KEPT", 7)  # there is no room for all
    model.agreement(tiny.batch(2))
    assert torch.allclose(model.agreement(given)[:6], first)
    assert seen


def test_the_threshold_is_fitted_to_training_samples(tiny, folder):
    model, given = DualEncoder(tiny.SPEC, folder("clip")), tiny.batch()
    with pytest.raises(NotApplicableError, match="the threshold is not fitted yet"):
        model.predict(given)
    logits = model.agreement(given)
    agree = (logits > logits.median()).long()
    model.post_fit(tiny.Samples(given.__class__(given.views, targets={"agreement": agree})), seed=1)
    assert torch.equal((model.predict(given)["agreement"].logits > 0).long(), agree)
    assert model.origin["threshold"] == model.threshold
    assert model.origin["threshold_samples"] == len(given)
    fixed = DualEncoder(tiny.SPEC, folder("clip"), threshold=0.25)
    fixed.post_fit(tiny.Samples(given), seed=1)
    assert fixed.threshold == 0.25
    unknown = given.__class__(given.views, targets=given.targets, known={"agreement": torch.zeros(len(given), dtype=torch.bool)})
    with pytest.raises(NotApplicableError, match="no training sample tells agreement"):
        DualEncoder(tiny.SPEC, folder("clip")).post_fit(tiny.Samples(unknown), seed=1)


def test_samples_without_a_target_have_codes(tiny, folder):
    model = DualEncoder(Spec(tiny.SPEC.modalities), folder("clip"))
    assert model.predict(tiny.batch()) == {}
    assert model.encode(tiny.batch()).mean.shared.shape == (8, 8)


def test_a_temperature_divides(tiny, folder):
    model, given = DualEncoder(tiny.SPEC, folder("clip"), threshold=0.0), tiny.batch()
    before = DualEncoder(tiny.SPEC, folder("clip")).agreement(given)
    scale = model.model.logit_scale.detach().exp()
    del model.model.logit_scale
    model.model.temperature = torch.nn.Parameter(1 / scale)
    assert torch.allclose(model.agreement(given), before, atol=1e-5)


def test_the_best_threshold_is_that_of_all_cuts():
    rng = np.random.default_rng(0)
    for size in (1, 2, 7, 40):
        logits, agree = rng.integers(0, 6, size).astype(float), rng.random(size) < 0.5
        cuts = np.arange(-1.5, 7)
        best = max(((logits > cut) == agree).mean() for cut in cuts)
        assert ((logits > picture_text_model.best_threshold(logits, agree)) == agree).mean() == best


def without_padding(source, target, **changes):
    """A copy of a folder whose tokenizer has no token to pad with."""
    import shutil

    import transformers

    shutil.copytree(source, target)
    words = transformers.AutoTokenizer.from_pretrained(target, local_files_only=True)
    words.pad_token = None
    for name, value in changes.items():
        setattr(words, name, value)
    words.save_pretrained(target)
    assert transformers.AutoTokenizer.from_pretrained(target, local_files_only=True).pad_token is None
    return target


def test_a_tokenizer_without_a_padding_token_pads_by_the_end_under_the_mask(tiny, folder, tmp_path):
    given = tiny.batch()
    logits, _ = direct(tiny, folder("clip"), "CLIPModel")
    for size in (1, 32):
        model = DualEncoder(tiny.SPEC, without_padding(folder("clip"), tmp_path / str(size)), threshold=0.0, batch_size=size)
        assert torch.allclose(model.agreement(given), logits, atol=1e-5)
        assert model.origin["padded_by"] == "</s>"
    assert "padded_by" not in DualEncoder(tiny.SPEC, folder("clip"), threshold=0.0).origin


def test_a_tokenizer_that_cannot_pad_is_refused(tiny, folder, tmp_path):
    bare = {"eos_token": None, "unk_token": None, "bos_token": None}
    with pytest.raises(
        ConfigError, match="expected a tokenizer with a padding token, or an end token in its place, got one with n"
    ):
        DualEncoder(tiny.SPEC, without_padding(folder("clip"), tmp_path / "bare", **bare), threshold=0.0)
    with pytest.raises(ConfigError, match="which is a part of each text of SiglipModel, got one without"):
        DualEncoder(tiny.SPEC, without_padding(folder("siglip"), tmp_path / "whole"), threshold=0.0)
    words = tiny.tokenizer()
    words.pad_token, words.model_input_names = None, ["input_ids"]
    with pytest.raises(ConfigError, match="no mask that hides"):
        set_padding(words, tmp_path)


def test_half_an_emoji_in_a_text_reaches_the_tokenizer_as_a_whole_character(tiny, folder):
    def agreement(symbol):
        text = Modality("text", "text", (tiny.LENGTH,), "uint8", (*tiny.WORDS[:2], symbol, *tiny.WORDS[3:]), 0, None, 1)
        model = DualEncoder(Spec((tiny.SPEC.modality("image"), text), targets=tiny.SPEC.targets), folder("clip"), threshold=0.0)
        return model.agreement(tiny.batch())

    assert torch.equal(agreement("\ud83d"), agreement("\ufffd"))
