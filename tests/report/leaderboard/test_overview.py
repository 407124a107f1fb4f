"""What a leaderboard answers first."""

from dataclasses import replace

from molyneux.core import Score
from molyneux.report import Leaderboard, StudyRun, leaderboard_overview, make_boards
from molyneux.report.leaderboard import write_leaderboard


def run(name, seed, value, world="av-mnist-v1", *, score="prediction.accuracy", chance=10.0, **about):
    whole = {"source": ("image", "audio"), "target": "label", **about}
    fields = {"interval": (value - 1, value + 1), "n": 1000, "unit": "%", "bounds": (0.0, 100.0), "chance": chance}
    found = Score(score, value, whole, origin={"world": world, "split": "test", "samples": 1000}, **fields)
    return StudyRun({"name": name, "seed": seed, "learn.model.class_path": f"a.{name}"}, (found,))


def three(name, value, *args, **kwargs):
    return [run(name, seed, value + 0.1 * seed, *args, **kwargs) for seed in (1, 2, 3)]


def runs():
    first = [*three("late", 80.0), *three("early", 60.0), *three("blind", 10.0)]
    return [*first, *three("late", 70.0, "stocks-v1"), *three("early", 50.0, "stocks-v1")]


def test_the_answer_names_the_model_that_is_first_on_most_worlds():
    found = leaderboard_overview(make_boards(runs())[0])
    assert found.answer == "Start with late, first on 2 of 2 worlds; each card has the model of its world."
    assert [card.about for card in found.cards] == ["av-mnist-v1", "stocks-v1"]
    assert found.cards[0].sentence.startswith("Start with late: Accuracy 80.2 %")
    assert "It is better than guessing." in found.cards[0].sentence


def test_a_single_world_is_answered_with_its_number():
    found = leaderboard_overview(make_boards(runs()[:9])[0])
    assert found.answer.startswith("Start with late: Accuracy 80.2 %")


def test_cells_say_beside_their_colour_whether_they_are_above_chance():
    matrix = leaderboard_overview(make_boards(runs())[0]).matrix
    rows = {row[0].text: row[1:] for row in matrix.rows}
    assert (rows["late"][0].detail, rows["blind"][0].detail) == ("above", "at chance")
    assert rows["late"][0].heat > 0.7
    assert rows["blind"][1].text == "–"  # noqa: RUF001
    assert [column.group for column in matrix.columns] == ["", "av-mnist-v1", "stocks-v1"]


def controlled(runs, **controls):
    return [replace(each, scores=tuple(replace(score, controls=controls) for score in each.scores)) for each in runs]


def test_what_the_best_constant_answer_reaches_is_not_better_than_guessing():
    found = leaderboard_overview(make_boards(controlled(runs()[:9], constant=85.0))[0])
    assert found.cards[0].sentence.startswith("No model to start with; the first is late: Accuracy 80.2 %")
    assert "It is not better than the best constant answer (85.0 %)." in found.cards[0].sentence
    assert {row[0].text: row[1].detail for row in found.matrix.rows}["late"] == "at chance"
    found = leaderboard_overview(make_boards(controlled(runs()[:9], constant=75.0))[0])
    assert "It is better than the best constant answer (75.0 %)." in found.cards[0].sentence


def with_origin(runs, **origin):
    return [
        replace(each, scores=tuple(replace(score, origin={**score.origin, **origin}) for score in each.scores)) for each in runs
    ]


def test_a_world_stands_for_its_own_settings_and_for_models_of_several_seeds():
    broken = with_origin([run(f"missing-{number}", 1, 67.0) for number in range(9)], settings={"missing": 0.5})
    easier = with_origin([*three("late", 99.0), *three("early", 98.0), *three("blind", 97.0)], changed=["kind"])
    found = leaderboard_overview(make_boards([*runs()[:9], *broken, *easier])[0])
    assert found.cards[0].sentence.startswith("Start with late: Accuracy 80.2 %")


def test_errors_are_better_below_chance():
    low = [replace(each, scores=tuple(replace(score, higher_is_better=False) for score in each.scores)) for each in runs()[:9]]
    found = leaderboard_overview(make_boards(low)[0])
    assert found.answer.startswith("No model to start with; the first is blind")  # its interval contains chance
    assert found.cards[0].sentence.startswith("No model to start with; the first is blind")
    assert {row[0].text: row[1].detail for row in found.matrix.rows}["late"] == "below"


def test_the_page_begins_with_it_and_its_tables_can_be_cited(tmp_path):
    boards, left = make_boards(runs())
    markdown, page, _ = write_leaderboard(Leaderboard(tuple(boards), 15, len(left)), tmp_path)
    text = markdown.read_text()
    assert (
        text.index("Start with late, first on 2 of 2 worlds") < text.index("## Models and worlds") < text.index("## av-mnist-v1")
    )
    assert "@misc{molyneux-matrix," in page.read_text()
    assert leaderboard_overview([]).cards == ()
