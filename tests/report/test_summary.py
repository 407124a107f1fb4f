import io
from dataclasses import replace

import pytest
from rich.console import Console

from molyneux.core import Score
from molyneux.report import summary_table


def printed(table, width: int = 140) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(table)
    return console.file.getvalue()


def test_the_coherence_table_is_printed_beside_the_published_best(made):
    text = printed(summary_table(made.coherence(), made.config))
    assert "47.3 (46.3\u201348.3)" in text
    assert "8 (MVAE)" in text
    assert "59 (MVAE)" in text
    assert "ceiling" in text
    assert max(len(line) for line in printed(summary_table(made.coherence(), made.config), width=80).splitlines()) <= 80
    assert "published" in text


def test_what_was_seen_in_training_and_short_trainings_are_told(made):
    told = {"train_overlap": {"image": 12.5, "text": 100.0}}
    seen = [replace(score, origin={**score.origin, **told}) if score.origin else score for score in made.coherence()]
    short = {**made.config, "learn": {**made.config["learn"], "steps": 500}}
    text = " ".join(printed(summary_table(seen, short)).split())
    assert "Measured views that also occur in training: image 12.5 %, text 100.0 %." in text
    assert "this is a training of 500 optimiser steps" in text
    assert "ublished best" not in text
    assert "training" not in printed(summary_table(made.coherence(), made.config))


def test_without_coherence_every_score_is_printed(made):
    text = printed(summary_table(made.others()))
    assert "Strangeness index" in text
    assert "n/a\u00b9" in text
    assert "not applicable: the model gives no importance weights" in text


def test_other_worlds_have_no_published_column(made):
    assert "ublished best" not in printed(summary_table(made.coherence(), {"data": {"world": {"class_path": "GeBiD"}}}))


@pytest.mark.parametrize(
    "origin", [{"changed": ["image_size"]}, {"changed": None}, {"split": "validation"}, {"split": "heldout"}], ids=str
)
def test_another_task_has_no_published_column(made, origin):
    scores = [replace(score, origin={**score.origin, **origin}) for score in made.coherence()]
    assert "ublished best" not in printed(summary_table(scores, made.config))
    assert "ublished best" not in printed(summary_table([replace(score, origin={}) for score in scores], made.config))


def test_markup_in_names_is_shown_as_it_is():
    assert "[bold]" in printed(summary_table([Score("a.b", 1.0, {"factor": "[bold]"})]))
