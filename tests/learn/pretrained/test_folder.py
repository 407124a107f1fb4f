"""What is taken for a folder of a model, and what is refused, each in a sentence."""

import json
import shutil
import sys

import pytest
import torch

from molyneux.core import ConfigError, CorruptFileError, DataError, Modality, MolyneuxError, Spec
from molyneux.learn import Answerer, DualEncoder, ImageTextMatcher
from molyneux.learn.pretrained import pretrained_class


@pytest.fixture
def copy(folder, tmp_path):
    """A copy of the folder of a tiny model, to be changed."""
    return lambda name: shutil.copytree(folder(name), tmp_path / name)


def configured(path, **settings):
    config = json.loads((path / "config.json").read_text())
    (path / "config.json").write_text(json.dumps({**config, **settings}))
    return path


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("clip", DualEncoder),
        ("siglip", DualEncoder),
        ("blip", ImageTextMatcher),
        ("vilt", ImageTextMatcher),
        ("llava", Answerer),
    ],
)
def test_the_architecture_decides(folder, name, kind):
    assert pretrained_class(folder(name)) is kind


def test_other_architectures_are_told_which_there_are(copy):
    with pytest.raises(ConfigError) as told:
        pretrained_class(configured(copy("clip"), architectures=["BertForMaskedLM"]))
    for words in ("CLIPModel", "BlipForImageTextRetrieval", "LlavaForConditionalGeneration", "got BertForMaskedLM"):
        assert words in str(told.value)
    with pytest.raises(ConfigError, match=r"architecture MyModel is not in transformers .*code of its own, which is never run"):
        pretrained_class(configured(copy("siglip"), architectures=["MyModel"], auto_map={"AutoModel": "my.MyModel"}))
    with pytest.raises(ConfigError, match="names no architectures"):
        pretrained_class(configured(copy("llava"), architectures=None))
    with pytest.raises(ConfigError, match="expected an image-text matcher, one of Blip"):
        ImageTextMatcher(SPEC, configured(copy("blip"), architectures=["CLIPModel"]))


SPEC = Spec((Modality("image", "image", (3, 24, 24), "uint8"), Modality("text", "text", (2,), "uint8", ("a", "b"))))


def test_missing_files_are_all_named(copy, tmp_path):
    path = copy("clip")
    for name in ("tokenizer.json", "preprocessor_config.json", "model.safetensors"):
        (path / name).unlink()
    with pytest.raises(ConfigError) as told:
        pretrained_class(path)
    assert [problem.split(": ")[0].removeprefix(f"{path} ") for problem in told.value.problems] == [
        "has no weights",
        "has no tokenizer",
        "has no image processor",
    ]
    with pytest.raises(ConfigError, match=r"expected a folder with config\.json, as save_pretrained"):
        pretrained_class(tmp_path)
    (tmp_path / "config.yaml").touch()
    with pytest.raises(ConfigError, match="a run of this package is measured by molyneux measure RUN"):
        pretrained_class(tmp_path)
    with pytest.raises(ConfigError, match="which is not there"):
        pretrained_class(tmp_path / "nowhere")


def test_pickled_weights_are_refused(copy):
    path = copy("clip")
    (path / "model.safetensors").unlink()
    torch.save({}, path / "pytorch_model.bin")
    with pytest.raises(ConfigError, match=r"weights in pytorch_model\.bin, which are not loaded, for a pickle can run code"):
        pretrained_class(path)


def test_shards_that_are_not_there_are_named(copy):
    path = copy("clip")
    (path / "model.safetensors").rename(path / "model-00001-of-00002.safetensors")
    names = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    (path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": names}))
    with pytest.raises(ConfigError, match=r"lacks the weights model-00002-of-00002\.safetensors: restore"):
        pretrained_class(path)


def test_damaged_files_are_named(copy):
    path = copy("clip")
    (path / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(CorruptFileError, match="cannot be loaded by transformers"):
        DualEncoder(SPEC, path)
    path = configured(copy("siglip"))
    (path / "config.json").write_text("{")
    with pytest.raises(CorruptFileError, match=r"config\.json is no JSON file"):
        pretrained_class(path)


def test_weights_that_are_not_all_there_are_refused(copy):
    from safetensors.torch import load_file, save_file

    path = copy("clip")
    weights = load_file(path / "model.safetensors")
    del weights["text_projection.weight"]
    save_file(weights, path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(CorruptFileError, match=r"lacks weights of CLIPModel .*text_projection\.weight, 1 in all"):
        DualEncoder(SPEC, path)


def test_without_the_library_a_sentence_names_the_extra(folder, monkeypatch):
    path = folder("clip")
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ConfigError, match=r"pip install 'molyneux\[transformers\]'"):
        pretrained_class(path)


def test_all_settings_at_once(folder):
    spec = Spec((Modality("image", "image", (4, 24, 24), "uint8"), Modality("note", "tabular", (2,))))
    with pytest.raises(ConfigError) as told:
        DualEncoder(spec, folder("clip"), threshold="best", dtype="float64", batch_size=0, target="")
    assert [problem.partition(":")[0] for problem in told.value.problems] == [
        "text",
        "inference.dtype",
        "inference.batch_size",
        "threshold",
    ]
    with pytest.raises(ConfigError, match="expected pictures of 1 or 3 channels, got 4"):
        DualEncoder(Spec((spec.modality("image"), SPEC.modality("text"))), folder("clip"))


def test_texts_that_are_too_long_are_not_cut(tiny, folder):
    spec = Spec((SPEC.modality("image"), Modality("text", "text", (70,), "uint8", ("ab", "cd"))))
    model = DualEncoder(spec, folder("clip"))
    with pytest.raises(DataError, match=r"the model reads at most 64 tokens, got \d+ in 'Cd cd cd"):
        model.text_codes(["Cd" + " cd" * 69])


def test_pictures_of_one_channel_are_grey_and_half_precision_computes(tiny, folder):
    given = tiny.batch()
    grey = given.views["image"][:, :1]
    spec = Spec((Modality("image", "image", (1, 24, 24), "uint8"), tiny.SPEC.modality("text")), targets=tiny.SPEC.targets)
    batch = given.__class__({**given.views, "image": grey})
    full = DualEncoder(spec, folder("clip"), threshold=0.0).agreement(batch)
    coloured = given.__class__({**given.views, "image": grey.expand(-1, 3, -1, -1)})
    assert torch.allclose(DualEncoder(tiny.SPEC, folder("clip"), threshold=0.0).agreement(coloured), full, atol=1e-6)
    half = DualEncoder(spec, folder("clip"), threshold=0.0, dtype="bfloat16").agreement(batch)
    assert half.dtype == torch.float32
    assert torch.allclose(half, full, atol=1.0)
    assert not torch.equal(half, full)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"text_config": {"num_attention_heads": 0}}, "cannot be loaded by transformers: ZeroDivisionError"),
        ({"text_config": {"num_hidden_layers": 10_000_000}}, "expected num_hidden_layers of at most 1,000"),
        ({"attn_implementation": "somebody/kernels"}, "expected attn_implementation of transformers, got 'somebody/kernels'"),
        ({"vision_config": {"_attn_implementation": "a/b@c:d"}}, "expected _attn_implementation of transformers"),
        ({"architectures": 5}, "names no architectures"),
    ],
)
def test_configurations_that_ask_for_too_much_or_for_code_are_refused(copy, change, told):
    path = copy("clip")
    config = json.loads((path / "config.json").read_text())
    for name, value in change.items():
        config[name] = {**config[name], **value} if isinstance(value, dict) else value
    (path / "config.json").write_text(json.dumps(config))
    with pytest.raises(MolyneuxError, match=told):
        DualEncoder(SPEC, path)
