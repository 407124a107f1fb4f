"""The fit after training (`core.PostFit`) that goes on where it was stopped, and whose time is counted once."""

from __future__ import annotations

import contextlib
import inspect
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from torch import Tensor, nn

from molyneux.core import ConfigError, CorruptFileError, PostFit, Source, store
from molyneux.learn.files import load_tensors, save_tensors, tensors_digest
from molyneux.learn.training.fit_progress import FitProgress, ProgressClock
from molyneux.learn.training.hardware import device_after, on_device
from molyneux.learn.training.interruptions import Interruptions
from molyneux.learn.training.settings import Training

__all__ = ["FitsInPrecision", "KeptFit", "post_fit", "post_fit_note", "post_fit_precision", "require_post_fit"]

_STATE, _MARK = "post-fit.safetensors", "post-fit.json"


@runtime_checkable
class FitsInPrecision(Protocol):
    """A model whose fit after training may be in bf16."""

    def post_fit_precision(self, device: str) -> tuple[str, str] | None:
        """What is asked for (`32`, `bf16` or `auto`) and what a device of this type uses (`32` or `bf16`); None without a fit."""
        ...


def post_fit(
    model: nn.Module, source: Source, folder: Path, training: Training, *, seed: int, progress: FitProgress | None = None
) -> float:
    """Do the step after training of a model, or go on where an earlier call with the same folder stopped.

    The model is on the device of the training meanwhile, and on the CPU where that is MPS, which lacks the double precision that
    fits compute in.

    Args:
        model: satisfies `core.PostFit`, and has the weights that the training ended with.
        source: the training samples.
        folder: of the checkpoints of the training.
        training: its settings; `checkpoint_seconds` lie between two writings of the state of a long fit (`core.FitStore`).
        seed: of all randomness.
        progress: receives the progress of such a fit.

    Returns:
        The seconds that the step took, in all calls until it was complete. A call that only does it again does not count.

    Raises:
        CorruptFileError: the state of a fit was truncated or altered. StoreError: `folder` cannot be written.
    """
    assert isinstance(model, PostFit)
    kept = KeptFit(folder / _STATE, training.checkpoint_seconds, progress)
    with on_device(model, device_after(training)), contextlib.closing(kept):
        model.post_fit(source, seed=seed, kept=kept)
    weights, seconds = tensors_digest(model.state_dict()), kept.seconds()
    known = store.read_json(folder / _MARK) if store.is_file(folder / _MARK) else None
    if isinstance(known, dict) and known.get("weights") == weights and isinstance(known.get("seconds"), float):
        return known["seconds"]  # type: ignore[no-any-return]
    store.write_json(folder / _MARK, {"weights": weights, "seconds": seconds})
    return seconds


def post_fit_precision(model: nn.Module, training: Training) -> str | None:
    """In which arithmetic the fit after a training here is made, `32` or `bf16`; None where a model does not say."""
    found = _arithmetic(model, training)
    return None if found is None else found[1]


def post_fit_note(model: nn.Module, training: Training) -> str:
    """What to tell where the fit after training is asked for in bf16 and made in 32 bits, in one line; else empty."""
    if _arithmetic(model, training) != ("bf16", "32"):
        return ""
    return (
        f"precision of the fit after training: bf16 is asked for, and this device ({device_after(training)}) has no bf16 "
        f"arithmetic: {type(model).__name__} is fitted in 32 bits, in which steps take up to about twice as long as in bf16 "
        "elsewhere"
    )


def _arithmetic(model: nn.Module, training: Training) -> tuple[str, str] | None:
    """What is asked for, and what is used on the device of the fit."""
    return model.post_fit_precision(device_after(training)) if isinstance(model, FitsInPrecision) else None


def require_post_fit(model: nn.Module) -> None:
    """Raise ConfigError if the step after training of a model, where it has one, cannot be called; before hours of training."""
    if isinstance(model, PostFit):
        signature = inspect.signature(model.post_fit)
        try:
            signature.bind(None, seed=0, kept=None)
        except TypeError as error:
            name = f"{type(model).__name__}.post_fit"
            raise ConfigError(f"{name}: expected the arguments (source, *, seed, kept=None), got {signature}") from error


class KeptFit:
    """A `core.FitStore` in one file. From the first `keep` on, Ctrl-C and SIGTERM take effect once the state is written.

    Args:
        path: of the file.
        every: seconds between two writings.
        progress: receives the progress.
    """

    def __init__(self, path: Path, every: float, progress: FitProgress | None = None) -> None:
        self._path, self._every, self._progress = path, every, progress
        self._began = self._saved = time.perf_counter()
        self._before = 0.0
        self._settings = ""
        self._clock: ProgressClock | None = None
        self._interruptions: Interruptions | None = None

    def close(self) -> None:
        """Signals take effect as before."""
        if self._interruptions is not None:
            interruptions, self._interruptions = self._interruptions, None
            interruptions.__exit__(None)

    def seconds(self) -> float:
        """Of this fit, so far, in earlier calls too."""
        return self._before + time.perf_counter() - self._began

    def state(self, settings: Mapping[str, Any]) -> Mapping[str, Tensor]:
        """See `core.FitStore`."""
        self._settings = store.fingerprint(dict(settings))
        if not self._path.exists():
            return {}
        tensors, record = load_tensors(self._path)
        try:
            before, made_by = float(record["seconds"]), record["settings"]
        except (KeyError, ValueError) as error:
            raise CorruptFileError(f"{self._path} is no state of a fit ({error!r}): delete it to fit again") from error
        if made_by != self._settings:
            return {}
        self._before = before
        return tensors

    def keep(self, done: int, total: int, samples: int, state: Callable[[], Mapping[str, Tensor]]) -> None:
        """See `core.FitStore`."""
        self._clock = self._clock or ProgressClock(self._progress, done - 1, total, samples)
        self._clock.tell(done)
        if self._interruptions is None:
            self._interruptions = Interruptions().__enter__()
        if done == total or self._interruptions.asked or time.perf_counter() - self._saved >= self._every:
            save_tensors(self._path, state(), {"seconds": str(self.seconds()), "settings": self._settings})
            self._saved = time.perf_counter()
            self._interruptions.deliver()
        if done == total:
            self.close()
