"""Twins: small random files in the published layout of a data set."""

from __future__ import annotations

from pathlib import Path

from molyneux.core import ConfigError, nearest, seeds, store
from molyneux.data import benchmarks
from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark
from molyneux.data.benchmarks.twins import generative, multibench

_WRITERS = {"multibench": multibench.WRITERS, "generative": generative.WRITERS}
"""By the page of the documentation that describes the data sets, what writes their twins."""

_FEWEST = 30
"""Samples of a twin."""


def write_twin(name: str | type[FileBenchmark], folder: Path | str, *, size: int = 60, seed: int = 0) -> FileBenchmark:
    """Write random files in the published layout of a data set, and give the data set that reads them.

    A twin has the names, shapes, types and splits of the published files, fewer samples, and values that depend a little on the
    target, so that a model can learn something. It is not the data set: no score on it says anything about that.

    Args:
        name: of the data set or its class, such as `mimic-v1`, `mimic` or `MIMIC`; or the class.
        folder: a new or an empty one.
        size: samples in all splits together, about; at least 30.
        seed: of the values.

    Raises:
        ConfigError: no such data set, too few samples, or something is in the folder.
        StoreError: the folder cannot be written.
    """
    name = name if isinstance(name, str) else name.__name__
    kinds = twin_kinds()
    known = {alias: kind for kind in kinds for alias in (kind.__name__, kind.name, kind.name.rpartition("-v")[0])}
    problems = [] if name in known else [f"name: no data set {name!r}; {nearest(name, [kind.__name__ for kind in kinds])}"]
    problems += [f"size: expected at least {_FEWEST}, got {size}"] if size < _FEWEST else []
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        problems.append(f"folder: expected a new or an empty folder, got {folder}")
    if problems:
        raise ConfigError(problems)
    kind = known[name]
    writer = next(writers[base] for writers in _WRITERS.values() for base in kind.mro() if base in writers)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return writer(kind, folder, size, seeds.generator(seed, kind.name, "twin"))
    except OSError as error:
        raise store.store_error(error, folder) from error


def twin_kinds(family: str = "") -> list[type[FileBenchmark]]:
    """The data sets of which twins can be written: those of MultiBench, then those for generative models; or one of the two.

    Args:
        family: `multibench` or `generative`, by default both.
    """
    listed = [item for name in benchmarks.__all__ if isinstance(item := getattr(benchmarks, name), type)]
    families = [writers for name, writers in _WRITERS.items() if name.endswith(family)]
    return [item for writers in families for item in listed if not writers.keys().isdisjoint(item.mro())]
