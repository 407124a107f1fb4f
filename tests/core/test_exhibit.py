import json

import numpy as np
import pytest

from molyneux.core import Cell, CorruptFileError, Gallery, Scatter, load_exhibits, save_exhibits


def test_round_trip(tmp_path):
    image = np.arange(48, dtype=np.uint8).reshape(3, 4, 4)
    series = np.ones((5, 2), np.float32)
    gallery = Gallery(
        "a/../../x", "t", "n", ("a", "b", "c"), ((Cell(image, "x", "red", True), Cell(None, "heart"), Cell(series)),)
    )
    scatter = Scatter('x">', "t", "n", np.ones((6, 2), np.float32), {"shape": np.arange(6)}, {"shape": tuple("abcdef")})
    save_exhibits(tmp_path, [gallery, scatter])
    assert {path.name for path in tmp_path.iterdir()} == {
        *("exhibits.json", "exhibit0.0.npy", "exhibit0.1.npy", "exhibit1.points.npy", "exhibit1.colours.npy"),
    }
    loaded, points = load_exhibits(tmp_path)
    np.testing.assert_array_equal(loaded.rows[0][0].view, image)
    np.testing.assert_array_equal(loaded.rows[0][2].view, series)
    assert loaded.rows[0][1] == Cell(None, "heart")
    assert loaded.rows[0][0].reading == "red"
    np.testing.assert_array_equal(points.colours["shape"], np.arange(6))
    assert points.values == {"shape": tuple("abcdef")}


def test_names_of_columns_stay_with_a_series(tmp_path):
    rows = ((Cell(np.ones((5, 2), np.float32), channels=("x", "y")), Cell(np.ones((5, 3), np.float32))),)
    save_exhibits(tmp_path, [Gallery("a", "t", "n", ("a", "b"), rows)])
    (loaded,) = load_exhibits(tmp_path)
    assert [cell.channels for cell in loaded.rows[0]] == [("x", "y"), ()]
    index = json.loads((tmp_path / "exhibits.json").read_text())
    first, second = index[0]["rows"][0]
    assert "channels" not in second  # as in earlier records
    first["channels"].append("z")
    (tmp_path / "exhibits.json").write_text(json.dumps(index))
    assert load_exhibits(tmp_path)[0].rows[0][0].channels == ()


def test_absent_and_damaged(tmp_path):
    assert load_exhibits(tmp_path) == []
    (tmp_path / "exhibits.json").write_text('[{"type": "song"}]')
    with pytest.raises(CorruptFileError, match="damaged"):
        load_exhibits(tmp_path)
