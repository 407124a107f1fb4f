"""Turn scores into table entries: value with interval, reference numbers, counts and footnotes."""

from __future__ import annotations

from molyneux.core import Score
from molyneux.report.numbers import MISSING, places, superscript, write, write_count, write_interval
from molyneux.report.tables.table import DASH, Entry, Strip


class Footnotes:
    """Notes collected while a table is filled: the same sentence gets the same mark."""

    def __init__(self) -> None:
        self._sentences: list[str] = []

    def mark(self, sentence: str) -> str:
        """The superscript mark of a sentence; empty for an empty sentence."""
        if not sentence:
            return ""
        if sentence not in self._sentences:
            self._sentences.append(sentence)
        return superscript(self._sentences.index(sentence) + 1)

    @property
    def notes(self) -> tuple[str, ...]:
        """Every sentence with its mark, in the order of the marks."""
        return tuple(f"{superscript(number)} {sentence}" for number, sentence in enumerate(self._sentences, 1))


def value_entry(score: Score, mark: str = "", *, drawn: bool = False) -> Entry:
    """The value with its 95 % interval and a footnote mark; `n/a` where there is none; also as a mark on a line if `drawn`."""
    if score.value is None:
        return Entry(MISSING + mark, tone="muted")
    decimals = places(score)
    detail = "" if score.interval is None else write_interval(score.interval, decimals)
    return Entry(
        write(score.value, decimals) + mark, detail, score.value, score.interval, "strong", strip=strip(score) if drawn else None
    )


def reference_entry(score: Score, number: float | None) -> Entry:
    """A number to compare a score with, such as its chance level, with as many decimals; a dash for None."""
    return DASH if number is None else Entry(write(number, places(score)), value=number, tone="muted")


def count_entry(score: Score) -> Entry:
    """The number of samples behind a score."""
    return Entry(write_count(score.n), value=score.n, tone="muted") if score.n else DASH


def ceiling(score: Score) -> float | None:
    """The accuracy of the judge on true views; None where the score has no such control."""
    return next((number for name, number in score.controls.items() if "ceiling" in name), None)


def strip(score: Score) -> Strip | None:
    """The score as a mark on a line between its bounds; None where a bound is open."""
    low, high = score.bounds
    if score.value is None or low is None or high is None or high <= low:
        return None
    return Strip(score.value, low, high, score.interval, score.chance, ceiling(score))
