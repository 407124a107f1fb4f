"""Pictures in the terminal: by its own protocol (Kitty, Sixel) where it has one, in half blocks elsewhere."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from PIL.Image import Image

_PIXELS_PER_COLUMN, _NARROWEST = 8, 32


def show(picture: Image) -> None:
    """Draw a picture, at most as wide as the terminal; nothing where standard output is no terminal, or one without a size."""
    if not sys.stdout.isatty() or not os.get_terminal_size(sys.stdout.fileno()).columns or os.environ.get("TERM") == "dumb":
        return
    from textual_image.renderable import Image as Drawn  # asks the terminal what it can, so only where there is one

    console = Console()
    width = min(console.width, max(_NARROWEST, picture.width // _PIXELS_PER_COLUMN))
    console.print(Drawn(picture, width=width, height="auto"))
