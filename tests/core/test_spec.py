import json

import pytest

from molyneux.core import Factor, Modality, Spec, SpecError

IMAGE = Modality("image", "image", (3, 8, 8), "uint8")
TEXT = Modality("text", "text", (5,), "uint8", (" ", "a", "b"), 0)
SPEC = Spec((IMAGE, TEXT), (Factor("shape", ("square", "heart")),), Modality("answer", "label", (), "int64", ("no", "yes")))


def test_round_trip_through_json():
    assert Spec.from_json(json.loads(json.dumps(SPEC.to_json()))) == SPEC


def test_sizes_and_names():
    assert IMAGE.size == 192
    assert TEXT.size == 5
    assert SPEC.names == ("image", "text")
    assert SPEC.factor("shape").code("heart") == 1
    assert SPEC.restrict(("text",)).modalities == (TEXT,)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Modality("a b", "image", (3, 8, 8)), "letters"),
        (lambda: Modality("a", "imag", (3, 8, 8)), 'did you mean "image"'),
        (lambda: Modality("a", "image", (8, 8)), "3 axes"),
        (lambda: Modality("a", "image", (3, 0, 8)), "at least 1"),
        (lambda: Modality("a", "image", (3, 8, 8), "float16"), "dtype"),
        (lambda: Modality("a", "text", (4,), "uint8"), "symbols"),
        (lambda: Modality("a", "tabular", (4,), "float32", ("x",)), "symbols"),
        (lambda: Modality("a", "text", (4,), "uint8", ("x",), 1), "padding 1"),
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
