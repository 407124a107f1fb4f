"""What leads the page of a study of two-way choices: those of what is new from one sense to the other, as of a run."""

import pytest

from molyneux.core import Score
from molyneux.report import StudyRun, study_tables
from molyneux.report.headlines import headlines
from molyneux.report.study import study_page
from molyneux.report.study.groups import divide
from molyneux.report.study.pages import strict_drawings

BRIDGED = "data.world.init_args.bridging.bridged"
ROLES = {"bridged": 40.0, "parted": 20.0, "felt": 10.0, "seen": 9.0, "new": 0.0}
"""How much more than for new shapes is right for shapes of each role."""
PAIRS = (("sound", "sound"), ("smell", "sound"), ("sound", "smell"))


def choices(right: float, *, alike: bool = True) -> list[Score]:
    """Choices between senses that no world of ours has, in an order in which what is new comes last."""

    def score(name: str, value: float, **about: str) -> Score:
        end = min(100.0, value)
        kept = {"unit": "%", "bounds": (0.0, 100.0), "higher_is_better": True, "chance": 50.0, "origin": {"split": "test"}}
        return Score(f"two_way_choice.{name}", end, about, (max(0.0, end - 3), min(100.0, end + 3)), 900, **kept)

    found = []
    for source, target in PAIRS:
        for role, more in ROLES.items():
            about = {"source": source, "target": target, "role": role}
            found.append(score("accuracy", right + more + 5, **about))
            found += [score("alike_accuracy", right + more, **about)] if alike else []
            found.append(score("accuracy", right + more + 6, **about, way="drawing"))
    return found


def sweep(right: dict[int, float], *, others: dict[str, object] | None = None, **kept) -> list[StudyRun]:
    settings = {"name": "Encoders", **(others or {})}
    return [
        StudyRun({**settings, BRIDGED: count, "seed": seed}, tuple(choices(value + 0.4 * seed, **kept)))
        for count, value in right.items()
        for seed in (1, 2)
    ]


def test_new_things_from_one_sense_to_the_other_lead_the_page_as_on_that_of_a_run():
    runs = sweep({4: 50.0, 64: 75.0})
    page = study_page(runs, "senses")
    assert page.answer == (
        "bridged 64 is best, with 75.6 %, guessing 50.0 % (the right one of two new ones that are alike, smell → sound)."
    )
    abouts = [card.about for card in page.headlines]
    assert abouts == [f"the right one of two new ones that are alike, {way}" for way in ("smell → sound", "sound → smell")]
    of_run = [card.about for card in headlines(runs[0].scores)]
    assert of_run == [f"the right one of two, {way}" for way in ("smell to sound", "sound to smell")]


def test_new_things_are_first_in_every_table():
    runs = sweep({4: 50.0, 64: 75.0})
    (table,) = study_tables(runs)
    way, back = "smell → sound, role", "sound → smell, role"
    heads = [column.title for column in table.columns[1:]]
    assert heads == [
        f"{way} new: Alike accuracy, %",
        f"{way} new: Accuracy, %",
        f"{back} new: Alike accuracy, %",
        f"{back} new: Accuracy, %",
        f"{way} felt: Alike accuracy, %",
        f"{way} felt: Accuracy, %",
        f"{way} seen: Alike accuracy, %",
        f"{way} seen: Accuracy, %",
    ]
    sections = {section.name: section.blocks for section in study_page(runs, "senses").sections}
    assert sections["significance"][0].columns[1].title == heads[0]
    assert [row[1].text for row in sections["spread"][0].rows][:2] == [f"{way} new"] * 2


def test_without_things_that_are_alike_any_two_lead():
    page = study_page(sweep({4: 50.0, 64: 75.0}, alike=False), "senses")
    assert page.headlines[0].about == "the right one of two new ones, smell → sound"
    assert page.headlines[0].number == "80.6 %"


def test_a_mean_that_is_not_above_guessing_is_not_called_the_best():
    page = study_page(sweep({4: 47.0, 64: 49.0}), "senses")
    told = "bridged 64 has the highest mean, 49.6 %, no better than guessing, 50.0 %"
    assert page.answer.startswith(told)
    assert "is best" not in page.answer
    alone = study_page(sweep({4: 49.0}), "senses")
    assert alone.answer.startswith("It reaches 49.6 %, no better than guessing, 50.0 %")
    assert study_page(sweep({4: 75.0}), "senses").answer.startswith("It reaches 75.6 %, guessing 50.0 %")


def test_the_first_picture_is_the_curve_over_the_bridged_things():
    runs = sweep({4: 50.0, 64: 75.0, 0: 48.0})
    page = study_page(runs, "senses")
    (panel,) = page.picture.panels
    assert panel.title == "The right one of two new ones that are alike, smell → sound, %"
    (part,) = divide(runs)
    assert [one.title.split(", ")[1] for one in strict_drawings(part).panels] == ["smell → sound", "sound → smell"]


@pytest.mark.parametrize("count", [1, 2])
def test_every_other_setting_has_its_own_curve(monkeypatch, count):
    from molyneux.report.study import choice_panels

    drawn = []
    monkeypatch.setattr(choice_panels, "line_panel", lambda *given, **more: drawn.append((given, more)))
    rates = (0.1, 0.2)[:count]
    runs = [run for rate in rates for run in sweep({64: 70.0 + rate, 4: 50.0 + rate}, others={"learn.rate": rate})]
    (part,) = divide(runs)
    strict_drawings(part)
    (_, _, lines), more = drawn[0]
    assert [line.label for line in lines] == (["", ""][:1] if count == 1 else ["rate 0.1", "rate 0.2"])
    means = [[(place, pytest.approx(value + 0.6 + rate)) for place, value in ((4, 50.0), (64, 70.0))] for rate in rates]
    assert [list(line.points) for line in lines] == means
    assert more["chance"] == 50.0
    over = part.groups[0].over(part.leading[0])
    assert over.interval in lines[0].intervals
