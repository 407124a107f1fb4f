"""Shares of one, as bars with their numbers."""

from __future__ import annotations

import html
from collections.abc import Iterable

from nicegui import ui


def show_shares(shares: Iterable[tuple[str, float]]) -> None:
    """Bars of shares from 0 to 1, each with its name and per cent."""
    rows = []
    for name, share in shares:
        width = 100 * min(max(share, 0.0), 1.0)
        rows.append(
            f'<div class="share"><span>{html.escape(name)}</span><span class="track" aria-hidden="true">'
            f'<span style="width:{width:.1f}%"></span></span><span class="number">{100 * share:.1f} %</span></div>'
        )
    ui.html(f'<div class="shares">{"".join(rows)}</div>', sanitize=False)
