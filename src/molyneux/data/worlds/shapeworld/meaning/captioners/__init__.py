"""Captioners: for scenes and wanted truth values they draw captions, whole batches at once.

`standard` has those of ShapeWorld by what captions are about, `mixed` joins them, and `published` has the samplers of the
paper's data sets, which give the truth away. `minimal_pairs` makes balanced data of the standard ones.
"""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.data.worlds.shapeworld.meaning.captioners.captioner import Captioner, Captions
    from molyneux.data.worlds.shapeworld.meaning.captioners.composed import ChangedCaptioner, ComposedCaptioner
    from molyneux.data.worlds.shapeworld.meaning.captioners.mixed import Logical, MixedCaptioner
    from molyneux.data.worlds.shapeworld.meaning.captioners.published import (
        PublishedExistential,
        PublishedQuantification,
        PublishedSpatial,
    )
    from molyneux.data.worlds.shapeworld.meaning.captioners.standard import (
        BARE_QUANTIFIERS,
        comparison,
        existential,
        number_bound,
        quantification,
        relational,
        selection,
        single_attribute,
        there_is,
    )

__all__ = [
    "BARE_QUANTIFIERS",
    "Captioner",
    "Captions",
    "ChangedCaptioner",
    "ComposedCaptioner",
    "Logical",
    "MixedCaptioner",
    "PublishedExistential",
    "PublishedQuantification",
    "PublishedSpatial",
    "comparison",
    "existential",
    "number_bound",
    "quantification",
    "relational",
    "selection",
    "single_attribute",
    "there_is",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
