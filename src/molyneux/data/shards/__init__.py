"""Samples in shards: data sets that are made by many machines, and are larger than a disk or than memory."""

from molyneux.data.shards.manifest import Manifest as Manifest
from molyneux.data.shards.manifest import Shard as Shard
from molyneux.data.shards.places import FarFolder as FarFolder
from molyneux.data.shards.places import NearFolder as NearFolder
from molyneux.data.shards.places import location_of as location_of
from molyneux.data.shards.source import ShardedSource as ShardedSource
from molyneux.data.shards.source import open_stored as open_stored
from molyneux.data.shards.writing import store_shards as store_shards
