"""What readers accept: true views, views spoiled by files and models, and views that are not of their world.

The views are drawn with nothing of the package that readers compare with or learn from. Readers and true views are passed in.
"""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.measure.readers.held_out_pictures import HELD_OUT, LEARNED, HeldOutPictures
    from molyneux.measure.readers.kinds import KINDS, TRUE, kinds_of_views
    from molyneux.measure.readers.reading import LabelledViews, reading_scores
    from molyneux.measure.readers.spoiled import blended, jpeg, softened, with_block_noise
    from molyneux.measure.readers.wrong_contours import CONTOURS, WrongContours
    from molyneux.measure.readers.wrong_pictures import ALIKE, PICTURES, WrongPictures

__all__ = [
    "ALIKE",
    "CONTOURS",
    "HELD_OUT",
    "KINDS",
    "LEARNED",
    "PICTURES",
    "TRUE",
    "HeldOutPictures",
    "LabelledViews",
    "WrongContours",
    "WrongPictures",
    "blended",
    "jpeg",
    "kinds_of_views",
    "reading_scores",
    "softened",
    "with_block_noise",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
