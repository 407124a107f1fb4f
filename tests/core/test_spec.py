import json

import pytest
import torch

from molyneux.core import Batch, Condition, DataError, Factor, Modality, Quantity, Score, Spec, SpecError, Target

IMAGE = Modality("image", "image", (3, 8, 8), "uint8")
TEXT = Modality("text", "text", (5,), "uint8", (" ", "a", "b"), 0)
SPEC = Spec(
    (IMAGE, TEXT, Modality("clip", "video", (5, 3, 8, 8), "uint8"), Modality("BRK.B", "series", (9, 2))),
    (Factor("shape", ("square", "heart")),),
    (
        Target("answer", "class", ("no", "yes")),
        Target("genres", "multilabel", ("drama", "crime", "war")),
        Target("force", "number", shape=(3,), bounds=(0.0, None)),
        Target("true", "agreement", contrast=(2, 2)),
        Target("said", "agreement", meanings=("same", "opposite")),
    ),
    (Quantity("angle", (0.0, 360.0), "degrees", periodic=True),),
)


def test_round_trip_through_json():
    assert Spec.from_json(json.loads(json.dumps(SPEC.to_json()))) == SPEC


def test_channels_are_told_where_they_are_known_and_older_records_are_read():
    names = ("x", "y", "pressure")
    plain, named = (Spec((Modality("touch", "series", (9, 3), channels=channels),)) for channels in ((), names))
    assert "channels" not in plain.to_json()["modalities"][0]
    assert named.to_json()["modalities"][0]["channels"] == names
    assert [Spec.from_json(json.loads(json.dumps(spec.to_json()))) for spec in (plain, named)] == [plain, named]


def test_a_rate_is_told_where_it_is_known_and_older_records_are_read():
    plain, rated = (Spec((Modality("sound", "audio", (1, 800), rate=rate),)) for rate in (None, 8000))
    assert "rate" not in plain.to_json()["modalities"][0]
    assert rated.to_json()["modalities"][0]["rate"] == 8000
    assert [Spec.from_json(json.loads(json.dumps(spec.to_json()))) for spec in (plain, rated)] == [plain, rated]


def test_sizes_and_names():
    assert IMAGE.size == 192
    assert TEXT.size == 5
    assert SPEC.names == ("image", "text", "clip", "BRK.B")
    assert SPEC.factor("shape").code("heart") == 1
    assert SPEC.restrict(("text",)).modalities == (TEXT,)
    assert [modality.length_axis for modality in SPEC.modalities] == [None, 0, 0, 0]
    assert SPEC.modality("BRK.B").max_length == 9
    assert [(target.dtype, target.stored_shape) for target in SPEC.targets] == [
        ("int64", ()),
        ("uint8", (3,)),
        ("float32", (3,)),
        ("int64", ()),
        ("int64", ()),
    ]
    assert [target.row_size for target in SPEC.targets] == [1, 1, 1, 4, 3]


def test_the_size_of_contrast_sets():
    pair = Target("pair", "agreement", contrast=(1, 3))
    assert SPEC.row_size == 12
    assert [Spec((IMAGE,), targets=targets).row_size for targets in ((), (pair,), (pair, *SPEC.targets))] == [1, 3, 12]


@pytest.mark.parametrize("name", ["left-camera", "BRK.B", "a/../../x", 'x"><script>', "längs der Achse"])
def test_names_are_what_data_sets_call_things(name):
    assert Modality(name, "tabular", (4,)).name == Factor(name, ("a",)).name == Target(name, "agreement").name == name


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Modality("", "image", (3, 8, 8)), "1 to 100 printable"),
        (lambda: Modality("a\nb", "image", (3, 8, 8)), "printable"),
        (lambda: Factor(" a", ("x",)), "without spaces"),
        (lambda: Modality("a", "video", (3, 8, 8)), "4 axes"),
        (lambda: IMAGE.max_length, "no lengths"),
        (lambda: Quantity("angle", (1.0, 0.0)), "first below the second"),
        (lambda: Target("a", "regression"), "unknown task"),
        (lambda: Target("a", "class", ("x",)), "at least 2"),
        (lambda: Target("a", "number", ("x", "y")), "no symbols"),
        (lambda: Target("a", "agreement", shape=(2,)), "belong to the task number"),
        (lambda: Modality("t", "text", (3,), "uint8", ("a", "b"), arities=(0,)), "one for each of the 2 symbols"),
        (lambda: Modality("t", "text", (3,), "uint8", ("a", "b"), arities=(0, -1)), "arities of at least 0"),
        (lambda: Modality("t", "label", (), "uint8", ("a", "b"), arities=(0, 1)), "one for each of the 0 symbols"),
        (lambda: Modality("s", "audio", (1, 8), rate=0), "rate of at least 1"),
        (lambda: Modality("s", "series", (8, 2), channels=("x", "y", "z")), "expected 2 names, one for each column"),
        (lambda: Modality("s", "tabular", (3,), channels=("x", "y", "z")), "of series alone"),
        (lambda: Modality("s", "series", (8, 2), channels="xy"), "expected a tuple of texts"),
        (lambda: Modality("s", "series", (8, 1), rate=8000), "of kind audio alone"),
        (lambda: Target("a", "agreement", contrast=(2, 0)), "contrast set of two numbers"),
        (lambda: Target("a", "number", contrast=(2, 2)), "belong to the task agreement"),
        (lambda: Target("a", "agreement", meanings=("same", "reverse")), "out of opposite, same, got"),
        (lambda: Target("a", "class", ("x", "y"), meanings=("same",)), "agreement without contrast sets, got class"),
        (lambda: Target("a", "agreement", contrast=(1, 2), meanings=("same",)), r"got agreement with \(1, 2\)"),
        (lambda: Spec((IMAGE,), (Factor("a", ("x",)),), quantities=(Quantity("a", (0, 1)),)), "differ"),
        (lambda: SPEC.target("anser"), 'did you mean "answer"'),
        (lambda: Modality("a", "imag", (3, 8, 8)), 'did you mean "image"'),
        (lambda: Modality("a", "image", (8, 8)), "3 axes"),
        (lambda: Modality("a", "image", (3, 0, 8)), "at least 1"),
        (lambda: Modality("a", "image", (3, 8, 8), "float16"), "dtype"),
        (lambda: Modality("a", "text", (4,), "uint8"), "symbols"),
        (lambda: Modality("a", "tabular", (4,), "float32", ("x",)), "symbols"),
        (lambda: Modality("a", "text", (4,), "uint8", ("x",), 1), "padding 1"),
        (lambda: Modality("a", "text", (4,), "float32", ("x",)), "expected dtype int64, or uint8 for at most 256 symbols"),
        (lambda: Modality("a", "label", (), "uint8", tuple(map(str, range(300)))), "got uint8 for 300 symbols"),
        (lambda: Quantity("angle", (0.0, 1.0, 2.0)), "first below the second"),
        (lambda: Quantity("angle", ("a", "b")), "first below the second"),
        (lambda: Target("a", "number", bounds=(0.0, 1.0, 2.0)), "rising order"),
        (lambda: Spec(()), "at least one modality"),
        (lambda: Factor("shape", ("a", "a")), "distinct"),
        (lambda: Factor("shape", ()), "at least one"),
        (lambda: Spec((IMAGE, IMAGE)), "differ"),
        (lambda: SPEC.modality("txet"), 'did you mean "text"'),
        (lambda: SPEC.factor("shpae"), 'did you mean "shape"'),
        (lambda: SPEC.factor("shape").code("hart"), 'did you mean "heart"'),
        (lambda: Spec.from_json({"modalities": 3}), "cannot be read"),
        (lambda: Spec.from_json({"modalities": [{"name": "a"}], "factors": []}), "cannot be read"),
    ],
)
def test_errors_say_what_is_wrong(make, says):
    with pytest.raises(SpecError, match=says):
        make()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (
            lambda: Spec((IMAGE,), (Target("kind", "class", ("a", "b")),)),
            "Spec: factors: expected a tuple of Factor, got the Target 'kind' in it: pass it as targets=",
        ),
        (lambda: Spec((IMAGE,), (), (Factor("shape", ("a",)),)), "got the Factor 'shape' in it: pass it as factors="),
        (lambda: Spec((IMAGE,), (Quantity("angle", (0.0, 1.0)),)), "got the Quantity 'angle' in it: pass it as quantities="),
        (lambda: Spec((Factor("shape", ("a",)),)), "Spec: modalities: expected a tuple of Modality, got the Factor 'shape'"),
        (lambda: Spec(IMAGE), "Spec: modalities: expected a tuple of Modality, got a Modality"),
        (lambda: Spec(("image",)), "expected a tuple of Modality, got a str in it"),
        (lambda: Spec((IMAGE,), Factor("shape", ("a",))), "Spec: factors: expected a tuple of Factor, got a Factor"),
        (lambda: Factor("shape", "ab"), "factor shape: values: expected a tuple of texts, got 'ab'"),
        (lambda: Factor("shape", (1, 2)), "expected a tuple of texts, got \\(1, 2\\)"),
        (lambda: Target("kind", "class", "yes"), "target kind: symbols: expected a tuple of texts, got 'yes'"),
        (lambda: Target("kind", "number", (3,)), "target kind: symbols: expected a tuple of texts"),
        (lambda: Modality("t", "text", (3,), "uint8", "abc"), "modality t: symbols: expected a tuple of texts"),
        (lambda: Modality("t", "tabular", 3), "expected a shape such as"),
    ],
)
def test_positions_that_are_mixed_up_are_refused_in_a_sentence(make, says):
    with pytest.raises(SpecError, match=says):
        make()


TENSOR = torch.zeros(2, dtype=torch.int64)
MIXED_UP = {
    "factors as masks": lambda: Batch({"image": TENSOR}, TENSOR),
    "lengths as factors": lambda: Batch({"image": TENSOR}, {}, {"image": TENSOR}),
    "no names": lambda: Batch(TENSOR),
    "about as value": lambda: Score("a.b", {"factor": "shape"}),
    "interval as about": lambda: Score("a.b", 1.0, (0.0, 1.0)),
    "about as source": lambda: Condition({"strength": "1"}),
    "reference as about": lambda: Condition(Empty(), Empty()),
}


class Empty:
    spec = SPEC

    def __len__(self):
        return 1

    def batch(self, indices):
        return Batch({})


@pytest.mark.parametrize("make", MIXED_UP.values(), ids=MIXED_UP)
def test_arguments_of_other_core_types_that_are_mixed_up_are_refused(make):
    with pytest.raises(DataError, match=r"expected .* got "):
        make()
