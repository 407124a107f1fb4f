"""Two-way choice: one thing in one sense, two things in another sense, and which of the two it is."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.measure.two_way_choice.choices import distances, pairs_interval, two_way_choices
    from molyneux.measure.two_way_choice.two_way_choice import TwoWayChoice

__all__ = ["TwoWayChoice", "distances", "pairs_interval", "two_way_choices"]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
