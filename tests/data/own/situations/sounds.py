"""Sounds and videos in arrays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from molyneux.data import OwnDataset
from situations.arrays import npz, seen
from situations.situation import Situation

RNG = np.random.default_rng(1)
WAVES = np.clip(RNG.normal(size=(24, 30, 2)) / 4, -1, 1)
FRAMES = RNG.integers(0, 256, (24, 2, 6, 5, 3), dtype=np.uint8)


def sound(array: np.ndarray) -> Callable[[Path], OwnDataset]:
    """The array `x` as sounds."""
    return npz(x=array, settings={"kinds": {"x": "audio"}})


def video(array: np.ndarray) -> Callable[[Path], OwnDataset]:
    """The array `x` as videos."""
    return npz(x=array, settings={"kinds": {"x": "video"}})


def pcm(dtype: str) -> np.ndarray:
    """Integers as WAV files of one channel have them."""
    kept = np.iinfo(dtype)
    return RNG.integers(kept.min, kept.max, (24, 30), dtype=dtype, endpoint=True)


SHORTS, LONGS, BYTES = pcm("int16"), pcm("int32"), pcm("uint8")

SITUATIONS = [
    Situation("sounds of one channel (N, T)", "read", sound(WAVES[..., 0]), "from -1 to 1", seen(WAVES[:, None, :, 0])),
    Situation("two channels (N, C, T)", "read", sound(WAVES.transpose(0, 2, 1)), "as they are", seen(WAVES.transpose(0, 2, 1))),
    Situation(
        "two channels (N, T, C), as WAV files have them",
        "converted",
        sound(WAVES),
        "mine.npz, array 'x': (30, 2) was read as 2 channels of 30 samples",
        seen(WAVES.transpose(0, 2, 1)),
    ),
    Situation(
        "sounds of which both axes may be channels",
        "converted",
        sound(WAVES[:, :7]),
        "(7, 2) was read as 7 channels of 2 samples: transpose them if the last axis is that of channels",
        seen(WAVES[:, :7]),
    ),
    Situation(
        "integers of 16 bits (PCM)",
        "converted",
        sound(SHORTS),
        "mine.npz, array 'x': int16 was read as samples from -1 to 1, divided by 32,768",
        seen(SHORTS[:, None] / 32_768),
    ),
    Situation(
        "integers of 32 bits", "converted", sound(LONGS), "int32 was read as samples from -1 to 1", seen(LONGS[:, None] / 2**31)
    ),
    Situation(
        "8 bits without a sign",
        "converted",
        sound(BYTES),
        "uint8 was read as samples from -1 to 1, less 128 and divided by 128",
        seen((BYTES[:, None] - 128.0) / 128),
    ),
    Situation(
        "integers that were stored as floats",
        "converted",
        sound(SHORTS.astype(np.float32)),
        "where sounds are from -1 to 1: divide them if they were integers",
        seen(SHORTS[:, None]),
    ),
    Situation(
        "integers of other types",
        "refused",
        sound(SHORTS.astype(np.int64)),
        "expected sounds as floats from -1 to 1, or as integers",
    ),
    Situation("true and false", "refused", sound(SHORTS > 0), "expected sounds as floats from -1 to 1, or as integers"),
    Situation("four axes", "refused", sound(WAVES[..., None]), "expected sounds (N, T), (N, C, T) or (N, T, C)"),
    Situation(
        "videos (N, T, C, H, W)", "read", video(FRAMES.transpose(0, 1, 4, 2, 3)), "colour", seen(FRAMES.transpose(0, 1, 4, 2, 3))
    ),
    Situation("videos (N, T, H, W, C)", "read", video(FRAMES), "colour", seen(FRAMES.transpose(0, 1, 4, 2, 3))),
    Situation("videos with 2 or 5 channels", "refused", video(FRAMES[..., :2]), "expected videos with 1, 3 or 4 channels"),
]
