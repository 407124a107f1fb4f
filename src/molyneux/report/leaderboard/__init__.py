"""The leaderboard: models ranked by their records, one table for each score and protocol."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.report.leaderboard.boards import Board, BoardRow, make_boards
    from molyneux.report.leaderboard.foreign import ForeignRecord, read_foreign
    from molyneux.report.leaderboard.overview import Overview, leaderboard_overview
    from molyneux.report.leaderboard.page import Leaderboard, leaderboard_tables, write_leaderboard

__all__ = [
    "Board",
    "BoardRow",
    "ForeignRecord",
    "Leaderboard",
    "Overview",
    "leaderboard_overview",
    "leaderboard_tables",
    "make_boards",
    "read_foreign",
    "write_leaderboard",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
