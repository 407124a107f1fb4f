"""The commands of trained models: generate, predict and read."""

import fcntl
import json
import os
import pty
import struct
import sys
import termios
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from molyneux.cli import main, pictures
from molyneux.core import Modality, Spec, Target
from molyneux.learn import DMVAE, FusionPredictor
from molyneux.learn.judges.judge import JudgeReader
from molyneux.run import TrainedModel, open_model

CAPTION = "large red circle at the top left on black"


def test_a_picture_is_drawn_from_a_caption(tmp_path, capsys):
    out = tmp_path / "circles.png"
    assert (
        main(["generate", "gebid-level5", "--text", CAPTION, "--to", "image", "--count", "4", "--seed", "1", "--out", str(out)])
        == 0
    )
    said = capsys.readouterr()
    assert said.err == ""
    assert f"Written: {out}" in said.out
    assert "colour red" in said.out
    first = out.read_bytes()
    assert (
        main(["generate", "gebid-level5", "--text", CAPTION, "--to", "image", "--count", "4", "--seed", "1", "--out", str(out)])
        == 0
    )
    assert out.read_bytes() == first


def test_a_caption_is_written_for_a_picture(tmp_path, capsys):
    picture = tmp_path / "one.png"
    assert main(["generate", "gebid-level5", "--text", CAPTION, "--to", "image", "--out", str(picture)]) == 0
    capsys.readouterr()
    assert main(["generate", "gebid-level5", "--image", str(picture), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["targets"] == ["text"]
    assert answer["samples"][0]["generated"]["text"] == CAPTION


def test_samples_are_drawn_from_a_prior(capsys):
    assert main(["generate", "gebid-level5", "--from-prior", "--count", "3", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["samples"]) == 3
    assert main(["generate", "gebid-level5", "--prior", "fited", "--json"]) == 2
    assert "fitted" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["generate", "gebid-level5"], "neither"),
        (["generate", "gebid-level5", "--text", CAPTION, "--from-prior"], "both"),
        (["generate", "gebid-level", "--text", CAPTION], 'did you mean "gebid-level5"'),
        (["generate", "gebid-level5", "--txt", CAPTION], "text"),
        (["generate", "gebid-level5", "--text", CAPTION, "--to", "sound"], "image, text"),
        (["generate", "gebid-level5", "--image", "no-such.png"], "no-such.png"),
        (["generate", "gebid-level5", "--text", CAPTION, "--count", "0"], "count"),
        (["predict", "gebid-level5", "--text", CAPTION], "cannot predict"),
        (["predict", "gebid-level5"], "cannot predict"),
        (["read", "gebid", "no-such.png", "--level", "5"], "no-such.png"),
    ],
)
def test_what_cannot_be_is_one_sentence(words, told, capsys):
    assert main(words) in (1, 2)
    said = capsys.readouterr()
    assert told in said.err
    assert len(said.err.strip().splitlines()) == 1
    assert said.out == ""


def test_what_is_told_is_read_by_the_exact_reader_where_there_is_one(capsys):
    caption = "small red heart at top left on light"
    assert main(["generate", "cdsprites-level5", "--text", caption, "--to", "image"]) == 0
    assert "image read by RenderingReader, the exact reader of the world" in capsys.readouterr().out
    assert main(["generate", "gebid-level5", "--text", CAPTION, "--to", "image"]) == 0
    assert "image read by JudgeReader, which has learned to read, right on at least 9" in capsys.readouterr().out
    assert main(["generate", "gebid-level5", "--text", CAPTION, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert set(answer["read_by"]) == {"image"}
    assert answer["samples"][0]["readings"]["image"][0]["exact"] is False


def test_no_more_is_read_than_is_told(capsys, monkeypatch):
    read = JudgeReader.read
    seen = []
    monkeypatch.setattr(JudgeReader, "read", lambda self, view: seen.append(len(view)) or read(self, view))
    monkeypatch.setattr("molyneux.cli.trained._MOST_SHOWN", 3)
    assert main(["generate", "gebid-level5", "--from-prior", "--to", "image", "--count", "5"]) == 0
    assert "and 2 more" in capsys.readouterr().out
    assert seen == [3]


def test_pictures_that_no_reader_reads_are_told_whatever_their_name(monkeypatch, tmp_path, capsys):
    """Also where the modality is not named as its kind, and where the command line spells it in another way."""
    folder = tmp_path / "a.png"
    Image.fromarray(np.zeros((64, 64, 3), np.uint8)).save(folder)
    model = open_model("gebid-level5")
    reader, spec = model.readers["image"], model.spec
    camera = replace(spec.modality("image"), name="left camera")
    module = DMVAE(Spec((camera, spec.modality("text")), spec.factors), latent_dim=4).eval()
    renamed = TrainedModel("tiny", module, module.spec)
    vars(renamed)["readers"] = {"left camera": reader}
    monkeypatch.setattr("molyneux.run.open_model", lambda *_, **__: renamed, raising=False)
    for option in ("--left_camera", "--image"):
        assert main(["generate", "tiny", option, str(folder), "--to", "text"]) == 0
        assert "left camera 1: the reader does not read" in capsys.readouterr().err


def test_a_misspelt_caption_is_drawn_with_a_warning(capsys):
    assert main(["generate", "gebid-level5", "--text", CAPTION.replace("circle", "cirle"), "--to", "image"]) == 0
    assert "circle" in capsys.readouterr().err


def test_a_predictor_answers_from_all_and_from_each(monkeypatch, tmp_path, capsys):
    spec = Spec(
        (Modality("image", "image", (1, 8, 8), "uint8"), Modality("values", "tabular", (3,))),
        targets=(Target("shape", "class", ("square", "circle")),),
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        module = FusionPredictor(spec).eval()
    monkeypatch.setattr("molyneux.run.open_model", lambda *_, **__: TrainedModel("tiny", module, spec), raising=False)
    Image.fromarray(np.zeros((8, 8), np.uint8)).save(tmp_path / "a.png")
    assert main(["predict", "tiny", "--image", str(tmp_path / "a.png")]) == 0
    assert "shape: " in capsys.readouterr().out
    assert main(["predict", "tiny", "--image", str(tmp_path / "a.png"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)["samples"][0]["answers"]["shape"]
    assert sum(answer.values()) == pytest.approx(1.0)


def test_readers_say_what_they_see(capsys):
    assert main(["read", "gebid", CAPTION, "--level", "5"]) == 0
    assert "shape circle" in capsys.readouterr().out
    assert main(["read", "gebid", "large red cirle at the top left on black", "--level", "5", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)["readings"][0]["values"]
    assert values["shape"] is None


def test_the_world_of_a_model_reads(capsys):
    assert main(["read", "gebid-level5", CAPTION]) == 0
    assert "CaptionReader (exact): size large, colour red, shape circle" in capsys.readouterr().out
    assert main(["read", "shapeworld-quantifiers", "Most ellipses are blue"]) == 0
    assert "grammar of the world (exact): caption most ellipses are blue ." in capsys.readouterr().out
    assert main(["read", "shapeworld-quantifiers", "few ellipses are blue"]) == 2
    said = capsys.readouterr().err
    assert "say how many" in said
    assert "vocabulary" not in said
    assert main(["read", "gebid-level5", CAPTION, "--level", "5"]) == 2
    assert "it knows its own" in capsys.readouterr().err
    assert main(["read", "gebid-level4", CAPTION]) == 2
    assert 'did you mean "gebid-level5"?' in capsys.readouterr().err


def test_a_world_of_several_kinds_reads_a_sentence_of_any(capsys):
    assert main(["read", "ShapeWorld", "most ellipses are blue"]) == 0
    said = capsys.readouterr().out
    assert "symbol bare-most" in said
    assert "read as a sentence of --kind quantification, which is not the usual one of ShapeWorld" in said
    assert main(["read", "ShapeWorld", "a blue circle"]) == 0
    assert "--kind" not in capsys.readouterr().out


def test_symbols_of_meaning_are_not_offered_for_words(capsys):
    words = ["predict", "shapeworld-quantifiers", "--image", "docs/assets/generated/scene.png"]
    assert main([*words, "--text", "exactly five squares are red"]) == 2
    told = capsys.readouterr().err
    assert "unknown word" in told
    assert "-fewer-than" not in told
    assert "nor can it" not in told


def test_agreement_is_not_told_of_a_picture_or_a_sentence_alone(capsys):
    words = ["predict", "shapeworld-quantifiers", "--image", "docs/assets/generated/scene.png"]
    assert main([*words, "--text", "most ellipses are blue"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("image + meaning: agreement: agree 100.0 %")
    assert "alone" not in said


@pytest.mark.parametrize("size", [(0, 60), (30, 0)])
def test_no_picture_is_shown_in_a_terminal_without_a_size(monkeypatch, capsys, size):
    monkeypatch.setattr(pictures.sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(pictures.sys.stdout, "fileno", lambda: 1, raising=False)
    monkeypatch.setattr(pictures.os, "get_terminal_size", lambda _: os.terminal_size(size[::-1]))
    pictures.show([Image.new("RGB", (8, 8))])
    assert not capsys.readouterr().out


def test_pictures_are_shown_in_a_terminal_and_in_nothing_else(capfd):
    """Half blocks in a terminal that has no protocol for pictures."""
    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover
        os.environ["TERM"] = "xterm-256color"
        words = ["generate", "gebid-level5", "--text", CAPTION, "--to", "image"]
        os.execv(sys.executable, [sys.executable, "-m", "molyneux", *words])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
    shown = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    assert os.waitpid(child, 0)[1] == 0, shown.decode(errors="replace")[-500:]
    assert shown.count("▀".encode()) > 50


def test_agreement_needs_both_senses(capsys):
    assert main(["predict", "shapeworld-quantifiers", "--meaning", "most ellipses are blue"]) == 2
    assert "says whether image and meaning agree: give image too" in capsys.readouterr().err


def test_two_way_questions_are_asked_and_drawn(tmp_path, capsys):
    sheet = tmp_path / "asked.png"
    words = ["ask", "molyneux-shapes", "--questions", "40"]
    assert main([*words, "--picture", str(sheet)]) == 0
    said = capsys.readouterr().out
    assert said.count("One is felt, two are seen: which is it? 40 questions about") == 2
    assert "about two alike shapes that are new to both senses, seed 0" in said
    assert said.count("geometry             100.0 %") == 2
    assert said.count("guessing             50.0 %") == 2
    assert said.endswith(f"Written: {sheet}\n")
    with Image.open(sheet) as picture:
        assert picture.height >= 2 * picture.width > 400  # six rows of three
        pixels = np.asarray(picture.convert("RGB")).astype(int)
    green, orange = ((abs(pixels - colour).sum(2) < 30).sum() for colour in ((13, 138, 106), (194, 89, 10)))
    assert green + orange > 100  # words under what was chosen
    assert main([*words, "--given", "image", "--role", "felt", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    told = {"model": "molyneux-shapes", "given": "image", "role": "felt", "seed": 0, "guessing": 50.0, "picture": None}
    assert {name: value for name, value in answer.items() if name != "questions"} == told
    assert list(answer["questions"]) == ["any", "alike"]
    for found in answer["questions"].values():
        assert found["count"] == 40
        assert list(found["right"]) == ["molyneux-shapes", "geometry", "elongation_alone"]
        for share in found["right"].values():
            assert 0 <= share["interval"][0] <= share["value"] <= share["interval"][1] <= 100
        assert found["right"]["geometry"]["value"] == 100


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["gebid-level5"], "cannot be asked which is which"),
        (["molyneux-shapes", "--questions", "0"], "--questions: expected at least 1, got 0"),
        (["molyneux-shapes", "--role", "nw"], 'did you mean "new"?'),
        (["molyneux-shapes", "--picture", "a.jpg"], "expected the name of a .png file, got a.jpg"),
    ],
)
def test_what_cannot_be_asked_is_refused(words, told, capsys):
    assert main(["ask", *words]) == 2
    assert told in capsys.readouterr().err
