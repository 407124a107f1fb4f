"""Readers: functions from views to factor codes, with which coherence judges generated views.

A world offers exact readers where it has them (the parser of its caption grammar). A *judge* is a learned reader; the world
supplies what it is trained on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from molyneux.core import store
from molyneux.core.errors import DataError, SpecError
from molyneux.core.score import Score

if TYPE_CHECKING:
    from torch import Tensor

    from molyneux.core.batch import Source


@dataclass(frozen=True)
class Reading:
    """The result of a reader.

    Args:
        codes: (B, F) int64 in the order of `factors`; -1 = unreadable.
        factors: names of the factors read; a view need not show all factors of its Spec.
        reasons: why a sample could not be read, by its position in the batch.
        forced: (B, F) codes where the reader may not abstain (forced choice); None where it has no forced choice.
    """

    codes: Tensor
    factors: tuple[str, ...]
    reasons: Mapping[int, str] = field(default_factory=dict)
    forced: Tensor | None = None


@runtime_checkable
class Reader(Protocol):
    """Maps views of one modality to factor codes."""

    @property
    def modality(self) -> str:
        """Name of the modality it reads."""
        ...

    @property
    def factors(self) -> tuple[str, ...]:
        """Names of the factors it reads."""
        ...

    @property
    def accuracy(self) -> Mapping[str, float]:
        """Held-out accuracy per factor, 0..1: the ceiling of every score this reader gives. Exact readers have 1."""
        ...

    @property
    def version(self) -> str:
        """Another text whenever some view may be read otherwise: a number that is raised, or the start of a judge's digest."""
        ...

    def read(self, view: Tensor) -> Reading:
        """Factor codes of views (B, *modality.shape), in their stored form."""
        ...


@runtime_checkable
class LearnedReader(Reader, Protocol):
    """A judge: a trained reader, which records its origin."""

    @property
    def origin(self) -> Mapping[str, Any]:
        """Its `name`, the `digest` of its weights, and how it was validated, as plain data for the origin of scores."""
        ...


EARLIER = "an earlier, unnamed reader"
"""Who read what is recorded without the name of its reader: it was read before readers had versions."""


def identity(reader: Reader) -> dict[str, str]:
    """The `name`, `version` and `digest` of a reader, which every score that rests on its reading records.

    An exact reader is named after its class, and its digest is that of name and version: a change of its code that changes no
    reading changes neither. The digest of a judge is that of its weights.

    Raises:
        SpecError: the reader has no version.
    """
    name, version = type(reader).__name__, getattr(reader, "version", "")
    if not isinstance(version, str) or not version:
        raise SpecError(f'expected a reader with a version, such as "1", got {name} with {version!r}: give it one')
    if isinstance(reader, LearnedReader):
        origin = reader.origin
        return {"name": str(origin.get("name", name)), "version": version, "digest": str(origin.get("digest", ""))}
    return {"name": name, "version": version, "digest": store.fingerprint({"name": name, "version": version})}


_UNREAD = frozenset(
    {
        "code_use.distortion",
        "reconstruction.exact",
        "reconstruction.letters",
        "reconstruction.log_likelihood",
        "reconstruction.mse",
        "reconstruction.ssim",
    }
)
"""Scores that compare views with views, which were recorded with the readers of the modality before readers had names."""


def read_by(origin: Mapping[str, Any]) -> dict[str, str]:
    """By modality, the name and version of the reader whose reading a score rests on, from the origin of the score.

    A second reader of the same modality is under the name of the modality with an apostrophe. Empty for a score that rests on no
    reading.

    >>> read_by({"readers": {"image": {"name": "RenderingReader", "version": "2"}, "text": {"exact": True}}})
    {'image': 'RenderingReader 2', 'text': 'an earlier, unnamed reader'}
    """
    found = {}
    for part, mark in (("readers", ""), ("second_readers", "'")):
        for modality, reader in (origin.get(part) or {}).items():
            named = isinstance(reader, Mapping) and reader.get("name") and reader.get("version")
            found[modality + mark] = f"{reader['name']} {reader['version']}" if named else EARLIER
    return found


def readers_of(score: Score) -> dict[str, str]:
    """By modality, the name and version of the reader whose reading a score rests on; see `read_by`.

    Means over directions were recorded without their readers before readers had names, and some scores that rest on no reading
    with one; this is of what they rest on.
    """
    if score.about.get("measure", score.name) in _UNREAD:
        return {}
    found = read_by(score.origin)
    return found or ({"all modalities": EARLIER} if score.name.endswith("_by_inputs") else {})


def read_earlier(score: Score) -> bool:
    """Whether a score rests on what an earlier, unnamed reader read: it is kept as history, and never ranked."""
    return EARLIER in readers_of(score).values()


def require_one_reader(scores: Iterable[Score]) -> None:
    """Refuse scores that rest on readings of different readers of the same modality.

    Raises:
        DataError: names the modality and both readers.
    """
    known = dict[str, str]()
    for score in scores:
        for modality, reader in readers_of(score).items():
            if known.setdefault(modality, reader) != reader:
                raise DataError(
                    f"expected {score.name} of one reader of {modality}, got readings of {known[modality]} and of {reader}: "
                    "they do not compare; measure again, or leave one of them out"
                )


UNREADABLE = "unreadable"
"""The value of a factor, for a judge, where a view does not show it; the last of its values."""

NO_LABEL = -1
"""The code of a factor that is neither readable nor unreadable in a view: a judge learns nothing of it."""


@dataclass(frozen=True)
class JudgeMaterial:
    """What a judge of one modality is trained on.

    Args:
        views: the true views.
        altered: views that do not show all factors, or show them as no true view does. Its factors have `UNREADABLE` as their
            last value; codes may be `NO_LABEL`. As many as there are true views.
    """

    views: Source
    altered: Source | None = None
