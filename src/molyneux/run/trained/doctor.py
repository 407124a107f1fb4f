"""What this machine has for the package, and whether it works here: versions, processor, memory, folders, and a self-test."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

import numpy as np

from molyneux.core import ConfigError, MolyneuxError
from molyneux.run.run.stored import machine
from molyneux.run.trained.shipped import shipped_names

DATA = "MOLYNEUX_DATA"
DIGESTS = {"Letters": "9c93d05bd50b3984", "CdSprites": "e4765fa8d198ee94"}
"""BLAKE2b hashes of the self-test's samples: texts of Letters, and pictures of CdSprites on level 1."""
_LEAST_FREE = 2.0
"""GiB that should be free on a disk."""
_FEATURES = {"AVX2": ("AVX2", "X86_V3"), "AVX-512": ("AVX512F", "X86_V4")}
_PACKAGE = re.compile(r"^([A-Za-z0-9._-]+).*extra == [\"']([a-z0-9]+)[\"']")


@dataclass(frozen=True)
class Examination:
    """What was found.

    Args:
        facts: by a word or two, what there is, in words.
        problems: what is wrong, and what to do, a sentence each; none where everything works.
    """

    facts: Mapping[str, str]
    problems: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {"facts": dict(self.facts), "problems": list(self.problems)}

    def lines(self) -> list[str]:
        """The facts in two columns, and a sentence at the end."""
        column = max(map(len, self.facts))
        told = [f"Problem: {problem}" for problem in self.problems] or ["Everything works."]
        return [*(f"{name:<{column}}  {text}" for name, text in self.facts.items()), *told]


def examine(*, self_test: bool = True) -> Examination:
    """Look at this machine, and make samples, a training step and a picture.

    Args:
        self_test: whether to make them; it takes two seconds, and the first time also the compilation of what they need.
    """
    facts, problems = _versions(), list[str]()
    facts |= {**_processor(), **_memory_and_disks(problems), **_data(problems)}
    facts["models"] = ", ".join(shipped_names()) or "none"
    if not shipped_names():
        problems.append("the models that come with the package are not there: install it again")
    if self_test:
        for name, test in (("samples", _samples), ("training", _training), ("drawing", _drawing)):
            facts[name] = _tested(name, test, problems)
    return Examination(facts, tuple(problems))


def _versions() -> dict[str, str]:
    import torch

    found = {name: version(name) for name in ("molyneux", "torch", "numpy", "numba", "scipy")}
    python = ".".join(map(str, sys.version_info[:3]))
    here, missing = _extras()
    facts = {
        "molyneux": f"{found['molyneux']} in {Path(__file__).parents[2]}",
        "python": f"{python} ({sys.executable})",
        "packages": ", ".join(f"{name} {found[name]}" for name in ("torch", "numpy", "numba", "scipy")),
        "extras": ", ".join(here) or "none",
    }
    if missing:
        facts["not installed"] = f"{', '.join(missing)}: pip install 'molyneux[{missing[0]}]'"
    accelerator = torch.cuda.get_device_name(0) if torch.cuda.is_available() else "none"
    facts["accelerator"] = "Apple GPU (mps)" if torch.backends.mps.is_available() else accelerator
    return facts


def _extras() -> tuple[list[str], list[str]]:
    """Extras whose packages are all here, and those that lack one; without those of developers."""
    needed: dict[str, list[str]] = {}
    for text in requires("molyneux") or ():
        if (found := _PACKAGE.match(text)) and found[2] not in ("dev", "docs"):
            needed.setdefault(found[2], []).append(found[1])
    here = {extra: all(map(_installed, packages)) for extra, packages in sorted(needed.items())}
    return [extra for extra, whole in here.items() if whole], [extra for extra, whole in here.items() if not whole]


def _installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def _processor() -> dict[str, str]:
    import torch
    from numpy._core._multiarray_umath import __cpu_features__ as features  # type: ignore[import-not-found]

    from molyneux.learn.training.hardware import has_bf16

    found, known = machine(), [name for name, words in _FEATURES.items() if any(features.get(word) for word in words)]
    known += ["bf16"] if has_bf16() else []
    variables = {name: os.environ.get(name) or "not set" for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_WAIT_POLICY")}
    said = ", ".join(f"{name} {value}" for name, value in variables.items())
    return {
        "processor": f"{found['processor']}: {', '.join(known) or 'no AVX2'}",
        "threads": f"{torch.get_num_threads()} of torch on {found['cores']} cores; {said}",
    }


def _memory_and_disks(problems: list[str]) -> dict[str, str]:
    from molyneux.core.seeds import philox
    from molyneux.core.tooling.compiled import kernel_folder

    facts = {"memory": f"{machine()['memory_gib']} GiB"}
    places = {"working folder": Path.cwd(), "compiled code": kernel_folder(philox), "temporary": Path(tempfile.gettempdir())}
    for name, folder in places.items():
        there = next(path for path in (folder, *folder.parents) if path.is_dir())
        free, writable = shutil.disk_usage(there).free / 2**30, os.access(there, os.W_OK)
        facts[name] = f"{folder}: {free:.1f} GiB free{'' if writable else ', cannot be written'}"
        if free < _LEAST_FREE:
            problems.append(f"{folder} has {free:.1f} GiB left of the {_LEAST_FREE:.0f} that runs need: free some space")
        if not writable:
            problems.append(f"{folder} ({name}) cannot be written: change to a folder that can, or its permissions")
    return facts


def _data(problems: list[str]) -> dict[str, str]:
    """The folder of published data sets, and which are in it."""
    from molyneux.data import benchmarks

    root = os.environ.get(DATA)
    if not root:
        return {"data": f"{DATA} is not set: it names the folder of published data sets, where there is one"}
    if not Path(root).is_dir():
        problems.append(f"{DATA} names {root}, which is no folder: set it to the folder of the data sets, or unset it")
        return {"data": f"{root}: not there"}
    found = [name for name in benchmarks.__all__ if _has_files(getattr(benchmarks, name))]
    return {"data": f"{root}: {', '.join(found) or 'no data set that the package knows'}"}


def _has_files(kind: Any) -> bool:
    """Whether the files of a benchmark are there, with its own settings."""
    if not (isinstance(kind, type) and getattr(kind, "folders", None)):
        return False
    try:
        benchmark = kind()
        benchmark.paths()
        there = benchmark.folder.is_dir() and (benchmark.expected or "." not in benchmark.folders)
    except (MolyneuxError, TypeError):  # files are missing, or it takes settings that only a user knows
        return False
    return bool(there)


def _tested(name: str, test: Callable[[], str], problems: list[str]) -> str:
    began = time.perf_counter()
    try:
        said = test()
    except Exception as error:  # whatever fails here is what the user wants to know
        problems.append(f"{name}: {type(error).__name__}: {error}: report it with all of these lines")
        return "failed"
    return f"{said} ({time.perf_counter() - began:.1f} s)"


def _samples() -> str:
    from molyneux.data import CdSprites, Letters

    views = {
        "Letters": Letters().source("test", 16, seed=1).batch(np.arange(16)).views["text"],
        "CdSprites": CdSprites(level=1).source("test", 4, seed=1).batch(np.arange(4)).views["image"],
    }
    for name, view in views.items():
        digest = hashlib.blake2b(view.numpy().tobytes(), digest_size=8).hexdigest()
        if digest != DIGESTS[name]:
            raise ConfigError(f"expected the samples of {name} that every machine makes ({DIGESTS[name]}), got {digest}")
    return f"those that every machine makes, of {' and '.join(views)}"


def _training() -> str:
    import torch

    from molyneux.core import Progress, seeds
    from molyneux.data import Letters
    from molyneux.learn import MVAE

    source = Letters().source("train", 32, seed=1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        model = MVAE(source.spec, latent_dim=4)
    loss = model.loss(source.batch(np.arange(32)), Progress(0, 1), seeds.torch_generator(1, "doctor")).total
    loss.backward()  # type: ignore[no-untyped-call]
    finite = all(bool(torch.isfinite(part.grad).all()) for part in model.parameters() if part.grad is not None)
    if not (finite and torch.isfinite(loss)):
        raise ConfigError(f"expected a finite loss and finite gradients of one step, got a loss of {loss:.3g}")
    return f"one step of MVAE, loss {loss:.1f}"


def _drawing() -> str:
    from molyneux.data import CdSprites, contact_sheet

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sheet.png"
        contact_sheet(CdSprites(level=1).source("test", 4, seed=1), path)
        return f"a sheet of 4 samples, {path.stat().st_size:,} bytes"
