"""What a check of data found, and how it is told: the answer first, then each kind of problem with its first places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

_EXAMPLES, _LINES = 2, 25
"""Places of a kind that are told, and lines in all, where not everything is asked for."""


@dataclass(frozen=True)
class DataProblem:
    """One problem in a user's files.

    Args:
        kind: what sort of problem it is, in a few words, such as `no number`.
        severe: whether the data cannot be used until it is corrected; else they can, and it may be meant so.
        place: file and line, and the column where there is one.
        text: what is wrong there, and what to do.
    """

    kind: str
    severe: bool
    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


@dataclass(frozen=True)
class DataCheck:
    """What a check of data found.

    Args:
        name: of the data, as they were given.
        findings: every problem, in the order of the files.
        samples: how many samples each split has; empty where the data cannot be used.
        classes: by label and value, how many samples each split has.
        readable: what can be read in generated views and measured, or why not, one sentence each.
        notes: what was converted, cut or drawn; no problems.
        settings: what the columns were taken for where no settings said it.
    """

    name: str
    findings: tuple[DataProblem, ...] = ()
    samples: Mapping[str, int] = field(default_factory=dict)
    classes: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    readable: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    settings: str = ""

    @property
    def errors(self) -> tuple[DataProblem, ...]:
        """What has to be corrected before the data can be used."""
        return tuple(finding for finding in self.findings if finding.severe)

    @property
    def warnings(self) -> tuple[DataProblem, ...]:
        """What may be wrong, and does not keep the data from being used."""
        return tuple(finding for finding in self.findings if not finding.severe)

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def summaries(self, findings: Sequence[DataProblem]) -> list[str]:
        """One sentence for each kind of problem: the first place, and how many there are."""
        return [f"{found[0]}{_more(len(found) - 1)}" for found in _by_kind(findings).values()]

    def lines(self, *, everything: bool = False) -> list[str]:
        """What is told: the answer, then each kind of problem, samples and classes, and what can be measured.

        Args:
            everything: all places and notes; by default at most 25 lines.
        """
        head = [self._answer(), *([f"Read as {self.settings} (no settings say it)"] if self.settings else [])]
        tail = [*self._samples(), *self._classes(everything), *self.readable]
        if everything:
            return [*head, *self._places(None), *tail, *(f"Note: {note}" for note in self.notes)]
        kinds = len(_by_kind(self.findings))
        room = _LINES - len(head) - 1 - min(len(tail), 9)
        examples = next((most for most in (_EXAMPLES, 1, 0) if kinds + most * kinds <= room), 0)
        body = list(self._places(examples))[:room]
        hidden = kinds - sum(not line.startswith(" ") for line in body)
        rest = ([f"{hidden} more kinds of problems"] if hidden > 0 else []) + (
            [_counted(len(self.notes), "note")] if self.notes else []
        )
        shown = [*head, *body, *tail]
        told_all = not hidden and sum(line.startswith(" ") for line in body) >= len(self.findings) and not self.notes
        more = f"{' and '.join(rest)}: --all tells everything" if rest else "--all tells everything"
        return shown[: _LINES - 1] + ([] if told_all and len(shown) < _LINES else [more])

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "data": self.name,
            "clean": self.clean,
            "errors": [asdict(finding) for finding in self.errors],
            "warnings": [asdict(finding) for finding in self.warnings],
            "samples": dict(self.samples),
            "classes": {name: {value: dict(each) for value, each in values.items()} for name, values in self.classes.items()},
            "readable": list(self.readable),
            "notes": list(self.notes),
            "settings": self.settings,
        }

    def _answer(self) -> str:
        if self.clean:
            return f"{self.name}: nothing wrong was found"
        severe, others = len(self.errors), len(self.warnings)
        counts = [_counted(severe, "error"), _counted(others, "warning")]
        found = ", ".join(part for part in counts if part)
        return f"{self.name}: {found}; {'the data cannot be used as they are' if severe else 'the data can be used'}"

    def _places(self, most: int | None) -> Iterator[str]:
        """A line for each kind of problem, and its places, indented."""
        for (kind, severe), found in _by_kind(self.findings).items():
            yield f"{'error' if severe else 'warning'}: {kind} ({len(found):,})"
            yield from (f"  {finding}" for finding in found[:most])

    def _samples(self) -> list[str]:
        if not self.samples:
            return []
        return [f"Samples: {', '.join(f'{count:,} {split}' for split, count in self.samples.items())}"]

    def _classes(self, everything: bool) -> Iterator[str]:
        for name, values in self.classes.items():
            shown = [*values.items()]
            few = shown if everything else shown[:4]
            each = "; ".join(f"{value} {'/'.join(map(str, counts.values()))}" for value, counts in few)
            more = f"; and {len(shown) - len(few):,} others" if len(shown) > len(few) else ""
            yield f"{name} ({len(shown):,} values, {'/'.join(self.samples)}): {each}{more}"


def _by_kind(findings: Sequence[DataProblem]) -> dict[tuple[str, bool], list[DataProblem]]:
    """The findings of each kind, errors first."""
    found: dict[tuple[str, bool], list[DataProblem]] = {}
    for finding in sorted(findings, key=lambda finding: not finding.severe):
        found.setdefault((finding.kind, finding.severe), []).append(finding)
    return found


def _more(count: int) -> str:
    return f" (and {count:,} more like it)" if count else ""


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' if count > 1 else ''}" if count else ""
