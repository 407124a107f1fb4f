"""Writes checkpoints in processes that are killed at every event of the file system, and prints what each left behind as JSON."""

import json
import os
import signal
import sys
from pathlib import Path

import torch
from torch import nn

from molyneux.learn.training.checkpoints import Checkpoints, State
from molyneux.run.run.stored import opened

EVENTS = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree")
SETTINGS = {"seed": 1}


def model(value: float) -> nn.Module:
    """A model whose weights tell which checkpoint they are of."""
    made = nn.Linear(2, 2)
    nn.init.constant_(made.weight, value)
    return made


def save(folder: Path, step: int) -> None:
    """A checkpoint after so many steps."""
    made = model(step)
    Checkpoints(folder, SETTINGS).save(made, torch.optim.Adam(made.parameters()), State(step=step, best=made.state_dict()))


def killed(folder: Path, number: int) -> bool:
    """Write the second checkpoint in a process that is killed at this event; whether there was one."""
    child = os.fork()
    if not child:
        seen = 0

        def count(event: str, given: tuple[object, ...]) -> None:
            nonlocal seen
            if event in EVENTS and str(folder) in str(given[0] if given else ""):
                seen += 1
                if seen == number:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        save(folder, 2)
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def left(run: Path) -> dict[str, object]:
    """What a folder holds, before and after it is opened, and which checkpoint a training goes on from."""
    folder = run / "model" / "checkpoints"
    before = sorted(path.name for path in folder.iterdir())
    with opened(run):
        resumed = model(0.0)
        state = Checkpoints(folder, SETTINGS).resume(resumed)
    after = sorted(path.name for path in folder.iterdir())
    parts = [path for path in run.rglob("*") if path.name.endswith(".part")]
    weight = resumed.weight[0, 0].item()
    return {"before": before, "after": after, "parts": len(parts), "step": state and state.step, "weight": weight}


def main(top: Path) -> None:
    """One line for each event."""
    torch.set_num_threads(1)
    for number in range(1, 1_000):
        run = top / str(number)
        save(run / "model" / "checkpoints", 1)
        going = killed(run / "model" / "checkpoints", number)
        print(json.dumps(left(run)), flush=True)
        if not going:
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]))
