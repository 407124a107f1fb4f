"""One open page: its state and address, its computations, and what it says while they run and where they fail."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from nicegui import Client, ui

from molyneux.core import MolyneuxError
from molyneux.studio.address import PageState
from molyneux.studio.computing import Computation, Computing, SupersededError
from molyneux.studio.library import Library

if TYPE_CHECKING:
    from molyneux.run import TrainedModel

S = TypeVar("S", bound=PageState)
T = TypeVar("T")
_LOG = logging.getLogger("molyneux.studio")
_PATIENCE = 0.15
"""Seconds after which a place says that something is computed for it."""


@dataclass(frozen=True)
class Studio:
    """What all pages share.

    Args:
        library: models and runs.
        computing: the queue of computations.
    """

    library: Library
    computing: Computing


class ResultArea:
    """A part of a page that shows a result: the earlier one stays, marked as old, until the new one is there.

    Args:
        label: of what it shows, for screen readers.
        classes: of its element.
    """

    def __init__(self, label: str = "", classes: str = "") -> None:
        self._outer = ui.element("section").classes(f"place {classes}".strip()).props("aria-live=polite")
        if label:
            self._outer.props["aria-label"] = label
        with self._outer:
            self._bar = (
                ui.linear_progress(show_value=False, size="3px").props("indeterminate aria-label='computing'").classes("bar")
            )
            self._words = ui.label().classes("quiet words")
            self._inner = ui.element("div").classes("shown")
        self._bar.visible = self._words.visible = False

    @property
    def element_id(self) -> int:
        """The number of its element, whose id in the browser is `c` and this number."""
        return self._outer.id

    def fresh(self) -> ui.element:
        """The place, emptied, as a context in which the new result is built."""
        self._inner.clear()
        self._inner.classes(remove="old")
        return self._inner

    def wait(self, words: str = "", *, replaces: bool = True) -> None:
        """Say that something is computed, and whether it replaces what is shown."""
        self._bar.visible = True
        self._words.visible, self._words.text = bool(words), words
        if replaces:
            self._inner.classes(add="old")
        self._outer.props["aria-busy"] = "true"

    def tell(self, share: float, words: str, *, replaces: bool = True) -> None:
        """Say how far it is."""
        self._bar.props(remove="indeterminate")
        self._bar.value = share
        self.wait(words, replaces=replaces)

    def rest(self) -> None:
        """Say that nothing is computed any more."""
        self._bar.visible = self._words.visible = False
        self._bar.props(add="indeterminate")
        self._inner.classes(remove="old")
        self._outer.props["aria-busy"] = "false"

    def problem(self, sentence: str) -> None:
        """Show why there is no result."""
        with self.fresh():
            ui.label(sentence).classes("problem").props("role=alert")


class Visit(Generic[S]):
    """One open page of one person.

    Args:
        studio: what all pages share.
        path: of the page.
        state: from its address.
    """

    def __init__(self, studio: Studio, path: str, state: S) -> None:
        self.studio, self.path, self.state = studio, path, state
        self.client: Client = ui.context.client
        self.client.on_delete(self._gone)

    @property
    def library(self) -> Library:
        """Models and runs."""
        return self.studio.library

    def _gone(self) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop the computations of the page."""
        self.studio.computing.stop(self.client.id)

    def change(self, *, step: bool = True, **values: Any) -> bool:
        """Change the state and the address; whether anything is changed.

        Args:
            step: whether the browser's "back" returns to the state before; false for what is moved in small steps.
            **values: fields of the state.
        """
        state = self.state.changed(**values)
        if state == self.state:
            return False
        self.state = state
        address = state.address(self.path)
        (ui.navigate.history.push if step else ui.navigate.history.replace)(address)
        return True

    async def compute(
        self,
        name: str,
        place: ResultArea,
        function: Callable[[Computation[T]], T],
        *,
        words: str = "",
        replaces: bool = True,
        follows: bool = False,
    ) -> T | None:
        """Compute something for a place of the page; None where a newer computation took over, or where it failed and says so.

        Args:
            name: of the computation; a newer one of the same name stops it.
            place: where the result is shown.
            function: what is computed, in another thread.
            words: what is done, for who waits.
            replaces: whether the result takes the place of what is shown, which is marked as old meanwhile.
            follows: whether an earlier one that is begun is finished and shown first; see `Computing.run`.
        """
        computing = self.studio.computing.run(
            self.client.id,
            name,
            function,
            told=self._if_here(lambda share, said: place.tell(share, said or words, replaces=replaces)),
            follows=follows,
        )
        wait = self._if_here(lambda: place.wait(words, replaces=replaces))
        hint = asyncio.get_running_loop().call_later(_PATIENCE, wait)
        try:
            found = await computing
        except SupersededError:
            return None
        except MolyneuxError as error:
            self._if_here(place.problem)(sentence(error))
        except Exception:
            number = secrets.token_hex(3)
            _LOG.exception("computation %s of %s failed (%s)", name, self.path, number)
            told = f"This could not be computed, by a fault of the studio. Its log has the details, number {number}."
            self._if_here(place.problem)(told)
        else:
            self._if_here(place.rest)()
            return None if self.client.is_deleted else found
        finally:
            hint.cancel()
        self._if_here(place.rest)()
        return None

    async def open(
        self, name: str, place: ResultArea, prepare: Callable[[TrainedModel], T], *, words: str = "opening model and samples"
    ) -> T | None:
        """Open a model and prepare what a page needs of it; None as `compute`.

        Args:
            name: of the model.
            place: where a problem is told.
            prepare: is given the model, in another thread.
            words: what is done, for who waits.
        """
        return await self.compute("open", place, lambda _: prepare(self.library.open(name)), words=words)

    def _if_here(self, function: Callable[..., object]) -> Callable[..., None]:
        """A function that does nothing where the page is closed."""

        def called(*arguments: object) -> None:
            if not self.client.is_deleted:
                with self.client:
                    function(*arguments)

        return called


def sentence(error: Exception) -> str:
    """The message of an error as a sentence."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?" else ".")
