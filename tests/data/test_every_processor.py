"""The bytes of corrupted samples and of data sets from files, against stored checksums: the same on every processor.

Those of worlds are in test_bytes.py. After a change that has to change bytes, write the checksums anew with

    python tests/data/test_every_processor.py
"""

import hashlib
import inspect
import json
import tempfile
from decimal import Decimal, localcontext
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch

from molyneux.core import Batch, Modality, Spec, seeds
from molyneux.core.elementary import cosine, log, normals, sine
from molyneux.data import ArraySource, CdSprites, GeBiD, SimulatedPush, imperfections, write_twin
from molyneux.data.benchmarks.av_mnist import sounds
from molyneux.data.benchmarks.digits import images as digits
from molyneux.data.benchmarks.spoken_digits import mel_pictures
from molyneux.data.benchmarks.twins import twin_kinds
from molyneux.data.imperfections import Corrupted, Corruption

pytestmark = pytest.mark.kernels
STORED = Path(__file__).with_name("processors.json")
SAMPLES = 200
SIGNALS = Spec(
    (
        Modality("colour", "image", (3, 16, 24), "uint8"),
        Modality("float", "image", (1, 9, 8)),
        Modality("video", "video", (3, 3, 8, 8)),
        Modality("series", "series", (12, 2)),
        Modality("audio", "audio", (1, 50)),
        Modality("table", "tabular", (4,)),
        Modality("points", "set", (9, 2)),
        Modality("caption", "text", (15,), "uint8", (" ", *"abcdefghijklmnopqrstuvwxyz"), 0),
    )
)


def drawn(*shape):
    """Numbers of [0, 1), from integers alone."""
    return seeds.uniforms(seeds.key(7, "numbers"), np.arange(shape[0]), int(np.prod(shape[1:]))).reshape(shape)


def digest(*arrays):
    found = hashlib.blake2b(digest_size=8)
    for array in arrays:
        array = np.ascontiguousarray(array)
        found.update(f"{array.dtype.str}{array.shape}".encode())
        found.update(array.tobytes())
    return found.hexdigest()


def functions():
    """Functions of arrays in full precision, where one bit shows."""
    values = drawn(500, 200)
    yield "log", digest(log(values))
    yield "sine", digest(sine(20 * values - 10))
    yield "cosine", digest(cosine(20 * values - 10))
    yield "normals", digest(normals(values))
    waves = np.rint(20_000 * drawn(8, sounds.LENGTH) - 10_000).astype(np.int16)
    lengths = np.full(8, 5000)
    yield "sounds in noise", digest(sounds.mixed(waves, lengths, waves[::-1], -16.0))
    yield "spectrograms", digest(sounds.spectrograms(waves))
    yield "mel spectrograms", digest(mel_pictures(waves))
    ramp = np.linspace(0, 1, 28 * 28)
    pictures = np.rint(120 * drawn(2000, 28 * 28) * ramp + 120 * drawn(2000, 1) * ramp[::-1]).astype(np.uint8)
    for energy in (0.25, 0.9):
        kept = digits.principal_components(pictures, energy)
        yield f"pictures with {energy} of their energy", digest(digits.without_energy(pictures, kept))


def corruptions():
    """Every corruption of every kind of view, and the normal numbers of one in full precision."""
    views = {}
    for number, modality in enumerate(SIGNALS.modalities):
        values = drawn(SAMPLES, number + 1, *modality.shape)[:, number]
        whole = modality.dtype == "uint8"
        views[modality.name] = torch.from_numpy(
            (values * (27 if modality.symbols else 256)).astype(np.uint8) if whole else values.astype(np.float32)
        )
    source = ArraySource(SIGNALS, Batch(views))
    for name in imperfections.__all__:
        kind = getattr(imperfections, name)
        if inspect.isclass(kind) and issubclass(kind, Corruption) and not inspect.isabstract(kind):
            for strength in (0.3, 1.0):
                batch = Corrupted(source, kind(), strength, seed=3).batch(np.arange(SAMPLES))
                yield f"{kind.name} {strength}", digest(*(tensor.numpy() for tensor in batch.tensors().values()))


def twins():
    """Every data set in a published layout: what is read of random files."""
    for kind in twin_kinds():
        with tempfile.TemporaryDirectory() as folder:
            dataset = write_twin(kind.__name__, Path(folder) / "twin", seed=4)
            batches = [dataset.source(split, seed=1).batch(np.arange(size)) for split, size in dataset.splits.items()]
            yield kind.name, digest(*(tensor.numpy() for batch in batches for tensor in batch.tensors().values()))


def simulations():
    """Trajectories of a robot, with the pictures of them."""
    if find_spec("mujoco") is not None:
        world = SimulatedPush(trajectories=(2, 1, 1))
        batches = [world.source(split, 6, seed=1).batch(np.arange(6)) for split in ("train", "validation", "test")]
        yield world.name, digest(*(tensor.numpy() for batch in batches for tensor in batch.tensors().values()))


def altered():
    """What judges learn not to read."""
    for world in (CdSprites(level=5, modalities=("image", "touch")), GeBiD(level=5, modalities=("image", "touch"))):
        for modality in ("image", "touch"):
            batch = world.judge_material(modality, "train", 300, seed=3).altered.batch(np.arange(300))
            yield f"altered {modality} of {world.name}", digest(*(tensor.numpy() for tensor in batch.tensors().values()))


def checksums():
    return {name: found for part in (functions, corruptions, twins, simulations, altered) for name, found in part()}


@pytest.fixture(scope="module")
def made():
    return checksums()


@pytest.mark.parametrize("name", json.loads(STORED.read_text()) if STORED.exists() else [])
def test_the_bytes_stay_as_they_are(made, name):
    assert made[name] == json.loads(STORED.read_text())[name]


def test_every_case_has_a_stored_checksum(made):
    assert made.keys() == json.loads(STORED.read_text()).keys()


def test_the_borders_between_levels_are_the_same_for_every_library():
    """10^x is right to a few last places of 64 bits; no border is so near the middle between two numbers of 32 bits."""
    with localcontext() as context:
        context.prec = 50
        for level, border in enumerate(sounds._LEVELS, 1):
            exact = Decimal(10) ** (Decimal(6) * ((Decimal(level) - Decimal("0.5")) / 255 - 1))
            assert abs(Decimal(float(border)) - exact) <= min(
                abs(Decimal(float(np.nextafter(border, np.float32(side)))) - exact) for side in (0, 2)
            )
            for side in (0, 2):
                middle = (Decimal(float(border)) + Decimal(float(np.nextafter(border, np.float32(side))))) / 2
                assert abs(exact / middle - 1) > Decimal("1e-12")


if __name__ == "__main__":
    STORED.write_text(json.dumps(checksums(), indent=1) + "\n")
