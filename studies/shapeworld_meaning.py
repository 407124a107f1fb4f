"""Checks of meaning: the compiled evaluator beside one that was written apart, and sentences that are read back."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from shapeworld_parts import PAPER, Part, Row

from molyneux.core import seeds
from molyneux.data import SceneSettings, Semantics, ShapeWorld, Tree
from molyneux.data.worlds.shapeworld.kinds import KINDS
from molyneux.data.worlds.shapeworld.meaning.language.captions import LANGUAGES
from molyneux.data.worlds.shapeworld.meaning.trees.programs import programs_of, trees_of
from molyneux.data.worlds.shapeworld.meaning.trees.random_trees import random_trees
from molyneux.data.worlds.shapeworld.meaning.truth.truth import truth
from molyneux.data.worlds.shapeworld.scenes.sampling import sample_scenes
from molyneux.data.worlds.shapeworld.scenes.scenes import Scenes

PER_SCENE = 20
"""Captions that are evaluated on one scene: those of its own and of the next scene."""

BRUTE_FORCE = Path(__file__).parents[1] / "tests" / "data" / "worlds" / "shapeworld" / "meaning" / "brute_force.py"


def brute_force() -> ModuleType:
    """The evaluator over sets of entities, which shares nothing with the compiled one; it stands beside the tests."""
    spec = importlib.util.spec_from_file_location("shapeworld_brute_force", BRUTE_FORCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def remembering(module: ModuleType) -> Any:
    """Its evaluator, which evaluates a predicate once for a scene."""

    class Remembering(module.Evaluator):
        def __init__(self, entities: Any, rules: Semantics) -> None:
            super().__init__(entities, rules)
            self.known: dict[tuple[str, ...], Any] = {}

        def predicate(self, tree: Tree) -> Any:
            if tree.polish not in self.known:
                self.known[tree.polish] = super().predicate(tree)
            return self.known[tree.polish]

    return Remembering


def compared(scenes: Scenes, programs: np.ndarray, rows: np.ndarray, semantics: Semantics) -> dict[str, int | float]:
    """How often both evaluators agree on captions (n, L) of scenes `rows` (n,), and how often each value occurs."""
    module = brute_force()
    evaluator, by_code = remembering(module), {}
    found = truth(programs, scenes, semantics, rows=rows)
    same, last, mine = 0, -1, None
    for row, program, value in zip(rows.tolist(), programs, found.tolist(), strict=True):
        if row != last:
            last, mine = row, evaluator(module.entities_of(scenes, row), semantics)
        code = program.tobytes()
        if code not in by_code:
            by_code[code] = trees_of(program[None])[0]
        assert mine is not None
        same += mine.statement(by_code[code]) == value
    counts = Counter(found.tolist())
    shares = {name: 100 * counts[value] / len(rows) for name, value in (("true", 1), ("undetermined", 0), ("false", -1))}
    return {
        "pairs": len(rows),
        "equal": int(same),
        "different": len(rows) - int(same),
        **{f"{k}, %": v for k, v in shares.items()},
    }


def semantics(*, size: int, seed: int, quick: bool) -> Iterator[Row]:
    """Captions of every captioner, whether true or not, of their scenes and of others; then random trees."""
    for kind, about in KINDS.items():
        captioner, count = about.captioner(Semantics.paper() if kind in PAPER else None), size // PER_SCENE
        scenes = sample_scenes(about.scenes, seeds.key(seed, "checks", "scenes", kind), np.arange(count))
        rows = np.repeat(np.arange(count), PER_SCENE)
        shown = (rows + np.tile(np.arange(PER_SCENE) % 2, count)) % count  # every other caption is of the next scene
        forms = captioner.forms(seeds.key(seed, "checks", "forms", kind), np.arange(len(rows)))
        numbers = seeds.uniforms(seeds.key(seed, "checks", "values", kind), np.arange(len(rows)), captioner.numbers)
        programs, _ = captioner.fill(scenes, shown, forms, numbers)
        for rules, name in ((Semantics(), "standard"), (Semantics.paper(), "of the paper"))[: 2 if kind in PAPER else 1]:
            yield {"captions": kind, "semantics": name, **compared(scenes, programs, rows, rules)}
    usual = SceneSettings(counts=range(1, 9), attributes="limited", overlap=0.4, provoked=0.8)
    scenes = sample_scenes(usual, seeds.key(seed, "checks", "scenes", "random"), np.arange(size // PER_SCENE))
    trees = random_trees(size, seed, connectives=2)
    rows = np.repeat(np.arange(len(scenes)), PER_SCENE)
    choices = {"standard": Semantics(), "vacuous as published": Semantics.published(), "of the paper": Semantics.paper()}
    for name, rules in choices.items():
        yield {"captions": "random trees", "semantics": name, **compared(scenes, programs_of(trees)[: len(rows)], rows, rules)}


def meanings(size: int, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    """Captions of every kind, half of them with foils, and random trees; `size` of all together."""
    each = size // (len(KINDS) + 1)
    for kind in KINDS:
        found = []
        for variant in ("balanced", "foils"):
            world = ShapeWorld(kind=kind, variant=variant, views=("meaning",))
            sets = np.arange(-(-each // 4))
            numbers = (4 * sets[:, None] + np.arange(2)).ravel()  # both captions of a set with its first scene
            found += [
                world.batch(part, split="train", seed=seed + 1000).views["meaning"].numpy().astype(np.int16)
                for part in np.array_split(numbers, max(1, len(numbers) // 4000))
            ]
        width = max(array.shape[1] for array in found)
        yield kind, np.concatenate([np.pad(array, ((0, 0), (0, width - array.shape[1]))) for array in found])[:each]
    yield "random trees", programs_of(random_trees(size - len(KINDS) * each, seed, connectives=2))


def language(*, size: int, seed: int, quick: bool) -> Iterator[Row]:
    """Both identities: captions said, read and said again; sentences that are read have one meaning, the one that was said."""
    drawn = list(meanings(size, seed))
    for name, make in LANGUAGES.items():
        speaker = make()
        for kind, programs in drawn:
            trees = trees_of(programs)
            for wording, uniforms in (("usual", None), ("paraphrase", np.random.default_rng(seed).random(len(trees)))):
                said = speaker.realise(programs, uniforms=uniforms)
                words = [speaker.everything.decode(ids) for ids in said.ids]
                yield {"language": name, "captions": kind, "wording": wording, **read_back(speaker, trees, words, wording)}


def read_back(speaker: Any, trees: Sequence[Tree], words: Sequence[list[str]], wording: str) -> dict[str, int]:
    """How many sentences have the one meaning that was said; and of usual ones, how many are said in the same words again."""
    known = {tuple(sentence): speaker.readings(sentence) for sentence in words}
    meaning = sum(known[tuple(sentence)] == [tree] for tree, sentence in zip(trees, words, strict=True))
    several = sum(len(found) > 1 for found in known.values())
    distinct = list(known)
    again = speaker.realise([known[sentence][0] for sentence in distinct])
    same = {s: tuple(speaker.everything.decode(ids)) == s for s, ids in zip(distinct, again.ids, strict=True)}
    row = {"sentences": len(words), "distinct": len(known), "longest": max(map(len, words)), "tree to tree": meaning}
    if wording == "usual":
        row["text to text"] = sum(same[tuple(sentence)] for sentence in words)
    return {**row, "several readings": several}


def held_out(*, size: int, seed: int, quick: bool) -> Iterator[Row]:
    """How many scenes of each split have what a split holds out."""
    for kind in PAPER:
        world = ShapeWorld(kind=kind)
        levels = world.held_out(kind)
        for split in ("train", "validation", "test"):
            count = size if split == "train" else size // 10
            totals, contained = Counter[str](), 0
            for start in range(0, count, 8000):
                sets = np.arange(start // 2, min(start + 8000, count) // 2)
                scenes = world.scenes((4 * sets[:, None] + np.array([0, 2])).ravel(), split=split, seed=seed)
                contained += int(world.scenes_of(split, kind).contains(scenes).sum())
                for name, one in levels.items():
                    totals[name] += int(having(scenes, one.combinations, one.counts).sum())
            shown = {f"with what {name} holds out": totals[name] for name in levels}
            yield {"kind": kind, "split": split, "scenes": count // 2 * 2, **shown, "within the distribution": contained}


def having(scenes: Scenes, combinations: Sequence[tuple[str, str]], counts: Sequence[int]) -> np.ndarray:
    """Scenes with one of some combinations of shape and colour, or numbers of entities, (n,) bool."""
    if counts:
        return np.isin(scenes.present.sum(1), np.array(counts))
    required = replace(
        SceneSettings(colours=("red", "green", "blue", "yellow", "magenta", "cyan", "white")), required=combinations
    )
    return np.asarray((required.table(first=True)[scenes.shape, scenes.colour] & scenes.present).any(1))


PARTS = (
    Part(
        "semantics",
        "Pairs of a scene and a caption on which the compiled evaluator and the one over sets of entities give the same of three "
        "values. Captions are those of the kind's captioner before any is chosen by its truth, half of them of another scene",
        semantics,
        100_000,
        200,
    ),
    Part(
        "language",
        "Captions that are said and read back: whether the sentence has one meaning, the one that was said, and is said again in "
        "the same words",
        language,
        100_000,
        340,
    ),
    Part(
        "held-out",
        "Scenes of each split that have what a split holds out; and scenes that lie within the distribution of their split",
        held_out,
        200_000,
        400,
    ),
)
