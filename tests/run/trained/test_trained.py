"""Opening a model, and what people give and get: wordings, files, notebooks, errors."""

import json
import socket

import numpy as np
import pytest
import torch
from PIL import Image
from scipy.io import wavfile
from torch import nn

from molyneux import CdSprites, open_model
from molyneux.core import Codes, ConfigError, DataError, Factor, Modality, NotApplicableError, Spec, SpecError, StoreError
from molyneux.data import SpokenDigits
from molyneux.learn import DMVAE
from molyneux.run import UnreadTextWarning, read_value
from molyneux.run.trained.readers import ViewReading
from molyneux.run.trained.shipped import shipped_names

BLACK = np.zeros((64, 64, 3), np.uint8)
DIGITS = tuple("0123456789")
SPOKEN = Spec(
    (
        Modality("image", "image", (1, 28, 28), "uint8"),
        Modality("audio", "image", (1, 32, 32), "uint8"),
        Modality("text", "text", (5,), "uint8", tuple(" abcdefghijklmnopqrstuvwxyz"), 0),
    ),
    (Factor("label", DIGITS),),
)


@pytest.fixture(scope="module")
def model():
    """An untrained model of pictures and captions of level 3, opened with its world."""
    world = CdSprites(level=3)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return open_model(DMVAE(world.spec, latent_dim=4, private_dim={"image": 2}), data=world, name="tiny")


def test_a_persons_wording_becomes_the_caption_of_the_world_and_what_it_leaves_open_is_drawn(model):
    made = model.generate("image", text="A heart, red!", count=12, seed=1)
    used = [sample.used["text"] for sample in made.inputs]
    assert {sample.given["text"] for sample in made.inputs} == {"A heart, red!"}
    assert set(used) == {"small red heart", "big red heart"}
    assert all(sample.drawn["size"] == text.split()[0] for sample, text in zip(made.inputs, used, strict=True))
    assert "'A heart, red!' as" in repr(made)
    exact = model.generate("image", text="small red heart", seed=1)
    assert exact.inputs[0].used == {"text": "small red heart"}
    assert not exact.inputs[0].drawn


def test_what_the_world_does_not_know_is_drawn_as_it_is_with_the_nearest_caption(model):
    with pytest.warns(UnreadTextWarning, match="hart"):
        made = model.generate("image", text="small red hart")
    with pytest.warns(UnreadTextWarning, match="hart"):
        model.encode(text="small red hart")
    with pytest.warns(UnreadTextWarning, match="hart"):
        assert len(model.generate("image", text="small, red hart!")) == 1  # without what is no letter
    assert made.inputs[0].used["text"] == "small red hart"
    assert "heart" in made.inputs[0].unread["text"]
    assert not model.generate("image", text="small red hart", raw=True).inputs[0].unread
    with pytest.raises(DataError, match=r"nearest caption.*nor can it be taken as it is.*at most"):
        model.generate("image", text="a small red dog that runs far away from everybody who looks at it")


def test_all_that_is_not_given_is_generated_by_default(model):
    assert model.generate(text="small red heart").names == ("image",)
    assert model.generate().names == model.modalities


def test_what_is_given_can_be_read_and_conversions_are_told(model):
    big = Image.fromarray(BLACK).resize((128, 128))
    made = model.generate("text", image=big)
    assert any("resized" in note for note in made.notes)
    assert model.read(image=big)[0]["image"][0].values["shape"] is None
    assert model.read(text="small red heart")[0]["text"][0].values["shape"] == "heart"


def test_noise_belongs_to_an_input_and_a_number(model):
    many = model.generate("image", text=["small red heart", "big blue square", "small red heart"], count=40, seed=5)
    assert len(many) == 120
    alone = model.generate("image", text="big blue square", count=3, seed=5)
    assert np.array_equal(alone.arrays(), many.arrays()[40:43])
    assert not np.array_equal(many.arrays()[:40], many.arrays()[80:])  # the same input again gets other noise
    assert not np.array_equal(many.arrays()[0], many.arrays()[1])
    other = model.generate("image", text="big blue square", count=3, seed=6)
    assert not np.array_equal(alone.arrays(), other.arrays())


def test_views_are_what_people_have(model, tmp_path):
    made = model.generate(["image", "text"], count=3)
    assert all(isinstance(image, Image.Image) and image.size == (64, 64) for image in made.images())
    assert all(isinstance(text, str) for text in made.texts())
    made.images()[0].save(tmp_path / "one.png")
    for image in (made.images()[0], tmp_path / "one.png", str(tmp_path / "one.png"), made.arrays("image")[0]):
        assert np.array_equal(model.encode(image=image).shared, model.encode(image=made.images()[0]).shared)
    readings = made.readings()
    assert set(readings[0]) == {"image", "text"}
    assert [part.reader for part in readings[0]["image"]] == ["RenderingReader", "JudgeReader"]
    assert set(readings[0]["text"][0].values) == {"shape", "size", "colour"}


def test_a_reading_gives_a_reason_only_where_it_says_more():
    values = {"colour": "red", "size": None, "shape": None}
    assert str(ViewReading("one", values, "cannot read size or shape")) == "colour red; size, shape not read"
    assert str(ViewReading("one", values, "no caption")) == "colour red; size, shape not read (no caption)"


@pytest.mark.parametrize("name", ["made.png", "made.json", "made.npz", "made"])
def test_views_are_written_to_files(model, tmp_path, name):
    made = model.generate(["image", "text"], count=3)
    path = made.save(tmp_path / name)
    if name == "made":
        assert sorted(item.name for item in path.iterdir())[:3] == ["image-1.png", "image-2.png", "image-3.png"]
    else:
        first = path.read_bytes()
        made.save(path)
        assert path.read_bytes() == first
    if name == "made.json":
        assert len(json.loads(path.read_text())["samples"]) == 3
    with pytest.raises(ConfigError, match=r"\.png, \.txt"):
        made.save(tmp_path / "made.exe")


def test_what_was_converted_is_told(model):
    made = model.generate("text", image=Image.new("RGB", (128, 128)))
    assert "128 x 128" in made.notes[0]
    assert made.to_json()["notes"] == list(made.notes)
    assert not model.generate("text", image=BLACK).notes


def test_it_shows_itself_in_a_notebook(model):
    shown = model.generate("image", count=30)._repr_html_()
    assert shown.count("<img") == 24
    assert "and 6 more" in shown
    assert "<script" not in shown


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda model: model.generate("picture", text="small red heart"), ConfigError, 'did you mean "image"|image, text'),
        (lambda model: model.generate("image", txt="small red heart"), ConfigError, "text"),
        (lambda model: model.generate("image", text="  "), DataError, "empty"),
        (lambda model: model.generate(["image", "image"]), ConfigError, "different modalities"),
        (lambda model: model.generate("image", count=0), ConfigError, "count"),
        (lambda model: model.generate("image", count=True), ConfigError, "count"),
        (lambda model: model.generate("image", prior="los"), ConfigError, "loss"),
        (lambda model: model.generate("image", text="small red heart", inputs={"text": "x"}), ConfigError, "twice"),
        (lambda model: model.generate("image", text=["small red heart"] * 2, image=[None] * 3), None, ""),
        (
            lambda model: model.encode(text=["small red heart"] * 2, image=[np.zeros((64, 64, 3), np.uint8)] * 3),
            ConfigError,
            "as many",
        ),
        (lambda model: model.encode(), ConfigError, "at least one"),
        (lambda model: model.predict(text="small red heart"), NotApplicableError, "cannot predict"),
        (lambda model: model.decode("codes"), SpecError, "codes"),
        (lambda model: model.decode(Codes(torch.zeros(0, 4))), SpecError, "at least one"),
        (lambda model: model.decode(Codes(torch.zeros(2, 4), {"image": torch.zeros(1, 2)})), SpecError, "as many"),
        (lambda model: model.decode(Codes(torch.zeros(2, 4, dtype=torch.double))), SpecError, "float32"),
        (
            lambda model: model.decode(Codes(torch.zeros(2, 4), {"image": torch.zeros(2, 2), "sound": torch.zeros(2, 2)})),
            ConfigError,
            "no private codes of sound; it has those of image",
        ),
        (lambda model: model.decode(Codes(torch.full((2, 4), float("nan")))), SpecError, "finite"),
        (lambda model: model.generate(5), ConfigError, "by their names"),
        (lambda model: model.score(text="a red heart"), DataError, "whole caption"),
        (lambda model: model.encode(text="small red heart", image=None, inputs={}), None, ""),
        (lambda model: model.score(text=["small red heart", None]), ConfigError, "input 2"),
        (lambda model: model.generate("image", inputs="small red heart"), ConfigError, "by modality"),
        (lambda model: model.generate("text", image=[]), DataError, "empty list"),
        (lambda model: model.generate("image", count=2).texts(), ConfigError, "kind text"),
        (lambda model: model.generate(["image", "text"], count=2).values(), ConfigError, "several"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(model, call, error, words):
    if error is None:
        call(model)
        return
    with pytest.raises(error, match=words):
        call(model)


def test_what_is_no_model_is_refused(tmp_path):
    with pytest.raises(StoreError, match="neither"):
        open_model("no-such-model")
    with pytest.raises(StoreError, match=r"config\.yaml"):
        open_model(tmp_path)
    with pytest.raises(SpecError, match="spec"):
        open_model(nn.Linear(2, 2))


def test_a_reader_says_what_a_caption_and_a_picture_show(tmp_path):
    world = CdSprites(level=3)
    assert read_value(world, "small red heart").readings[0].values == {"shape": "heart", "size": "small", "colour": "red"}
    batch = world.source("test", 1, seed=1).batch(np.arange(1))
    Image.fromarray(batch.views["image"][0].permute(1, 2, 0).numpy()).save(tmp_path / "one.png")
    found = read_value(world, str(tmp_path / "one.png"))
    assert found.modality == "image"
    codes = dict(zip((factor.name for factor in world.spec.factors), batch.factors[0].tolist(), strict=True))
    true = {name: world.spec.factor(name).values[code] for name, code in codes.items()}
    assert found.readings[0].values == {name: true[name] for name in ("size", "colour", "shape")}
    assert any("shape" in line for line in found.lines())


@pytest.mark.parametrize("name", shipped_names())
def test_a_model_of_the_package_opens_without_network_samples_or_judges(name, monkeypatch):
    def refused(*_, **__):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refused)
    opened = open_model(name)
    assert opened.name == name
    assert opened.abilities
    assert "readers" not in vars(opened)


def test_a_sound_file_is_drawn_as_the_data_set_draws_sounds(tmp_path):
    spec = SPOKEN
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = open_model(DMVAE(spec, latent_dim=4), data=SpokenDigits(tmp_path))
    wave = (8000 * np.sin(np.arange(6000) / 5)).astype(np.int16)
    wavfile.write(tmp_path / "digit.wav", 8000, wave)
    wavfile.write(tmp_path / "silence.wav", 8000, np.zeros(100, np.int16))
    one = model.encode(audio=tmp_path / "digit.wav").shared
    assert torch.equal(one, model.encode(audio=str(tmp_path / "digit.wav")).shared)
    assert torch.equal(one, model.encode(audio=(8000, wave)).shared)
    view = SpokenDigits.view_of_sound("audio", tmp_path / "digit.wav").view[0].numpy()
    assert torch.equal(one, model.encode(audio=view).shared)
    both = model.encode(audio=[tmp_path / "digit.wav", view]).shared
    assert torch.equal(both[0], both[1])
    seven = model.generate("image", text="7", count=2)
    assert seven.inputs[0].used == {"text": "seven"}
    with pytest.raises(DataError, match=r"no-such\.wav"):
        model.encode(audio=tmp_path / "no-such.wav")
