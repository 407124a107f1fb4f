from dataclasses import replace

from molyneux.core import Score
from molyneux.report.published import published
from molyneux.report.tables import coherence_scores, coherence_summary, coherence_table, factor_table, family_tables, score_table

ABOUT = {"source": "text", "target": "image"}


def column(table, title: str) -> list[str]:
    place = [column.title for column in table.columns].index(title)
    return [row[place].text for row in table.rows]


def test_empty_columns_are_left_out():
    table = score_table("t", "T", [Score("a.b", 1.0)])
    assert [column.title for column in table.columns] == ["measure", "value"]


def test_controls_have_columns_ceilings_last():
    scores = [
        Score("a.b", 1.0, controls={"judge ceiling": 3.0, "constant": 2.0}),
        Score("a.c", 1.0, controls={"text_only": 1.5}),
    ]
    table = score_table("t", "T", scores)
    assert [column.title for column in table.columns][2:] == ["best constant", "text only", "judge ceiling"]
    assert column(table, "text only") == ["\u2013", "1.50"]


def test_missing_values_are_na_with_the_reason_below():
    scores = [Score("a.b", None, note="not applicable: no decoder"), Score("a.c", None, note="not applicable: no decoder")]
    table = score_table("t", "T", scores)
    assert column(table, "value") == ["n/a\u00b9", "n/a\u00b9"]
    assert table.notes == ("\u00b9 not applicable: no decoder",)


def test_many_notes_get_a_column():
    scores = [Score("a.b", float(number), {"value": str(number)}, note=f"mistaken for {number}") for number in range(5)]
    table = score_table("t", "T", scores)
    assert column(table, "note") == [score.note for score in scores]
    assert table.notes == ()
    assert "\u00b9" not in "".join(column(table, "value"))


def test_unknown_scores_get_a_table_of_their_family(made):
    tables = {table.name: table for table in family_tables(made.others())}
    assert list(tables) == ["reconstruction", "likelihood", "posterior-gap", "latent-probe", "novelty"]
    assert column(tables["novelty"], "of what") == ["dimension 3"]
    assert column(tables["novelty"], "value") == ["0.123"]


def test_a_measure_of_many_rows_gets_its_own_table_with_a_column_for_everything_it_is_about():
    scores = [Score("coherence.unreadable", 1.0, ABOUT, unit="%")]
    scores += [Score("coherence.value_accuracy", 1.0, {**ABOUT, "factor": "shape", "value": str(n)}, unit="%") for n in range(9)]
    first, second = family_tables(scores)
    assert (first.name, len(first.rows)) == ("coherence", 1)
    assert second.name == "coherence-value-accuracy"
    assert [column.title for column in second.columns] == ["direction", "factor", "value", "value"]
    assert second.title == "Coherence: accuracy of a value, %"


def test_a_score_named_by_one_word_is_its_own_family():
    (table,) = family_tables([Score("coherence", None, note="not applicable: the model cannot decode")])
    assert (table.name, table.title) == ("coherence", "Coherence")


def test_words_that_repeat_are_shown_once_but_numbers_always(made):
    scores = [replace(score, name="coherence.strict") for score in made.coherence()[:2]]
    table = score_table("t", "T", scores)
    assert [row[0].repeated for row in table.rows] == [False, False]
    same = score_table("t", "T", [scores[0], scores[0]])
    assert [row[0].repeated for row in same.rows] == [False, True]
    assert same.rows[1][2].shown == same.rows[0][2].shown != ""


def test_directions_come_in_order_joint_last_strict_first(made):
    scores = made.coherence()
    shuffled = [*scores[10:], *scores[5:10], *scores[:5]]
    found = [(score.about["source"], score.name) for score in coherence_scores(shuffled)]
    assert found[-2:] == [("prior", "coherence.strict"), ("prior", "coherence.features")]
    assert [name for _, name in found[:3]] == ["coherence.strict", "coherence.features", "coherence.letters"]


def test_larger_subsets_come_after_single_senses(made):
    both = made.share("coherence.strict", {"source": ("image", "touch"), "target": "text"}, 50.0, chance=10.0)
    assert coherence_scores([both, *made.coherence()])[0].about["source"] == "text"
    assert coherence_scores([both, *made.coherence()])[-3] is both


def test_published_numbers_stand_beside_with_their_notes(made):
    board = published("cdsprites", "3")
    table = coherence_table(made.coherence(), board)
    titles = [column.title for column in table.columns]
    assert titles[-4:] == ["MVAE published", "MMVAE published", "MoPoE published", "DMVAE published"]
    assert [entry.text for entry in table.rows[0][-4:]] == ["8 (2)", "6 (2)", "7 (4)", "4 (0)"]
    assert [entry.text for entry in table.rows[-2][-4:]] == ["0 (0)", "0 (0)", "0 (0)", "1 (1)"]
    assert set(board.notes) < set(table.notes)


def test_the_summary_shows_the_best_published_only(made):
    table = coherence_summary(made.coherence(), published("cdsprites", "3"))
    assert [row[-1].shown for row in table.rows][:3] == ["8 (MVAE)", "1.4 (DMVAE)", "59 (MVAE)"]


def test_nothing_measured_gives_no_table(made):
    assert coherence_table(made.others()) is None
    assert coherence_summary(made.others()) is None
    assert factor_table(made.others()) is None


def test_factors_have_one_row_each(made):
    table = factor_table(made.coherence())
    assert [row[1].text for row in table.rows] == ["size", "colour", "shape"] * 3
    assert all(row[2].strip is None for row in table.rows)
    assert all(row[2].strip for row in coherence_table(made.coherence()).rows)
