import numpy as np
import torch

from molyneux.core import Factor, Modality, Reading, Spec
from molyneux.data import PartsOfSpeech
from molyneux.measure import Evaluation
from molyneux.measure.coherence import reading_text
from molyneux.measure.galleries import ReadSequence, changes, read_sequence, view_cells

FACTORS = (Factor("noun", ("dogs", "cats")), Factor("adverb", ("really", "recently")))


def test_a_step_says_what_it_changed_also_to_and_from_absence():
    codes = np.array([[0, -1], [0, -1], [1, 0], [1, 1], [1, 1], [0, 1]])
    walk = ReadSequence(FACTORS, codes, np.array([True, True, True, True, False, True]))
    told = ["", "", "noun: dogs → cats, adverb: absent → really", "adverb: really → recently", "", "noun: cats → dogs"]
    assert changes(walk) == told
    assert walk.known.tolist() == [True, True, True, False, True]
    assert walk.before.tolist() == [0, 1, 2, 3, 3]
    assert walk.changed.sum(1).tolist() == [0, 2, 1, 0, 1]


def test_steps_are_those_of_a_loop_and_of_neighbours_where_all_is_readable():
    rng = np.random.default_rng(0)
    codes, readable = rng.integers(-1, 2, (50, 3, 6, 2)), rng.random((50, 3, 6)) < 0.6
    walk = ReadSequence(FACTORS, codes, readable)
    for place in np.ndindex(50, 3):
        last, expected = None, np.zeros((5, 2), bool)
        for view in range(6):
            if readable[place][view]:
                if last is not None:
                    expected[view - 1] = codes[place][view] != last
                last = codes[place][view]
        assert (walk.changed[place] == expected).all()
    whole = ReadSequence(FACTORS, codes, np.ones_like(readable))
    assert (whole.changed == (codes[..., 1:, :] != codes[..., :-1, :])).all()
    assert whole.known.all()


def test_nothing_is_said_before_the_first_readable_view():
    walk = ReadSequence(FACTORS, np.array([[-1, -1], [0, 0], [1, 0]]), np.array([False, True, True]))
    assert changes(walk) == ["", "", "noun: dogs → cats"]


def test_what_a_reader_objects_to_is_unreadable_and_what_is_absent_is_not():
    class Reader:
        def read(self, view):
            return Reading(torch.tensor([[0, -1], [0, -1], [1, 0], [-1, -1]]), ("noun", "adverb"), {1: "no adverb can be told"})

    walk = read_sequence(Reader(), Spec((Modality("walk", "tabular", (1,)),), FACTORS), torch.zeros(4, 1), shape=(2, 2))
    assert walk.readable.tolist() == [[True, False], [True, False]]
    assert walk.codes.shape == (2, 2, 2)
    reading = Reader().read(None)
    assert [reading_text(reading, FACTORS, row) for row in range(3)] == ["dogs", "dogs adverb?", "cats really"]


def test_sentences_that_lack_parts_are_read_without_doubt():
    world = PartsOfSpeech()
    source = world.source("test", 60, seed=0)
    batch = source.batch(np.arange(60))
    assert (batch.factors < 0).any()
    evaluation = Evaluation(None, source, exact=world.readers())
    assert not any("?" in cell.reading for cell in view_cells(evaluation, "text", batch.views["text"]))
    assert read_sequence(world.readers()["text"], world.spec, batch.views["text"], shape=(60,)).readable.all()
