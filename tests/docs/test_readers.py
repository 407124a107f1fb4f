"""What readers accept, on record, within the limits that the documentation names; kinds that exceed them are listed here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from molyneux.report import StudyRun, load_records

RUNS = load_records(Path(__file__).parents[2] / "studies" / "results" / "readers" / "records.jsonl")
WRONG = ("noise", "blends", "unions", "foreign", "discs", "sizes", "blurs", "averages")
SHOWN = ("true", "soft", "plain", "jpeg", "blocks")
"""Kinds that show figures of the world; all others but near shapes and sizes are wrong."""
MOST = {"exact": 1.0, "judge": 2.0}
"""Largest share in % of each kind of wrong views that a reader may accept."""
LEAST = 98.0
"""Smallest share in % of true views, also softened, without texture, with errors of blocks and as JPEG, that is accepted."""
RIGHT = {"exact": 99.9, "judge": 97.5}
"""Smallest share in % of true views of which it reads everything correctly."""
PLAIN = 95.0
"""Smallest share in % of scenes without texture of which it reads a factor correctly."""

TOLD = {
    ("cdsprites-v1", "image", "exact"): {"halves of two": 4.5, "jpeg": 92.0},
    ("cdsprites-v1", "image", "judge"): {
        "foreign": 11,
        "averages": 9,
        "rectangles": 16,
        "rhombi": 22,
        "crosses": 24,
        "quarter discs": 11,
        "parallelograms": 29,
        "trapeziums": 10,
        "hexagons": 5,
        "cuts": 3,
        "kites": 25,
        "striped": 22,
        "stretched": 12,
        "sheared": 10,
        "doubled": 4,
        "warped": 11,
        "letters": 3,
        "halves of two": 26,
        "bitten": 13,
        "brown": 5,
        "pale": 3,
        "between": 3.5,
        "jpeg": 97,
        "blocks": 94,
        "plain": 96,
        "true": 97.5,
    },
    ("gebid-v1", "image", "judge"): {
        "hexagons": 27,
        "stretched": 7,
        "between": 7,
        "halves of two": 6.5,
        "cyan": 6,
        "sizes": 5.5,
        "half recoloured": 5.5,
        "gradients": 3.5,
        "checkered": 3.5,
        "hollow": 3,
        "sheared": 2.5,
        "soft": 97.5,
        "jpeg": 95,
        "blocks": 86,
    },
}
"""Kinds that exceed a limit, with a number in % that their largest share is below; true kinds, with one that it is not below."""

SIZES = {
    "big": {0.86: (0, 1), 0.89: (0, 1), 0.95: (99, 100), 1.05: (99, 100), 1.12: (0, 1), 1.16: (0, 1), 1.2: (0, 1)},
    "small": {0.86: (0, 1), 0.89: (0, 4), 0.95: (94, 100), 1.05: (99, 100), 1.12: (0, 14), 1.16: (0, 8), 1.2: (0, 1)},
}
"""Least and largest share in % of figures that the exact reader accepts, by size in those of the world."""


def place(run: StudyRun) -> tuple[object, ...]:
    return tuple(run.settings[name] for name in ("world", "modality", "reader", "kind", "level"))


def share(run: StudyRun, name: str) -> Iterator[float]:
    return (score.value for score in run.scores if score.name == name and score.value is not None)


def test_what_exceeds_a_limit_is_told() -> None:
    shares: dict[tuple[object, ...], dict[str, list[float]]] = {}
    for run in RUNS:
        *where, kind, _ = place(run)
        if kind != "near" and ": " not in str(kind):
            shares.setdefault(tuple(where), {}).setdefault(str(kind), []).append(next(share(run, "reading.accepted")))
    for where, kinds in shares.items():
        told = TOLD.get(where, {})
        wrong = {kind: max(found) for kind, found in kinds.items() if kind not in SHOWN and max(found) > MOST[str(where[2])]}
        true = {kind: min(found) for kind, found in kinds.items() if kind in SHOWN and min(found) < LEAST}
        assert {*wrong, *true} == {*told}, where
        assert all(most <= told[kind] for kind, most in wrong.items()), where
        assert all(least >= told[kind] for kind, least in true.items()), where


def test_true_views_are_read_correctly() -> None:
    for run in RUNS:
        if run.settings["kind"] == "true":
            assert min(share(run, "reading.correct")) >= RIGHT[run.settings["reader"]], place(run)


def test_the_record_has_every_kind_at_every_level() -> None:
    known = {place(run) for run in RUNS}
    for kind in (*WRONG, "true", "soft", "plain", "near"):
        for reader in MOST:
            assert all(("cdsprites-v1", "image", reader, kind, level) in known for level in range(1, 6)), (reader, kind)
    assert all(run.scores[0].n == 1000 for run in RUNS if not run.settings["kind"].startswith("size: "))


def test_scenes_without_texture_are_read() -> None:
    plain = [run for run in RUNS if run.settings["kind"] == "plain"]
    assert plain
    assert all(min(share(run, "reading.correct")) >= PLAIN for run in plain)


def test_the_exact_reader_has_the_range_of_sizes_that_is_told() -> None:
    found = {place(run)[2:]: next(share(run, "reading.accepted")) for run in RUNS}
    for size, limits in SIZES.items():
        for scale, (least, most) in limits.items():
            for level in range(1 if size == "big" else 2, 6):
                assert least <= found["exact", f"size: {size} {scale}", level] <= most, (size, scale, level)


@pytest.mark.parametrize("ratio", [0.75, 0.8, 0.85, 0.9, 0.95])
def test_the_exact_reader_takes_no_nearly_round_ellipse_for_a_figure(ratio: float) -> None:
    runs = [run for run in RUNS if run.settings["reader"] == "exact" and run.settings["kind"] == f"near: ellipse {ratio}:1"]
    assert len(runs) == 5
    assert max(next(share(run, "reading.accepted")) for run in runs) <= 1
