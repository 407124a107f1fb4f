"""The base class of a user's own data sets, read from files."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from molyneux.core import Batch, ConfigError, DataError, JudgeMaterial, Reader, Spec, files, seeds, store, text_problems
from molyneux.data.dataset import Split, SplitDataset
from molyneux.data.own.content import FEWEST, ArrayView, Fractions, OwnContent, Where, split_rows
from molyneux.data.own.texts import Unit, lookup_reader
from molyneux.data.sources import Views

_BLOCK = 1 << 20


@dataclass(frozen=True, kw_only=True, eq=False)
class OwnDataset(SplitDataset):
    """Samples in files of the user's own; see `ArrayDataset`, `ImageFolder` and `TableDataset`.

    A data set is its settings: files are read when samples, their number or their spec are first asked for. The seed of a source
    is the order in which a split is read. Its identity is the content of its files, not their location.

    Args:
        path: the file or the folder.
        labels: names of what becomes factors, which coherence, probes and judges ask for.
        targets: names of what becomes class targets, which supervised models predict; may be labels too.
        number_targets: names of what becomes targets that are numbers.
        multilabel_targets: names of what becomes targets of any number of labels: arrays (N, labels) of 0 and 1; columns of
            lists, or of words with `|`, `;` or `,` between them.
        split: name of what says which split a sample is in; by default splits are drawn.
        fractions: shares of the samples that train, validate and test; a split that `split` does not name is drawn from the
            training samples.
        split_seed: of what is drawn.
        unit: symbols of texts are `words`, in lower case, or `characters`.
        words: size of the vocabulary; other words are `<unk>`.
        length: symbols of a text, at which longer ones are cut; by default the longest training text fits.
        missing: words that say that a sample has no label or no text, such as NA. An empty field always does. By default, words
            such as NA are refused as labels, because they may be classes; [] makes them classes.

    Raises:
        ConfigError: settings that cannot be used; all problems at once.
    """

    licence: ClassVar[str] = "as its owner states"
    origin: ClassVar[str] = "files of the user"

    path: Path
    labels: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    number_targets: tuple[str, ...] = ()
    multilabel_targets: tuple[str, ...] = ()
    split: str | None = None
    fractions: Fractions = (0.8, 0.1, 0.1)
    split_seed: int = 0
    unit: Unit = "words"
    words: int = 20_000
    length: int | None = None
    missing: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))
        if problems := self._problems():
            raise ConfigError(problems)

    @abstractmethod
    def _read(self) -> OwnContent:
        """What the files hold."""

    @abstractmethod
    def _files(self) -> Sequence[Path]:
        """Every file that is read.

        Raises:
            StoreError: there are none.
        """

    def files(self) -> tuple[Path, ...]:
        """Every file that is read.

        Raises:
            StoreError: they are not there. DataError: a table that names images cannot be read.
        """
        return tuple(self._files())

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings as plain data, with a hash of the files' contents in place of their paths.

        Raises:
            StoreError: the files are not there.
        """
        plain = {item.name: _plain(getattr(self, item.name)) for item in fields(self)}
        return {**{name: value for name, value in plain.items() if not isinstance(value, Path)}, "files": self._digest}

    @property
    def spec(self) -> Spec:
        """What a batch looks like; errors as `splits`."""
        return self._content.spec

    @property
    def splits(self) -> Mapping[Split, int]:
        """How many samples each split has.

        Raises:
            StoreError: the files are not there. DataError: they do not hold what they should; names file, row and column.
        """
        return {split: len(rows) for split, rows in self._content.rows.items()}

    @property
    def notes(self) -> tuple[str, ...]:
        """What was converted, cut or drawn so that the files could be read, one sentence each; errors as `splits`."""
        return self._content.remarks

    def batch(self, indices: np.ndarray, *, split: Split, seed: int) -> Batch:
        """The samples at these positions (B,) of a split in the order of a seed; errors as `SplitDataset.batch` and `splits`."""
        return self._content.batch(self._rows(indices, split, seed))

    def factor_codes(self, indices: np.ndarray, *, split: Split, seed: int) -> np.ndarray:
        """See `SplitDataset`; no view is read."""
        return self._content.codes(self._rows(indices, split, seed))

    def _rows(self, indices: np.ndarray, split: Split, seed: int) -> np.ndarray:
        rows: np.ndarray = self._content.rows[split][self._order(split, seed)[self.numbers(indices, split)]]
        return rows

    def readers(self) -> Mapping[str, Reader]:
        """Exact readers of texts and symbols that determine labels: captions from a closed set."""
        content = self._content
        views = [view for view in content.views if isinstance(view, ArrayView) and view.modality.symbols]
        found = {view.modality.name: lookup_reader(content, view) for view in views if content.labels}
        return {name: reader for name, reader in found.items() if reader is not None}

    def judge_material(self, modality: str, split: Split, size: int, *, seed: int) -> JudgeMaterial:
        """What a judge of a modality is trained on: at most `size` views with their labels."""
        return JudgeMaterial(Views(self.source(split, min(size, self.splits[split]), seed=seed), (modality,)))

    def __reduce__(self) -> tuple[Callable[[], OwnDataset], tuple[()]]:
        """Travel to other processes as settings, not as the content of the files."""
        return partial(type(self), **{item.name: getattr(self, item.name) for item in fields(self)}), ()

    def _problems(self) -> list[str]:
        """One sentence for each setting that cannot be used."""
        found = []
        if len(self.fractions) != 3 or min(self.fractions) <= 0 or abs(sum(self.fractions) - 1) > 1e-6:
            found.append(f"fractions: expected three shares above 0 whose sum is 1, got {list(self.fractions)}")
        for name, least in (("words", 1), ("length", 1), ("split_seed", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                found.append(f"{name}: expected at least {least}, got {value}")
        letters = text_problems(
            labels=self.labels,
            targets=self.targets,
            number_targets=self.number_targets,
            multilabel_targets=self.multilabel_targets,
        )
        letters += text_problems(missing=self.missing) if self.missing is not None else []
        named = [*self.labels, *self.number_targets, *self.multilabel_targets, *([self.split] if self.split else [])]
        if not letters and (repeated := sorted({name for name in named if named.count(name) > 1})):
            places = "labels, number_targets, multilabel_targets and split"
            found.append(f"labels: expected each name once in {places}, got {repeated[0]!r} twice")
        return found + letters

    def _split_rows(self, size: int, given: Sequence[str | None] | np.ndarray | None, where: Where) -> dict[Split, np.ndarray]:
        if size < FEWEST:
            raise DataError(f"{self.path}: expected at least {FEWEST} samples, one for each split, got {size}")
        return split_rows(size, given, self.fractions, self.split_seed, where)

    @cached_property
    def _content(self) -> OwnContent:
        return self._read()

    @cached_property
    def _orders(self) -> dict[tuple[Split, int], np.ndarray]:
        return {}

    def _order(self, split: Split, seed: int) -> np.ndarray:
        if (split, seed) not in self._orders:
            order = seeds.generator(seed, self.name, split, "order").permutation(len(self._content.rows[split]))
            self._orders[split, seed] = order
        return self._orders[split, seed]

    @cached_property
    def _digest(self) -> str:
        """BLAKE2b of the names and contents of all files, 32 hex digits."""
        digest = hashlib.blake2b(digest_size=16)
        for path in self._files():
            name = path.relative_to(self.path).as_posix() if path.is_relative_to(self.path) else path.name
            digest.update(f"{name if path != self.path else path.suffix}\n".encode())
            try:
                with files.open_plain(path) as stream:
                    while block := stream.read(_BLOCK):
                        digest.update(block)
            except OSError as error:
                raise store.read_error(error, path) from error
        return digest.hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value
