"""Colours of drawings by the role they play.

A drawing is made with the light colours. Inside a page each of them becomes a CSS variable, so that one drawing serves
the light page and the dark one; in a file of its own it keeps the light colours. The series are Okabe and Ito's palette
(2008), which people with colour-blindness can tell apart, darkened a little to stand on paper.
"""

from __future__ import annotations

INK = "#1d1c1a"
QUIET = "#66625c"
RULE = "#e0dbd2"
CHANCE = "#b4472e"
CEILING = "#2f7d5b"
SERIES = ("#0f62a6", "#c2590a", "#0d8a6a", "#a8478f", "#8a6d00", "#3a9bd1", "#5b5b9b", "#7a7a7a")

VARIABLES = {
    INK: "var(--ink)",
    QUIET: "var(--quiet)",
    RULE: "var(--rule)",
    CHANCE: "var(--chance)",
    CEILING: "var(--ceiling)",
    **{colour: f"var(--series-{number})" for number, colour in enumerate(SERIES)},
}
