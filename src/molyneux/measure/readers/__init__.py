"""What readers accept: true views, views spoiled by files and models, and views that are not of their world.

The views are drawn with nothing of the package that readers compare with or learn from. Readers and true views are passed in.
"""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.measure.readers.kinds import KINDS, TRUE, blended, jpeg, kinds_of_views, softened, with_block_noise
    from molyneux.measure.readers.more_wrong_pictures import HELD_OUT, LEARNED, HeldOutPictures
    from molyneux.measure.readers.reading import LabelledViews, reading_scores
    from molyneux.measure.readers.wrong_views import ALIKE, CONTOURS, PICTURES, WrongContours, WrongPictures

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
