"""Sounds of views that play: a button that makes the sound when it is asked for, and the player of the browser."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from nicegui import ui

from molyneux.core import ConfigError, DataError, Modality, PicturesSounds, PlaysPictures
from molyneux.studio.frame import button
from molyneux.studio.visit import ResultArea, Visit

if TYPE_CHECKING:
    from torch import Tensor

    from molyneux.core import Dataset
    from molyneux.run import TrainedModel

_LONGEST = 10
"""Seconds of a sound that is given, as it is played again."""

Listen = Callable[[Modality, "Tensor", str], None]
"""Puts a button that plays it beneath a view, if it is a sound: given its modality, the view (*shape), and what it shows."""


def listener(visit: Visit[Any], world: Dataset | None) -> Listen:
    """What puts the buttons of a page.

    Args:
        visit: of the page.
        world: makes sounds of its pictures of sounds; None where it is not here.
    """

    def listen(modality: Modality, view: Tensor, about: str) -> None:
        pictured = isinstance(world, PlaysPictures) and modality.name in world.audible()
        if modality.kind != "audio" and not pictured:
            return
        place = ResultArea(f"sound of {about}", "sound")

        async def play() -> None:
            wav = await visit.compute(
                f"sound {id(place)}", place, lambda _: wav_of(modality, view, world), words="making the sound"
            )
            if wav is not None:
                with place.fresh():
                    show_player(wav, about, begins=True)
                    if pictured:
                        ui.label("made of the picture").classes("quiet")

        with place.fresh():
            made = button("Listen", play)
            made.props["aria-label"] = f"Listen to {about}"

    return listen


def show_player(wav: bytes, about: str, *, begins: bool = False) -> None:
    """The player of the browser for the content of a WAV file.

    Args:
        wav: the content.
        about: what it is the sound of.
        begins: whether it begins to play.
    """
    source, label = f"data:audio/wav;base64,{base64.b64encode(wav).decode()}", html.escape(f"sound of {about}", quote=True)
    begin = " autoplay" if begins else ""
    ui.html(f'<audio controls{begin} aria-label="{label}" src="{source}"></audio>', sanitize=False)


def hears(modality: Modality, world: Dataset | None) -> bool:
    """Whether a modality is given by a sound: it is one, or a picture that the data set makes of one."""
    if modality.kind == "audio":
        return True
    shown = world.audible() if isinstance(world, PlaysPictures) else (modality.name,)
    return isinstance(world, PicturesSounds) and modality.kind == "image" and modality.name in shown


def wav_given(rate: int, sound: np.ndarray) -> bytes:
    """The WAV file of a recording (n,) or (n, channels) as a file has it, of its first ten seconds."""
    from molyneux.core.sound_files import wav_bytes

    part = np.asarray(sound)[: _LONGEST * rate]
    if np.issubdtype(part.dtype, np.integer):
        limits = np.iinfo(part.dtype)
        part = (part.astype(np.float64) - (0 if limits.min else (limits.max + 1) / 2)) / (limits.max / (1 if limits.min else 2))
    return wav_bytes(rate, part.T)


def wav_of(modality: Modality, view: Tensor, world: Dataset | None) -> bytes:
    """The WAV file of a view (*shape) that is a sound, or shows one.

    Raises:
        ConfigError: how many samples a second of it has is not known.
    """
    from molyneux.core.sound_files import wav_bytes

    if isinstance(world, PlaysPictures) and modality.name in world.audible():
        return wav_bytes(*world.sound_of_view(modality.name, view.numpy()))
    if modality.rate is None:
        raise ConfigError(f"{modality.name} does not say how many samples a second has: give its data set a rate")
    sound = view.numpy().astype(np.float64)
    return wav_bytes(modality.rate, sound / max(1.0, float(np.abs(np.nan_to_num(sound)).max())))


def require_ears(models: Sequence[TrainedModel], modality: Modality) -> None:
    """Raise DataError where no model takes a sound for a modality, before anything is read of it."""
    here = [model for model in models if modality.name in model.modalities]
    if not any(hears(model.spec.modality(modality.name), model.dataset()) for model in here):
        names = ", ".join(model.name for model in here)
        raise DataError(
            f"expected a picture, got a sound: {names} does not hear by {modality.name}; choose a model such as spoken-digits"
        )
