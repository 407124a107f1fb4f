"""Rules with features become productions."""

import pytest

from molyneux.core import ConfigError, DataError
from molyneux.data.worlds.shapeworld.meaning.grammar.grammar import Grammar
from molyneux.data.worlds.shapeworld.meaning.language.language import Language
from molyneux.data.worlds.shapeworld.meaning.trees.trees import Tree

FEATURES = {"number": ("sg", "pl"), "amount": ("1", "2")}
CATEGORIES = {"noun": ("number",), "be": ("number",), "numeral": ("amount", "number")}


def language(*rules):
    return Language(Grammar("Test", features=FEATURES, categories=CATEGORIES, rules=rules))


def test_features_agree_within_a_rule_and_are_free_where_they_are_not_named():
    shared = [
        "sentence count-eq-{amount} = :numeral[amount number] 0:noun[number] :be[number] 1:colour",
        "numeral[1 sg] = one",
        "numeral[2 pl] = two",
        "noun[sg] square = square",
        "noun[pl] square = squares",
        "be[sg] = is",
        "be[pl] = are",
        "colour red = red",
    ]
    made = language(*shared)
    assert made.say(Tree.of("count-eq-2", "square", "red")) == ["two", "squares", "are", "red"]
    assert made.read("one square is red") == Tree.of("count-eq-1", "square", "red")
    assert len(made.grammar.productions.list) == 2 + 2 + 2 + 2 + 1
    free = language(shared[0].replace("0:noun[number]", "0:noun"), *shared[1:])
    assert free.read("one squares is red") == Tree.of("count-eq-1", "square", "red")


def test_rules_that_no_sentence_needs_are_left_out_with_their_words():
    made = language(
        "sentence there-is = there is 0:colour", "sentence exists = 0:colour 1:nothing", "colour red = red", "shape = blob"
    )
    assert made.words == ("is", "red", "there")
    assert made.vocabulary(("there-is",)).words == ()
    assert made.vocabulary(("there-is", "red")).words == ("is", "red", "there")


def test_the_first_rule_says_a_tree_and_all_are_read():
    made = language(
        "~sentence there-is = exists 0:colour", "sentence there-is = there is 0:colour", "colour red = red", "~colour red = rosy"
    )
    tree = Tree.of("there-is", "red")
    assert made.say(tree) == ["there", "is", "red"]
    assert {" ".join(made.say(tree, uniform=value / 8)) for value in range(8)} == {
        "there is red",
        "there is rosy",
        "exists red",
        "exists rosy",
    }
    assert made.read("exists rosy") == made.read("THERE is red") == tree
    assert made.vocabulary().words == ("is", "red", "there")
    assert made.vocabulary(paraphrases=True).words == ("exists", "is", "red", "rosy", "there")


def test_a_rule_that_does_not_fit_further_down_is_given_up_for_the_next():
    made = language(
        "sentence there-is = a 0:first thing",
        "sentence there-is = an 0:second",
        "first = :inner",
        "inner both = 0:no 1:no",
        "inner red = crimson",
        "no green = x",
        "no square = y",
        "second both = 0:colour 1:shape",
        "colour red = red",
        "shape square = square",
    )
    assert made.say(Tree.of("there-is", Tree.of("both", "red", "square"))) == ["an", "red", "square"]
    assert made.say(Tree.of("there-is", "red")) == ["a", "crimson", "thing"]


def test_several_meanings_are_told():
    made = language(
        "sentence there-is = 0:colour",
        "sentence exists = 0:colour 1:rest",
        "colour red = red",
        "colour green = red",
        "rest red = red",
    )
    with pytest.raises(DataError, match=r"several meanings: .*red.*green"):
        made.read("red")


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("sentence there-is", "expected a rule"),
        ("noun[plural] any = x", r"noun has no feature or value 'plural'"),
        ("sentence there-is = 0:noun[case]", r"noun has no feature or value 'case'"),
    ],
)
def test_bad_rules_are_refused(rule, message):
    with pytest.raises(ConfigError, match=message):
        language(rule)
