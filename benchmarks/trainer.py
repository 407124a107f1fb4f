"""What `fit` costs beside a bare loop and beside an earlier revision, and the memory of training on a large stored set.

    python benchmarks/trainer.py [--quick] [--out FOLDER] [--before REVISION]

Each way trains the same small models, in processes of their own that take turns, on one thread in 32 bits. The bare loop has what
`fit` has: the same reader with its checks, noise seeded for each step, the guard against NaN in terms and gradients, a fused
optimiser, and freed memory kept. Times are processor times of whole calls of `fit`, checkpoints included, after a call that does
not count.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from molyneux.core import Batch, Loss, Modality, Progress, Spec, store
from molyneux.data import ArraySource, StoredSource, store_samples
from molyneux.learn import Training, fit

WHAT = (
    "Small models trained by `fit`, by a bare loop with the same reader, guard and optimiser, by an earlier `fit`: "
    "milliseconds of processor time per step, least of the rounds, batches of 64, 32 bits, one thread; and the memory that "
    "training on a sparse stored set takes beyond what the process has before; last, how long a batch takes to be read alone"
)
HERE = Path(__file__).resolve().parent
BATCH = 64
PICTURE, TOUCH, TEXT = (
    Modality("image", "image", (3, 32, 32), "uint8"),
    Modality("touch", "tabular", (64,)),
    Modality("text", "text", (12,), "uint8", tuple("abcdefghijklmnopqrst"), 0),
)


class Autoencoder(nn.Module):
    """The smallest model of its kind; its loss draws noise from the generator, as those of VAEs do."""

    def __init__(self, modality: Modality, encoder: nn.Module, decoder: nn.Module, width: int) -> None:
        super().__init__()
        self.spec, self.encoder, self.decoder, self.width = Spec((modality,)), encoder, decoder, width

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        view = batch.views[self.spec.modalities[0].name]
        ids = view.long() if self.spec.modalities[0].symbols else view.float() / (255 if view.dtype == torch.uint8 else 1)
        code = self.encoder(ids)
        made = self.decoder(code + torch.randn(code.shape, generator=generator))
        error = functional.cross_entropy(made.transpose(1, 2), ids) if made.ndim > ids.ndim else functional.mse_loss(made, ids)
        size = 1e-3 * code.square().mean()
        return Loss(error + size, {"error": error.detach(), "size": size.detach()})


class Recurrent(nn.Module):
    """An LSTM between an embedding and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.lstm, self.last = nn.Embedding(20, 32), nn.LSTM(32, 64, batch_first=True), nn.Linear(64, 20)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.lstm(self.embedding(ids))[0]


def dense() -> Autoencoder:
    layers = [nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 16)]
    return Autoencoder(TOUCH, nn.Sequential(*layers), nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 64)), 16)


def convolutional() -> Autoencoder:
    down = nn.Sequential(nn.Conv2d(3, 16, 4, 2, 1), nn.ReLU(), nn.Conv2d(16, 16, 4, 2, 1))
    up = nn.Sequential(nn.ConvTranspose2d(16, 16, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(16, 3, 4, 2, 1))
    return Autoencoder(PICTURE, down, up, 16)


def recurrent() -> Autoencoder:
    net = Recurrent()
    return Autoencoder(TEXT, net, net.last, 64)


MODELS: Mapping[str, Callable[[], Autoencoder]] = {"dense": dense, "convolutional": convolutional, "LSTM": recurrent}
STEPS = {"dense": 4000, "convolutional": 600, "LSTM": 600}


def samples(modality: Modality, size: int) -> ArraySource:
    """Random samples of one modality."""
    rng = np.random.default_rng(1)
    if modality.kind == "tabular":
        view = torch.from_numpy(rng.normal(size=(size, *modality.shape)).astype(np.float32))
    else:
        view = torch.from_numpy(rng.integers(0, len(modality.symbols) or 256, (size, *modality.shape)).astype(np.uint8))
    return ArraySource(Spec((modality,)), Batch({modality.name: view}))


def by_fit(name: str, source: ArraySource, epochs: int) -> None:
    training = Training(epochs=epochs, batch_size=BATCH, precision="32", channels_last=False, threads=1, tensorboard=False)
    with tempfile.TemporaryDirectory() as folder:
        fit(MODELS[name](), source, None, training, Path(folder), seed=1)


def by_hand(name: str, source: ArraySource, epochs: int) -> None:
    """The loop that one would write by hand, with the guards that one would wish for."""
    from molyneux.core import seeds
    from molyneux.learn import keep_freed_memory
    from molyneux.learn.training.batches import BatchReader, training_order

    keep_freed_memory()
    model = MODELS[name]()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    steps, sums = epochs * (len(source) // BATCH), torch.zeros(3, dtype=torch.float64)
    for epoch in range(epochs):
        for batch in BatchReader(source).read(training_order(len(source), BATCH, seed=1, epoch=epoch)):
            optimizer.zero_grad()
            torch.default_generator.manual_seed(int(seeds.key(1, "dropout", batch.number)[0] >> 1))
            generator = seeds.torch_generator(1, "noise", batch.number)
            loss = model.loss(batch.batch, Progress(batch.number, steps), generator)
            terms = torch.stack([term.detach().double() for term in (loss.total, *loss.terms.values())])
            assert bool(terms.isfinite().all())
            loss.total.backward()
            norm = nn.utils.get_total_norm([parameter.grad for parameter in model.parameters()])
            assert bool(norm.isfinite())
            optimizer.step()
            sums += terms * len(batch)


def child(way: str, *, quick: bool) -> dict[str, float]:
    """Milliseconds of processor time per step of each model, for one way of training."""
    torch.set_num_threads(1)
    if way == "read":
        return reading(256 if quick else 8192)
    train, took = {"fit": by_fit, "hand": by_hand}[way], {}
    for name, make in MODELS.items():
        epochs, steps = (2, 4) if quick else (4, STEPS[name] // 4)
        source = samples(make().spec.modalities[0], BATCH * steps)
        train(name, samples(make().spec.modalities[0], 2 * BATCH), 1)
        start = time.process_time()
        train(name, source, epochs)
        took[name] = 1000 * (time.process_time() - start) / (epochs * steps)
    return took


def reading(size: int) -> dict[str, float]:
    """Milliseconds of processor time in which a training reads a batch of pictures and captions, from memory and stored."""
    from molyneux.data import CdSprites
    from molyneux.learn.training.batches import BatchReader, load, training_order

    order = training_order(size, BATCH, seed=1, epoch=0)
    with tempfile.TemporaryDirectory() as folder:
        stored = store_samples(CdSprites(level=2).source("train", size, seed=1), Path(folder) / "set")
        took = dict.fromkeys(("in memory, ms", "stored, ms"), float("inf"))
        loaded = load(stored)
        assert loaded is not None
        for _ in range(3):
            for name, source in (("in memory, ms", loaded), ("stored, ms", stored)):
                start = time.process_time()
                for _ in BatchReader(source).read(order):
                    pass
                took[name] = min(took[name], 1000 * (time.process_time() - start) / len(order))
    return {**took, "stored / in memory": took["stored, ms"] / took["in memory, ms"]}


def sparse_set(folder: Path, gigabytes: float) -> StoredSource:
    """A stored set of 64x64 pictures that are all black and take no room on the disk."""
    modality = Modality("image", "image", (3, 64, 64), "uint8")
    source = samples(modality, 4)
    store_samples(source, folder)
    size = int(gigabytes * 1e9 / modality.size)
    for path in folder.glob("*.npy"):
        array = np.load(path)
        path.unlink()
        np.lib.format.open_memmap(path, "w+", array.dtype, (size, *array.shape[1:]))
    record = store.read_stage(folder)
    store.StageFolder(folder, record["settings"]).finish({"size": size}, known=record["files"])
    return StoredSource(folder, verify=False)


def streamed(gigabytes: float, steps: int) -> dict[str, float]:
    """The most anonymous memory, in MB, that training on a sparse stored set takes beyond what the process had after one step."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        source = sparse_set(Path(folder) / "set", gigabytes)
        net = nn.Sequential(nn.Conv2d(3, 8, 4, 4), nn.ReLU(), nn.ConvTranspose2d(8, 3, 4, 4))
        model = Autoencoder(source.spec.modalities[0], net[:2], net[2], 8)
        first, rest = (Training(steps=count, batch_size=BATCH, threads=1, tensorboard=False) for count in (1, steps))
        fit(model, samples(source.spec.modalities[0], BATCH), None, first, Path(folder) / "first", seed=1)
        before, peak, done = anonymous(), [0.0], threading.Event()

        def watch() -> None:
            while not done.wait(0.01):
                peak[0] = max(peak[0], anonymous())

        watcher = threading.Thread(target=watch)
        watcher.start()
        fit(model, source, None, rest, Path(folder) / "model", seed=1)
        done.set()
        watcher.join()
    return {"set, GB": gigabytes, "steps": steps, "more memory, MB": max(peak[0] - before, 0.0)}


def anonymous() -> float:
    """Memory of this process in MB that is no page of a file; those can be dropped at any time."""
    found = re.search(r"RssAnon:\s*(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) / 1000 if found else float("nan")


def sources_of(revision: str, folder: Path) -> Path:
    """The sources of an earlier revision, unpacked into `folder`."""
    done = subprocess.run(["git", "-C", str(HERE.parent), "archive", revision, "src"], capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"cannot read revision {revision}: {done.stderr.decode().strip()}; name another with --before")
    with tarfile.open(fileobj=BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def ask(sources: Path, *arguments: str) -> dict[str, float]:
    """What this script answers in a new process that imports the package from `sources`."""
    environment = {**os.environ, "PYTHONPATH": str(sources), "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
    command = [sys.executable, str(Path(__file__).resolve()), *arguments]
    return dict(json.loads(subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="tiny sizes, for seconds: shows that it runs, no more")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder of the record")
    parser.add_argument("--before", default="", help="a revision to compare with")
    parser.add_argument("--child", help="what a process of its own measures: fit, hand, read or stream")
    arguments = parser.parse_args()
    if arguments.child == "stream":
        print(json.dumps(streamed(0.01 if arguments.quick else 10.0, 3 if arguments.quick else 2000)))
    elif arguments.child:
        print(json.dumps(child(arguments.child, quick=arguments.quick)))
    else:
        compare(arguments)


def compare(arguments: argparse.Namespace) -> None:
    from record import Record

    record = Record("trainer", WHAT, arguments.out)
    quick = ["--quick"] if arguments.quick else []
    with tempfile.TemporaryDirectory() as folder:
        own = HERE.parent / "src"
        ways = {"bare loop": (own, "hand"), "fit": (own, "fit")}
        if arguments.before:
            ways[f"fit of {arguments.before}"] = (sources_of(arguments.before, Path(folder)), "fit")
        rounds = [
            {way: ask(sources, "--child", kind, *quick) for way, (sources, kind) in ways.items()}
            for _ in range(1 if arguments.quick else 5)
        ]
    for name in MODELS:
        least = {way: min(took[way][name] for took in rounds) for way in ways}
        ratios = {f"fit / {way}": least["fit"] / value for way, value in least.items() if way != "fit"}
        record.add({"model": name, **{f"{way}, ms": value for way, value in least.items()}, **ratios})
    record.add({"model": "convolutional", **ask(own, "--child", "stream", *quick)})
    record.add({"model": "none: batches are read", **ask(own, "--child", "read", *quick)})
    record.write()


if __name__ == "__main__":
    main()
