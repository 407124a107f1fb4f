"""No mistake in a settings file ends in a traceback: seeded mutations of the shipped files load, or are refused in sentences."""

import copy
import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import yaml

from molyneux.core import ConfigError
from molyneux.core.config import read_document
from molyneux.run import load_experiment, load_study

CONFIGS = Path(__file__).parents[2] / "configs"
FILES = sorted(CONFIGS.rglob("*.yaml"))
Limited = Callable[..., AbstractContextManager[None]]
PARTS, COUNT, LONGEST = 3, 167, 120.0

TEXTS = {  # what no tree can be dumped with
    "@deep@": "[" * 10_000 + "]" * 10_000,
    "@deep-mapping@": "{a: " * 10_000 + "}" * 10_000,
    "@digits@": "9" * 5_000,
    "@timestamp@": "2026-02-30 25:61:00",
    "@date@": "2026-01-31",
    "@binary@": "!!binary R0lGODlhDAAMAIQAAP",
    "@python@": "!!python/object/apply:os.system ['exit']",
    "@set@": "!!set {a, b}",
    "@null-key@": "{null: 1, ~: 2}",
    "@list-key@": "{[1, 2]: 3}",
    "@number-key@": "{1: 2, 2.5: 3, true: 4}",
    "@bomb@": "[" + ", ".join(["&a0 [x, x]", *(f"&a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12))]) + "]",
    "@merge-bomb@": "{m0: &m0 {a: 1}, "
    + ", ".join(f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 10)}]}}" for n in range(1, 12))
    + "}",
    "@self@": "&me [*me]",
    "@unknown-alias@": "*nobody",
    "@surrogate@": '"\\ud800"',
    "@nul@": '"a\\0b"',
    "@tab@": "\t- x",
    "@nan@": ".nan",
    "@infinite@": "-.inf",
}
ODD = [
    *TEXTS,
    *(None, True, False, 0, -1, 1, 3, 7, 1.5, -0.1, 1e-300, 1e300, 10**9, 10**20, -(10**20), 2**63, "", " ", "x", "off", "1"),
    *(
        "1e-3",
        "é",
        "日本語",
        "‮x",
        "a" * 100_000,
        "../../x",
        "/",
        "a/b",
        "no.such.Class",
        "pathlib.Path",
        ".",
        "a..b",
        "os.",
        "MVAE",
    ),
    *("CdSprites", "VAE", "coherence", "molyneux.learn.MVAE", "auto", "none", [], {}, [[]], [1, "x", None], {"a": {"b": []}}),
    *({"class_path": "MVAE"}, {"class_path": 3}, {"class_path": "Recurrent", "init_args": []}, {"init_args": {}}, ["x"] * 1_000),
    *({"value": 1, "fraction": 2}, {"image": 1}, {"text": "x"}, {"low": 1}, {"x.y": 1, "<x>": 2}),
]


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for name, value in items:
        yield (*path, name)
        yield from places(value, (*path, name))


def holder(tree: Any, path: tuple[Any, ...]) -> Any:
    """What holds the value at a path."""
    for name in path[:-1]:
        tree = tree[name]
    return tree


def mutated(path: Path, rng: random.Random) -> str:
    """The text of a settings file with one to three mistakes."""
    tree = copy.deepcopy(read_document(path))
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        where = rng.choice([*places(tree)] or [("seed",)])
        around, name = holder(tree, where), where[-1]
        kind = rng.choice(["value"] * 8 + ["delete", "misspell", "swap", "wrap", "add", "rename"])
        if kind == "value":
            around[name] = copy.deepcopy(rng.choice(ODD))
        elif kind == "delete":
            del around[name]
        elif kind == "swap":
            other = rng.choice([*places(tree)])
            holder(tree, other)[other[-1]], around[name] = (
                copy.deepcopy(around[name]),
                copy.deepcopy(holder(tree, other)[other[-1]]),
            )
        elif kind == "wrap":
            around[name] = rng.choice(
                [[around[name]], {"init_args": around[name]}, {"class_path": around[name]}, {"x": around[name]}]
            )
        elif isinstance(around, dict) and kind == "add":
            around[rng.choice(["x", "", "class_path", "init_args", "é", "spec", "self", "name", "a.b", "model_config"])] = (
                rng.choice(ODD)
            )
        elif isinstance(around, dict):
            word = (
                "".join(rng.sample(str(name), len(str(name)))) if kind == "misspell" else rng.choice([1, None, True, 2.5, "data"])
            )
            around[word] = around.pop(name)
    text = yaml.safe_dump(tree, sort_keys=False, allow_unicode=True)
    for word, odd in TEXTS.items():
        text = text.replace(f"'{word}'", odd).replace(word, odd)
    return scribbled(text, rng)


def scribbled(text: str, rng: random.Random) -> str:
    """One in eight texts is cut off, or has other characters in it."""
    at = rng.randrange(len(text) + 1)
    kind = rng.choice(["cut", "character", "line", *["none"] * 21])
    if kind == "cut":
        return text[:at]
    if kind == "character":
        return text[:at] + rng.choice("\t{}[]&*!|>'\"%@`:,#\x07\x85\u2028\ufeff😀") + text[at + rng.randrange(3) :]
    lines = text.splitlines(keepends=True)
    return "".join(rng.sample(lines, len(lines))) if kind == "line" else text


def problems_of(path: Path, *, study: bool) -> tuple[str, ...]:
    """What is wrong with a file, as its command finds it; of a study, one point is looked at."""
    try:
        if not study:
            load_experiment(path)
            return ()
        loaded = load_study(path)
        for point in (loaded.points() if loaded.search == "grid" else loaded.probes())[:1]:
            loaded.experiments(point)
    except ConfigError as error:
        return error.problems or ("",)
    except BaseException as error:
        error.add_note(path.read_text(encoding="utf-8", errors="replace")[:5_000])
        raise
    return ()


@pytest.fixture
def configs(tmp_path: Path) -> Path:
    """The shipped experiments, which studies name, and a folder for mutated studies."""
    for path in CONFIGS.glob("*.yaml"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "studies").mkdir()
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_mutations_of_the_shipped_files(part: int, configs: Path, monkeypatch: pytest.MonkeyPatch, limited: Limited) -> None:
    monkeypatch.chdir(configs)
    rng = random.Random(2026 + part)
    refused = 0
    for number in range(part * COUNT, (part + 1) * COUNT):
        source = FILES[number % len(FILES)]
        study = source.parent.name == "studies"
        path = configs / ("studies" if study else "") / "mutated.yaml"
        path.write_text(mutated(source, rng), encoding="utf-8", errors="surrogatepass")
        with limited(LONGEST, f"mutation {number} of {source.name}"):
            problems = problems_of(path, study=study)
        refused += bool(problems)
        for problem in problems:
            assert problem.strip(), problems
            assert "object at 0x" not in problem
            assert len(problem) < 2_000, problem
    assert refused > COUNT / 3
