"""Twins of the data sets of MultiBench."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch

from molyneux.data.benchmarks import (
    affect,
    clotho,
    enrico,
    kinetics,
    mimic,
    mm_imdb,
    mujoco_push,
    stocks,
    vision_touch,
    yummly,
)
from molyneux.data.benchmarks.av_mnist import published as av_mnist
from molyneux.data.benchmarks.bases import speaker_videos
from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark
from molyneux.data.benchmarks.texts import spoken_words
from molyneux.data.formats.hdf5_files import require_h5py


def _affect(data_set: type[speaker_videos.Affect], folder: Path, size: int, rng: np.random.Generator) -> FileBenchmark:
    """A twin of `Affect`."""
    counts = {"train": size - 2 * (size // 5), "valid": size // 5, "test": size // 5}
    parts = {part: _part(data_set, count, rng) for part, count in counts.items()}
    for (name, part), shift in zip(parts.items(), np.cumsum([0, *counts.values()]).tolist(), strict=False):
        part["id"] = [f"{name}{number // 2}[{number % 2}]" for number in range(shift, shift + counts[name])]
    with (folder / data_set.default_file).open("wb") as stream:
        pickle.dump(parts, stream, protocol=4)
    labels = {
        key: float(label) for part in parts.values() for key, label in zip(part["id"], np.ravel(part["labels"]), strict=True)
    }
    _write_spoken_words(folder / data_set.default_text_file, labels, rng)
    return data_set(folder=folder)


def _part(data_set: type[speaker_videos.Affect], count: int, rng: np.random.Generator) -> dict[str, Any]:
    """A part of the file, but for its ids."""
    labels = _labels(data_set, count, rng)
    spoken = np.arange(speaker_videos.STEPS) >= rng.integers(0, speaker_videos.STEPS - 5, (count, 1))
    part: dict[str, Any] = {"labels": labels}
    signal = labels.reshape(count, 1, 1) / max(np.abs(labels).max(), 1.0)
    for name, width in data_set.widths.items():
        noise = rng.normal(size=(count, speaker_videos.STEPS, width)) + 0.5 * signal
        part[name] = (noise * spoken[..., None]).astype(np.float32)
    return part


def _labels(data_set: type[speaker_videos.Affect], count: int, rng: np.random.Generator) -> np.ndarray:
    """Sentiments (count, 1, 1) or classes (count, 1), as published."""
    if issubclass(data_set, affect.Sentiment):
        return np.round(rng.uniform(-3, 3, (count, 1, 1)), 1)
    return rng.integers(0, 2, (count, 1)).astype(np.float64)


def _write_spoken_words(path: Path, labels: Mapping[str, float], rng: np.random.Generator) -> None:
    """Write random words of segments, some of which depend on their labels, in the published layout; of the first none.

    Where h5py is not installed, no HDF5 file is written.

    Args:
        path: `.pkl` for a pickle, anything else for HDF5.
        labels: by segment.
        rng: of the words.
    """
    said = dict[str, list[str]]()
    for name, label in list(labels.items())[1:]:
        number = rng.integers(2, 9)
        said[name] = [
            "bright" if label > 0 else "dull",
            *(f"word{word}" for word in rng.integers(0, 30, number).tolist()),
            spoken_words.PAUSE,
        ]
    if path.suffix == ".pkl":
        path.write_bytes(pickle.dumps(said, protocol=4))
    elif find_spec("h5py") is not None:
        with require_h5py().File(path, "w") as file:
            for name, words in said.items():
                times = np.arange(len(words) + 1, dtype=np.float64)
                file[f"{spoken_words.GROUP}/{name}/features"] = np.array([[word.encode()] for word in words])
                file[f"{spoken_words.GROUP}/{name}/intervals"] = np.stack([times[:-1], times[1:]], 1)


def _clotho(data_set: type[clotho.Clotho], folder: Path, size: int, rng: np.random.Generator) -> FileBenchmark:
    """A twin of `Clotho`."""
    words = [clotho.FIRST, clotho.LAST, *(f"word{number}" for number in range(20))]
    for part, count in ((clotho.DEVELOPMENT, size - size // 4), (clotho.EVALUATION, size // 4)):
        (folder / part).mkdir()
        for number in range(count):
            record = np.empty(1, np.dtype([("file_name", "U20"), ("features", object), ("words_ind", object)]))
            spoken = rng.integers(2, len(words), rng.integers(3, 8))
            record["file_name"] = f"sound{number // 2}"
            record["features"][0] = rng.normal(size=(rng.integers(20, 40), clotho.BANDS)) + spoken[0] / 10
            record["words_ind"][0] = np.array([0, *spoken.tolist(), 1])
            name = f"clotho_file_sound{number // 2}_{number % 2}.npy"
            np.save(folder / part / name, record.view(np.recarray), allow_pickle=True)
    (folder / clotho.WORDS).write_bytes(pickle.dumps(words, protocol=2))
    return data_set(folder=folder)


def _enrico(data_set: type[enrico.ENRICO], folder: Path, size: int, rng: np.random.Generator) -> FileBenchmark:
    """A twin of `ENRICO`."""
    from PIL import Image

    topics = [f"topic{number:02}" for number in range(enrico.TOPICS)]
    chosen = rng.permutation(np.arange(size) % enrico.TOPICS)
    lines = [f"{1000 + number},{topics[topic]}" for number, topic in enumerate(chosen.tolist())]
    (folder / enrico.TABLE).write_text(
        "\n".join(["screen_id,topic", *lines, f"{enrico.DAMAGED[0]},{topics[0]}"]), encoding="utf-8"
    )
    for place in enrico.PICTURES.values():
        (folder / place).parent.mkdir()
        for number, topic in enumerate(chosen.tolist()):
            pixels = rng.integers(0, 128, (64, 32, 3)) + 6 * topic
            Image.fromarray(pixels.astype(np.uint8)).save(folder / place.format(1000 + number))
    return data_set(folder=folder)


def _kinetics(data_set: type[kinetics.Kinetics], folder: Path, size: int, rng: np.random.Generator) -> FileBenchmark:
    """A twin of `Kinetics`; videos are of 4 frames of 16 pixels."""
    counts = {"train": [size // 3, size // 3], "valid": [size // 6], "test": [size // 6]}
    for part, sizes in counts.items():
        (folder / part).mkdir()
        for number, count in enumerate(sizes):
            labels = rng.integers(0, min(len(data_set.actions), 5), max(count, 1)).tolist()
            samples = [
                (
                    torch.from_numpy((rng.normal(size=(3, 4, 16, 16)) + label).astype(np.float32)),
                    torch.from_numpy((rng.normal(size=(kinetics.BANDS, kinetics.FRAMES)) + label).astype(np.float32)),
                    label,
                )
                for label in labels
            ]
            torch.save(samples, folder / part / f"batch_37{number}.pdt")
    return data_set(folder=folder)


def _mimic(data_set: type[mimic.MIMIC], folder: Path, size: int, rng: np.random.Generator) -> FileBenchmark:
    """A twin of `MIMIC`."""
    deaths = np.zeros((size, 6))
    period = rng.integers(0, 6, size)
    deaths[np.arange(size), period] = period > 0
    groups = rng.integers(0, 2, (size, mimic.CODES)).astype(np.float64)
    signal = period / 5 + groups[:, mimic.GROUPS].sum(1)
    content = {
        "ep_tdata": 5.0 + rng.normal(size=(size, mimic.HOURS, mimic.SERIES)) + signal[:, None, None],
        "adm_features_all": rng.normal(size=(size, mimic.STATIC)) * 10.0 + signal[:, None],
        "adm_labels_all": deaths,
        "y_icd9": groups,
    }
    content["ep_tdata"][0, :3, 2] = np.nan
    with (folder / mimic.FILE).open("wb") as stream:
        pickle.dump(content, stream, protocol=4)
    return data_set(folder=folder)


def _mmimdb(data_set: type[mm_imdb.MMIMDb], folder: Path, size: int, rng: np.random.Generator) -> FileBenchmark:
    """A twin of `MMIMDb`."""
    genres = (rng.random((size, mm_imdb.GENRES)) < 0.15).astype(np.int32)
    with require_h5py().File(folder / mm_imdb.FILE, "w") as file:
        for name, width in (("features", mm_imdb.TEXT_WIDTH), ("vgg_features", mm_imdb.FEATURES)):
            file[name] = (rng.normal(size=(size, width)) + genres @ rng.normal(size=(mm_imdb.GENRES, width))).astype(np.float32)
        file["genres"] = genres
        file["images"] = rng.integers(0, 256, (size, 3, 32, 20), np.uint8)
        file["imdb_ids"] = np.array([f"{number:07}".encode() for number in range(size)])
    (folder / mm_imdb.PLOTS).parent.mkdir()
    for number in range(1, size):  # the first film has no plot
        words = [f"genre{genre}" for genre in np.flatnonzero(genres[number]).tolist()]
        words += [f"word{word}" for word in rng.integers(0, 30, rng.integers(5, 30)).tolist()]
        plots = {"plot": ["In short.", " ".join(words).capitalize() + "."], "title": f"Film {number}"}
        (folder / mm_imdb.PLOTS).with_name(f"{number:07}.json").write_text(json.dumps(plots))
    return data_set(folder=folder)


def _mujocopush(data_set: type[mujoco_push.MuJoCoPush], folder: Path, size: int, rng: np.random.Generator) -> FileBenchmark:
    """A twin of `MuJoCoPush`; `size` is the number of windows to train on, about."""
    counts = {"train": max(1, size // 4), "validation": max(1, size // 16), "test": max(1, size // 8)}
    for split, count in counts.items():
        with require_h5py().File(folder / mujoco_push.FILES[split], "w") as file:
            for number in range(count):
                _write_trajectory(file.create_group(f"trajectory{number}"), 40, rng)
    return data_set(folder=folder)


def _write_trajectory(group: Any, length: int, rng: np.random.Generator) -> None:
    puck = np.cumsum(rng.normal(size=(length, 3)) * 0.01, 0) + 0.5
    group["Cylinder0_pos"] = puck.astype(np.float32)
    group["object-state"] = rng.normal(size=(length, 10)).astype(np.float32)
    group["eef_pos"] = (puck + rng.normal(size=(length, 3)) * 0.02).astype(np.float32)
    group["force"] = rng.normal(size=(length, 6)).astype(np.float32)
    group["contact"] = rng.integers(0, 2, length).astype(np.float32)
    picture = rng.random((length, mujoco_push.SIDE, mujoco_push.SIDE)) * 0.1
    column = np.clip((puck[:, 0] * mujoco_push.SIDE).astype(int), 0, mujoco_push.SIDE - 1)
    picture[np.arange(length), :, column] += 0.5
    group["image"] = picture.astype(np.float32)


def _publishedavmnist(
    data_set: type[av_mnist.PublishedAVMNIST], folder: Path, size: int, rng: np.random.Generator
) -> FileBenchmark:
    """A twin of `PublishedAVMNIST`."""
    side = av_mnist.SPECTROGRAM
    for part, count in (("train", size - size // 7), ("test", size // 7)):
        digits = rng.integers(0, 10, count)
        for sense, shape in (
            ("image", (av_mnist.PIXELS,)),
            ("audio", (side, side)),
        ):
            (folder / sense).mkdir(exist_ok=True)
            bright = rng.integers(0, 128, (count, *shape)) + 12 * digits.reshape(-1, *[1] * len(shape))
            np.save(folder / sense / f"{part}_data.npy", bright.astype(np.float64 if sense == "image" else np.uint8))
        np.save(folder / f"{part}_labels.npy", digits)
    return data_set(folder=folder)


def _stocks(data_set: type[stocks.Stocks], folder: Path, size: int, rng: np.random.Generator) -> FileBenchmark:
    """A twin of `Stocks`; windows are of 20 days."""
    days = np.datetime64("2000-06-01") + np.arange(size + 21)
    market = rng.normal(size=size + 21)
    for share in stocks.GROUPS["food"]:
        price = 50 * np.exp(np.cumsum(0.01 * (market + rng.normal(size=size + 21))))
        lines = [f"{day},{value:.6f},{share}" for day, value in zip(days, price, strict=True)]
        (folder / f"{share}.csv").write_text("\n".join(["Date,Open,Name", *lines]), encoding="utf-8")
    return data_set(folder=folder, length=20)


def _visiontouch(data_set: type[vision_touch.VisionTouch], folder: Path, size: int, rng: np.random.Generator) -> FileBenchmark:
    """A twin of `VisionTouch`; a file has five steps, and a run two files."""
    steps = 5
    for number in range(max(6, -(-size // (steps - 1)))):
        contact = rng.integers(0, 2, (steps, 3))
        felt = np.asarray(contact.any(1))[:, None, None]
        shape = (steps, vision_touch.SIDE, vision_touch.SIDE)
        content = {
            "image": rng.integers(0, 256, (*shape, 3), np.uint8),
            "depth_data": rng.random((*shape, 1)).astype(np.float32),
            "proprio": rng.normal(size=(steps, 10)),
            "ee_forces_continuous": rng.normal(size=(steps, 50, 6)) + felt,
            "optical_flow": np.zeros((*shape, 2), np.float32),
            "action": rng.normal(size=(steps, vision_touch.ACTION)),
            "contact": contact,
        }
        with require_h5py().File(folder / f"run{number // 2}_{number % 2}_1000.h5", "w") as file:
            for name, values in content.items():
                file[name] = values
    return data_set(folder=folder)


def _yummly(data_set: type[yummly.Yummly], folder: Path, size: int, rng: np.random.Generator) -> FileBenchmark:
    """A twin of `Yummly`."""
    from PIL import Image

    kitchens = ("Italian", "Indian", "French")
    chosen = rng.integers(0, len(kitchens), size).tolist()
    labels = {f"{number:05}": kitchens[kitchen] for number, kitchen in enumerate(chosen)}
    words = rng.integers(0, 30, (size, 8)).tolist()
    texts = {
        recipe: f"{labels[recipe].lower()} " + " ".join(f"word{n}" for n in row)
        for recipe, row in zip(labels, words, strict=True)
    }
    for name, content in ((yummly.LABELS, labels), (yummly.TEXTS, texts), ("word2index.pkl", {"word1": 2})):
        (folder / name).write_bytes(pickle.dumps(content, protocol=2))
    (folder / "images").mkdir()
    for recipe, kitchen in zip(labels, chosen, strict=True):
        pixels = rng.integers(0, 128, (32, 40, 3)) + 40 * kitchen
        Image.fromarray(pixels.astype(np.uint8)).save(folder / "images" / f"img{recipe}.jpg")
    return data_set(folder=folder)


WRITERS: Mapping[type, Callable[[Any, Path, int, np.random.Generator], FileBenchmark]] = {
    speaker_videos.Affect: _affect,
    clotho.Clotho: _clotho,
    enrico.ENRICO: _enrico,
    kinetics.Kinetics: _kinetics,
    mimic.MIMIC: _mimic,
    mm_imdb.MMIMDb: _mmimdb,
    mujoco_push.MuJoCoPush: _mujocopush,
    av_mnist.PublishedAVMNIST: _publishedavmnist,
    stocks.Stocks: _stocks,
    vision_touch.VisionTouch: _visiontouch,
    yummly.Yummly: _yummly,
}
"""What writes the twin of a data set, or of every data set with this base: into an empty folder, about so many samples."""
