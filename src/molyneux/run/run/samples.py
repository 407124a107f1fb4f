"""The samples of an experiment as sources: each split, each condition, and what tells whether they are the same as before."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from molyneux.core import (
    About,
    Condition,
    ConfigError,
    CorruptFileError,
    DataError,
    Source,
    Spec,
    SpecError,
    StoreError,
    about_names,
    store,
)
from molyneux.core.config import Factory
from molyneux.core.sources import Span
from molyneux.data import Apart, Lacking, Missing, ShardedSource, Split, Subset, Views, World, open_stored
from molyneux.data.dataset import SPLITS
from molyneux.data.imperfections import Corrupted
from molyneux.run.run.sections import ConditionSettings, DataSettings

_CHUNK = 2_000
_DIGESTS = "train_views.{}.npy"
_MOST_DIGESTS = 20_000_000
"""Training samples of which digests are kept; of more, the share of measured views that occur in training is not told."""


class Samples:
    """Where the samples of each split come from, drawn with the root seed of the experiment."""

    def __init__(self, settings: DataSettings, seed: int) -> None:
        self.settings, self.seed = settings, seed

    def whole(self, split: Split) -> Source:
        """The samples of a split with all their modalities, as they were drawn or stored. Files are not checked.

        Raises:
            StoreError, CorruptFileError: stored samples are not there or damaged. ConfigError: there are too few.
        """
        size = self.asked(split)
        if self.settings.stored is None:
            return self._drawn(split, size)
        folder = self.settings.stored / split
        stored = open_stored(folder, verify=False)
        if size is not None and len(stored) < size:
            raise ConfigError(
                f"data.{split}: expected at most the {len(stored)} samples stored in {folder}, got {size}: "
                "name a smaller number, or null for all of them"
            )
        if size is None or len(stored) == size:
            return stored
        return Span(stored, 0, size) if isinstance(stored, ShardedSource) else Subset(stored, np.arange(size))

    def _drawn(self, split: Split, size: int | None) -> Source:
        """The first samples of a split of the data set."""
        if self.settings.dataset is None:
            raise ConfigError("data.world: is missing: name a world such as CdSprites")
        return self.settings.dataset.source(split, size, seed=self.seed)

    def evaluated(self, split: Split, whole: Callable[[Split], Source]) -> Source:
        """The samples of a split that a model is measured on, those of the training split being `unseen`.

        Args:
            split: its name.
            whole: gives the samples of other splits with all their modalities.
        """
        return self.measured(self.unseen() if split == "train" else whole(split))

    def unseen(self) -> Source:
        """Samples of the training split with all their modalities that were not trained on, as many as are asked for of `test`.

        They come after those that are trained on, from the next whole row of samples that stand in rows (`Target.row_size`).

        Raises:
            StoreError, CorruptFileError: as `whole`. ConfigError: all samples of the split are trained on.
        """
        trained, wanted, source = self.size("train"), self.asked("test"), self.whole("train")
        stored = None if self.settings.stored is None else open_stored(self.settings.stored / "train", verify=False)
        dataset = None if stored is not None else self.settings.dataset
        available = len(stored) if stored is not None else dataset.splits["train"] if dataset is not None else len(source)
        row = source.spec.row_size
        start = -(-trained // row) * row
        end = min(size for size in (available, None if wanted is None else start + wanted) if size is not None)
        if end <= start:
            raise ConfigError(
                f"split: expected samples of the split train beyond the {trained:,} that are trained on, got none: lower "
                "data.train, or leave this condition out"
            )
        found = stored or self._drawn("train", end)
        return Span(found, start, end) if isinstance(stored, ShardedSource) else Subset(found, np.arange(start, end))

    def of_world(self, world: Factory[World], split: Split) -> Source:
        """Samples of another world to measure on, as many as of the split, with the modalities in use.

        Raises:
            ConfigError: the world refuses its settings or has no such split.
        """
        return self.measured(world.make("world").source(split, self.asked(split), seed=self.seed))

    def has(self, split: Split) -> bool:
        """Whether there is such a split: a published data set that only tests has no other."""
        return self.settings.stored is not None or self.settings.dataset is None or split in self.settings.dataset.splits

    def asked(self, split: Split) -> int | None:
        """How many samples of a split the settings ask for, None for all; others than the usual three have as many as `test`."""
        asked: int | None = getattr(self.settings, split if split in SPLITS else "test")
        return asked

    def size(self, split: Split) -> int:
        """How many samples a split has; errors as `whole`."""
        asked = self.asked(split)
        return len(self.whole(split)) if asked is None else asked

    def measured(self, source: Source) -> Source:
        """The samples with the modalities that the experiment uses. None is missing, whatever the split."""
        return source if self.settings.modalities is None else Views(source, self.settings.modalities)

    def prepared(self, source: Source, split: Split) -> Source:
        """The samples as the model gets them: the modalities in use, some of them missing in training and validation."""
        source = self.measured(source)
        settings = self.settings
        if settings.apart is not None and split in ("train", "validation"):
            source = Apart(source, settings.apart, seed=self.seed)
        if rates := settings.rates.get(split):
            source = Missing(source, rates, seed=self.seed, where=settings.missing_where, by=settings.missing_by)
        return source

    def source(self, split: Split) -> Source:
        """The samples of a split as the model gets them; errors as `whole`."""
        return self.prepared(self.whole(split), split)

    def of_stages(self) -> dict[str, tuple[Source, Source]]:
        """The samples that stages of the training learn from and are validated on, where these have a world of their own.

        Raises:
            ConfigError: a world refuses its settings.
        """
        found = {}
        for name, world in self.settings.stages.items():
            made = world.make(f"data.stages.{name}")
            train, validation = (
                self.prepared(made.source(split, self.asked(split), seed=self.seed), split) for split in ("train", "validation")
            )
            found[name] = (train, validation)
        return found

    def check(self) -> Spec:
        """The Spec the model is made for, after a look at every split.

        Raises:
            ConfigError: samples are not there or too few, or modalities are named that they do not have.
        """
        problems = list[str]()
        specs = list[Spec]()
        for split in SPLITS:
            try:
                specs.append(self.source(split).spec)
            except ConfigError as error:
                problems += [problem if problem.startswith("data.") else f"data: {problem}" for problem in error.problems]
            except (DataError, StoreError, SpecError) as error:
                problems.append(f"data: {error}")
        if not problems:
            problems += self._twice()
        if problems:
            problems += self._in_files()
            raise ConfigError(list(dict.fromkeys(problems)))
        if any(spec != specs[0] for spec in specs):
            raise ConfigError(
                f"data.folder: expected samples of one kind in {', '.join(SPLITS)}, got different ones: store them anew"
            )
        return specs[0]

    def _twice(self) -> list[str]:
        """Stored splits that hold the same samples: a model would be measured on what it was trained on."""
        if self.settings.stored is None:
            return []
        origins = {split: open_stored(self.settings.stored / split, verify=False).origin for split in SPLITS}
        same = [(one, other) for one, other in combinations(SPLITS, 2) if origins[one] == origins[other]]
        return [
            f"data.folder: expected other samples in {other} than in {one}, got the same: store them anew" for one, other in same
        ]

    def _in_files(self) -> list[str]:
        """All that keeps the user's own files from being used, a sentence for each kind of problem, where it is more than one."""
        if self.settings.own is None:
            return []
        from molyneux.data import check_data  # many files, which a run of a world does without

        found = check_data(self.settings.own)
        if len(found.errors) < 2:
            return []
        return [f"data: {told}" for told in found.summaries(found.errors)]


def conditions(
    split: Split, others: Sequence[ConditionSettings], source: Callable[[Split], Source], samples: Samples
) -> list[Condition]:
    """What a model is measured under: first the samples as they are, then every condition that the settings name.

    `about` is empty for the first; then `{"corruption": "blur", "strength": "0.5"}`, with the modality or modalities where the
    corruption names them, `{"missing": ("image",)}`, `{"split": "heldout"}` or, with the name of another world,
    `{"partition": "foils"}`.

    Args:
        split: of the samples as they are.
        others: the conditions, in their order.
        source: gives the samples of a split.
        samples: of the experiment; its seed is that of what corruptions draw.

    Raises:
        ConfigError: with all of these: a corruption fits no modality, a missing modality is unknown, there is no such split, or
            another world has other modalities.
    """
    base, problems = source(split), list[str]()
    found = [Condition(base)]
    for number, item in enumerate(others):
        try:
            found += _conditions(item, base, source, samples, split)
        except (ConfigError, SpecError) as error:
            problems += [f"conditions.{number}: {problem}" for problem in getattr(error, "problems", [str(error)])]
    abouts = [tuple(sorted(condition.about.items())) for condition in found]
    for about in dict.fromkeys(about for place, about in enumerate(abouts) if about in abouts[:place]):
        words = ", ".join(f"{name} {value}" for name, value in about) or "the samples as they are"
        problems.append(f"conditions: expected conditions that differ, got two of {words}: remove one of them")
    if problems:
        raise ConfigError(problems)
    return found


def _conditions(
    item: ConditionSettings, base: Source, source: Callable[[Split], Source], samples: Samples, split: Split
) -> Iterator[Condition]:
    """What one entry of the settings stands for: a corruption for a condition at each strength."""
    if item.split is not None:
        yield Condition(source(item.split), {"split": item.split})
    elif item.world is not None:
        other = samples.of_world(item.world, split)
        _require_alike(base.spec, other.spec)
        yield Condition(other, {"partition": item.name})
    else:
        yield from imperfect(item, base, samples.seed)


def imperfect(item: ConditionSettings, base: Source, seed: int) -> Iterator[Condition]:
    """The samples with a corruption at each of its strengths, or without modalities, at each rate where there are rates.

    Args:
        item: a condition without another split or world.
        base: the samples as they are.
        seed: of what is drawn.
    """
    if item.corruption is not None:
        names = item.corruption.modalities
        where: About = {} if names is None else {"corrupted": about_names(names)}
        for strength in item.strengths:
            about = {"corruption": item.corruption.title, **where, "strength": f"{strength:g}"}
            yield Condition(Corrupted(base, item.corruption, strength, seed=seed), about, reference=base)
    elif item.strengths:
        yield from _at_rates(item, base, seed)
    else:
        yield Condition(Lacking(base, item.missing), {"missing": tuple(item.missing)})


def _at_rates(item: ConditionSettings, base: Source, seed: int) -> Iterator[Condition]:
    """Modalities that are missing at rates: a condition for each rate, whose curve is that of an imperfection."""
    where = "; ".join(f"{name} is {' or '.join(values)}" for name, values in item.where.items())
    words = ", ".join(
        f"{name} ({', '.join(f'{value} x {number:g}' for value, number in values.items())})" for name, values in item.by.items()
    )
    title = "missing" + f" where {where}" * bool(where) + f" by {words}" * bool(words)
    about: About = {"corruption": title, "corrupted": about_names(item.missing)}
    for rate in item.strengths:
        source = Missing(base, dict.fromkeys(item.missing, rate), seed=seed, where=item.where, by=item.by)
        yield Condition(source, {**about, "strength": f"{rate:g}"})


def _require_alike(spec: Spec, other: Spec) -> None:
    """Raise ConfigError unless a model that was made for one Spec can be measured on samples of another."""
    differ = [item.name for item in spec.modalities if item not in other.modalities]
    if differ or len(spec.modalities) != len(other.modalities):
        what = ", ".join(differ) or f"{', '.join(other.names)} in place of {', '.join(spec.names)}"
        raise ConfigError(
            f"world: expected the modalities of the samples as they are, with the same shapes and symbols, got others ({what}): "
            "give both worlds the same settings of what they show"
        )
    tasks = [{target.name: (target.task, target.symbols) for target in one.targets} for one in (spec, other)]
    if tasks[0] != tasks[1]:
        raise ConfigError(f"world: expected the targets {', '.join(tasks[0]) or 'none'}, got {', '.join(tasks[1]) or 'none'}")


def digest(source: Source, *, samples: int = 1_000) -> str:
    """BLAKE2b of the first samples of a source (32 hex digits): every tensor, with its name and shape."""
    batch = source.batch(np.arange(min(samples, len(source))))
    total = hashlib.blake2b(digest_size=16)
    for name, tensor in sorted(batch.tensors().items()):
        array = np.ascontiguousarray(tensor.numpy(force=True))
        total.update(f"{name} {array.dtype} {array.shape}\n".encode())
        total.update(array.tobytes())
    return total.hexdigest()


def save_view_digests(train: Source, folder: Path) -> None:
    """Store what `train_overlap` needs: per modality a file of the digests of all different training views, sorted uint64.

    Nothing is stored of more than 20 million samples, whose digests would not fit in memory.
    """
    if len(train) > _MOST_DIGESTS:
        return
    found: dict[str, list[np.ndarray]] = {name: [] for name in train.spec.names}
    for digests in _view_digests(train, len(train)):
        for name, chunk in digests.items():
            found[name].append(chunk)
    for name, chunks in found.items():
        store.write_array(folder / _DIGESTS.format(store.file_name(name)), np.unique(np.concatenate(chunks)))


def train_overlap(source: Source, folder: Path, samples: int) -> dict[str, float]:
    """The share of views that also occur in training, byte for byte, by modality, in %.

    A world of few scenes repeats itself: the first level of CdSprites+ has 73,125 pictures at most, so its test pictures are not
    all new to a model. That is no leak, the splits are independent draws, but a reader of a score has to know it.

    Args:
        source: what is measured on.
        folder: where `save_view_digests` wrote; modalities of which it holds nothing are left out.
        samples: only the first so many are compared.

    Raises:
        CorruptFileError: what is stored of a modality holds no digests.
    """
    paths = {name: folder / _DIGESTS.format(store.file_name(name)) for name in source.spec.names}
    known = {name: _stored_digests(path) for name, path in paths.items() if store.is_file(path)}
    met = dict.fromkeys(known, 0)
    total = dict.fromkeys(known, 0)
    for digests in _view_digests(source, min(samples, len(source))) if known else ():
        for name, views in known.items():
            first, last = (np.searchsorted(views, digests[name], side) for side in ("left", "right"))  # they are sorted
            met[name] += int((first < last).sum())
            total[name] += len(digests[name])
    return {name: round(100 * met[name] / total[name], 2) for name in known if total[name]}


def _stored_digests(path: Path) -> np.ndarray:
    """The digests that `save_view_digests` wrote for a modality; CorruptFileError where there are none."""
    found = store.read_array(path)
    if found.dtype != np.uint64 or found.ndim != 1:
        raise CorruptFileError(
            f"{path}: expected digests of views, uint64 of shape (n,), got {found.dtype} {found.shape}: restore the file, or "
            "train again"
        )
    return found


def _view_digests(source: Source, size: int) -> Iterator[dict[str, np.ndarray]]:
    """In chunks, by modality, a 64-bit digest of each view that is present: (n,) uint64."""
    for start in range(0, size, _CHUNK):
        batch = source.batch(np.arange(start, min(start + _CHUNK, size)))
        found = {}
        for name, view in batch.views.items():
            rows = np.ascontiguousarray(view[batch.mask(name)].numpy())
            hashes = b"".join(hashlib.blake2b(row.tobytes(), digest_size=8).digest() for row in rows)
            found[name] = np.frombuffer(hashes, np.uint64)
        yield found
