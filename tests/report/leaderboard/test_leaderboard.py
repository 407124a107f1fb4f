"""The leaderboard: what may stand in one table, who shares a rank, what is refused, and the same bytes from the same records."""

import json
import random
from dataclasses import replace

import pytest

from molyneux.core import ConfigError, CorruptFileError, DataError, Score, StoreError, store
from molyneux.report import (
    ForeignRecord,
    Leaderboard,
    StudyRun,
    leaderboard_tables,
    make_boards,
    read_foreign,
    save_records,
    to_markdown,
)
from molyneux.report.leaderboard import BoardRow, write_leaderboard
from molyneux.report.leaderboard.boards import ranked
from molyneux.run import make_leaderboard

ABOUT = {"source": "text", "target": "image"}
ORIGIN = {"world": "cdsprites-v1", "split": "test", "samples": 1000, "package": "0.1.0", "changed": [], "settings": {"level": 2}}


def run(name, seed, value, *, cost=None, beta=1.0, interval=None, **origin):
    score = Score(
        "coherence.strict",
        value,
        ABOUT,
        interval=interval or (max(0.0, value - 1), min(100.0, value + 1)),
        n=1000,
        unit="%",
        bounds=(0.0, 100.0),
        chance=3.3,
        controls={"judge ceiling": 99.0},
        origin={**ORIGIN, "seed": seed, "experiment": f"{name}{seed}", "model": "MVAE", **origin},
    )
    settings = {"name": name, "seed": seed, "learn.model.class_path": "molyneux.learn.MVAE", "learn.beta": beta}
    return StudyRun(settings, (score,), cost or {})


def runs():
    levels = {"low": 10.0, "middle": 50.0, "high": 80.0}
    return [run(name, seed, level + 0.3 * seed, beta=level) for name, level in levels.items() for seed in (1, 2, 3)]


def board_of(*args, **kwargs):
    boards, _ = make_boards(*args, **kwargs)
    (board,) = boards
    return board


def ours(board):
    return {row.label: row for row in board.rows if row.kind == "record"}


def test_models_are_ranked_with_their_seeds_and_published_numbers_have_no_rank():
    board = board_of(runs())
    assert {label: (row.rank, row.seeds, row.mean) for label, row in ours(board).items()} == {
        "high": (1, 3, pytest.approx(80.6)),
        "middle": (2, 3, pytest.approx(50.6)),
        "low": (3, 3, pytest.approx(10.6)),
    }
    published = [row for row in board.rows if row.kind == "published"]
    assert {row.label for row in published} == {"MVAE", "MMVAE", "MoPoE", "DMVAE"}
    assert {row.rank for row in published} == {None}
    assert board.rows.index(published[0]) == 2  # 18 % lies between 50.6 and 10.6


def test_models_whose_intervals_touch_share_a_rank():
    rows = [
        BoardRow("a", "record", 9.0, (8.0, 10.0), 3),
        BoardRow("b", "record", 8.0, (7.0, 9.0), 3),
        BoardRow("c", "record", 6.0, (5.0, 7.5), 3),
        BoardRow("d", "record", 4.0, (3.0, 4.9), 3),
    ]
    assert {row.label: row.rank for row in ranked(rows, higher_is_better=True)} == {"a": 1, "b": 1, "c": 2, "d": 4}
    turned = [replace(row, mean=-row.mean, interval=(-row.ends[1], -row.ends[0])) for row in rows]
    assert {row.label: row.rank for row in ranked(turned, higher_is_better=False)} == {"a": 1, "b": 1, "c": 2, "d": 4}


def test_a_single_seed_changes_no_rank_of_others():
    rows = [BoardRow("lucky", "record", 9.0, (8.9, 9.1), 1), BoardRow("known", "record", 6.0, (5.0, 7.0), 3)]
    assert {row.label: row.rank for row in ranked(rows, higher_is_better=True)} == {"lucky": 1, "known": 1}
    alone = [replace(row, seeds=1) for row in rows]
    assert {row.label: row.rank for row in ranked(alone, higher_is_better=True)} == {"lucky": 1, "known": 2}


def test_the_order_of_records_does_not_matter(tmp_path):
    given = [*runs(), run("other", 1, 30.0, samples=500), run("low", 1, 20.0, split="validation", beta=10.0)]
    written = set()
    for number in range(4):
        random.Random(number).shuffle(given)
        boards, left = make_boards(given)
        files = write_leaderboard(Leaderboard(tuple(boards), len(given) - len(left)), tmp_path / str(number))
        assert [path.name for path in files] == ["leaderboard.md", "leaderboard.html", "leaderboard.json"]
        written.add(tuple(path.read_bytes() for path in files))
    assert len(written) == 1


EXACT = {"name": "RenderingReader", "exact": True, "accuracy": {"shape": 1.0}}


@pytest.mark.parametrize("reader", [{"exact": True, "accuracy": {"shape": 1.0}}, {"exact": False, "digest": "abc"}])
def test_what_an_earlier_unnamed_reader_read_is_not_ranked(reader):
    named = run("today", 1, 10.0, readers={"image": {**EXACT, "version": "2"}})
    boards, left = make_boards([run("before", 1, 90.0, readers={"image": reader}), named])
    assert [list(ours(board)) for board in boards] == [["today"]]
    assert [item.settings["name"] for item in left] == ["before"]
    with pytest.raises(ConfigError, match="an earlier, unnamed reader read is not ranked, so measure again"):
        make_boards(left, scores=["coherence.strict"])


def test_only_what_the_newest_version_of_an_exact_reader_read_is_ranked():
    given = [run(f"v{version}", 1, 10.0, readers={"image": {**EXACT, "version": version}}) for version in ("2", "10", "9")]
    boards, left = make_boards(given)
    assert [list(ours(board)) for board in boards] == [["v10"]]
    assert sorted(item.settings["name"] for item in left) == ["v2", "v9"]


def test_two_judges_never_rank_together():
    judges = [{"name": "judge of cdsprites-v1 image", "version": digest, "digest": digest} for digest in ("aa1", "bb2")]
    boards, left = make_boards([run(f"by {judge['version']}", 1, 10.0, readers={"image": judge}) for judge in judges])
    assert sorted(list(ours(board)) for board in boards) == [["by aa1"], ["by bb2"]]
    assert not left


@pytest.mark.parametrize(
    "other",
    [
        {"package": "0.2.0"},
        {"samples": 500},
        {"readers": {"image": {"name": "judge of cdsprites-v1 image", "version": "abc"}}},
        {"judges": {"image": "0123"}},
        {"settings": {"level": 2, "image_size": 32}},
        {"split": "validation"},
        {"world": "cdsprites-v2"},
        {"something": "new"},
    ],
)
def test_other_protocols_never_stand_in_one_table(other):
    boards, _ = make_boards([run("a", 1, 10.0), run("b", 1, 20.0, beta=2.0, **other)])
    assert sorted(list(ours(board)) for board in boards) == [["a"], ["b"]]
    tables = leaderboard_tables(Leaderboard(tuple(boards), 2))
    same_place = len({board.task.place for board in boards}) == 1
    assert ("protocol 2 of 2" in to_markdown(tables[1])) == same_place
    assert ("Differs from protocol 1" in to_markdown(tables[1])) == same_place


@pytest.mark.parametrize("own", ["experiment", "model", "seen", "train_overlap"])
def test_what_tells_runs_of_one_protocol_apart_does_not_part_them(own):
    assert set(ours(board_of([run("a", 1, 10.0), run("b", 1, 20.0, beta=2.0, **{own: "x"})]))) == {"a", "b"}


def test_equal_names_are_told_apart_by_their_settings_and_equal_settings_are_one_model():
    board = board_of([run("a", 1, 10.0), run("a", 1, 20.0, beta=2.0), run("b", 2, 30.0, beta=2.0)])
    assert {label: row.seeds for label, row in ours(board).items()} == {"a: beta 1.0": 1, "a: beta 2.0": 2}


def test_the_same_run_twice_counts_once_and_is_refused_with_two_values():
    assert ours(board_of([*runs(), runs()[0]]))["low"].seeds == 3
    with pytest.raises(DataError, match=r"two records of low, seed 1, .* \(10.3 and 99.0\)"):
        make_boards([*runs(), run("low", 1, 99.0, beta=10.0)])


def test_a_value_outside_its_bounds_is_refused():
    with pytest.raises(DataError, match=r"expected 0\.0 to 100\.0, got 120.0: the record was altered"):
        make_boards([run("a", 1, 120.0)])


def test_an_altered_record_is_refused(tmp_path):
    path = tmp_path / "results" / "records.jsonl"
    save_records(path, runs())
    assert make_leaderboard([path]).runs == 9
    assert ",80.3," in path.read_text()
    path.write_text(path.read_text().replace(",80.3,", ",88.3,"))
    with pytest.raises(CorruptFileError, match=r"line \d+ of .* was altered since it was written"):
        make_leaderboard([path])


def test_folders_and_folders_of_folders_are_read(tmp_path):
    save_records(tmp_path / "one" / "records.jsonl", runs()[:4])
    save_records(tmp_path / "two" / "records.jsonl", runs()[4:])
    whole = make_leaderboard([tmp_path])
    assert whole == make_leaderboard([tmp_path / "two", tmp_path / "one" / "records.jsonl", tmp_path / "two"])
    assert whole.runs == 9
    with pytest.raises(StoreError, match="expected records in"):
        make_leaderboard([tmp_path / "absent"])
    with pytest.raises(ConfigError, match=r"no record has a score a\.b that can be ranked"):
        make_leaderboard([tmp_path], scores=["a.b"])


def test_records_without_a_world_are_left_out_and_counted(tmp_path):
    save_records(tmp_path / "records.jsonl", [*runs(), run("a", 1, 5.0, world=None)])
    assert (make_leaderboard([tmp_path]).left_out, make_leaderboard([tmp_path]).runs) == (1, 9)


def test_costs_stand_beside_the_means():
    cost = {"steps": 10, "seconds": 7.0, "threads": 2}
    board = board_of([run("a", seed, 10.0 * seed, cost=cost) for seed in (1, 2)])
    assert ours(board)["a"].cost == {"steps": 10.0, "seconds": 7.0, "processor_seconds": 14.0}
    (table,) = leaderboard_tables(Leaderboard((board,), 2))
    assert [column.title for column in table.columns][-3:] == ["steps", "seconds", "processor seconds"]
    assert [entry.text for entry in next(row for row in table.rows if row[1].text == "a")[-3:]] == ["10", "7", "14"]


FOREIGN = {
    "name": "Theirs",
    "score": "coherence.strict",
    "about": ABOUT,
    "value": 60.0,
    "origin": {"source": "a paper, table 3", "world": "cdsprites-v1", "level": 2},
}


def foreign(tmp_path, *records):
    store.write_lines(tmp_path / "theirs.jsonl", list(records))
    return tmp_path / "theirs.jsonl"


def test_a_record_from_elsewhere_is_marked_everywhere(tmp_path):
    save_records(tmp_path / "records.jsonl", runs())
    made = make_leaderboard([tmp_path], add=[foreign(tmp_path, {**FOREIGN, "interval": [58.0, 62.0], "seeds": 4})])
    (row,) = [row for row in made.boards[0].rows if row.kind == "elsewhere"]
    assert (row.label, row.rank, row.mean, row.interval, row.seeds) == ("Theirs", None, 60.0, (58.0, 62.0), 4)
    assert made.boards[0].rows.index(row) == 1
    files = {path.suffix: path.read_text() for path in write_leaderboard(made, tmp_path / "out")}
    for suffix in (".md", ".html"):
        assert "Theirs, elsewhere" in files[suffix]
        assert "Theirs, elsewhere: a paper, table 3" in files[suffix]
    (found,) = [line for line in json.loads(files[".json"])["tables"][0]["rows"] if line["model"] == "Theirs"]
    assert (found["kind"], found["rank"], found["source"]) == ("elsewhere", None, "a paper, table 3")
    ranks = {row.label: row.rank for row in board_of(runs()).rows if row.kind == "record"}
    assert {label: row.rank for label, row in ours(made.boards[0]).items()} == ranks


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"value": float("1e999")}, "value"),
        ({"interval": [70.0, 80.0]}, "interval: expected one that holds the value 60.0, got [70.0, 80.0]"),
        ({"seeds": 0}, "seeds: expected at least 1, got 0"),
        ({"origin": {"world": "cdsprites-v1"}}, "origin.source: is missing: say who measured it, and where"),
        ({"origin": {"source": "me"}}, "origin.world: is missing: say on which data"),
        ({"vlaue": 3.0}, 'vlaue: unknown setting; did you mean "value"?'),
        ({"value": "high"}, "value: expected"),
    ],
)
def test_bad_records_from_elsewhere(change, problem, tmp_path):
    path = tmp_path / "theirs.jsonl"
    path.write_text(json.dumps({**FOREIGN, **change}) + "\n")
    with pytest.raises(ConfigError) as caught:
        read_foreign(path)
    assert any(f"line 1: {problem}" in found for found in caught.value.problems), caught.value.problems


def test_lines_from_elsewhere_that_are_no_records(tmp_path):
    path = tmp_path / "theirs.jsonl"
    path.write_text(json.dumps(FOREIGN) + "\n\nMyVAE 71\n[1, 2]\n")
    with pytest.raises(ConfigError) as caught:
        read_foreign(path)
    first, second = caught.value.problems
    assert "line 3: expected one JSON object, got 'MyVAE 71'" in first
    assert "line 4: expected one JSON object, got '[1, 2]'" in second


def test_a_number_from_elsewhere_that_the_score_cannot_have(tmp_path):
    save_records(tmp_path / "records.jsonl", runs())
    with pytest.raises(ConfigError, match=r"value: expected coherence\.strict from 0\.0 to 100\.0, got 171"):
        make_leaderboard([tmp_path], add=[foreign(tmp_path, {**FOREIGN, "value": 171.0})])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"score": "coherence.strikt"}, "no table ranks 'coherence.strikt'; did you mean \"coherence.strict\"?"),
        ({"about": {"source": "image", "target": "text"}}, "no table ranks coherence.strict about"),
        ({"origin": {**FOREIGN["origin"], "level": 3}}, "fits no table of coherence.strict"),
        ({"origin": {**FOREIGN["origin"], "samples": 250}}, "fits no table of coherence.strict"),
    ],
)
def test_a_record_from_elsewhere_that_fits_no_protocol_is_refused(change, reason):
    record = ForeignRecord(**{**FOREIGN, **change})
    with pytest.raises(ConfigError) as caught:
        make_boards(runs(), [record])
    assert reason in caught.value.problems[0]


def test_what_a_record_says_of_the_protocol_decides_its_table():
    record = ForeignRecord(**{**FOREIGN, "origin": {**FOREIGN["origin"], "samples": 500}})
    boards, _ = make_boards([*runs(), run("a", 1, 10.0, samples=500)], [record])
    assert [board.task.details["samples"] for board in boards if any(row.kind == "elsewhere" for row in board.rows)] == [500]
