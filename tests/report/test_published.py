import pytest

from molyneux.core import Score
from molyneux.report.published import Figure, published

TEXT_IMAGE = {"source": "text", "target": "image"}
IMAGE_TEXT = {"source": "image", "target": "text"}


@pytest.mark.parametrize("level", ["1", "2", "3", "4", "5"])
def test_every_level_has_four_models(level):
    board = published("cdsprites", level)
    assert set(board.figures) == set(board.models) == {"MVAE", "MMVAE", "MoPoE", "DMVAE"}
    assert all(len(figures) == (7 if level != "1" else 4) for figures in board.figures.values())


def test_other_worlds_and_levels_have_none():
    assert published("gebid", "1") is None
    assert published("cdsprites", "6") is None
    assert published("", "") is None


@pytest.mark.parametrize(
    ("level", "about", "best"),
    [
        ("1", TEXT_IMAGE, ("MVAE", 52)),
        ("2", TEXT_IMAGE, ("MMVAE", 18)),
        ("3", TEXT_IMAGE, ("MVAE", 8)),
        ("1", IMAGE_TEXT, ("MMVAE", 64)),
        ("2", IMAGE_TEXT, ("MVAE", 55)),
        ("3", IMAGE_TEXT, ("MVAE", 59)),
    ],
)
def test_the_best_published_strict_numbers(level, about, best):
    model, figure = published("cdsprites", level).best(Score("coherence.strict", 1.0, about))
    assert (model, figure.mean) == best


def test_joint_draws_stand_beside_joint_draws():
    board = published("cdsprites", "1")
    for about in ({"source": "prior", "target": ("image", "text")}, {"source": "joint", "target": ("text", "image")}):
        assert board.figure("MMVAE", Score("coherence.strict", 1.0, about)) == Figure(17, 10, step=1)


@pytest.mark.parametrize(
    "score",
    [
        Score("coherence.strict", 1.0, {**TEXT_IMAGE, "factor": "shape"}),
        Score("coherence.strict", 1.0, {"source": ("image", "touch"), "target": "text"}),
        Score("coherence.strict", 1.0, {}),
        Score("coherence.letters", 1.0, TEXT_IMAGE),
        Score("other.strict", 1.0, TEXT_IMAGE),
    ],
)
def test_what_was_not_published_has_no_figure(score):
    board = published("cdsprites", "3")
    assert board.figure("MVAE", score) is None
    assert board.best(score) is None


def test_figures_are_printed_as_published():
    assert Figure(52, 3).text == "52 (3)"
    assert Figure(1.3).text == "1.3"


def test_the_notes_say_source_protocol_and_chance():
    source, protocol, chance = published("cdsprites", "3").notes
    assert "leaderboard" in source.lower()
    assert "no like-for-like comparison" in protocol
    assert "chance" in chance


def test_the_last_printed_digit_is_that_of_the_column():
    board = published("pos", "")
    rate, active = (Score(f"code_use.{name}", 1.0, {"source": "text", "code": "shared"}) for name in ("rate", "active_units"))
    assert board.figure("VAE", rate) == Figure(0.01, 0.0, step=0.01)
    assert board.figure("VAE", active) == Figure(0.2, 0.4, step=0.1)
