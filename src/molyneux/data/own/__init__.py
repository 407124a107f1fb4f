"""Your own data: arrays, folders of images and tables in files become data sets with splits."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.data.own.arrays import ArrayDataset
    from molyneux.data.own.dataset import OwnDataset
    from molyneux.data.own.image_folder import ImageFolder
    from molyneux.data.own.table import TableDataset

__all__ = ["ArrayDataset", "ImageFolder", "OwnDataset", "TableDataset"]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
