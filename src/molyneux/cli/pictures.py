"""Pictures in the terminal: by its own protocol (Kitty, Sixel) where it has one, in half blocks elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from PIL.Image import Image

_PIXELS_PER_COLUMN, _NARROWEST = 8, 32


def show(pictures: Sequence[Image]) -> None:
    """Draw pictures on one sheet, at most as wide as the terminal; nothing where that has no size, or is none."""
    if not sys.stdout.isatty() or 0 in os.get_terminal_size(sys.stdout.fileno()) or os.environ.get("TERM") == "dumb":
        return
    from textual_image.renderable import Image as Drawn  # asks the terminal what it can, so only where there is one

    from molyneux.run import picture_sheet

    console, picture = Console(), picture_sheet(pictures)
    width = min(console.width, max(_NARROWEST, picture.width // _PIXELS_PER_COLUMN))
    console.print(Drawn(picture, width=width, height="auto"))
