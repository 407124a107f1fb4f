import numpy as np

from molyneux.core import Cell, Gallery
from molyneux.report.page import draw_galleries


def gallery(rows: int, name: str = "cross") -> Gallery:
    rng = np.random.default_rng(0)
    cells = tuple((Cell(rng.integers(0, 256, (3, 32, 32), dtype=np.uint8)),) for _ in range(rows))
    return Gallery(name, "Title", "Note.", ("image",), cells)


def test_views_become_pictures_contours_and_words(made):
    rng = np.random.default_rng(0)
    cells = (
        Cell(made.picture(rng, 0, 0, 0)),
        Cell(made.contour(rng)),
        Cell(text="big heart", reading="big heart", correct=False),
    )
    (drawn,) = draw_galleries([Gallery("g", "G", "", ("a", "b", "c"), (cells,))])
    picture, series, text = drawn.rows[0]
    assert picture.uri.startswith("data:image/png;base64,")
    assert series.svg.startswith("<svg")
    assert (text.text, text.verdict, text.size) == ("big heart", "wrong", 0)
    assert not drawn.dense
    assert not drawn.text_only


def test_small_galleries_are_whole_and_large_ones_say_that_they_are_cut():
    (whole,) = draw_galleries([gallery(5)])
    assert (len(whole.rows), whole.note) == (5, "Note.")
    size = whole.rows[0][0].size
    (cut,) = draw_galleries([gallery(5)], budget=int(2.5 * size))
    assert (len(cut.rows), cut.note) == (2, "Note. The first 2 of 5 rows.")


def test_every_gallery_keeps_a_row_and_the_budget_is_shared():
    size = draw_galleries([gallery(1)])[0].rows[0][0].size
    first, second = draw_galleries([gallery(1, "a"), gallery(9, "b")], budget=int(6.5 * size))
    assert (len(first.rows), len(second.rows)) == (1, 5)
    assert [len(drawn.rows) for drawn in draw_galleries([gallery(3), gallery(3)], budget=0)] == [1, 1]


def test_text_alone_is_a_table():
    (drawn,) = draw_galleries(
        [Gallery("confusion", "C", "", ("asked for", "read"), ((Cell(text="a"), Cell(text="b", correct=True)),))]
    )
    assert drawn.text_only
