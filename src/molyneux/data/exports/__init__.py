"""Exports: samples in the formats of other tools. Each is streamed, and appears whole or not at all."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.data.exports.hdf5 import export_hdf5
    from molyneux.data.exports.parquet import export_parquet
    from molyneux.data.exports.png import export_png
    from molyneux.data.exports.webdataset import export_webdataset

__all__ = ["export_hdf5", "export_parquet", "export_png", "export_webdataset"]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
