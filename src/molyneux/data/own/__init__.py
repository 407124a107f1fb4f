"""Your own data: arrays, folders of images and tables in files become data sets with splits."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.data.own.arrays import ArrayDataset
    from molyneux.data.own.checks import DataCheck, DataProblem, check_data, guessed_data
    from molyneux.data.own.dataset import OwnDataset
    from molyneux.data.own.image_folder import ImageFolder
    from molyneux.data.own.table import TableDataset

__all__ = [
    "ArrayDataset",
    "DataCheck",
    "DataProblem",
    "ImageFolder",
    "OwnDataset",
    "TableDataset",
    "check_data",
    "guessed_data",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
