"""The lines of `records.jsonl`: what runs have in common is told once, and a run tells what is its own.

The file is JSON Lines. The first line is `{"format":3}`; every other line is an object of one of four kinds:

- `{"settings":LABEL,"values":{...}}`: settings under dotted names, which runs refer to.
- `{"origin":LABEL,"values":{...}}`: the origin of scores. With `"like":LABEL` it is that of an earlier line with other `values`.
- `{"score":LABEL,"name":...,"about":...}`: what is measured, as `Score` has it, without `value`, `interval` and `origin`, and
  without what is empty.
- `{"run":CHECKSUM,"settings":[LABEL,{...}],"scores":[[ORIGIN,ROW,...],...]}`: a run. Its settings are those of the label with its
  own in place of some. A row, `[SCORE,value,low,high,n,chance,controls]`, is a score of that origin; controls are numbers in the
  order of their sorted names. What is left out at its end is as the line of the score has it; a row of two has no interval.

A label is the beginning of the fingerprint of what its line tells, and the checksum of a run is of its line and of all that it
refers to, so an altered line is noticed. A line refers to earlier lines alone. A new run appends lines and changes none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, groupby
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeVar

from molyneux.core import CorruptFileError, DataError, Score, StoreError, store
from molyneux.report.record_rows import OPTIONAL, REQUIRED, Measured, compact, content_of, form_of, kind_of
from molyneux.report.settings import flatten

FORMAT = 3
_FIRST = {"format": FORMAT}
_SHORTEST = 4
"""Hex digits of a label."""
_MOST_VALUES = 1 << 22
"""Settings of all runs and values of all origins of a file, written out; a file of short references to long lines has more."""
_KINDS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "run": (frozenset({"run", "settings", "scores"}), frozenset()),
    "settings": (frozenset({"settings", "values"}), frozenset()),
    "origin": (frozenset({"origin", "values"}), frozenset({"like"})),
    "score": (frozenset({"score", *REQUIRED}), frozenset(OPTIONAL)),
}
"""By the name that tells the kind of a line, the names in it and those it may do without; the first kind that is there counts."""
_UNREADABLE = (KeyError, TypeError, AttributeError, ValueError, IndexError, OverflowError, RecursionError, DataError)
"""What content of another form raises."""


@dataclass(frozen=True)
class StudyRun:
    """One run of a study.

    Args:
        settings: its resolved settings under dotted names, `seed` among them.
        scores: under all conditions.
        cost: `steps`, `seconds` and `threads` of its training and the `processor` they are of; empty where it is not recorded.
    """

    settings: Mapping[str, Any]
    scores: tuple[Score, ...]
    cost: Mapping[str, Any] = field(default_factory=dict)

    @property
    def seed(self) -> str:
        """The seed as text; empty where none is recorded."""
        return str(self.settings.get("seed", ""))


class _Shared(NamedTuple):
    """Settings or an origin that a line tells; `texts` has the values as text, where others may be told as like it."""

    label: str
    digest: str
    values: Mapping[str, Any]
    texts: Mapping[str, str] | None


_Told = TypeVar("_Told", _Shared, Measured)


class RecordLines:
    """The lines of one file, read in their order, and those of further runs to be written below them.

    Args:
        path: of the file, for errors.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._settings: dict[str, _Shared] = {}
        self._origins: dict[str, _Shared] = {}
        self._whole: dict[str, list[_Shared]] = {"settings": [], "origin": []}
        self._measured: dict[str, Measured] = {}
        self._by_kind: dict[str, Measured] = {}
        self._by_form: dict[tuple[Any, ...], Measured] = {}
        self._by_origin: dict[str, _Shared] = {}
        self._runs: dict[str, int] = {}
        self._values = 0
        self._begun = False

    def read(self, lines: Sequence[Mapping[str, Any]]) -> Iterator[StudyRun]:
        """The runs in lines of the file, which are its next ones.

        Raises:
            CorruptFileError: a line was altered, is of another form, or refers to what no line above it tells; names it.
            StoreError: the file is of another format.
        """
        for number, line in enumerate(lines, start=1):
            try:
                run = self._read(line, number)
            except _UNREADABLE as error:
                said = str(error) if isinstance(error, DataError) else f"{type(error).__name__}: {str(error)[:60]}"
                self._refuse(number, f"it cannot be read: {said}")
            if run is not None:
                yield run

    def write(self, run: StudyRun) -> list[str]:
        """The lines that a run adds to the file, without line breaks; the first of a new file among them.

        Raises:
            ValueError: a number is NaN or infinite. TypeError: a value is none of JSON.
        """
        lines = [] if self._begun else [compact(_FIRST)]
        self._begun = True
        given = flatten(json.loads(compact(dict(run.settings))))
        texts = _texts(given)
        base = _nearest(texts, self._whole["settings"]) or self._tell("settings", self._settings, given, texts, lines)
        own = {name: value for name, value in given.items() if (base.texts or {})[name] != texts[name]}
        used, groups, origins = {base.digest}, list[list[Any]](), dict[int, _Shared]()
        for _, same in groupby(run.scores, key=lambda score: id(score.origin)):
            scores = list(same)
            if (place := id(scores[0].origin)) not in origins:
                origins[place] = self._origin(json.loads(compact(dict(scores[0].origin))), lines)
            origin = origins[place]
            if not groups or groups[-1][0] != origin.label:
                groups.append([origin.label])
            for score in scores:
                measured = self._measure(score, lines)
                groups[-1].append(measured.row(score))
                used.update((origin.digest, measured.digest))
        record = {"settings": [base.label, own], "scores": groups}
        checksum = _checksum(record, used)
        if checksum not in self._runs:  # the same run again adds nothing
            self._runs[checksum] = 0
            lines.append(_line("run", checksum, record))
        return lines

    def _read(self, line: Mapping[str, Any], number: int) -> StudyRun | None:
        if not self._begun or "format" in line:
            self._begin(line, number)
            return None
        kind = next((kind for kind in _KINDS if kind in line), "")
        if not kind or line.keys() - _KINDS[kind][1] != _KINDS[kind][0]:
            self._refuse(number, f"it tells neither a run nor {', '.join([*_KINDS][1:])}, or not all of it")
        if not isinstance(line[kind], str) and kind != "run":
            self._refuse(number, f"expected the label of its {kind} as a text, got {str(line[kind])[:40]}")
        if kind == "run":
            return self._run(line, number)
        if kind == "score":
            self._add_measured(line, number)
        else:
            known = self._settings if kind == "settings" else self._origins
            like = self._known(self._origins, line["like"], "origin", number) if "like" in line else None
            if like is not None and like.texts is None:
                self._refuse(number, f"the origin {like.label} that it is like is itself told by another")
            own = flatten(line["values"]) if kind == "settings" else {**line["values"]}
            values = own if like is None else self._merged(like.values, own, number)
            digest = self._labelled(line[kind], values, known, number)
            shared = _Shared(line[kind], digest, values, _texts(values) if like is None else None)
            if (
                line[kind] not in known or like is None
            ):  # told twice where two files were joined: others may be like the whole one
                known[line[kind]] = shared
                self._whole[kind] += [shared] if like is None else []
            if kind == "origin":
                self._by_origin.setdefault(digest, shared)
        return None

    def _begin(self, line: Mapping[str, Any], number: int) -> None:
        if dict(line) == _FIRST and type(line["format"]) is int:
            self._begun = True
            return
        if "scores" in line and "settings" in line and "run" not in line:
            raise StoreError(
                f"{self.path} has records of an earlier format, which this version does not read: move the file away and run the "
                "sweep again, which records finished runs from their folders, or read it with the version that wrote it"
            )
        if type(line.get("format")) is int and line["format"] > FORMAT:
            raise StoreError(
                f"{self.path} has records of format {line['format']}, this version reads {FORMAT}: install a newer one"
            )
        self._refuse(number, f"expected {compact(_FIRST)}")

    def _run(self, line: Mapping[str, Any], number: int) -> StudyRun:
        label, own = line["settings"]
        base = self._known(self._settings, label, "settings", number)
        used, scores = {base.digest}, list[Score]()
        for name, *rows in line["scores"]:
            origin = self._known(self._origins, name, "origin", number)
            for row in rows:
                measured = self._known(self._measured, row[0], "score", number)
                used.update((origin.digest, measured.digest))
                scores.append(measured.score_of(row, origin.values))
        record = {"settings": line["settings"], "scores": line["scores"]}
        if line["run"] != _checksum(record, used):
            raise CorruptFileError(
                f"line {number} of {self.path} was altered since it was written: restore it from a copy, or run it again"
            )
        if line["run"] in self._runs:
            self._refuse(number, f"it repeats the run of line {self._runs[line['run']]}")
        self._runs[line["run"]] = number
        return StudyRun(self._merged(base.values, flatten(own), number), tuple(scores))

    def _merged(self, base: Mapping[str, Any], own: Mapping[str, Any], number: int) -> dict[str, Any]:
        self._values += len(base) + len(own)
        if self._values > _MOST_VALUES:
            self._refuse(number, f"expected at most {_MOST_VALUES:,} settings and values of origins up to here, got more")
        return {**base, **own}

    def _add_measured(self, line: Mapping[str, Any], number: int) -> None:
        content = {name: value for name, value in line.items() if name != "score"}
        label, digest = line["score"], self._labelled(line["score"], content, self._measured, number)
        measured = Measured(
            label, digest, Score.from_json({**content, "value": None}), tuple(sorted(content.get("controls", ())))
        )
        self._measured[label] = measured
        self._by_kind.setdefault(kind_of(content), measured)

    def _labelled(self, label: str, content: Mapping[str, Any], known: Mapping[str, _Shared | Measured], number: int) -> str:
        """The fingerprint of what a line tells; CorruptFileError where its label is not of it, or has another meaning above."""
        digest = store.fingerprint(content)
        if len(label) < _SHORTEST or not digest.startswith(label):
            self._refuse(number, f"its label {label[:20]!r} is not of what it tells; it was altered since it was written")
        if label in known and known[label].digest != digest:
            self._refuse(number, f"its label {label} stands for something else above")
        return digest

    def _known(self, known: Mapping[str, _Told], label: object, kind: str, number: int) -> _Told:
        found = known.get(label) if isinstance(label, str) else None
        return found if found is not None else self._refuse(number, f"no line above it tells the {kind} {str(label)[:20]!r}")

    def _refuse(self, number: int, what: str) -> NoReturn:
        raise CorruptFileError(
            f"line {number} of {self.path} is no record of a run ({what}): "
            "name a file records.jsonl, restore it from a copy, or run the sweep again"
        )

    def _tell(
        self, kind: str, known: dict[str, _Shared], values: Mapping[str, Any], texts: Mapping[str, str], lines: list[str]
    ) -> _Shared:
        """Tell settings or an origin in a line of its own."""
        digest = store.fingerprint(values)
        label = _free_label(digest, known)
        lines.append(_line(kind, label, {"values": values}))
        self._whole[kind].append(_Shared(label, digest, values, texts))
        return known.setdefault(label, self._whole[kind][-1])

    def _origin(self, values: dict[str, Any], lines: list[str]) -> _Shared:
        digest = store.fingerprint(values)
        if digest in self._by_origin:
            return self._by_origin[digest]
        texts = _texts(values)
        like = _nearest(texts, self._whole["origin"])
        if like is None:
            origin = self._tell("origin", self._origins, values, texts, lines)
        else:
            own = {name: value for name, value in values.items() if (like.texts or {})[name] != texts[name]}
            label = _free_label(digest, self._origins)
            lines.append(_line("origin", label, {"like": like.label, "values": own}))
            origin = self._origins[label] = _Shared(label, digest, values, None)
        self._by_origin[digest] = origin
        return origin

    def _measure(self, score: Score, lines: list[str]) -> Measured:
        """What a score measures, in a line of its own where no line tells it yet."""
        form = form_of(score)
        if form in self._by_form:
            return self._by_form[form]
        content = content_of(score)
        kind = kind_of(content)
        if kind not in self._by_kind:
            digest = store.fingerprint(content)
            label = _free_label(digest, self._measured)
            lines.append(_line("score", label, content))
            self._by_kind[kind] = self._measured[label] = Measured(label, digest, score, tuple(sorted(score.controls)))
        return self._by_form.setdefault(form, self._by_kind[kind])


def _nearest(texts: Mapping[str, str], whole: Sequence[_Shared]) -> _Shared | None:
    """Of what is told whole with the same names, that of which the least differs; None where most of it does."""
    same = [one for one in whole if one.texts is not None and one.texts.keys() == texts.keys()]
    differ = [sum(text != texts[name] for name, text in (one.texts or {}).items()) for one in same]
    least = min(differ, default=0)
    return same[differ.index(least)] if same and 2 * least <= len(texts) else None


def _free_label(digest: str, known: Mapping[str, _Shared | Measured]) -> str:
    """The shortest beginning of a digest that stands for nothing else."""
    labels = (digest[:length] for length in count(_SHORTEST))
    return next(label for label in labels if label not in known or known[label].digest == digest)


def _checksum(record: Mapping[str, Any], used: set[str]) -> str:
    return store.fingerprint([record, sorted(used)])


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: repr(value) for name, value in values.items()}


def _line(kind: str, label: str, rest: Mapping[str, Any]) -> str:
    """A line whose first name tells its kind."""
    return ",".join([f'{{"{kind}":"{label}"', *(f'"{name}":{compact(rest[name])}' for name in _ORDER if name in rest)]) + "}"


_ORDER = ("like", "settings", "name", "about", *REQUIRED[1:], *OPTIONAL[1:], "values", "scores")
"""Names of a line after the first one."""
