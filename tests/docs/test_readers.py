"""What readers accept, on record, within the limits that the documentation names; what exceeds them is listed here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from molyneux.report import StudyRun, load_study

RUNS = load_study(Path(__file__).parents[2] / "studies" / "results" / "readers" / "records.jsonl")
WRONG = ("noise", "blends", "unions", "foreign", "discs", "sizes", "blurs", "averages")
SHOWN = ("true", "soft", "plain", "jpeg", "blocks")
"""Kinds that show figures of the world; all others but near shapes and sizes are wrong."""
MOST = {"exact": 1.0, "judge": 2.0}
"""Largest share in % of each kind of wrong views that a reader may accept."""
LEAST = {"exact": 99.9, "judge": 99.5}
"""Smallest share in % of true views of which it reads everything correctly."""
PLAIN = 95.0
"""Smallest share in % of scenes without texture of which it reads a factor correctly."""

TOLD = {
    ("cdsprites-v1", "image", "exact", "blends", 4): 1.3,
    ("cdsprites-v1", "image", "exact", "blurs of 3 pixels", 3): 1.3,
    ("cdsprites-v1", "image", "exact", "blurs of 3 pixels", 4): 2.0,
    ("cdsprites-v1", "image", "exact", "blurs of 3 pixels", 5): 2.5,
    ("cdsprites-v1", "image", "exact", "halves of two", 1): 3.8,
    ("cdsprites-v1", "image", "exact", "halves of two", 2): 9.7,
    ("cdsprites-v1", "image", "exact", "halves of two", 3): 8.5,
    ("cdsprites-v1", "image", "exact", "halves of two", 4): 9.3,
    ("cdsprites-v1", "image", "exact", "halves of two", 5): 8.9,
    ("cdsprites-v1", "image", "exact", "parallelograms", 2): 1.6,
    ("cdsprites-v1", "image", "exact", "parallelograms", 4): 1.1,
    ("cdsprites-v1", "image", "exact", "parallelograms", 5): 1.3,
    ("cdsprites-v1", "image", "exact", "trapeziums", 3): 1.8,
    ("cdsprites-v1", "image", "exact", "trapeziums", 5): 1.3,
    ("cdsprites-v1", "image", "exact", "jpeg", 5): 80.9,
    ("cdsprites-v1", "image", "judge", "foreign", 3): 3.8,
    ("cdsprites-v1", "image", "judge", "foreign", 4): 4.2,
    ("cdsprites-v1", "image", "judge", "foreign", 5): 3.0,
    ("gebid-v1", "image", "judge", "sizes", 1): 3.0,
    ("gebid-v1", "image", "judge", "sizes", 3): 4.1,
    ("gebid-v1", "image", "judge", "sizes", 4): 3.6,
    ("cdsprites-v1", "image", "judge", "true", 3): 98.6,
    ("cdsprites-v1", "image", "judge", "true", 4): 99.4,
}
"""What exceeds a limit, with its share in %."""

SIZES = {
    "big": {0.86: (0, 1), 0.89: (0, 1), 0.95: (99, 100), 1.05: (99, 100), 1.12: (0, 1), 1.16: (0, 1), 1.2: (0, 1)},
    "small": {0.86: (0, 1), 0.89: (0, 4), 0.95: (97, 100), 1.05: (99, 100), 1.12: (0, 24), 1.16: (0, 17), 1.2: (0, 2)},
}
"""Least and largest share in % of figures that the exact reader accepts, by size in those of the world."""


def place(run: StudyRun) -> tuple[object, ...]:
    return tuple(run.settings[name] for name in ("world", "modality", "reader", "kind", "level"))


def share(run: StudyRun, name: str) -> Iterator[float]:
    return (score.value for score in run.scores if score.name == name and score.value is not None)


def beyond() -> Iterator[tuple[tuple[object, ...], float]]:
    """Views that exceed the limits of their kind."""
    for run in RUNS:
        reader, kind = run.settings["reader"], run.settings["kind"]
        (accepted,) = share(run, "reading.accepted")
        wrong = kind not in SHOWN and kind != "near" and ": " not in kind
        if wrong and accepted > MOST[reader]:
            yield place(run), accepted
        if kind == "jpeg" and accepted < 98:
            yield place(run), accepted
        if kind == "true" and min(share(run, "reading.correct")) < LEAST[reader]:
            yield place(run), accepted


def test_what_exceeds_a_limit_is_told() -> None:
    found = dict(beyond())
    assert found.keys() == TOLD.keys()
    assert [found[key] for key in TOLD] == pytest.approx(list(TOLD.values()), abs=0.051)


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
