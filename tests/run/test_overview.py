"""How far a run is, read from its folder: while it runs, where it stopped, and when it is done."""

import pytest

from molyneux.core import CorruptFileError, History, StoreError, store
from molyneux.run import overview, shipped_folder
from molyneux.run.run.stored import write_settings

SETTINGS = {
    "seed": 3,
    "data": {"world": {"class_path": "molyneux.data.CdSprites", "init_args": {"level": 2}}},
    "learn": {"model": {"class_path": "molyneux.learn.MVAE", "init_args": {"latent_dim": 8}}},
}


def test_a_run_that_is_not_finished(tmp_path):
    write_settings(tmp_path, SETTINGS)
    found = overview(tmp_path)
    assert (found.model, found.data, found.done) == ("MVAE", "CdSprites level 2", ())
    assert found.state == "stopped before its samples"
    (tmp_path / "samples").mkdir()
    (tmp_path / "samples" / "stage.json").write_text("{}")
    (tmp_path / "model").mkdir()
    History(({"epoch": 1, "step": 250, "validation/loss": 3.0},)).write_csv(tmp_path / "model" / "history.csv")
    found = overview(tmp_path)
    assert found.state == "stopped in training, 250 steps"
    with store.locked(tmp_path):
        assert overview(tmp_path).running
        assert overview(tmp_path).state == "running: training, 250 steps"
    assert not overview(tmp_path).running


def test_looking_at_a_run_does_not_stop_it_from_starting(tmp_path):
    write_settings(tmp_path, SETTINGS)
    with store.locked(tmp_path):
        pass
    overview(tmp_path)
    with store.locked(tmp_path):
        pass


def test_a_half_written_history_is_none(tmp_path):
    write_settings(tmp_path, SETTINGS)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "history.csv").write_text("epoch,step\n1,")
    assert overview(tmp_path).history.epochs in (0, 1)
    (tmp_path / "model" / "history.csv").write_text("epoch,step\nx")
    assert overview(tmp_path).history.epochs == 0


def test_a_shipped_model_and_what_it_differs_in(tmp_path):
    found = overview(shipped_folder("gebid-level5"))
    assert (found.model, found.data, found.state) == ("DMVAE", "GeBiD level 5", "done, an export")
    assert found.history.epochs > 1
    write_settings(tmp_path, SETTINGS)
    differences = found.differences(overview(tmp_path))
    assert differences["seed"] == (1, 3)
    assert differences["learn.model.class_path"][1] == "molyneux.learn.MVAE"
    assert found.differences(found) == {}


def test_folders_that_are_no_runs(tmp_path):
    with pytest.raises(StoreError, match="folder of a run"):
        overview(tmp_path)
    write_settings(tmp_path, SETTINGS)
    (tmp_path / "config.yaml").write_text("seed: 4\n")
    with pytest.raises(CorruptFileError):
        overview(tmp_path)


@pytest.mark.parametrize("part", ["a text", [1], None, {"model": 3, "world": {"class_path": [1], "init_args": "a text"}}])
def test_settings_and_a_history_of_somebody_else(tmp_path, part):
    write_settings(tmp_path, {"seed": None, "data": part, "learn": part})
    (tmp_path / "samples").mkdir()
    (tmp_path / "samples" / "stage.json").write_text("{}")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "history.csv").write_text("epoch,validation/loss\n1,0.5\n")
    found = overview(tmp_path)
    assert (found.model, found.history.rows) == ("", ())
    assert found.state == "stopped before its training"
