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
