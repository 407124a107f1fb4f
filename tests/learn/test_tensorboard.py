import socket

import pytest
from molyneux.learn.tensorboard import TensorBoardLog
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from molyneux.core import StoreError


def row(epoch, loss):
    return {"epoch": epoch, "step": 10 * epoch, "train/loss": loss}


def test_what_a_killed_process_wrote_twice_is_read_once(tmp_path):
    log = TensorBoardLog(tmp_path, 0)
    for epoch in (1, 2, 3):
        log(row(epoch, 0.5 * epoch))
    log.close()
    again = TensorBoardLog(tmp_path, 20)  # the last checkpoint was that of epoch 2
    again(row(3, 7.0))
    again.close()
    events = EventAccumulator(str(tmp_path)).Reload()
    assert [(event.step, event.value) for event in events.Scalars("train/loss")] == [(10, 0.5), (20, 1.0), (30, 7.0)]
    assert events.Tags()["scalars"] == ["train/loss"]


def test_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write"):
        TensorBoardLog(tmp_path / "file", 0)


def test_the_name_of_the_machine_is_nowhere(tmp_path):
    log = TensorBoardLog(tmp_path, 0)
    log(row(1, 0.5))
    log.close()
    (path,) = tmp_path.iterdir()
    assert path.name.startswith("events.out.tfevents.")
    assert socket.gethostname() not in path.name
    assert socket.gethostname().encode() not in path.read_bytes()
