"""What people's files may hold: one list for the test and for the table of the documentation."""

from collections.abc import Mapping, Sequence

from situations import arrays, columns, labels, multilabels, pictures, sounds, tables, texts
from situations.situation import Situation, outcome_of

GROUPS: Mapping[str, Sequence[Situation]] = {
    "tables": tables.SITUATIONS,
    "columns": columns.SITUATIONS,
    "labels": labels.SITUATIONS,
    "multilabels": multilabels.SITUATIONS,
    "texts": texts.SITUATIONS,
    "arrays": arrays.SITUATIONS,
    "images": pictures.SITUATIONS,
    "sounds": sounds.SITUATIONS,
}
"""The situations by their group, in the order of the page."""

__all__ = ["GROUPS", "Situation", "outcome_of"]
