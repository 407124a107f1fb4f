"""Pictures in the terminal: by its own protocol (Kitty, Sixel) where it has one, in half blocks elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from PIL.Image import Image

_PIXELS_PER_COLUMN = 8


def show(picture: Image) -> None:
    """Draw a picture, at most as wide as the terminal."""
    from textual_image.renderable import Image as Drawn  # asks the terminal what it can, so only where there is one

    console = Console()
    width = max(8, min(console.width, picture.width // _PIXELS_PER_COLUMN))
    console.print(Drawn(picture, width=width, height="auto"))
