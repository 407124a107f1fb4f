import numpy as np
import pytest
import torch

from molyneux.core import ConfigError, Modality, NotApplicableError, Reading, Spec, load_exhibits, save_exhibits
from molyneux.measure import Galleries
from molyneux.measure.galleries import view_cells


def gallery(measured, name):
    return next(item for item in measured.exhibits if item.name == name)


def test_the_first_samples_and_what_is_made_of_them(tiny):
    evaluation = tiny.evaluation(tiny.Oracle(tiny.shifted("shape")))
    measured = Galleries(rows=3)(evaluation)
    assert measured.scores == ()
    cross = gallery(measured, "cross")
    assert cross.columns == ("image", "text", "image from image", "text from text", "text from image", "image from text")
    rows = evaluation.source.rows[:3]
    for row, cells in zip(rows, cross.rows, strict=True):
        assert np.array_equal(cells[0].view, tiny.views["image"][row].numpy())
        assert cells[1].text == tiny.captions[row]
        assert [cell.correct for cell in cells] == [None, None, False, False, False, False]
        shape = tiny.combinations[row][0]
        wrong = ("square", "ellipse", "heart")[(shape + 1) % 3]
        assert wrong in cells[4].text
        assert wrong in cells[5].reading
        assert cells[0].reading.split()[0] in tiny.captions[row]


def test_right_is_right_and_draws_are_shown_for_pictures(tiny):
    measured = Galleries(rows=4, draws=2)(tiny.evaluation(tiny.Oracle()))
    assert all(cell.correct for row in gallery(measured, "cross").rows for cell in row[2:])
    draws = gallery(measured, "draws_text_to_image")
    assert draws.columns == ("text", "draw 1", "draw 2")
    assert [item.name for item in measured.exhibits] == ["cross", "draws_text_to_image", "joint"]
    assert len(gallery(measured, "joint").rows) == 4


@pytest.mark.parametrize("shared", [True, False])
def test_joint_draws_say_whether_the_readers_agree(tiny, shared):
    model = tiny.Oracle() if shared else tiny.Independent()
    joint = gallery(Galleries(rows=20, draws=0)(tiny.evaluation(model)), "joint")
    for image, text in joint.rows:
        size, shape = text.text.split()
        assert image.correct == text.correct == (image.reading == f"{shape} {size}")
    assert all(image.correct for image, _ in joint.rows) == shared


def test_galleries_survive_the_store(tiny, tmp_path):
    exhibits = Galleries(rows=2)(tiny.evaluation(tiny.Oracle())).exhibits
    save_exhibits(tmp_path, exhibits)
    loaded = load_exhibits(tmp_path)
    assert [item.name for item in loaded] == [item.name for item in exhibits]
    assert np.array_equal(loaded[0].rows[0][0].view, exhibits[0].rows[0][0].view)


def test_views_of_every_kind_have_cells(tiny):
    kinds = {
        "touch": (Modality("touch", "series", (5, 2)), torch.zeros(1, 5, 2), (5, 2)),
        "sound": (Modality("sound", "audio", (2, 9)), torch.zeros(1, 2, 9), (9, 2)),
        "table": (Modality("table", "tabular", (4,)), torch.zeros(1, 4), (4, 1)),
        "shade": (Modality("shade", "image", (1, 4, 4)), torch.ones(1, 1, 4, 4), (1, 4, 4)),
    }
    spec = Spec((*(item[0] for item in kinds.values()), Modality("digit", "label", (), "int64", ("one", "two"))))
    source = tiny.Source(np.arange(3), spec=spec)
    evaluation = tiny.evaluation(None, source=source, readers={}, exact={})
    for name, (_, view, shape) in kinds.items():
        (cell,) = view_cells(evaluation, name, view)
        assert cell.view.shape == shape
    assert view_cells(evaluation, "shade", kinds["shade"][1])[0].view.dtype == np.uint8
    assert view_cells(evaluation, "digit", torch.tensor([1]))[0].text == "two"


def test_what_cannot_be_read_says_why(tiny):
    class Partly(tiny.Reader):
        def read(self, view):
            return Reading(torch.tensor([[-1, -1], [1, -1], [-1, -1]]), self.factors, {0: "letter 3", 1: "no size can be told"})

    evaluation = tiny.evaluation(None, readers={"image": Partly("image")})
    cells = view_cells(evaluation, "image", tiny.views["image"][:3])
    assert [cell.reading for cell in cells] == ["unreadable: letter 3", "ellipse size?", "unreadable"]


def test_bad_settings_and_unsuited_sources(tiny):
    with pytest.raises(ConfigError, match="got 0 and 5"):
        Galleries(rows=0)
    even = np.arange(10) % 2 == 0
    source = tiny.Source(tiny.rows(10), present={"text": even, "image": ~even})
    with pytest.raises(NotApplicableError, match="no sample has all modalities"):
        Galleries()(tiny.evaluation(tiny.Oracle(), source=source))
