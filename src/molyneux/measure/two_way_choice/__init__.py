"""Two-way choice: one thing in one sense, two in another. Of these names, `molyneux.measure` exports `TwoWayChoice`."""

from molyneux.measure.two_way_choice.choices import distances as distances
from molyneux.measure.two_way_choice.choices import pairs_interval as pairs_interval
from molyneux.measure.two_way_choice.choices import two_way_choices as two_way_choices
from molyneux.measure.two_way_choice.two_way_choice import TwoWayChoice as TwoWayChoice
