"""What a text of a person says in terms of a world, in one sentence."""

import numpy as np
import pytest

from molyneux.core import CompletedCaption, DataError, Understood


def test_what_is_complete_is_one_caption():
    found = Understood.of_caption("Red HEART", "red heart", {"colour": "red", "shape": "heart"})
    assert found.complete
    assert found.consistent
    assert found.explained() == ""
    assert found.caption(np.random.default_rng(0)) == CompletedCaption("red heart")


def test_what_is_open_is_not_complete_and_not_wrong():
    found = Understood(
        "heart", {"shape": "heart"}, {"colour": ("red", "blue")}, complete_with=lambda _: CompletedCaption("a", {"b": "c"})
    )
    assert not found.complete
    assert found.consistent
    assert found.explained() == ""
    assert found.caption(np.random.default_rng(0)).drawn == {"b": "c"}


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            Understood("a", unknown={"hart": "heart"}, nearest="red heart"),
            "'a': unknown word 'hart' (heart?); the nearest caption is 'red heart'",
        ),
        (Understood("a", unknown={"x": "", "y": ""}), "'a': unknown words 'x', 'y'"),
        (Understood("a", unknown=dict.fromkeys("abcdefg", "")), "'a': unknown words 'a', 'b', 'c', 'd', 'e' and 2 more"),
        (Understood("a", conflicts={"colour": ("red", "blue")}), "'a': colour may be 'red' or 'blue', not both"),
        (Understood("a", problem="no sentence"), "'a': no sentence"),
        (Understood("a" * 200, problem="no sentence"), f"'{'a' * 80}...': no sentence"),
    ],
    ids=range(6),
)
def test_what_cannot_be_a_caption_is_told(found, said):
    assert not found.complete
    assert not found.consistent
    assert found.explained() == said
    with pytest.raises(DataError):
        found.caption(np.random.default_rng(0))
