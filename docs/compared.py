"""What is different from other libraries, and what was found, with numbers of records; used by `tables.py`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

from answers import ANSWERS, said
from packages import names_of
from picked import OfModel, Pick, Runs, filled, picked

from molyneux.core import store
from molyneux.report import StudyRun
from molyneux.report.wording import write

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
_FIGURE6 = {"source": "text", "target": "agreement"}
_QUANTIFICATION = {"data.world.init_args.kind": "quantification"}
_CORRECT = "prediction.accuracy"
_ALONE = ("image", "audio", "image-SGD")
_VARIANT = "data.world.init_args.variant"


def _blind(variant: str) -> Pick:
    where = {**_QUANTIFICATION, _VARIANT: variant}
    return Pick("shapeworld-figure6", "LSTM-only", _CORRECT, _FIGURE6, where, decimals=0)


def compared(runs_of: Runs) -> str:
    """One row for each other system: what it has, and what is different here, with links to what shows it."""
    models = sum(len(names_of(part)) for part in ("learn.products", "learn.mixtures", "learn.joint"))
    blind = {"published": _blind("published"), "balanced": _blind("balanced")}
    shapes = filled(
        "{published} % on published QUANTIFICATION, {balanced} % on ours", blind, runs_of, [("published", "balanced")]
    )
    drawn = filled(
        "{drawn} % of level 5 drawn right, with a hand-made window", {"drawn": ANSWERS["level-5"].picks["drawn"]}, runs_of
    )
    speed = "results/benchmarks.md"
    noise, metrics, pictures = _least("imperfections"), _most("disentanglement"), _pictures()
    rows = [
        (
            "MultiVae",
            "multimodal VAEs",
            f"[{models} generative models](reference/learn/models.md); data made here; "
            "[chance and judge beside each score](understand/reading-coherence.md)",
        ),
        (
            "MultiBench",
            "fusion, robustness",
            f"[intervals and controls](results/av-mnist.md); noise on series [{noise} times as fast]({speed}#imperfections)",
        ),
        ("ShapeWorld", "captions with meaning", f"a caption alone tells [{shapes}](results/shapeworld-figure6.md)"),
        (
            "disentanglement_lib",
            "metrics of codes",
            "[corrected metrics, absent factors](understand/disentanglement.md); "
            f"up to [{metrics} times as fast]({speed}#disentanglement) as plain loops",
        ),
        (
            "CdSprites+ toolkit",
            "pictures and captions",
            f"[{drawn}](results/level-5.md); pictures [{pictures} times as fast]({speed}#generation) as a plain version",
        ),
    ]
    lines = ["| beside | which has | here |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines) + "\n"


def found(runs_of: Runs) -> str:
    """What was found, in five sentences."""
    question, slots = ANSWERS["molyneux-v1"].picks, ANSWERS["ynoc-slots"].picks
    sentences: list[tuple[str, str, dict[str, Pick | OfModel], list[tuple[str, str]]]] = [
        (
            f"Molyneux's question, {_trainings(runs_of('molyneux-v1'))}: after 32 shapes were seen and felt, two alike new ones "
            "are told apart in {some} % ({some_interval}), by a linear map of rotation-invariant features in {linear} %; "
            "guessing {some_chance} %",
            "molyneux-v1",
            {name: question[name] for name in ("some", "linear")},
            [("linear", "some")],
        ),
        (
            "A small model with a hand-made window draws level 5 from captions: {drawn} % of pictures have every factor right, "
            "guessing gives {drawn_chance} %",
            "level-5",
            {"drawn": ANSWERS["level-5"].picks["drawn"]},
            [],
        ),
        (
            "Slots that compete for words reach a mutual information gap of {slots} on fresh seeds; MAT-0.1, "
            "the best of nine published models, {mat} ({mat_interval}), guessing {mat_chance}",
            "ynoc-slots",
            {name: slots[name] for name in ("slots", "mat")},
            [("slots", "mat")],
        ),
        (
            "Without leaks the best model of ShapeWorld's paper has {best} % on QUANTIFICATION; counts without binding reach "
            "{counts} %, guessing {best_chance} %",
            "shapeworld-figure6",
            {name: ANSWERS["shapeworld-figure6"].picks[name] for name in ("best", "counts")},
            [("counts", "best")],
        ),
        (
            "Late fusion with a good optimiser tells {late} % of digits seen and heard, the best fusion {blend} %, "
            "the picture alone {image} %, guessing {late_chance} %",
            "av-mnist",
            dict(ANSWERS["av-mnist"].picks),
            [("blend", "late"), ("late", "image")],
        ),
    ]
    lines = (f"- {filled(text, picks, runs_of, claims)} ([study](results/{page}.md))." for text, page, picks, claims in sentences)
    return "\n".join(lines) + "\n"


def _trainings(runs: Sequence[StudyRun]) -> str:
    """How many seeds every training of a study has, in words."""
    count = len({run.seed for run in runs})
    named = {1: "one training", 2: "two trainings", 3: "three trainings", 4: "four trainings", 5: "five trainings"}
    return named.get(count, f"{count} trainings")


def _pictures() -> str:
    rows = store.read_json(RESULTS / "generation.json")["rows"]
    return _whole(
        next(row["times plain"] for row in rows if (row["way"], row["level"], row["workers"]) == ("in memory", 5, "1 thread"))
    )


def _least(name: str) -> str:
    rows = store.read_json(RESULTS / f"{name}.json")["rows"]
    return _whole(min(row["times plain"] for row in rows if row.get("times plain")))


def _most(name: str) -> str:
    rows = store.read_json(RESULTS / f"{name}.json")["rows"]
    return _whole(max(float(row["times as fast"]) for row in rows if row.get("times as fast")))


def _whole(ratio: float) -> str:
    return f"{ratio:.0f}"


def broken(runs_of: Runs) -> str:
    """What is left of digits seen and heard with one sense dead: the model that comes with the package, and those of a study."""
    seen_and_heard: list[tuple[str, ...] | str] = [("image", "audio"), "image", "audio"]
    own = [
        picked(OfModel("av-mnist", _CORRECT, {"source": source, "target": "label"}), runs_of).score for source in seen_and_heard
    ]
    heads = ("the model", "both senses", "microphone dead", "camera dead")
    lines = [f"| {' | '.join(heads)} |", "| :--- | ---: | ---: | ---: |"]
    models = {"`av-mnist`": "", "late fusion": "LF-SGD", "gradient blending": "GradBlend", "early fusion": "EF"}
    for name, label in models.items():
        cells = []
        for source, score in zip(seen_and_heard, own, strict=True):
            pick = Pick("av-mnist", label, _CORRECT, {"source": source, "target": "label"}, decimals=1)
            cells.append(write((picked(pick, runs_of).score if label else score).value, 1))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    chance, alone = write(own[1].chance, 1), own[2].value or 0.0
    fused = [name for name in dict.fromkeys(str(run.settings["name"]) for run in runs_of("av-mnist")) if name not in _ALONE]
    sound = {"source": "audio", "target": "label"}
    heard = [picked(Pick("av-mnist", name, _CORRECT, sound), runs_of).mean or 0.0 for name in fused]
    fewer = sum(value < alone for value in heard)
    told = f"Right digits in %; guessing gives {chance}. With a dead camera `av-mnist` is right more often than {fewer} of the"
    return "\n".join([*lines, "", f"{told} {len(heard)} fusions of the study.", ""])


def studies(runs_of: Runs) -> str:
    """Every study with its question and its answer."""
    rows = (f"| [{answer.question}]({name}.md) | {said(name, runs_of)} |" for name, answer in ANSWERS.items())
    return "\n".join(["| question | answer |", "| :--- | :--- |", *rows, ""])


def missing(runs_of: Runs) -> str:
    """Which model to use where captions or pictures are missing in training."""
    picks = {name: ANSWERS["incomplete"].picks[name] for name in ("mmvae", "mopoe")}
    sentence = (
        "**Captions or pictures missing in training: start with MMVAE to write captions.** With half of each modality missing at "
        "random it writes {mmvae} % of captions right, MoPoE {mopoe} %, guessing {mmvae_chance} % ([the study](incomplete.md), "
        "one training each). No model of that study draws pictures of captions."
    )
    return f"{filled(sentence, picks, runs_of, [('mmvae', 'mopoe')])}\n"


def clone(_: Runs) -> str:
    """The command that gets the repository, from the one address that `pyproject.toml` has."""
    address = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Repository"]
    return f"```sh\ngit clone {address} molyneux && cd molyneux\n```\n"


PARTS: dict[str, Callable[[Runs], str]] = {
    "broken": broken,
    "clone": clone,
    "compared": compared,
    "found": found,
    "missing": missing,
    "studies": studies,
}


def of_page(name: str, runs_of: Runs) -> str:
    """A part, such as `found` for the first page; `readme.found` has links as from above, `why.compared` as from below."""
    place, _, part = name.rpartition(".")
    to = {"readme": "docs/", "why": "../"}.get(place, "")
    return re.sub(r"\]\((?=\w+/)", f"]({to}", PARTS[part](runs_of))
