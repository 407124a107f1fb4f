import math

import pytest

from molyneux.core import CorruptFileError, History, StoreError

ROWS = ({"epoch": 1, "step": 5, "validation/loss": 2.0}, {"epoch": 2, "step": 9, "validation/loss": 1.0, "train/kl": 0.1})


def test_csv_round_trip(tmp_path):
    history = History(ROWS)
    history.write_csv(tmp_path / "history.csv")
    assert History.read_csv(tmp_path / "history.csv") == history
    assert (tmp_path / "history.csv").read_text().splitlines()[1] == "1,5,2.0,"


def test_best_is_the_earlier_of_two():
    history = History(ROWS) + {"epoch": 3, "step": 12, "validation/loss": 1.0}
    assert (history.best_epoch, history.epochs, history.steps) == (2, 3, 12)
    assert [history.out_of_patience(patience) for patience in (None, 1, 2)] == [False, True, False]


def test_nothing_validated_means_last():
    history = History(({"epoch": 1, "step": 1}, {"epoch": 2, "step": 2}))
    assert history.best_epoch == 2
    assert not history.out_of_patience(1)


def test_bad_files(tmp_path):
    with pytest.raises(StoreError, match="not there"):
        History.read_csv(tmp_path / "history.csv")
    (tmp_path / "history.csv").write_text("epoch,step\nx,1\n")
    with pytest.raises(CorruptFileError, match="damaged"):
        History.read_csv(tmp_path / "history.csv")


def test_gaps_and_no_rows(tmp_path):
    path = tmp_path / "history.csv"
    path.write_text("epoch,validation/loss\n1,\n2,3.5\n")
    losses = History.read_csv(path).columns()["validation/loss"]
    assert math.isnan(losses[0])
    assert losses[1] == 3.5
    for empty in ("epoch,validation/loss\n", ""):
        path.write_text(empty)
        assert History.read_csv(path).columns() == {}


def test_rows_since():
    history = History(ROWS)
    assert history.since(1).rows == ROWS[1:]
    assert history.since(1).best_epoch == 1
    assert history.since(2) == History()


def test_seconds_of_what_is_fitted_afterwards_stand_in_the_last_row():
    history = History(({"epoch": 1, "step": 2, "seconds": 3.0}, {"epoch": 2, "step": 4, "seconds": 6.0}))
    assert history.prolonged(1.5).columns()["seconds"] == (3.0, 7.5)
    assert history.columns()["seconds"] == (3.0, 6.0)
    assert History().prolonged(1.0) == History()
