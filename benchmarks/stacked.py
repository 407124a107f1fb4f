"""Several small trainings at once, their weights stacked, beside the same trainings one after the other.

    python benchmarks/stacked.py [--quick] [--out FOLDER]

MVAEs of two tables of 32 numbers with dense nets, batches of 64, 32 bits, one thread, trained by `fit_stacked` and by `fit`; they
differ in weights and seeds. The two take turns, an epoch each counts, and the first one, in which everything is begun, does not.
Operations are those that reach the kernels in a step and compute something: on an accelerator each is a launch, or several.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import torch
from record import Record, options
from torch.utils._python_dispatch import TorchDispatchMode

from molyneux.core import Batch, History, Modality, Spec
from molyneux.core.history import Row
from molyneux.data import ArraySource
from molyneux.learn import MVAE, StackMember, Training, fit, fit_stacked
from molyneux.learn.encoders.nets import Dense

WHAT = (
    "Trainings of MVAEs with dense nets on two tables of 32 numbers, batches of 64, 32 bits, one thread: processor time of a "
    "step of all members, stacked and one after the other, and the operations that compute something in it"
)
WITHOUT_WORK = frozenset(
    (
        *("_reshape_alias", "_unsafe_view", "alias", "as_strided", "detach", "detach_", "empty", "empty_like", "empty_strided"),
        *("expand", "is_nonzero", "item", "_local_scalar_dense", "lift_fresh", "narrow", "new_empty", "permute", "reshape"),
        *(
            "result_type",
            "select",
            "set_",
            "slice",
            "split",
            "squeeze",
            "stride",
            "t",
            "transpose",
            "unbind",
            "unsqueeze",
            "view",
        ),
    )
)
"""Operations that change how numbers are seen, or get memory for them."""
NAMES, NUMBERS, BATCH = ("left", "right"), 32, 64


class Operations(TorchDispatchMode):
    """Counts the operations that reach the kernels of the device and compute something."""

    count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Count one, and call it."""
        self.count += func.overloadpacket.__name__ not in WITHOUT_WORK
        return func(*args, **(kwargs or {}))


class Clock:
    """Takes the processor time of each epoch."""

    def __init__(self) -> None:
        self.took: list[float] = []
        self.now = time.process_time()

    def step(self, done: int, total: int, samples_per_second: float, seconds_left: float) -> None:
        """Nothing."""

    def epoch(self, row: Row) -> None:
        """The time since the last epoch."""
        before, self.now = self.now, time.process_time()
        self.took.append(self.now - before)


def stacked(members: Sequence[StackMember]) -> None:
    """Train all members at once."""
    fit_stacked(members)


def in_turn(members: Sequence[StackMember]) -> None:
    """Train one member after the other."""
    for item in members:
        found: History = fit(item.model, item.train, None, item.training, seed=item.seed, progress=item.progress)
        assert found.rows


def made(source: ArraySource, width: int, count: int, epochs: int) -> tuple[list[StackMember], list[Clock]]:
    """Trainings with weights and seeds of their own, and the clock of each."""
    training = Training(epochs=epochs, batch_size=BATCH, precision="32", device="cpu", threads=1, tensorboard=False)
    members, clocks = [], [Clock() for _ in range(count)]
    for seed, clock in enumerate(clocks):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            model = MVAE(source.spec, latent_dim=8, nets=dict.fromkeys(NAMES, Dense(width)))
        members.append(StackMember(model, source, None, training, seed=seed, progress=clock))
    return members, clocks


def milliseconds(
    train: Callable[[Sequence[StackMember]], None], source: ArraySource, width: int, count: int, epochs: int
) -> float:
    """Processor time of a step of all members."""
    members, clocks = made(source, width, count, epochs)
    train(members)
    steps = len(source) // BATCH
    if train is stacked:  # an epoch of the first member is one of all
        return 1000 * median(clocks[0].took[1:]) / steps
    return 1000 * sum(median(clock.took[1:]) for clock in clocks) / steps


def operations(train: Callable[[Sequence[StackMember]], None], source: ArraySource, width: int, count: int) -> float:
    """Operations of a step of all members: what an epoch more needs."""
    found = []
    for epochs in (1, 2):
        members, _ = made(source, width, count, epochs)
        with Operations() as seen:
            train(members)
        found.append(seen.count)
    return (found[1] - found[0]) / (len(source) // BATCH)


def main() -> None:
    arguments = options(__doc__ or "").parse_args()
    record = Record("stacked", WHAT, arguments.out)
    size, epochs, rounds = (128, 2, 1) if arguments.quick else (2560, 4, 3)
    spec = Spec(tuple(Modality(name, "tabular", (NUMBERS,)) for name in NAMES))
    random = torch.Generator().manual_seed(0)
    views = {name: torch.randn(size, NUMBERS, generator=random) for name in NAMES}
    source = ArraySource(spec, Batch(views))
    few = ArraySource(spec, Batch(views)[: 2 * BATCH])
    for width in (16,) if arguments.quick else (64, 512):
        for count in (2,) if arguments.quick else (1, 4, 16):
            took: dict[str, list[float]] = {"stacked": [], "in turn": []}
            for _ in range(rounds):
                took["stacked"].append(milliseconds(stacked, source, width, count, epochs))
                took["in turn"].append(milliseconds(in_turn, source, width, count, epochs))
            together, alone = median(took["stacked"]), median(took["in turn"])
            record.add(
                {
                    "width": width,
                    "members": count,
                    "stacked, ms": together,
                    "one after the other, ms": alone,
                    "times as fast": alone / together,
                    "operations, stacked": round(operations(stacked, few, width, count)),
                    "one after the other": round(operations(in_turn, few, width, count)),
                }
            )
    record.write()


if __name__ == "__main__":
    main()
