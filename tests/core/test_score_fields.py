"""Records of scores with fields of a wrong type: each is named."""

import json

import pytest

from molyneux.core import DataError, Score, store

WHOLE = Score("a.b", 1.0, about={"source": ("x", "y"), "target": "z"}, interval=(0.0, 2.0), n=3, controls={"constant": 0.5})
ODD = (5, "x", [], [1], {"a": []}, {"a": {}}, [None, "x"], [1, 2, 3], True, float("inf"), {"a": None})
KEPT = {
    "name": ("x",), "value": (5,), "about": ({"a": []},), "interval": (), "n": (5,), "unit": ("x",), "higher_is_better": (True,),
    "bounds": (), "chance": (5,), "controls": (), "origin": ({"a": []}, {"a": {}}, {"a": None}), "note": ("x",),
}  # fmt: skip
"""By field, which of these it may be."""


@pytest.mark.parametrize("field", KEPT)
@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_a_field_of_a_wrong_type_is_named(field, odd):
    record = {**json.loads(json.dumps(WHOLE.to_json())), field: odd}
    if any(odd == kept and type(odd) is type(kept) for kept in KEPT[field]):
        assert Score.from_json(record).name
    else:
        with pytest.raises(DataError, match=rf"whose {field} cannot be read"):
            Score.from_json(record)


def test_what_was_written_is_read():
    assert Score.from_json(json.loads(json.dumps(WHOLE.to_json()))) == WHOLE


@pytest.mark.parametrize(
    "origin",
    [
        {"train_overlap": 5},
        {"train_overlap": {"image": "x"}},
        {"seen": {"image": None}},
        {"readers": ["x"]},
        {"second_readers": "x"},
        {"split": ["test"]},
        {"world": {}},
        {"precision": []},
        {"changed": "x"},
    ],
    ids=repr,
)
def test_parts_of_an_origin_that_pages_are_made_from(origin):
    record = {**json.loads(json.dumps(WHOLE.to_json())), "origin": origin}
    with pytest.raises(DataError, match="whose origin cannot be read"):
        Score.from_json(record)
    assert Score.from_json({**record, "origin": dict.fromkeys(origin)}).name == "a.b"


def test_a_file_with_a_line_that_is_no_score_is_named_with_the_line(tmp_path):
    path = tmp_path / "scores.jsonl"
    good = Score("a", 1.0).to_json()
    store.write_lines(path, [good, {**good, "value": "many"}])
    with pytest.raises(DataError, match=r"scores.jsonl, line 2: .* whose value cannot be read"):
        Score.load_lines(path)
    store.write_lines(path, [good])
    assert Score.load_lines(path) == [Score("a", 1.0)]
