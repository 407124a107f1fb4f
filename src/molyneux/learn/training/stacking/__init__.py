"""Several small trainings are computed at once, their weights stacked on a first axis."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.learn.training.stacking.stacked_trainings import StackMember, fit_stacked

__all__ = ["StackMember", "fit_stacked"]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
