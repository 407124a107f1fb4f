"""What is wrong with a user's files: all of it at once, with the lines."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.data.own.checks.check import check_data
    from molyneux.data.own.checks.findings import DataCheck, DataProblem
    from molyneux.data.own.checks.guess import guessed_data

__all__ = ["DataCheck", "DataProblem", "check_data", "guessed_data"]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
