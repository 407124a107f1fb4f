from molyneux.report.published import published
from molyneux.report.tables import coherence_scores, coherence_summary, coherence_table, factor_table


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
