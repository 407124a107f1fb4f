"""Every way a file can be wrong is told, with its path, in one pass."""

import functools
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict, Unpack

import pytest

from molyneux.core import ConfigError, SpecError, Trainable
from molyneux.core.config import Factory, Supplied, build, override
from molyneux.core.store import fingerprint


class Shape(ABC):
    @abstractmethod
    def area(self) -> float: ...


class Square(Shape):
    def __init__(self, *, side: float = 1.0, colours: tuple[str, ...] = ()) -> None:
        if side <= 0:
            raise ConfigError(f"side: expected more than 0, got {side}")
        self.side, self.colours = side, colours

    def area(self) -> float:
        return self.side**2


class BigSquare(Square):
    def __init__(self, *, factor: int, **settings: Any) -> None:
        super().__init__(**settings)
        self.factor = factor


class Round(Shape):
    def __init__(self, *, inner: Shape | None = None) -> None:
        self.inner = inner

    def area(self) -> float:
        return 3.0


class NeedsSpec:
    def __init__(self, spec: object, *, size: int = 2) -> None:
        if size < 0:
            raise ConfigError(f"size: expected a positive number, got {size}")
        if size % 2:
            raise SpecError(f"size {size} does not fit {spec}")
        self.spec, self.size = spec, size


class Mode(Enum):
    fast = 1
    slow = 2


@dataclass(frozen=True)
class Warm:
    value: float = 1.0
    steps: int = 10


__all__ = ["BigSquare", "NeedsSpec", "Round", "Square"]


@dataclass(frozen=True, kw_only=True)
class Inner:
    rate: float = 0.1
    kind: Literal["adam", "adamw"] = "adam"
    size: int | Literal["auto"] = "auto"
    beta: float | Warm = 1.0
    flag: bool = False
    rates: Mapping[str, float] = field(default_factory=dict)
    pair: tuple[int, int] = (1, 2)
    mode: Mode = Mode.fast
    path: Path | None = None

    def __post_init__(self) -> None:
        if self.rate < 0:
            raise ConfigError([f"rate: expected at least 0, got {self.rate}", "rate and size do not go together"])


@dataclass(frozen=True, kw_only=True)
class Outer:
    shape: Shape
    inner: Inner = field(default_factory=Inner)
    shapes: tuple[Shape, ...] = ()
    model: Annotated[Factory[NeedsSpec], Supplied(("spec",))] | None = None
    name: str = "x"
    made: Mapping[str, Any] = field(default_factory=dict, init=False)


def problems(tree: dict[str, Any]) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        build(Outer, tree)
    return caught.value.problems


def test_values_reach_their_places() -> None:
    tree = {
        "shape": {"class_path": "square", "init_args": {"side": 3, "colours": ["red"]}},
        "shapes": ["Square", "", {"class_path": "Round", "init_args": {"inner": "Square"}}],
        "inner": {
            "size": 3,
            "beta": {"value": 2, "steps": 5},
            "rates": {"image": 1},
            "pair": [3, 4],
            "mode": "slow",
            "path": "a/b",
        },
    }
    tree["shapes"][1] = {"class_path": "big_square", "init_args": {"factor": 2, "side": 5.0}}
    outer = build(Outer, tree).value
    assert (outer.shape.side, outer.shape.colours) == (3.0, ("red",))
    assert isinstance(outer.shape.side, float)
    assert (outer.shapes[1].factor, outer.shapes[1].side) == (2, 5.0)
    assert isinstance(outer.shapes[2].inner, Square)
    assert outer.inner == Inner(size=3, beta=Warm(2.0, 5), rates={"image": 1.0}, pair=(3, 4), mode=Mode.slow, path=Path("a/b"))


def test_the_resolved_settings_have_every_default_and_read_back_to_themselves() -> None:
    tree = {"shape": "Square", "model": "needs_spec", "inner": {"beta": {"class_path": f"{__name__}.Warm"}}}
    first = build(Outer, tree).plain
    assert first["shape"]["init_args"] == {"side": 1.0, "colours": []}
    assert first["inner"]["beta"] == {"value": 1.0, "steps": 10}
    assert first["inner"]["mode"] == "fast"
    assert first["model"]["init_args"] == {"size": 2}
    again = build(Outer, first).plain
    assert again == first
    assert fingerprint(again) == fingerprint(first)


def test_all_problems_of_a_file_are_told_at_once() -> None:
    found = problems(
        {
            "shape": {"class_path": "Sqare", "init_args": {"side": 1}},
            "inner": {"rate": "many", "kind": "adm", "flag": 1, "rats": {}, "pair": [1], "size": 1.5, "rates": {"image": "x"}},
            "shapes": [{"class_path": "Square", "init_args": {"side": -1}}, {"class_path": "BigSquare"}, 3],
            "nam": 1,
        }
    )
    assert set(found) == {
        "shape.class_path: unknown class 'Sqare'; did you mean \"Square\"?",
        "inner.rate: expected a number, got 'many'",
        "inner.kind: expected one of adam, adamw, got 'adm'; did you mean \"adam\"?",
        "inner.flag: expected true or false, got 1",
        'inner.rats: unknown setting; did you mean "rates"?',
        "inner.pair.1: is missing: expected a value",
        "inner.size: expected an integer or auto, got 1.5",
        "inner.rates.image: expected a number, got 'x'",
        "shapes.0.init_args.side: expected more than 0, got -1.0",
        "shapes.1.init_args.factor: is missing: expected int",
        "shapes.2: expected the name of a Shape class, got 3",
        'nam: unknown setting; did you mean "name"?',
    }


def test_constructors_may_tell_several_problems() -> None:
    assert problems({"shape": "Square", "inner": {"rate": -1}}) == (
        "inner.rate: expected at least 0, got -1.0",
        "inner: rate and size do not go together",
    )


@pytest.mark.parametrize(
    ("shape", "problem"),
    [
        ("Shape", "shape: unknown class 'Shape'; known: BigSquare, Round, Square"),
        ("no.such.Thing", "shape: cannot import 'no.such.Thing': No module named 'no'"),
        ("pathlib.Nothing", "shape: the module pathlib has no class 'Nothing'"),
        ("pathlib.Path", "shape: expected the name of a Shape class, got pathlib.Path; known: BigSquare, Round, Square"),
        (
            {"class_path": "Square", "side": 3},
            "shape.side: unknown setting beside class_path; arguments",
        ),
        ({"class_path": "Square", "init_args": [3]}, "shape.init_args: expected arguments as `name: value` lines, got [3]"),
        ({"side": 3}, "shape: expected the name of a Shape class, got {'side': 3}"),
        (None, "shape: expected the name of a Shape class, got None"),
    ],
)
def test_wrong_classes(shape: Any, problem: str) -> None:
    (found,) = problems({"shape": shape})
    assert found.startswith(problem)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (int, True),
        (int, 1.0),
        (int, "1"),
        (float, "1"),
        (float, float("nan")),
        (float, float("inf")),
        (bool, "yes"),
        (str, 1),
        (int | None, "x"),
        (list[int], "abc"),
        (tuple[int, ...], {"a": 1}),
        (Mapping[str, int], [1]),
        (Path, 3),
        (int, None),
        (str, None),
        (Literal["a", "b"], None),
        (bool | Literal["auto"], None),
    ],
)
def test_wrong_types(kind: Any, value: Any) -> None:
    with pytest.raises(ConfigError, match=r"^here: expected "):
        build(kind, value, "here")


@dataclass(frozen=True)
class Few:
    layers: int = 1


@dataclass(frozen=True)
class Many:
    parts: int = 1

    def __post_init__(self) -> None:
        if self.parts < 1:
            raise ConfigError(f"parts: expected at least 1, got {self.parts}")


@pytest.mark.parametrize("kind", [Few | Many, Many | Few])
def test_a_wrong_value_of_one_of_two_classes_is_told_by_the_class_that_has_the_setting(kind: Any) -> None:
    with pytest.raises(ConfigError, match=r"^prior\.parts: expected at least 1, got 0$"):
        build(kind, {"parts": 0}, "prior")
    assert build(kind, {"parts": 2}).value == Many(2)


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (list[int], [1, 2], [1, 2]),
        (tuple[int, ...], [1, 2], (1, 2)),
        (tuple[int, str], [1, "a"], (1, "a")),
        (Collection[str], ["a"], ("a",)),
        (Sequence[float], [1], (1.0,)),
        (frozenset[int], [2, 1, 2], frozenset({1, 2})),
        (dict[str, list[int]], {"a": [1]}, {"a": [1]}),
        (Mapping[str, int | None], {"a": None}, {"a": None}),
        (Literal["none", "auto"] | Mapping[str, float], {"a": 1}, {"a": 1.0}),
        (Literal["none", "auto"] | Mapping[str, float], "auto", "auto"),
        (Any, {"a": [1]}, {"a": [1]}),
    ],
)
def test_containers(kind: Any, value: Any, expected: Any) -> None:
    built = build(kind, value)
    assert built.value == expected
    assert type(built.value) is type(expected)


def test_missing_required_values() -> None:
    assert problems({}) == ("shape: is missing: expected the name of a Shape class",)


def test_a_factory_makes_the_object_later_and_names_the_place_of_an_error() -> None:
    outer = build(Outer, {"shape": "Square", "model": {"class_path": "NeedsSpec", "init_args": {"size": 3}}}).value
    with pytest.raises(ConfigError, match=r"^model: size 3 does not fit S$"):
        outer.model.make("model", spec="S")
    with pytest.raises(ConfigError, match=r"^model.init_args.size: expected a positive number, got -2$"):
        Factory(NeedsSpec, {"size": -2}).make("model", spec="S")
    assert problems({"shape": "Square", "model": {"class_path": "NeedsSpec", "init_args": {"spec": 1}}}) == (
        "model.init_args.spec: unknown setting of NeedsSpec; known: size",
    )


def test_fields_that_are_no_arguments_cannot_be_given() -> None:
    assert 'made: unknown setting; did you mean "model"?' in problems({"shape": "Square", "made": {}})


class Shared(TypedDict, total=False):
    side: float
    depth: int


class Chosen(Square):
    """Passes on some of the arguments of its base, and one that no base has."""

    def __init__(self, *, label: str = "a", **shared: Unpack[Shared]) -> None:
        self.depth = shared.pop("depth", 0)
        super().__init__(**shared)
        self.label = label


def test_arguments_that_a_constructor_passes_on() -> None:
    named = f"{__name__}.Chosen"
    assert build(Shape, named).plain["init_args"] == {"label": "a", "side": 1.0}
    built = build(Shape, {"class_path": named, "init_args": {"side": 2, "depth": 3}})
    assert (built.value.side, built.value.depth) == (2.0, 3)
    with pytest.raises(ConfigError, match=r"^init_args.colours: unknown setting of Chosen; known: depth, label, side$"):
        build(Shape, {"class_path": named, "init_args": {"colours": ["red"]}})


class Broken(Shape):
    def __init__(self) -> None:
        raise ZeroDivisionError("by nothing")

    def area(self) -> float:
        return 0.0


def test_what_a_class_of_the_user_raises_is_reported() -> None:
    with pytest.raises(ConfigError, match=r"^here: Broken cannot be made: ZeroDivisionError: by nothing$"):
        build(Shape, f"{__name__}.Broken", "here")


@pytest.mark.parametrize(
    "code", ["raise SystemExit(0)", "raise ValueError('x')", "1 +", "import no_such_module", "raise BaseException('y')"]
)
def test_what_a_module_raises_while_it_is_imported_is_reported(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_module.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=r"^here: cannot import 'broken_module.Thing': "):
        build(Shape, "broken_module.Thing", "here")


def test_what_a_protocol_asks_for_is_said() -> None:
    expected = (
        r"^x: expected the name of a class that has a training loss \(`loss\(batch, progress, generator\)`\), got pathlib.Path"
    )
    with pytest.raises(ConfigError, match=expected):
        build(Trainable, "pathlib.Path", "x")


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (10**20, "x: expected an integer of at most 64 bits, got one of 67"),
        (10**5000, "x: expected an integer of at most 64 bits, got one of 16610"),
        ({None: 1}, "x: expected words as names, got NoneType: quote it"),
        ({"a": {(1, 2): 1}}, "x.a: expected words as names, got tuple: quote it"),
        ("a\0b", "x: expected text, got characters that no file can hold"),
        (functools.reduce(lambda inner, _: [inner], range(10_000), []), "x: expected at most 50 levels of lists and names"),
        (functools.reduce(lambda inner, _: [inner] * 10, range(20), []), "x: expected at most 20000 values, aliases counted"),
    ],
    ids=["64 bits", "5000 digits", "null key", "tuple key", "nul", "levels", "aliases"],
)
def test_what_no_file_can_hold_or_would_take_long(value: Any, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        build(Any, value, "x")
    assert caught.value.problems[0].startswith(problem)


@pytest.mark.parametrize(
    ("tree", "path", "value", "expected"),
    [
        ({"a": {"b": 1}}, "a.b", 2, {"a": {"b": 2}}),
        ({}, "a.b.c", 2, {"a": {"b": {"c": 2}}}),
        ({"m": "X"}, "m.k.d", 2, {"m": {"class_path": "X", "init_args": {"k": {"d": 2}}}}),
        ({"m": {"class_path": "X", "init_args": {"k": 1}}}, "m.k", 2, {"m": {"class_path": "X", "init_args": {"k": 2}}}),
        ({"m": {"class_path": "X"}}, "m.class_path", "Y", {"m": {"class_path": "Y"}}),
        ({"m": {"class_path": "X", "init_args": {"k": "Z"}}}, "m.k.d", 2, None),
        ({"l": ["X", {"class_path": "Y"}]}, "l.1.k", 2, {"l": ["X", {"class_path": "Y", "init_args": {"k": 2}}]}),
        ({"l": ["X"]}, "l.0.k", 2, {"l": [{"class_path": "X", "init_args": {"k": 2}}]}),
        ({"l": ["X", "Y"]}, "l.1", "Z", {"l": ["X", "Z"]}),
    ],
)
def test_override(tree: dict[str, Any], path: str, value: Any, expected: dict[str, Any] | None) -> None:
    before = repr(tree)
    inner = {"class_path": "Z", "init_args": {"d": 2}}
    assert override(tree, path, value) == (expected or {"m": {"class_path": "X", "init_args": {"k": inner}}})
    assert repr(tree) == before


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("a.b", "a: is 3, which has no setting 'b'"),
        ("l.7.x", "l.7: expected a position from 0 to 0 in a list, got '7'"),
        ("a..b", "expected a dotted path"),
    ],
)
def test_override_through_a_value(path: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        override({"a": 3, "l": ["X"]}, path, 1)
