"""Scores as entries of tables."""

from __future__ import annotations

from molyneux.core import Score
from molyneux.report.numbers import MISSING, places, superscript, write, write_count, write_interval
from molyneux.report.tables.table import Entry, Strip, Tone


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


def words(text: str, *, repeated: bool = False, tone: Tone = "") -> Entry:
    """An entry of words."""
    return Entry(text, repeated=repeated, tone=tone)


def value(score: Score, mark: str = "", *, drawn: bool = False) -> Entry:
    """The value with its 95 % interval and a footnote's mark; `n/a` where there is none; drawn as a picture too if wanted."""
    if score.value is None:
        return Entry(MISSING + mark, tone="muted")
    decimals = places(score)
    detail = "" if score.interval is None else write_interval(score.interval, decimals)
    return Entry(
        write(score.value, decimals) + mark, detail, score.value, score.interval, "strong", strip=strip(score) if drawn else None
    )


def beside(score: Score, number: float | None) -> Entry:
    """A number of the same kind as a score, such as its chance; a dash where it has no meaning."""
    if number is None:
        return Entry("–", tone="muted")  # noqa: RUF001
    return Entry(write(number, places(score)), value=number, tone="muted")


def count(score: Score) -> Entry:
    """The number of samples behind a score."""
    return Entry(write_count(score.n), value=score.n, tone="muted") if score.n else Entry("–", tone="muted")  # noqa: RUF001


def ceiling(score: Score) -> float | None:
    """What the judge reaches on true views, if a score says so."""
    return next((number for name, number in score.controls.items() if "ceiling" in name), None)


def strip(score: Score) -> Strip | None:
    """The score as a picture; None where its bounds are open."""
    low, high = score.bounds
    if score.value is None or low is None or high is None or high <= low:
        return None
    return Strip(score.value, low, high, score.interval, score.chance, ceiling(score))
