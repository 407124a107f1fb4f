"""Samples in shards: data sets that are made by many machines, and are larger than a disk or than memory."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.data.shards.source import ShardedSource, open_stored
    from molyneux.data.shards.writing import store_shards

__all__ = ["ShardedSource", "open_stored", "store_shards"]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
