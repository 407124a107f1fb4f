"""Descriptions of batches: modalities, factors, quantities and targets, joined in a `Spec`.

A `Spec` is enough to build a model without seeing the source. It is stored beside the samples as `spec.json`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeVar, get_args

from molyneux.core.errors import SpecError, nearest

Kind = Literal["audio", "image", "label", "series", "set", "tabular", "text", "video"]
"""Kinds of modality. Shapes of one sample: image (C, H, W); text (L,) of symbol ids; series (T, D); audio (C, T);
set (N, D); tabular (D,); label (); video (T, C, H, W)."""

Task = Literal["agreement", "class", "multilabel", "number"]
"""Kinds of target. Shapes of one sample: class () and agreement (), int64; multilabel (labels,) uint8; number float32."""

Meaning = Literal["opposite", "same"]
"""What a text means, beside another one: the same (a paraphrase), or the opposite (a negation), whatever the picture."""

_RANKS: dict[str, int] = {"audio": 2, "image": 3, "label": 0, "series": 2, "set": 2, "tabular": 1, "text": 1, "video": 4}
_VARIABLE: dict[str, int] = {"audio": 1, "series": 0, "set": 0, "text": 0, "video": 0}
_BYTES = {"float32": 4, "int64": 8, "uint8": 1}
_LONGEST_NAME = 100


N = TypeVar("N", "Modality", "Factor", "Target")


@dataclass(frozen=True)
class Modality:
    """One modality of the samples: its name, kind, shape and storage type.

    Args:
        name: unique within a Spec; any printable characters, such as `image`, `left-camera` or `BRK.B`.
        kind: one of `Kind`; decides the rank of `shape` and which nets fit.
        shape: shape of one sample as stored, without the batch axis; the maximum where samples have lengths.
        dtype: how it is stored: `uint8` (images 0..255, symbol ids), `float32` or `int64`.
        symbols: for text and label: the symbol of each id.
        padding: for text: the id that fills a sample up to its length. It may be a symbol of the language too
            (CdSprites+ pads with the space), so a sample without an `end` ends at its last symbol that is not padding.
        start: for text: the id that stands before the first symbol for a model that writes symbol by symbol; in no sample.
        end: for text: the id that closes every sample that is shorter than its length allows. What comes after it says
            nothing, so it is neither shown nor counted in a likelihood.
        arities: for text that is trees in Polish notation, the root first: how many arguments each symbol takes.
        rate: for audio: samples per second; None where it is not known.
        channels: for series: the name of each column, where they are known. `x`, `y` and `pressure` (or `down`) in a row are the
            place of a finger or a pen and whether it is lifted: drawings show it as a path.

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
    arities: tuple[int, ...] = ()
    rate: int | None = None
    channels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_name("modality", self.name)
        _check_texts(f"modality {self.name}: symbols", self.symbols)
        if not isinstance(self.shape, list | tuple):
            raise SpecError(f"modality {self.name}: expected a shape such as (3, 64, 64), got {self.shape!r}")
        if self.kind not in get_args(Kind):
            raise SpecError(f"modality {self.name}: unknown kind {self.kind!r}; {nearest(str(self.kind), get_args(Kind))}")
        if len(self.shape) != _RANKS[self.kind] or any(type(size) is not int or size < 1 for size in self.shape):
            raise SpecError(
                f"modality {self.name}: a sample of kind {self.kind} has {_RANKS[self.kind]} axes of at least 1, got {self.shape}"
            )
        if self.dtype not in _BYTES:
            raise SpecError(f"modality {self.name}: expected dtype one of {', '.join(_BYTES)}, got {self.dtype!r}")
        if (self.kind in ("text", "label")) != bool(self.symbols):
            raise SpecError(f"modality {self.name}: text and label have symbols, other kinds have none; kind is {self.kind}")
        if self.symbols and (self.dtype == "float32" or (self.dtype == "uint8" and len(self.symbols) > 256)):
            got = f"{self.dtype} for {len(self.symbols)} symbols"
            raise SpecError(f"modality {self.name}: expected dtype int64, or uint8 for at most 256 symbols, got {got}")
        for role in ("padding", "start", "end"):
            symbol = getattr(self, role)
            if symbol is not None and not (self.kind == "text" and 0 <= symbol < len(self.symbols)):
                raise SpecError(f"modality {self.name}: {role} {symbol} is no id of its {len(self.symbols)} symbols")
        count = len(self.symbols) if self.kind == "text" else 0
        if self.arities and (len(self.arities) != count or any(type(arity) is not int or arity < 0 for arity in self.arities)):
            raise SpecError(
                f"modality {self.name}: expected arities of at least 0, one for each of the {count} symbols of a text, "
                f"got {self.arities}"
            )
        if self.rate is not None and (self.kind != "audio" or type(self.rate) is not int or self.rate < 1):
            raise SpecError(f"modality {self.name}: expected a rate of at least 1 of kind audio alone, got {self.rate!r}")
        _check_texts(f"modality {self.name}: channels", self.channels)
        if self.channels and (self.kind != "series" or len(self.channels) != self.shape[-1]):
            wanted = (
                f"{self.shape[-1]} names, one for each column" if self.kind == "series" else "none, which are of series alone"
            )
            raise SpecError(f"modality {self.name}: channels: expected {wanted}, got {self.channels}")

    @property
    def size(self) -> int:
        """Number of values in one sample."""
        return math.prod(self.shape)

    @property
    def length_axis(self) -> int | None:
        """The axis of `shape` along which samples may have different lengths; None for a kind without one.

        >>> Modality("sound", "audio", (1, 8000)).length_axis, Modality("x", "tabular", (4,)).length_axis
        (1, None)
        """
        return _VARIABLE.get(self.kind)

    @property
    def max_length(self) -> int:
        """The largest length of a sample.

        Raises:
            SpecError: samples of this kind have no length.
        """
        if self.length_axis is None:
            raise SpecError(f"modality {self.name}: samples of kind {self.kind} have no lengths; {', '.join(_VARIABLE)} have")
        return self.shape[self.length_axis]


@dataclass(frozen=True)
class Factor:
    """A known discrete cause of a sample. In a batch a factor is an integer code; -1 means absent."""

    name: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        _check_name("factor", self.name)
        _check_texts(f"factor {self.name}: values", self.values)
        if len(self.values) < 1 or len(set(self.values)) != len(self.values):
            raise SpecError(f"factor {self.name}: expected distinct values, at least one, got {self.values}")

    def code(self, value: str) -> int:
        """The code of a value; raises SpecError for an unknown one."""
        if value not in self.values:
            raise SpecError(f"factor {self.name} has no value {value!r}; {nearest(value, self.values)}")
        return self.values.index(value)


@dataclass(frozen=True)
class Quantity:
    """A known continuous cause of a sample, such as a position or an angle. In a batch it is a float; NaN means absent.

    Args:
        name: unique among the factors and quantities of a Spec.
        bounds: smallest and largest value.
        unit: such as `degrees`; empty where there is none.
        periodic: whether the two bounds are the same value, as of an angle.

    Raises:
        SpecError: bounds that are not finite and rising.
    """

    name: str
    bounds: tuple[float, float]
    unit: str = ""
    periodic: bool = False

    def __post_init__(self) -> None:
        _check_name("quantity", self.name)
        if not _rising(self.bounds) or not all(map(math.isfinite, self.bounds)):
            raise SpecError(f"quantity {self.name}: expected finite bounds, the first below the second, got {self.bounds}")


@dataclass(frozen=True)
class Target:
    """What a supervised model has to predict for a sample.

    Args:
        name: unique among the targets of a Spec.
        task: `class`, one of `symbols`; `multilabel`, any number of `symbols`; `number`, of the given `shape`; `agreement`,
            whether the modalities of the sample agree (1) or not (0).
        symbols: the names of the classes or labels; none for the other tasks.
        shape: of a `number`; () is a single one.
        bounds: smallest and largest value of a `number`; None for an open end.
        contrast: of an `agreement`: (pictures, texts) of a contrast set, whose samples stand in a row, all of its pictures with
            each of its texts, texts running fastest. Each picture and each text agrees with one of the other side, or with none
            where it has fewer; the targets say with which, so that the place of a sample does not tell. (2, 2) is the
            scheme of Winoground (Thrush et al., CVPR 2022), (1, 2) a picture with a caption and a foil; (1, 1): samples have
            nothing to do with each other. What is first and second is the order of the modalities of the Spec.
        meanings: of an `agreement` without contrast sets: samples stand in rows of one picture with `1 + len(meanings)` texts,
            and each text after the first means the same as the first or the opposite of it. ("same", "opposite") is a caption,
            a paraphrase of it and its negation. A sample whose target is unknown has no such text. None: texts are not related.

    Raises:
        SpecError: symbols, shape, bounds, a contrast set or meanings that do not fit the task.
    """

    name: str
    task: Task
    symbols: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()
    bounds: tuple[float | None, float | None] = (None, None)
    contrast: tuple[int, int] = (1, 1)
    meanings: tuple[Meaning, ...] = ()

    def __post_init__(self) -> None:
        _check_name("target", self.name)
        _check_texts(f"target {self.name}: symbols", self.symbols)
        if self.task not in get_args(Task):
            raise SpecError(f"target {self.name}: unknown task {self.task!r}; {nearest(str(self.task), get_args(Task))}")
        least = {"class": 2, "multilabel": 1}.get(self.task, 0)
        if len(set(self.symbols)) != len(self.symbols) or len(self.symbols) < least or (self.symbols and not least):
            wanted = f"at least {least} different symbols" if least else "no symbols"
            raise SpecError(f"target {self.name}: task {self.task} needs {wanted}, got {self.symbols}")
        if not _rising(self.bounds) or any(type(axis) is not int or axis < 1 for axis in self.shape):
            raise SpecError(
                f"target {self.name}: expected axes of at least 1 and bounds in rising order, got {self.shape} and {self.bounds}"
            )
        if self.task != "number" and (self.shape or self.bounds != (None, None)):
            raise SpecError(f"target {self.name}: shape and bounds belong to the task number, got {self.shape} and {self.bounds}")
        if len(self.contrast) != 2 or any(type(size) is not int or size < 1 for size in self.contrast):
            raise SpecError(f"target {self.name}: expected a contrast set of two numbers of at least 1, got {self.contrast}")
        if self.task != "agreement" and self.contrast != (1, 1):
            raise SpecError(f"target {self.name}: contrast sets belong to the task agreement, got {self.contrast}")
        if any(meaning not in get_args(Meaning) for meaning in self.meanings):
            raise SpecError(f"target {self.name}: expected meanings out of {', '.join(get_args(Meaning))}, got {self.meanings}")
        if self.meanings and (self.task != "agreement" or self.contrast != (1, 1)):
            where = "the task agreement without contrast sets"
            raise SpecError(f"target {self.name}: meanings belong to {where}, got {self.task} with {self.contrast}")

    @property
    def row_size(self) -> int:
        """How many samples stand in a row: those of a contrast set, or of a text and those related to it; 1 for single ones."""
        return math.prod(self.contrast) * (1 + len(self.meanings))

    @property
    def dtype(self) -> str:
        """The type in which it is stored."""
        return {"number": "float32", "multilabel": "uint8"}.get(self.task, "int64")

    @property
    def stored_shape(self) -> tuple[int, ...]:
        """Shape of one sample's target."""
        return (len(self.symbols),) if self.task == "multilabel" else self.shape


@dataclass(frozen=True)
class Spec:
    """The description of the batches of a source.

    Args:
        modalities: the senses, in a fixed order; names are unique.
        factors: the known discrete causes, in the order of the columns of `Batch.factors`.
        targets: what a predictor has to say; none for unsupervised sources.
        quantities: the known continuous causes, in the order of the columns of `Batch.quantities`.

    Raises:
        SpecError: no modality, or two of one name.
    """

    modalities: tuple[Modality, ...]
    factors: tuple[Factor, ...] = ()
    targets: tuple[Target, ...] = ()
    quantities: tuple[Quantity, ...] = ()

    def __post_init__(self) -> None:
        for what, kind in _PARTS.items():
            _check_parts(f"Spec: {what}", getattr(self, what), kind)
        if not self.modalities:
            raise SpecError("expected at least one modality, got none")
        causes = [item.name for item in self.factors] + [item.name for item in self.quantities]
        targets = [item.name for item in self.targets]
        for what, names in {"modality": self.names, "factor": causes, "target": targets}.items():
            if len(set(names)) != len(names):
                raise SpecError(f"expected {what} names that differ, got {', '.join(names)}")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the modalities, in order."""
        return tuple(modality.name for modality in self.modalities)

    @property
    def sample_bytes(self) -> int:
        """Bytes that one sample takes in memory, without masks and lengths."""
        views = sum(_BYTES[modality.dtype] * modality.size for modality in self.modalities)
        targets = sum(_BYTES[target.dtype] * math.prod(target.stored_shape) for target in self.targets)
        return views + targets + 8 * len(self.factors) + 4 * len(self.quantities)

    @property
    def row_size(self) -> int:
        """How many samples stand in a row (`Target.row_size`); where targets differ in it, the smallest that holds whole rows."""
        return math.lcm(*(target.row_size for target in self.targets))

    def modality(self, name: str) -> Modality:
        """The modality of that name; raises SpecError with the nearest name."""
        return _find("modality", self.modalities, name)

    def factor(self, name: str) -> Factor:
        """The factor of that name; raises SpecError with the nearest name."""
        return _find("factor", self.factors, name)

    def factor_index(self, name: str) -> int:
        """Column of a factor in `Batch.factors`."""
        return self.factors.index(self.factor(name))

    def target(self, name: str) -> Target:
        """The target of that name; raises SpecError with the nearest name."""
        return _find("target", self.targets, name)

    def restrict(self, names: Sequence[str]) -> Spec:
        """The same spec with only these modalities, in the order given."""
        return Spec(tuple(self.modality(name) for name in names), self.factors, self.targets, self.quantities)

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary; `from_json` reads it back. Unknown rates and channels are left out, as in earlier records."""
        record = asdict(self)
        for modality in record["modalities"]:
            for name in ("rate", "channels"):
                if not modality[name]:
                    del modality[name]
        return record

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Spec:
        """Read what `to_json` wrote; raises SpecError if it is not that."""
        try:
            return cls(
                modalities=tuple(_made(Modality, item) for item in record["modalities"]),
                factors=tuple(_made(Factor, item) for item in record["factors"]),
                targets=tuple(_made(Target, item) for item in record["targets"]),
                quantities=tuple(_made(Quantity, item) for item in record["quantities"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise SpecError(f"expected the record of a Spec, got one that cannot be read: {error!r}") from error


_PARTS: dict[str, type] = {"modalities": Modality, "factors": Factor, "targets": Target, "quantities": Quantity}


def _check_parts(where: str, given: object, kind: type) -> None:
    """Raise SpecError unless all parts are of one kind: positional arguments are easily mixed up."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise SpecError(
            f"{where}: expected a tuple of {kind.__name__}, got a {type(given).__name__}: write ({kind.__name__}(...),)"
        )
    for item in given:
        if not isinstance(item, kind):
            place = next((name for name, other in _PARTS.items() if isinstance(item, other)), "")
            hint = f": pass it as {place}=" if place else ""
            what = f"the {type(item).__name__} {item.name!r}" if isinstance(item, _NAMED) else f"a {type(item).__name__}"
            raise SpecError(f"{where}: expected a tuple of {kind.__name__}, got {what} in it{hint}")


_NAMED = (Modality, Factor, Target, Quantity)


def _check_texts(where: str, given: object) -> None:
    """Raise SpecError unless these are several texts; one text alone would be taken for a sequence of letters."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(item, str) for item in given):
        raise SpecError(f"{where}: expected a tuple of texts, got {given!r}")


def _rising(bounds: Sequence[float | None]) -> bool:
    """Whether these are two numbers, the first below the second; None stands for an open end."""
    if not isinstance(bounds, list | tuple) or len(bounds) != 2 or not all(isinstance(end, int | float | None) for end in bounds):
        return False
    low, high = bounds
    return (-math.inf if low is None else low) < (math.inf if high is None else high)


def _check_name(what: str, name: str) -> None:
    """Check a name: any printable text that a data set may use; files and pages escape it."""
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME or not name.isprintable() or name != name.strip():
        raise SpecError(
            f"expected a {what} name of 1 to {_LONGEST_NAME} printable characters without spaces at its ends, got {name!r}: "
            "rename it"
        )


def _find(what: str, items: Iterable[N], name: str) -> N:
    known = {item.name: item for item in items}
    if name not in known:
        raise SpecError(f"no {what} {name!r}; {nearest(name, known)}")
    return known[name]


T = TypeVar("T")


def _made(kind: type[T], record: Mapping[str, Any]) -> T:
    """A part of a Spec from its record, whose lists are tuples."""
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in record.items()})
