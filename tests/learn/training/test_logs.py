import importlib.util
import os
import socket
import sys
from types import SimpleNamespace
from urllib.parse import urlparse

import pytest

from molyneux.core import ConfigError, History, StoreError
from molyneux.learn import Training, fit
from molyneux.learn.training.logs import Logs, require_packages

accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
BOTH = {"tensorboard": True, "mlflow": importlib.util.find_spec("mlflow") is not None}


def history(*losses):
    rows = [
        {"epoch": i, "step": 10 * i, "seconds": float(i), "train/loss": loss, 'train/error.a/b">..': loss}
        for i, loss in enumerate(losses, 1)
    ]
    return History(tuple(rows))


def log(folder, before, *rows, training=None):
    logs = Logs(training or Training(**BOTH), folder, before)
    for row in rows:
        logs.add(row)
    logs.close()


def tensorboard(folder):
    events = accumulator.EventAccumulator(str(folder / "tensorboard")).Reload()
    return {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def mlflow(folder):
    """Every run of the store in the folder: its metrics, as MLflow's own library reads them."""
    client = pytest.importorskip("mlflow").MlflowClient((folder / "mlflow").as_uri())
    (experiment,) = [found for found in client.search_experiments() if found.name == "molyneux"]
    (run,) = client.search_runs([experiment.experiment_id])
    names = run.data.metrics
    return {name: [(item.step, item.value) for item in client.get_metric_history(run.info.run_id, name)] for name in names}


@pytest.fixture(autouse=True)
def no_traces(monkeypatch):
    """MLflow keeps the address of its server in the environment."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setattr(os, "environ", os.environ.copy())


def test_what_a_killed_process_logged_is_read_once(tmp_path):
    losses = history(0.5, 1.0, 1.5)
    log(tmp_path, History(), *losses.rows)
    log(
        tmp_path, History(losses.rows[:2]), losses.rows[2], *history(0.5, 1.0, 1.5, 2.0).rows[3:]
    )  # from the checkpoint of epoch 2
    expected = [(10, 0.5), (20, 1.0), (30, 1.5), (40, 2.0)]
    found = tensorboard(tmp_path)
    assert found.keys() == {"seconds", "train/loss", 'train/error.a/b">..'}
    assert found["train/loss"] == found['train/error.a/b">..'] == expected
    if BOTH["mlflow"]:
        assert mlflow(tmp_path)["train/loss"] == expected
        assert set(mlflow(tmp_path)) == {"seconds", "train/loss", "train/error.a_2f_b_22__3e_._2e_"}


def test_what_was_logged_before_the_first_checkpoint_is_read_once(tmp_path):
    losses = history(0.5, 1.0, 1.5)
    log(tmp_path, History(), *losses.rows[:2])
    log(tmp_path, History(), *losses.rows)  # from the start
    assert tensorboard(tmp_path)["train/loss"] == [(10, 0.5), (20, 1.0), (30, 1.5)]


def test_a_log_that_begins_later_gets_all_rows(tmp_path):
    pytest.importorskip("mlflow")
    log(tmp_path, history(0.5, 1.0), training=Training(tensorboard=False, mlflow=True))
    assert mlflow(tmp_path)["train/loss"] == [(10, 0.5), (20, 1.0)]


def test_the_name_of_the_machine_is_nowhere(tmp_path):
    log(tmp_path, History(), *history(0.5).rows)
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert socket.gethostname() not in path.name
        assert socket.gethostname().encode() not in path.read_bytes()


def test_folder_that_cannot_be(tmp_path):
    (tmp_path / "tensorboard").write_text("")
    with pytest.raises(StoreError, match="cannot write"):
        Logs(Training(), tmp_path, History())


def test_address_that_mlflow_does_not_know(tmp_path):
    pytest.importorskip("mlflow")
    with pytest.raises(StoreError, match="cannot log to MLflow at nonsense://x"):
        Logs(Training(tensorboard=False, mlflow="nonsense://x"), tmp_path, History())
    assert urlparse((tmp_path / "mlflow").as_uri()).scheme == "file"


def test_package_that_is_not_installed(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"wandb: expected the package wandb, .*: pip install wandb") as caught:
        require_packages(Training(mlflow=True, wandb="my project"))
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["tensorboard", "mlflow", "wandb"]
    assert "pip install mlflow-skinny" in caught.value.problems[1]


def test_weights_and_biases_gets_every_row_once(tmp_path, monkeypatch):
    """With a module in place of wandb, which needs an account."""
    made = []

    class Run:
        def __init__(self, **settings):
            self.settings, self.rows, self.finished = settings, [], False
            made.append(self)

        def log(self, values, step):
            self.rows.append((step, values["train/loss"]))

        def finish(self):
            self.finished = True

    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=Run))
    training, losses = Training(tensorboard=False, wandb="mine"), history(0.5, 1.0)
    log(tmp_path, History(), *losses.rows, training=training)
    log(tmp_path, History(losses.rows[:1]), *losses.rows[1:], *history(0.5, 1.0, 2.0).rows[2:], training=training)
    assert [fake.rows for fake in made] == [[(10, 0.5), (20, 1.0)], [(30, 2.0)]]
    assert made[0].settings == made[1].settings
    assert all(run.finished for run in made)
    assert (made[0].settings["project"], made[0].settings["resume"]) == ("mine", "allow")


def test_a_training_fills_both(make_model, source, validation, tmp_path):
    training = Training(epochs=2, batch_size=16, **BOTH)
    rows = fit(make_model(), source, validation, training, tmp_path, seed=0).rows
    for read in (tensorboard, *([mlflow] if BOTH["mlflow"] else [])):
        found = read(tmp_path)
        assert set(found) == set(rows[0]) - {"epoch", "step"}
        assert found["validation/loss"] == [(row["step"], pytest.approx(row["validation/loss"], rel=1e-6)) for row in rows]


def test_a_resumed_training_goes_on_in_the_same_mlflow_run(make_model, source, validation, tmp_path):
    pytest.importorskip("mlflow")

    class Stops:
        def step(self, done, total, samples_per_second, seconds_left):
            pass

        def epoch(self, row):
            if row["epoch"] == 2:
                raise KeyboardInterrupt

    training = Training(epochs=4, batch_size=16, tensorboard=False, mlflow=True, checkpoint_seconds=0.0)
    with pytest.raises(KeyboardInterrupt):
        fit(make_model(), source, validation, training, tmp_path, seed=0, progress=Stops())
    rows = fit(make_model(), source, validation, training, tmp_path, seed=0).rows
    assert mlflow(tmp_path)["train/loss"] == [(row["step"], pytest.approx(row["train/loss"], rel=1e-6)) for row in rows]
