"""Several processes of one training: each computes the loss of its part of every batch, and torch averages their gradients.

`fit` begins the others and is the first of them itself. Only the first writes. The others end with it, however it ends.
"""

from __future__ import annotations

import contextlib
import inspect
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import threading
import traceback
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from molyneux.core import Batch, ConfigError, Loss, MolyneuxError, Progress, TrainingError
from molyneux.core.tooling.classes import working_folder_importable
from molyneux.learn.training.batches import Positions
from molyneux.learn.training.shared_draws import Share

__all__ = ["ALONE", "Group", "Processes", "process_count", "several"]

Processes = int | Literal["auto"]
"""How many processes train together; `auto`: one for each CUDA device, and one on a processor."""

_MOST = 1024
_TERMS = 64
"""Numbers of a message about the terms of a loss: as many in all processes, whatever terms each of them has."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_LAST_SECONDS = 10.0
"""How long a process may take to say why it ended."""

Work = Callable[["Group"], None]
"""What every process of a training does."""


def process_count(processes: Processes, device: str) -> int:
    """How many processes are asked for on a device of this type.

    Raises:
        ConfigError: it is no number, or there are fewer CUDA devices.
    """
    here = torch.cuda.device_count() if device == "cuda" else 1
    if processes == "auto":
        return here
    if type(processes) is not int or not 1 <= processes <= _MOST:
        raise ConfigError(f"processes: expected a number from 1 to {_MOST:,}, or auto, got {processes!r}")
    if device == "cuda" and processes > here:
        raise ConfigError(
            f"processes: expected at most {here}, the CUDA devices of this machine, got {processes}: each trains on one"
        )
    if device == "mps" and processes > 1:
        raise ConfigError(f"processes: expected 1 on MPS, which has one device, got {processes}: set device to cpu")
    return processes


@dataclass(frozen=True)
class Group:
    """The processes of one training.

    Args:
        rank: number of this process; the first writes.
        size: how many there are.
    """

    rank: int = 0
    size: int = 1

    @property
    def first(self) -> bool:
        """Whether this process writes."""
        return self.rank == 0

    def part(self, positions: Positions, together: int) -> Positions:
        """What this process reads of a batch, the same number of sets of samples as the others or one more or less.

        Args:
            positions: of the whole batch.
            together: samples of a set, which stays together.
        """
        size = len(positions.indices)
        sets = -(-size // together)
        start, stop = (min(size, sets * rank // self.size * together) for rank in (self.rank, self.rank + 1))
        return positions._replace(indices=positions.indices[start:stop], share=Share(start, stop - start, size))

    def parts(self, order: Iterable[Positions], together: int) -> Iterable[Positions]:
        """What this process reads of batches, without those of which it has no samples; one process reads all."""
        if self.size == 1:
            return order
        return (part for part in (self.part(positions, together) for positions in order) if part.share and part.share.length)

    def mean(self, names: tuple[str, ...], values: Tensor, weight: float) -> Tensor:
        """The means of terms (T,) over all processes, each with its weight.

        Raises:
            TrainingError: the processes have other terms.
        """
        if self.size == 1:
            return values
        spelled = float(zlib.crc32("\x1f".join(names).encode()) % 2**20 + 1)
        message = values.new_zeros(_TERMS * (1 + (len(names) + 2) // _TERMS))
        message[: len(names) + 2] = torch.cat([values.new_tensor([spelled, spelled**2]), values * weight])
        distributed.all_reduce(message)
        total, squares = message[:2].tolist()
        if self.size * squares != total**2:
            raise TrainingError(
                f"expected the same terms of the loss in all parts of a batch, got {', '.join(names)} in one and others in "
                "another: train with one process"
            )
        return message[2 : len(names) + 2]

    def gathered(self, record: Any) -> list[Any]:
        """A plain record of each process, in their order."""
        if self.size == 1:
            return [record]
        found: list[Any] = [None] * self.size
        distributed.all_gather_object(found, record)
        return found


ALONE = Group()
"""One process that has all of every batch."""


class SharedLoss(nn.Module):
    """The loss of a model as the forward pass of a module, as `DistributedDataParallel` needs it."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.found: Loss | None = None
        # Without any parameter that a loss does not reach, torch prints that it has looked for some in vain.
        self.never_reached = nn.Parameter(torch.zeros(1, device=next(model.parameters()).device))

    def forward(self, batch: Batch, progress: Progress, generator: torch.Generator) -> Tensor:
        """The total of the loss; the terms are in `found`."""
        self.found = self.model.loss(batch, progress, generator)  # type: ignore[operator]
        return self.found.total


def averaging(model: nn.Module) -> DistributedDataParallel:
    """A loss whose backward pass leaves the mean of the gradients of all processes in the parameters that train.

    Parameters that the loss of a step does not reach in any process have no gradient, as with one process.
    """
    known = inspect.signature(DistributedDataParallel.__init__).parameters
    buffers = "forward_sync_buffers" if "forward_sync_buffers" in known else "broadcast_buffers"  # before torch 2.13
    settings: dict[str, Any] = {buffers: False}
    return DistributedDataParallel(SharedLoss(model), find_unused_parameters=True, **settings)


@contextlib.contextmanager
def several(work: Work, count: int, device: str) -> Iterator[Group]:
    """The group of so many processes, of which this is the first; the others do `work` meanwhile.

    Args:
        work: for the others; it is sent to them as a pickle.
        count: how many there are with this one.
        device: `cpu` or `cuda`, of which each process uses the one of its number.

    Raises:
        ConfigError: the model or the samples cannot be sent to another process. Errors of the other processes are raised here.
        TrainingError: one of them ended without saying why.
    """
    if count == 1:
        yield ALONE
        return
    if distributed.is_initialized():
        raise ConfigError(
            "processes: expected a process that is in no group of torch.distributed, got one in a group: destroy it"
        )
    try:
        sent = pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ConfigError(
            "processes: expected a model and samples that can be sent to another process, got some that cannot be pickled "
            f"({error}): define their classes and functions at the top of a module, or train with one process"
        ) from error
    with tempfile.TemporaryDirectory() as folder:
        meeting = str(Path(folder) / "meeting")
        others = [_Other(sent, rank, count, device, meeting) for rank in range(1, count)]
        try:
            for other in others:
                other.wait()
            with _member(0, count, device, meeting):
                yield Group(0, count)
        except BaseException as error:
            if isinstance(error, Exception) and (cause := _cause(others, error)) is not None:
                raise cause from None
            raise
        finally:
            for other in others:
                other.end()


class _Other:
    """Another process, as the first one sees it."""

    def __init__(self, sent: bytes, rank: int, count: int, device: str, meeting: str) -> None:
        context = multiprocessing.get_context("spawn")
        self._here, there = context.Pipe()
        self._process = context.Process(
            target=_help,
            args=(sent, _has_own_modules(), rank, count, device, meeting, there),
            name=f"training-{rank}",
            daemon=True,
        )
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # inherited: Ctrl-C does not reach it while it begins, either
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        there.close()

    def wait(self) -> None:
        """Until it is ready. Raises what it raised."""
        found = self._received(None)
        if isinstance(found, BaseException):
            raise found

    def error(self, seconds: float) -> BaseException | None:
        """What it raised; None if it said nothing in so many seconds."""
        found = self._received(seconds)
        return found if isinstance(found, BaseException) else None

    def end(self) -> None:
        """End it, however far it is."""
        self._here.close()
        self._process.join(_LAST_SECONDS)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    def _received(self, seconds: float | None) -> Any:
        try:
            return self._here.recv() if seconds is None or self._here.poll(seconds) else None
        except (EOFError, OSError):
            self._process.join(_LAST_SECONDS)
            return TrainingError(
                f"a process of the training ended with status {self._process.exitcode}, and did not say why (-9: it was killed, "
                "perhaps since memory ran out): start it again, and it goes on from the last checkpoint"
            )


def _cause(others: list[_Other], error: Exception) -> BaseException | None:
    """Why another process ended, where that ended this one; an error of this one's own comes first."""
    if not _lost(error):
        return None
    found = [cause for other in others if (cause := other.error(_LAST_SECONDS / len(others))) is not None]
    return next(iter(sorted(found, key=lambda cause: (_lost(cause), not isinstance(cause, MolyneuxError)))), None)


def _lost(error: BaseException) -> bool:
    """Whether it says that another process is gone."""
    return isinstance(error, distributed.DistError) or (isinstance(error, RuntimeError) and "gloo" in str(error))


def _has_own_modules() -> bool:
    """Whether a module of the working folder was imported, such as one with the user's classes."""
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    return Path.cwd() in {Path(file).parent for file in files if file is not None}


def _help(sent: bytes, own: bool, rank: int, count: int, device: str, meeting: str, there: Connection) -> None:
    """What another process does: its work, until that or the first process ends."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # the first process writes a checkpoint and ends this one
    threading.Thread(target=_end_with, args=(there,), daemon=True).start()
    status = 1
    try:
        with working_folder_importable() if own else contextlib.nullcontext():
            work: Work = pickle.loads(sent)  # of the process that began this one
        there.send("ready")
        with _member(rank, count, device, meeting):
            work(Group(rank, count))
        status = 0
    except BaseException as error:  # the first process raises it
        with contextlib.suppress(OSError):
            there.send(_sendable(error))
    os._exit(status)


def _end_with(there: Connection) -> None:
    """End this process when the first one closes its end of the pipe, or ends."""
    with contextlib.suppress(EOFError, OSError):
        there.recv()
    os._exit(1)


def _sendable(error: BaseException) -> BaseException:
    try:
        pickle.loads(pickle.dumps(error))  # of this process
    except Exception:  # an error may have any arguments
        return TrainingError(f"a process of the training failed: {''.join(traceback.format_exception(error)).strip()}")
    return error


@contextlib.contextmanager
def _member(rank: int, count: int, device: str, meeting: str) -> Iterator[None]:
    """This process as one of a group of torch.distributed; on CUDA, its device is the one of its number."""
    before = torch.cuda.current_device() if device == "cuda" else None
    if device == "cuda":
        torch.cuda.set_device(rank)
    store = distributed.FileStore(meeting, count)  # type: ignore[attr-defined]
    interface = os.environ.get("GLOO_SOCKET_IFNAME")
    try:
        if interface is None and Path("/sys/class/net/lo").exists():
            os.environ["GLOO_SOCKET_IFNAME"] = "lo"  # all processes are on this machine, whose name may not be known
        distributed.init_process_group("nccl" if device == "cuda" else "gloo", store=store, rank=rank, world_size=count)
    finally:
        if interface is None:
            os.environ.pop("GLOO_SOCKET_IFNAME", None)
    try:
        yield
    finally:
        distributed.destroy_process_group()
        if before is not None:
            torch.cuda.set_device(before)
