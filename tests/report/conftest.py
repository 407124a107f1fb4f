"""Made-up records of a run on a world of two or three senses, of the shape that real ones have."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from molyneux.core import Cell, Factor, Gallery, Modality, Scatter, Score, Spec, save_exhibits, store
from molyneux.report import StudyRun
from molyneux.report.settings import flatten

SHAPES = ("square", "ellipse", "heart")
SIZES = ("small", "big")
COLOURS = ("red", "yellow", "green", "blue", "pink")
RGB = np.array([[255, 85, 0], [255, 243, 124], [24, 255, 143], [0, 162, 255], [255, 0, 255]])
FACTORS = {"size": SIZES, "colour": COLOURS, "shape": SHAPES}
TEXT_IMAGE = {"source": "text", "target": "image"}
IMAGE_TEXT = {"source": "image", "target": "text"}
JOINT = {"source": "prior", "target": ("image", "text")}
DIRECTIONS = (TEXT_IMAGE, IMAGE_TEXT, JOINT)


def share(name: str, about: dict, value: float, *, chance: float, ceiling: float = 99.9, **fields) -> Score:
    half = 196 * math.sqrt(value / 100 * (1 - value / 100) / 10_000)
    return Score(
        name,
        value,
        about,
        interval=(max(0.0, value - half), min(100.0, value + half)),
        n=10_000,
        unit="%",
        bounds=(0.0, 100.0),
        chance=chance,
        controls={"constant": chance * 1.06, "judge ceiling": ceiling},
        origin={"world": "cdsprites-v1", "changed": [], "split": "test", "seed": 1},
        **fields,
    )


def coherence(values: tuple[float, float, float] = (47.3, 93.1, 12.4)) -> list[Score]:
    scores = []
    for about, value in zip(DIRECTIONS, values, strict=True):
        scores.append(share("coherence.strict", about, value, chance=3.333))
        features = 3 * (value / 100) ** (1 / 3)
        scores.append(
            Score(
                "coherence.features",
                features,
                about,
                interval=(features - 0.014, min(3.0, features + 0.014)),
                n=10_000,
                unit="of 3",
                bounds=(0.0, 3.0),
                chance=1.0333,
                controls={"constant": 1.05, "judge ceiling": 2.999},
            )
        )
        if about["target"] == "text":
            scores.append(share("coherence.letters", about, 97.4, chance=34.0, ceiling=100.0))
        for number, (factor, values_) in enumerate(FACTORS.items()):
            right = 100 * (value / 100) ** (1 / 3) - 7 * (number - 1)
            scores.append(share("coherence.accuracy", {**about, "factor": factor}, min(right, 99.7), chance=100 / len(values_)))
    return scores


def other_scores() -> list[Score]:
    image, text = {"modality": "image"}, {"modality": "text"}
    return [
        Score("reconstruction.log_likelihood", -412.31, image, interval=(-415.0, -409.6), n=10_000, unit="nats"),
        Score(
            "reconstruction.mse",
            0.00312,
            image,
            interval=(0.0030, 0.0032),
            n=10_000,
            higher_is_better=False,
            controls={"constant": 0.041},
        ),
        Score(
            "reconstruction.ssim", 0.912, image, interval=(0.911, 0.913), n=10_000, bounds=(-1, 1), controls={"constant": 0.33}
        ),
        Score("reconstruction.log_likelihood", -1.93, text, interval=(-2.0, -1.86), n=10_000, unit="nats"),
        Score("likelihood.elbo", -431.8, {}, interval=(-434.0, -429.5), n=10_000, unit="nats"),
        Score("likelihood.iwae", None, {}, unit="nats", note="not applicable: the model gives no importance weights"),
        Score("posterior_gap.kl", 2.13, {"source": "text"}, n=10_000, unit="nats", higher_is_better=False),
        Score("posterior_gap.active_units", 11, {"source": "image"}, bounds=(0, 24), n=10_000),
        Score(
            "latent_probe.accuracy",
            98.2,
            {"source": "image", "factor": "shape"},
            unit="%",
            chance=33.3,
            controls={"majority": 34.1},
        ),
        Score("novelty.strangeness_index", 0.123, {"dimension": "3"}, unit="1"),
    ]


def picture(rng: np.random.Generator, shape: int, colour: int, size: int, blur: float = 0.0) -> np.ndarray:
    y, x = np.mgrid[:64, :64] / 64 - 0.5
    centre, angle, half = rng.uniform(-0.2, 0.2, 2), rng.uniform(0, 2 * np.pi), 0.08 + 0.08 * size
    u = ((x - centre[0]) * np.cos(angle) + (y - centre[1]) * np.sin(angle)) / half
    v = ((y - centre[1]) * np.cos(angle) - (x - centre[0]) * np.sin(angle)) / half
    inside = [np.maximum(abs(u), abs(v)) - 1, np.hypot(u * 1.3, v * 0.75) - 1, (u * u + v * v - 0.7) ** 3 - u * u * v**3][shape]
    mask = 1 / (1 + np.exp(np.clip(inside / (0.02 + blur), -50, 50)))
    texture = 0.75 + 0.25 * np.sin(20 * u + rng.uniform(0, 6)) * np.sin(17 * v)
    noisy = mask * texture * (1 + 0.02 * rng.normal(size=mask.shape))
    return np.clip(noisy[None] * RGB[colour][:, None, None], 0, 255).astype(np.uint8)


def contour(rng: np.random.Generator) -> np.ndarray:
    t = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    return np.stack([0.5 + 0.2 * np.cos(t), 0.45 + 0.3 * np.sin(t), -np.sin(t), np.cos(t), t * 0], 1).astype(
        np.float32
    ) + rng.normal(0, 0.004, (64, 5)).astype(np.float32)


def exhibits(*, rows: int = 6, dimensions: int = 8) -> list[Gallery | Scatter]:
    rng = np.random.default_rng(1)
    columns = ("image", "text", "image from image", "image from text", "text from image", "image, joint", "text, joint", "touch")
    table = []
    for row in range(rows):
        size, colour, shape = (int(rng.integers(len(values))) for values in FACTORS.values())
        words = f"{SIZES[size]} {COLOURS[colour]} {SHAPES[shape]}"
        wrong = f"{SIZES[size]} {COLOURS[colour]} {SHAPES[(shape + 1) % 3]}"
        good = row % 3 != 1
        table.append(
            (
                Cell(picture(rng, shape, colour, size), reading=words, correct=True),
                Cell(text=words),
                Cell(picture(rng, shape, colour, size, 0.05), reading=words, correct=True),
                Cell(
                    picture(rng, shape if good else (shape + 1) % 3, colour, size, 0.15),
                    reading=words if good else wrong,
                    correct=good,
                ),
                Cell(
                    text=words if good else "small grfen squre", reading=words if good else "unreadable: position 2", correct=good
                ),
                Cell(picture(rng, shape, colour, size, 0.2), reading=wrong, correct=None),
                Cell(text=words, reading=words, correct=not good),
                Cell(contour(rng)),
            )
        )
    cross = Gallery("cross", "From one sense to the other", "Below each view: what the judge read in it.", columns, tuple(table))
    steps = ("", *(f"{step:+.1f}" for step in np.linspace(-3, 3, 7)))
    walks = tuple(
        (
            Cell(text=f"dimension {row}"),
            *(Cell(picture(np.random.default_rng(row), row % 3, row % 5, 1, 0.02 + step / 20)) for step in range(7)),
        )
        for row in range(dimensions)
    )
    walk = Gallery(
        "traversal_image", "One dimension at a time", "All other dimensions stay at the mean of the prior.", steps, walks
    )
    codes = {"shape": rng.integers(0, 3, 1500), "colour": rng.integers(-1, 5, 1500), "rotation": rng.integers(0, 40, 1500)}
    points = rng.normal(size=(1500, 2)) * 0.5 + np.stack([np.cos(codes["shape"] * 2.1), np.sin(codes["shape"] * 2.1)], 1) * 1.6
    values = {"shape": SHAPES, "colour": COLOURS, "rotation": tuple(str(index) for index in range(40))}
    return [
        cross,
        walk,
        Scatter("codes", "Codes in the plane", "First two principal components.", points.astype(np.float32), codes, values),
    ]


def history(path: Path, epochs: int = 20) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        "epoch,step,seconds,samples_per_second,train/loss,train/image,train/text,train/kl,validation/loss,validation/image,validation/text,validation/kl"
    ]
    for epoch in range(1, epochs + 1):
        decay = math.exp(-epoch / 4)
        image, text, kl = 420 + 900 * decay, 2 + 38 * decay, 18 * (1 - decay)
        row = [epoch, epoch * 234, epoch * 21.5, 1390.2, image + text + kl, image, text, kl]
        lines.append(",".join(f"{number:g}" for number in [*row, *(number * 1.02 + 0.3 for number in row[4:])]))
    path.write_text("\n".join(lines) + "\n")


CONFIG = {
    "seed": 1,
    "data": {
        "world": {"class_path": "molyneux.data.worlds.cdsprites.CdSprites", "init_args": {"level": 3, "image_size": 64}},
        "train": 30000,
    },
    "learn": {
        "model": {"class_path": "molyneux.learn.vaes.mvae.MVAE", "init_args": {"latent_dim": 24, "beta": 1.0}},
        "epochs": 20,
    },
    "measure": {"measures": ["coherence", "likelihood"]},
}
MACHINE = {
    "versions": {"molyneux": "0.1.0", "torch": "2.13.0", "numpy": "2.4.0", "python": "3.11.2"},
    "cpu": "AMD EPYC, 2 cores",
    "threads": 1,
    "platform": "Linux x86_64",
}


def spec() -> Spec:
    letters = (" ", *"abcdefghijklmnopqrstuvwxyz")
    modalities = (
        Modality("image", "image", (3, 64, 64), "uint8"),
        Modality("text", "text", (20,), "uint8", letters, 0),
        Modality("touch", "series", (64, 5)),
    )
    return Spec(modalities, tuple(Factor(name, values) for name, values in FACTORS.items()))


def write_folder(folder: Path, scores: list[Score], shown: list[Gallery | Scatter], config: dict = CONFIG) -> Path:
    (folder / "measure").mkdir(parents=True)
    (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    store.write_json(folder / "machine.json", MACHINE)
    store.write_json(folder / "samples" / "spec.json", spec().to_json())
    store.write_lines(folder / "measure" / "scores.jsonl", [score.to_json() for score in scores])
    save_exhibits(folder / "measure", shown)
    history(folder / "model" / "history.csv")
    return folder


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "mvae-3", coherence() + other_scores(), exhibits())


@pytest.fixture(scope="session")
def made() -> SimpleNamespace:
    """Makers of records: `coherence(values)`, `others()`, `exhibits(rows=...)`, `folder(path, scores, exhibits)`, ..."""
    return SimpleNamespace(
        coherence=coherence,
        config=CONFIG,
        contour=contour,
        exhibits=exhibits,
        folder=write_folder,
        others=other_scores,
        picture=picture,
        share=share,
        spec=spec,
    )


@pytest.fixture
def study_of() -> Callable[..., StudyRun]:
    """A run of a study: `study_of(seed, coherence values, **settings)`; in names of settings `__` stands for a dot."""

    def run(seed: int, values: tuple[float, float, float] = (47.3, 93.1, 12.4), **settings) -> StudyRun:
        changed = {path.replace("__", "."): value for path, value in settings.items()}
        return StudyRun({**flatten(CONFIG), "seed": seed, **changed}, tuple(coherence(values) + other_scores()))

    return run
