"""What a text of a person says in terms of a world: the values that it names, what it leaves open, and what it cannot mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from molyneux.core.errors import DataError

if TYPE_CHECKING:
    import numpy as np

    from molyneux.core.conversion.conversion import ConvertedViews


_SHOWN, _WORD, _LONGEST = 5, 40, 80
"""What a message has at most: unknown words, characters of each, and characters of the text."""


@dataclass(frozen=True)
class CompletedCaption:
    """A caption of a world that was made from a text.

    Args:
        text: the caption; the reader of the world accepts it.
        drawn: by factor, the values that the text left open and that were drawn.
    """

    text: str
    drawn: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Understood:
    """What a text says in terms of a world.

    Args:
        text: as it was given.
        values: by factor, the value that the text names.
        open: by factor of captions, the values that are possible where the text names none; two or more each.
        conflicts: by factor, the values that exclude each other where the text names several.
        unknown: by word that the world does not know, the nearest one that it knows; empty where none resembles it.
        nearest: a caption of the world, or its sentence, that says what was named: what is unknown as the words that it
            resembles, the first possible values where nothing was named. Empty where a language cannot tell.
        problem: why the text is no sentence of a world that has sentences; empty otherwise.
        complete_with: makes the caption, with a generator for what is open; None where there is none.
        remarks: what was decided where the text may mean several things, a sentence each.
        nearest_differs: whether a nearest sentence means something else than the text.
    """

    text: str
    values: Mapping[str, str] = field(default_factory=dict)
    open: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    conflicts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)
    nearest: str = ""
    problem: str = ""
    complete_with: Callable[[np.random.Generator], CompletedCaption] | None = None
    remarks: tuple[str, ...] = ()
    nearest_differs: bool = False

    @classmethod
    def of_caption(
        cls, text: str, caption: str, values: Mapping[str, str] | None = None, *, remarks: tuple[str, ...] = ()
    ) -> Understood:
        """What a text says that is a caption, but for its spelling, or means the same as one."""
        completed = CompletedCaption(caption)
        return cls(text, values or {}, nearest=caption, complete_with=lambda _: completed, remarks=remarks)

    @property
    def consistent(self) -> bool:
        """Whether the text may be a caption: nothing in it is unknown, contradictory or no sentence."""
        return not self.conflicts and not self.unknown and not self.problem

    @property
    def complete(self) -> bool:
        """Whether the text names everything that a caption says, and nothing else: it means one caption."""
        return self.consistent and not self.open

    def caption(self, generator: np.random.Generator) -> CompletedCaption:
        """The caption that the text means; what it leaves open is drawn from the distribution of the world.

        Unknown words are passed over. A caption of the world comes back as it is.

        Args:
            generator: for what is open.

        Raises:
            DataError: values exclude each other, or the text is no sentence; the message is `explained()`.
        """
        if self.conflicts or self.problem or self.complete_with is None:
            raise DataError(self.explained())
        return self.complete_with(generator)

    def explained(self) -> str:
        """In one sentence, why the text is no caption, and what to write; empty where it is one or can be completed."""
        parts = [f"{factor} may be {' or '.join(map(repr, some))}, not both" for factor, some in self.conflicts.items()]
        words = [f"{word[:_WORD]!r} ({near}?)" if near else repr(word[:_WORD]) for word, near in self.unknown.items()]
        if words:
            more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
            parts.append(f"unknown word{'s' if len(words) > 1 else ''} {', '.join(words[:_SHOWN])}{more}")
        parts += [self.problem] if self.problem else []
        if not parts:
            return ""
        shown = self.text if len(self.text) <= _LONGEST else f"{self.text[:_LONGEST]}..."
        differs = ", which means something else" if self.nearest_differs else ""
        advice = f"; the nearest caption is {self.nearest!r}{differs}" if self.nearest else ""
        return f"{shown!r}: {'; '.join(parts)}{advice}"


@runtime_checkable
class Understands(Protocol):
    """A data set that understands texts of people, by its settings alone: no samples are made or read."""

    def understand(self, text: str) -> Understood:
        """What a text says: any order, any case, with articles, punctuation and words between."""
        ...

    def views_of_caption(self, caption: str) -> Mapping[str, ConvertedViews]:
        """By modality of text, the view (1, L) of a caption as `Understood.caption` gives it.

        Raises:
            DataError: it is no caption.
        """
        ...


@runtime_checkable
class PicturesSounds(Protocol):
    """A data set that shows sounds as pictures, by its settings alone: no samples are read."""

    def view_of_sound(self, modality: str, sound: Any, rate: int | None = None) -> ConvertedViews:
        """The view (1, C, H, W) of one sound.

        Args:
            modality: name of the modality that shows sounds.
            sound: an array (n,), (channels, n) or (n, channels), the path of a WAV file, or a pair (rate, array); see `views_of`.
            rate: samples per second of an array; by default those of the data set.

        Raises:
            SpecError: no such modality. DataError: no sound. StoreError, CorruptFileError: a file that cannot be read.
        """
        ...


@runtime_checkable
class PlaysPictures(Protocol):
    """A data set that makes sounds of its pictures of sounds, by its settings alone: no samples are read."""

    def audible(self) -> tuple[str, ...]:
        """Names of the modalities that show sounds."""
        ...

    def sound_of_view(self, modality: str, view: Any) -> tuple[int, np.ndarray]:
        """Samples per second, and a sound (n,) float32 from -1 to 1 that has one view (1, H, W) as nearly as can be.

        Phases are not in a picture and are fitted; the same picture gives the same sound.

        Args:
            modality: name of the modality that shows sounds.
            view: in stored form.

        Raises:
            SpecError: no such modality, or a view of another shape.
        """
        ...


@runtime_checkable
class TracesContours(Protocol):
    """A data set with a sense of touch: it follows a drawn line as it follows the contours of its objects."""

    def view_of_contour(self, contour: Any, *, side: float = 1.0) -> ConvertedViews:
        """The view (1, contacts, D) of one closed line.

        Args:
            contour: points (n, 2), x to the right and y down, or the text of an SVG path (its attribute `d`).
            side: of the square drawing, in the unit of the points.

        Raises:
            DataError: no line.
        """
        ...
