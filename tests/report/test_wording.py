import pytest

from molyneux.core import Score
from molyneux.report.wording import places, write, write_interval


@pytest.mark.parametrize(
    ("score", "decimals"),
    [
        (Score("a.b", 47.31, unit="%"), 1),
        (Score("a.b", 0.00312), 5),
        (Score("a.b", 0.123), 3),
        (Score("a.b", 1.5), 2),
        (Score("a.b", 15.5), 1),
        (Score("a.b", 150.5), 1),
        (Score("a.b", 15_000.5), 0),
        (Score("a.b", 0.0), 2),
        (Score("a.b", None), 2),
        (Score("a.b", 7), 0),
        (Score("a.b", 0.2, bounds=(0.0, 3.0)), 2),
        (Score("a.b", 1.0, bounds=(0.0, float("inf"))), 2),
        (Score("a.b", 1e-12), 6),
    ],
)
def test_decimals_follow_unit_bounds_and_size(score, decimals):
    assert places(score) == decimals


def test_numbers_are_written_for_readers():
    assert write(1234.5, 1) == "1,234.5"
    assert write(-3.25, 2) == "\u22123.25"
    assert write(-0.001, 1) == "0.0"
    assert write(None, 3) == "n/a"
    assert write_interval((-3.0, -1.0), 0) == "\u22123 to \u22121"
    assert write_interval((1.0, 3.0), 0) == "1\u20133"


def test_counts_out_of_a_number_are_whole():
    assert places(Score("a.active_units", 4.0, bounds=(0.0, 8.0))) == 0
    assert places(Score("a.active_units", 4.5, bounds=(0.0, 8.0))) == 2
    assert places(Score("a.ssim", 1.0, bounds=(-1.0, 1.0))) == 2
    assert places(Score("a.features", 3.0, bounds=(0.0, 3.0), unit="of 3")) == 2
    assert places(Score("a.distance", 3.0)) == 2
