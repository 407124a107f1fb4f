"""What stands on a page, before it has a format: headlines, and sections of tables, drawings, galleries and facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from molyneux.report.gallery import DrawnGallery
from molyneux.report.plots import Panel
from molyneux.report.tables import Strip, Table


@dataclass(frozen=True)
class Headline:
    """One result in words.

    Args:
        about: what it is about, in two or three words.
        number: the number alone.
        sentence: the number in a sentence, with interval, chance and ceiling.
        strip: the number as a picture.
    """

    about: str
    number: str
    sentence: str
    strip: Strip | None = None


@dataclass(frozen=True)
class Drawings:
    """Panels side by side.

    Args:
        title: a line above them; empty where the section's heading says it.
        panels: drawings with their titles.
        keys: what lines and marks mean, a style (`solid`, `dashed`, `dotted`, `chance`, `ceiling`, `interval`) and words.
        note: a sentence above.
    """

    title: str
    panels: tuple[Panel, ...]
    keys: tuple[tuple[str, str], ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Picture:
    """One picture as a data URI, with the words for those who do not see it."""

    uri: str
    words: str


@dataclass(frozen=True)
class Facts:
    """Names and what they are."""

    title: str
    items: Mapping[str, str]


@dataclass(frozen=True)
class Listing:
    """Text that is shown letter by letter: a command, a configuration."""

    title: str
    text: str
    folded: bool = False


Block = Table | Drawings | DrawnGallery | Picture | Facts | Listing


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it."""

    name: str
    title: str
    intro: str = ""
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Page:
    """A whole page.

    Args:
        kind: what it reports on: `run` or `study`.
        title: its name.
        facts: what must be known at once, such as model and world.
        headlines: the results in words.
        sections: everything else; empty ones are left out.
    """

    kind: str
    title: str
    facts: tuple[str, ...]
    headlines: tuple[Headline, ...]
    sections: tuple[Section, ...] = field(default_factory=tuple)

    @property
    def filled(self) -> tuple[Section, ...]:
        """The sections that hold something."""
        return tuple(section for section in self.sections if section.blocks)
