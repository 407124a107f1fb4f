"""What a batch looks like: modalities, factors, and the Spec that joins them.

A `Spec` is enough to build a model without seeing the source. It is stored beside the samples as `spec.json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from molyneux.core.errors import SpecError, nearest

Kind = Literal["audio", "image", "label", "series", "set", "tabular", "text"]
"""Kinds of modality. Shapes of one sample: image (C, H, W); text (L,) of symbol ids; series (T, D); audio (C, T);
set (N, D); tabular (D,); label ()."""

_RANKS: dict[str, int] = {"audio": 2, "image": 3, "label": 0, "series": 2, "set": 2, "tabular": 1, "text": 1}
_DTYPES = ("float32", "int64", "uint8")


@dataclass(frozen=True)
class Modality:
    """One sense of a sample.

    Args:
        name: unique within a Spec.
        kind: one of `Kind`; decides the rank of `shape` and which nets fit.
        shape: shape of one sample as stored, without the batch axis.
        dtype: how it is stored: `uint8` (images 0..255, symbol ids), `float32` or `int64`.
        symbols: for text and label: the symbol of each id.
        padding: for text: the id that fills a sample up to its length. It may be a symbol of the language too
            (CdSprites+ pads with the space), so a sample without an `end` ends at its last symbol that is not padding.
        start: for text: the id that stands before the first symbol for a model that writes symbol by symbol; in no sample.
        end: for text: the id that closes every sample that is shorter than its length allows. What comes after it says
            nothing, so it is neither shown nor counted in a likelihood.

    Raises:
        SpecError: the rank of the shape does not fit the kind, or symbols are missing or out of place.
    """

    name: str
    kind: Kind
    shape: tuple[int, ...]
    dtype: str = "float32"
    symbols: tuple[str, ...] = ()
    padding: int | None = None
    start: int | None = None
    end: int | None = None

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise SpecError(f"expected a modality name made of letters, digits and _, got {self.name!r}: rename it")
        if self.kind not in get_args(Kind):
            raise SpecError(f"modality {self.name}: unknown kind {self.kind!r}; {nearest(str(self.kind), get_args(Kind))}")
        if len(self.shape) != _RANKS[self.kind] or any(size < 1 for size in self.shape):
            raise SpecError(
                f"modality {self.name}: a sample of kind {self.kind} has {_RANKS[self.kind]} axes of at least 1, got {self.shape}"
            )
        if self.dtype not in _DTYPES:
            raise SpecError(f"modality {self.name}: expected dtype one of {', '.join(_DTYPES)}, got {self.dtype!r}")
        if (self.kind in ("text", "label")) != bool(self.symbols):
            raise SpecError(f"modality {self.name}: text and label have symbols, other kinds have none; kind is {self.kind}")
        for role in ("padding", "start", "end"):
            symbol = getattr(self, role)
            if symbol is not None and not (self.kind == "text" and 0 <= symbol < len(self.symbols)):
                raise SpecError(f"modality {self.name}: {role} {symbol} is no id of its {len(self.symbols)} symbols")

    @property
    def size(self) -> int:
        """Number of values in one sample."""
        total = 1
        for axis in self.shape:
            total *= axis
        return total


@dataclass(frozen=True)
class Factor:
    """A known cause of a sample. In a batch a factor is an integer code; -1 means absent."""

    name: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.values) < 1 or len(set(self.values)) != len(self.values):
            raise SpecError(f"factor {self.name}: expected distinct values, at least one, got {self.values}")

    def code(self, value: str) -> int:
        """The code of a value; raises SpecError for an unknown one."""
        if value not in self.values:
            raise SpecError(f"factor {self.name} has no value {value!r}; {nearest(value, self.values)}")
        return self.values.index(value)


@dataclass(frozen=True)
class Spec:
    """What a batch of a source looks like.

    Args:
        modalities: the senses, in a fixed order; names are unique.
        factors: the known causes, in the order of the columns of `Batch.factors`.
        target: what a predictor has to say, described like a modality; None for unsupervised sources.
    """

    modalities: tuple[Modality, ...]
    factors: tuple[Factor, ...] = ()
    target: Modality | None = None

    def __post_init__(self) -> None:
        for what, names in (("modality", self.names), ("factor", tuple(factor.name for factor in self.factors))):
            if len(set(names)) != len(names):
                raise SpecError(f"expected {what} names that differ, got {names}")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the modalities, in order."""
        return tuple(modality.name for modality in self.modalities)

    def modality(self, name: str) -> Modality:
        """The modality of that name; raises SpecError with the nearest name."""
        for modality in self.modalities:
            if modality.name == name:
                return modality
        raise SpecError(f"no modality {name!r}; {nearest(name, self.names)}")

    def factor(self, name: str) -> Factor:
        """The factor of that name; raises SpecError with the nearest name."""
        return self.factors[self.factor_index(name)]

    def factor_index(self, name: str) -> int:
        """Column of a factor in `Batch.factors`."""
        names = [factor.name for factor in self.factors]
        if name not in names:
            raise SpecError(f"no factor {name!r}; {nearest(name, names)}")
        return names.index(name)

    def restrict(self, names: tuple[str, ...]) -> Spec:
        """The same spec with only these modalities, in the order given."""
        return Spec(tuple(self.modality(name) for name in names), self.factors, self.target)

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary; `from_json` reads it back."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Spec:
        """Read what `to_json` wrote; raises SpecError if it is not that."""
        try:
            target = record.get("target")
            return cls(
                modalities=tuple(_modality(item) for item in record["modalities"]),
                factors=tuple(Factor(item["name"], tuple(item["values"])) for item in record["factors"]),
                target=None if target is None else _modality(target),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise SpecError(f"expected the record of a Spec, got one that cannot be read: {error!r}") from error


def _modality(record: Mapping[str, Any]) -> Modality:
    return Modality(**{**record, "shape": tuple(record["shape"]), "symbols": tuple(record["symbols"])})
