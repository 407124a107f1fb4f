"""The format of `records.jsonl`: its bytes, what comes back, and what is refused in one sentence."""

import itertools
import json
import math
from dataclasses import replace

import pytest

from molyneux.core import CorruptFileError, Score, StoreError, store
from molyneux.report import StudyRun, append_records, load_records, record_lines, save_records

ORIGIN = {"experiment": "ab", "seed": 1, "settings": {"size": 32}, "split": "test", "world": "toy-v1"}
CONTROLS = {"constant": 51}


def run(seed=1, name="A", origin=None, values=(91.5, 2.0)):
    origin = {**ORIGIN, "seed": seed, **(origin or {})}
    scores = (
        Score(
            "a.accuracy", values[0], {"target": "x"}, (90.0, 93.0), 500, "%", True, (0.0, 100.0), 50.0, {"constant": 51}, origin
        ),
        Score("a.error", values[1], {"source": ("x", "y")}, None, 500, higher_is_better=False, origin=origin),
    )
    return StudyRun({"learn.rate": 0.1, "name": name, "seed": seed}, scores)


FILE = """\
{"format":3}
{"settings":"b3e9","values":{"learn.rate":0.1,"name":"A","seed":1}}
{"origin":"d604","values":{"experiment":"ab","seed":1,"settings":{"size":32},"split":"test","world":"toy-v1"}}
{"score":"d36a","name":"a.accuracy","about":{"target":"x"},"unit":"%","higher_is_better":true,"bounds":[0.0,100.0],"n":500,\
"chance":50.0,"controls":{"constant":51}}
{"score":"33c6","name":"a.error","about":{"source":["x","y"]},"unit":"1","higher_is_better":false,"bounds":[null,null],"n":500}
{"run":"c1f5cd8d68efead0","settings":["b3e9",{}],"scores":[["d604",["d36a",91.5,90.0,93.0],["33c6",2.0]]]}
{"origin":"cc8b","like":"d604","values":{"seed":2}}
{"run":"700c6af4f536a4c9","settings":["b3e9",{"seed":2}],"scores":[["cc8b",["d36a",91.5,90.0,93.0],["33c6",2.0]]]}
"""


def test_the_bytes_of_a_small_study(tmp_path):
    save_records(tmp_path / "records.jsonl", [run(2), run(1)])
    assert (tmp_path / "records.jsonl").read_text() == FILE


def same(found, runs):
    """Whether runs are equal in every type too: 1 is no 1.0 and no true, and several modalities are a tuple."""
    texts = [
        [json.dumps([dict(one.settings), [score.to_json() for score in one.scores]], sort_keys=True) for one in each]
        for each in (found, runs)
    ]
    return texts[0] == texts[1] and all(a.scores == b.scores for a, b in zip(found, runs, strict=True))


VARIED = [
    run(),
    run(2, 'é\u2028\n"', {"experiment": "cd", "settings": {}}),
    run(3, True),
    run(4, 1),
    run(5, 1.0, {"world": "other-v1", "split": "validation", "more": [1, [2.5, None]]}),
    run(6, "A", values=(None, 1e-300)),
    replace(run(7), scores=()),
    StudyRun({"seed": 8}, (Score("a.b", 3),)),
    StudyRun({"other": {}, "seed": 9}, tuple(replace(score, interval=None) for score in run(9).scores)),
    replace(run(10), scores=tuple(replace(score, n=7) for score in run(10).scores)),
    replace(run(11), scores=tuple(replace(score, chance=50) for score in run(11).scores)),
    replace(run(12), scores=tuple(replace(score, controls={"constant": 51.0}) for score in run(12).scores)),
    replace(run(13), scores=tuple(replace(score, controls={"b": 1.0, "a": 2}, note="a") for score in run(13).scores)),
    replace(run(14), scores=(*run(14).scores, *run(14, origin={"split": "train"}).scores, *run(14).scores)),
    StudyRun({"seed": 15}, (Score("a.b", 3, interval=(1, 2.0)), Score("a.b", 3.0, n=4), Score("a.b", None, note="it is not"))),
]


@pytest.mark.parametrize("number", range(len(VARIED)))
def test_what_is_written_comes_back_alone_and_below_others(number, tmp_path):
    save_records(tmp_path / "one.jsonl", [VARIED[number]])
    assert same(load_records(tmp_path / "one.jsonl"), [VARIED[number]])
    first = VARIED[number - 1]
    for one in (first, VARIED[number]):
        append_records(tmp_path / "two.jsonl", one)
    found = load_records(tmp_path / "two.jsonl")
    assert same(sorted(found, key=lambda one: one.seed == VARIED[number].seed), [first, VARIED[number]])


def test_runs_are_read_in_the_order_in_which_they_were_added_and_saved_in_one(tmp_path):
    saved = None
    for number, order in enumerate(itertools.permutations([*VARIED[1:4], VARIED[9]])):
        for one in order:
            append_records(tmp_path / f"{number}.jsonl", one)
        found = load_records(tmp_path / f"{number}.jsonl")
        assert same(found, order)
        for runs in (found, order):
            save_records(tmp_path / "again.jsonl", runs)
            assert saved in (None, (tmp_path / "again.jsonl").read_bytes())
            saved = (tmp_path / "again.jsonl").read_bytes()


def test_the_lines_of_two_files_can_be_joined(tmp_path):
    """As by a merge that keeps the lines of both sides."""
    for one, name in ((VARIED[0], "a"), (VARIED[1], "a"), (VARIED[1], "b"), (VARIED[5], "b"), (VARIED[0], "b")):
        append_records(tmp_path / f"{name}.jsonl", one)
    lines = [line for name in "ab" for line in (tmp_path / f"{name}.jsonl").read_text().split("\n") if line]
    runs = [line for line in lines if line.startswith('{"run"')]
    kept = [line for number, line in enumerate(lines) if line not in runs or line not in lines[:number]]
    (tmp_path / "c.jsonl").write_text("\n".join(kept))  # without a line break at its end
    append_records(tmp_path / "c.jsonl", VARIED[3])
    assert {one.seed for one in load_records(tmp_path / "c.jsonl")} == {"1", "2", "4", "6"}


def test_an_origin_is_told_once_and_a_run_appends_one_line(tmp_path):
    path = tmp_path / "records.jsonl"
    save_records(path, [run(1)])
    before = path.read_text()
    append_records(path, run(2, origin={"seed": 1}))
    (added,) = path.read_text().removeprefix(before).splitlines()
    assert json.loads(added)["settings"][1] == {"seed": 2}
    assert path.read_text().count("toy-v1") == 1
    append_records(path, run(3))
    assert path.read_text().count("toy-v1") == 1  # its own line tells what differs


def altered(path, old, new, count=1):
    text = path.read_text()
    assert text.count(old) >= 1, old
    path.write_text(text.replace(old, new, count))


@pytest.fixture
def path(tmp_path):
    save_records(tmp_path / "records.jsonl", [run(1), run(2)])
    return tmp_path / "records.jsonl"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (",91.5,", ",91.6,", "line 6 of .* was altered since it was written"),
        (",93.0]", ",93.0,499]", "line 6 of .* was altered"),
        ('"toy-v1"', '"toy-v2"', "line 3 of .* is not of what it tells; it was altered"),
        ('"constant":51', '"constant":52', "line 4 of .* is not of what it tells"),
        ('"learn.rate":0.1', '"learn.rate":0.2', "line 2 of .* is not of what it tells"),
        ('{"seed":2}]', '{"seed":3}]', "line 8 of .* was altered"),
        (",91.5,", ',"91.5",', "line 6 of .* expected a number, got 91.5"),
        (",91.5,", ",true,", "line 6 of .* expected a number, got True"),
        (",91.5,", ",NaN,", "line 6 of .* expected a number, got nan"),
        (",91.5,", ",1e999,", "line 6 of .* expected a number, got inf"),
        (",91.5,", f",{10**400},", "line 6 of .* (expected a number, got 1000|OverflowError: int too large)"),
        (",90.0,93.0]", ",null,93.0]", "line 6 of .* expected both ends of an interval"),
        (",90.0,93.0]", ",90.0]", "line 6 of .* expected a row of 2 or 4 to 7 values, got 3"),
        (",90.0,93.0]", ",90.0,93.0,-1]", "line 6 of .* expected a number of samples, got -1"),
        (",90.0,93.0]", ",90.0,93.0,5,50.0,[]]", r"line 6 of .* expected a number for each of 1 controls, got \[\]"),
        (",90.0,93.0]", ",90.0,93.0,5,50.0,[null]]", r"line 6 of .* for each of 1 controls, got \[None\]"),
        ('"format":3', '"format":4', "format 4, this version reads 3: install a newer"),
        ('{"format":3}\n', "", r"line 1 of .* \(expected ..format.:3.\)"),
        ('"higher_is_better":true', '"higher_is_better":1', "line 4 of .* (higher_is_better cannot be read|is not of what)"),
    ],
)
def test_altered_lines_are_named(path, old, new, sentence):
    altered(path, old, new)
    with pytest.raises(StoreError, match=sentence) as caught:
        load_records(path)
    assert "\n" not in str(caught.value)


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def labelled(kind, values, **more):
    return {kind: store.fingerprint(values)[:4], **more, "values": values}


FORGED = {
    "an origin that no line tells": (lambda lines: lines[5]["scores"][0].__setitem__(0, "ffff"), "tells the origin 'ffff'"),
    "an origin that is told below": (lambda lines: lines.insert(6, lines.pop(2)), "line 5 of .* tells the origin"),
    "a score that no line tells": (lambda lines: lines[5]["scores"][0][1].__setitem__(0, "ffff"), "tells the score 'ffff'"),
    "settings that no line tells": (lambda lines: lines[5]["settings"].__setitem__(0, "ffff"), "tells the settings 'ffff'"),
    "a label that is no text": (lambda lines: lines[5]["scores"][0].__setitem__(0, ["b"]), "tells the origin"),
    "a label of another kind": (
        lambda lines: lines[2].__setitem__("origin", 7),
        "the label of its origin as a text, got 7",
    ),
    "an empty label": (lambda lines: lines[2].__setitem__("origin", ""), "its label '' is not of what it tells"),
    "an origin like one that no line tells": (lambda lines: lines[6].__setitem__("like", "ffff"), "tells the origin 'ffff'"),
    "an origin like itself": (
        lambda lines: lines[6].__setitem__("like", lines[6]["origin"]),
        "no line above it tells the origin",
    ),
    "an origin like one that is like another": (
        lambda lines: lines.insert(7, labelled("origin", {"a": 1}, like=lines[6]["origin"])),
        "line 8 .* is itself told by another",
    ),
    "settings like others": (lambda lines: lines[1].__setitem__("like", "e9d8"), "neither a run nor settings, origin, score"),
    "values that are a list": (lambda lines: lines[2].__setitem__("values", []), "line 3 .* cannot be read"),
    "settings that are a text": (lambda lines: lines[1].__setitem__("values", "x"), "line 2 .* cannot be read"),
    "a score without a name": (lambda lines: lines[3].pop("name"), "line 4 .* or not all of it"),
    "a score with more": (lambda lines: lines[3].__setitem__("value", 3), "line 4 .* or not all of it"),
    "a line of no kind": (lambda lines: lines.insert(1, {"x": 1}), "line 2 .* tells neither a run nor"),
    "a row that is a number": (lambda lines: lines[5]["scores"][0].append(3), "line 6 .* cannot be read"),
    "a row that is empty": (lambda lines: lines[5]["scores"][0].append([]), "line 6 .* cannot be read"),
    "scores that are a number": (lambda lines: lines[5].__setitem__("scores", 3), "line 6 .* cannot be read"),
    "a group without an origin": (lambda lines: lines[5]["scores"].append([]), "line 6 .* cannot be read"),
    "a checksum of another kind": (lambda lines: lines[5].__setitem__("run", ["x"]), "line 6 .* was altered"),
    "a run twice": (lambda lines: lines.append(lines[5]), r"line 9 .* \(it repeats the run of line 6\)"),
    "a run without scores": (lambda lines: lines[5].pop("scores"), "line 6 .* or not all of it"),
    "scores of another run": (lambda lines: lines[5].__setitem__("scores", lines[7]["scores"]), "line 6 .* tells the origin"),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_references_are_refused_in_one_sentence(path, name):
    change, sentence = FORGED[name]
    lines = lines_of(path)
    change(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(CorruptFileError, match=sentence) as caught:
        load_records(path)
    assert "\n" not in str(caught.value)
    with pytest.raises(CorruptFileError, match=sentence):
        append_records(path, run(3))


def test_one_label_for_two_contents_is_refused(path, monkeypatch):
    """Labels are the beginnings of digests: two contents of one beginning get labels of two lengths."""
    own = store.fingerprint
    monkeypatch.setattr(store, "fingerprint", lambda content: "abcd" + own(content))
    save_records(path, [run(1), run(2)])
    labels = [line["score"] for line in lines_of(path) if "score" in line]
    assert [len(label) for label in labels] == [4, 5]
    assert same(load_records(path), [run(1), run(2)])
    altered(path, f'{{"score":"{labels[1]}"', '{"score":"abcd"')
    with pytest.raises(CorruptFileError, match="its label abcd stands for something else above"):
        load_records(path)


def test_short_lines_that_refer_to_long_ones_are_bounded(path, monkeypatch):
    monkeypatch.setattr(record_lines, "_MOST_VALUES", 9)
    with pytest.raises(CorruptFileError, match=r"line 8 of .* \(expected at most 9 settings and values"):
        load_records(path)


def test_a_file_of_more_bytes_than_can_be_read_is_refused(path):
    with path.open("r+b") as stream:
        stream.truncate(1 << 27)
    with pytest.raises(StoreError, match=r"expected at most 67,108,864 bytes in .*, got 134,217,728"):
        load_records(path)


@pytest.mark.parametrize("depth", [500, 100_000])
def test_brackets_in_brackets_are_refused(path, depth):
    altered(path, '"values":{', '"values":{"a":' + '{"a":' * depth + "1" + "}" * depth + ",")
    with pytest.raises(CorruptFileError):
        load_records(path)


@pytest.mark.parametrize("end", [1, 5, 40])
def test_a_file_that_was_cut_in_a_line_is_refused(path, end):
    path.write_text(path.read_text()[: -1 - end])
    with pytest.raises(CorruptFileError, match=r"is damaged .line 8 is no JSON"):
        load_records(path)


@pytest.mark.parametrize("content", [{"format": 2, "settings": {"seed": 1}, "scores": []}, {"settings": {}, "scores": []}])
def test_an_earlier_format_is_told_with_what_to_do(path, content):
    path.write_text(json.dumps({**content, "checksum": "0"}) + "\n")
    with pytest.raises(StoreError, match=r"earlier format, .*: move the file away and run the sweep again, .* or read it with"):
        load_records(path)


def test_numbers_that_are_none_are_not_written(path):
    before = path.read_bytes()
    with pytest.raises(ValueError, match="Out of range float"):
        save_records(path, [run(values=(math.inf, 1.0))])
    assert path.read_bytes() == before


def test_scores_of_one_origin_share_it(path):
    (first, _) = load_records(path)
    assert len({id(score.origin) for score in first.scores}) == 1
