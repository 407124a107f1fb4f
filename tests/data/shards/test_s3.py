"""Samples in shards at a real S3 server, on the loopback address."""

import logging
import os

import numpy as np
import pytest

from molyneux.core import StoreError
from molyneux.data import CdSprites, ShardedSource, store_shards

moto = pytest.importorskip("moto.server")
s3fs = pytest.importorskip("s3fs")


@pytest.fixture(scope="module")
def address():
    """A bucket of a server that runs in a thread."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    known = {
        "AWS_ACCESS_KEY_ID": "any",
        "AWS_SECRET_ACCESS_KEY": "any",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
    }
    before = dict(os.environ)
    os.environ.update(known)
    s3fs.S3FileSystem.clear_instance_cache()
    s3fs.S3FileSystem().mkdir("samples")
    yield "s3://samples"
    s3fs.S3FileSystem.clear_instance_cache()
    os.environ.clear()
    os.environ.update(before)
    server.stop()


def test_written_in_parts_added_to_and_read(address, same):
    world = CdSprites(level=2)
    for number in (2, 1):
        store_shards(world.source("train", 50, seed=1), f"{address}/train", shard=20, part=(number, 2))
    stored = store_shards(world.source("train", 70, seed=1), f"{address}/train", shard=20)
    rows = np.random.default_rng(0).permutation(70)
    assert same(stored.batch(rows), world.source("train", 70, seed=1).batch(rows))
    names = sorted(path.rsplit("/", 1)[1] for path in s3fs.S3FileSystem().ls("samples/train"))
    assert names == [*(f"{a:012d}-{b:012d}.safetensors" for a, b in ((0, 20), (20, 40), (40, 60), (60, 70))), "manifest.json"]


def test_what_is_not_there_is_a_sentence(address):
    with pytest.raises(StoreError, match="found no samples in shards"):
        ShardedSource(f"{address}/nothing")
    with pytest.raises(StoreError, match="cannot write s3://no-such-bucket/x"):
        store_shards(CdSprites(level=2).source("train", 50, seed=1), "s3://no-such-bucket/x", shard=20)
