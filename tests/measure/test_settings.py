"""Settings of measures: of the wrong kind, or names that the samples do not have, all told before anything is measured."""

import inspect
from typing import get_args, get_origin

import pytest

import molyneux.measure
from molyneux.core import ConfigError, Factor, Modality, Quantity, Spec, SpecError, Target
from molyneux.core.tooling.classes import arguments
from molyneux.core.tooling.kinds import kind_problems
from molyneux.measure import Measure, Transfer, TwoWayChoice

MEASURES = [
    item
    for name in molyneux.measure.__all__
    if inspect.isclass(item := getattr(molyneux.measure, name)) and issubclass(item, Measure) and item is not Measure
]
SPEC = Spec(
    (Modality("image", "image", (3, 8, 8), "uint8"), Modality("touch", "series", (4, 2)), Modality("sound", "tabular", (5,))),
    (Factor("shape", ("heart", "square")), Factor("pair", ("0", "1")), Factor("role", ("new", "seen"))),
    (Target("label", "class", ("heart", "square")),),
    quantities=(Quantity("size", (0.0, 1.0)),),
)
NEEDED = {Transfer: {"where": {"shape": ["heart"]}, "paths": [["image", "touch"]]}}
WRONG = {"a number": 3.7, "a text": "zz", "an object": object(), "a list": [object()], "true": True}

WRONG_NAMES = {
    "factor": ("rol",),
    "by": ("rol",),
    "alike": ("pairs",),
    "pairs": ([["image", "tuch"]],),
    "factors": (["rol"],),
    "targets": (["labl"],),
    "labels": (["rol"],),
    "crossed": ([["role", "shap"]],),
    "directions": ([{"source": "imag", "target": "touch"}], [{"source": ["image"], "target": "tuch"}]),
    "where": ({"shap": ["heart"]}, {"shape": ["hart"]}),
    "paths": ([["imag", "touch"]],),
}
"""Names that are nearly those of a factor, a modality, a target or a value of `SPEC`, by the setting that takes such names."""
OTHERS = {"of", "familiar", "baseline", "metrics", "variants", "classifiers", "ways", "distance", "method", "draw"}
OTHERS |= {"marginals", "conditionals"}
"""Settings that are texts or lists of texts and name other things: scores, conditions, methods."""


def names_something(kind):
    """Whether an annotation takes names of any kind."""
    return kind is str or any(names_something(inner) for inner in get_args(kind))


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_a_setting_of_the_wrong_kind_is_refused_and_named(measure):
    needed = NEEDED.get(measure, {})
    for name in arguments(measure):
        for value in WRONG.values():
            if problems := kind_problems(measure, {name: value}):
                with pytest.raises(ConfigError, match=name) as caught:
                    measure(**{**needed, name: value})
                assert set(problems) <= set(caught.value.problems)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_lists_and_truth_values_are_among_what_is_checked(measure):
    for name, argument in arguments(measure).items():
        if argument.kind is bool:
            assert kind_problems(measure, {name: "no"}) == [f"{name}: expected true or false, got 'no'"]
        elif getattr(get_origin(argument.kind), "__name__", "") == "Sequence":
            assert kind_problems(measure, {name: 5})
            assert kind_problems(measure, {name: "zz"})


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_a_name_that_the_samples_do_not_have_is_refused_with_the_nearest_one(measure):
    needed = NEEDED.get(measure, {})
    measure(**needed).check(SPEC)
    for name, argument in arguments(measure).items():
        if name in WRONG_NAMES and argument.kind is not int:
            for value in WRONG_NAMES[name]:
                with pytest.raises((ConfigError, SpecError), match="did you mean"):
                    measure(**{**needed, name: value}).check(SPEC)
        else:
            assert name in OTHERS or not names_something(argument.kind), f"say what {name} of {measure.__name__} names"


def test_problems_of_two_way_choice_come_all_at_once():
    with pytest.raises(ConfigError) as caught:
        TwoWayChoice(shown=5, ways="codes", pairs="touch", samples=2)
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["shown", "ways", "pairs", "samples"]
    with pytest.raises(ConfigError) as caught:
        TwoWayChoice(factor="shapes", by="rol", alike="pairs", pairs=[["image", "tuch"]]).check(SPEC)
    assert len(caught.value.problems) == 4
