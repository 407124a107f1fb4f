"""What a page says in words, and the rule behind each sentence."""

from dataclasses import replace

import pytest

from molyneux.core import Score
from molyneux.report.verdict import FEW_STEPS, verdict


def share(name, value, source="text", target="image", *, chance=10.0, half=2.0, **fields):
    interval = (max(0.0, value - half), min(100.0, value + half))
    about = {"source": source, "target": target}
    return Score(name, value, about, interval, 2000, "%", bounds=(0.0, 100.0), chance=chance, **fields)


def test_the_answer_counts_the_directions_that_are_better_than_guessing(made):
    good, bad = share("coherence.strict", 80.0), share("coherence.strict", 9.0, "image", "text")
    assert verdict([good, bad], made.spec()).answer == (
        "It is better than guessing in 1 of 2 directions. "
        "Best: from a caption it draws the right picture 80.0 % of the time, guessing 10.0 %."
    )
    assert verdict([bad, replace(bad, about={"source": "text", "target": "image"})], made.spec()).answer.startswith(
        "In none of 2 directions"
    )


def test_few_steps_and_a_loss_that_still_falls_are_said():
    score = share("prediction.accuracy", 50.0, ("image", "text"), "answer")
    history = {"step": (10.0, 20.0, 30.0, float(FEW_STEPS - 1)), "validation/loss": (9.0, 6.0, 4.0, 2.0)}
    few, falling = verdict([score], history=history).remarks
    assert few.startswith("It was trained for 999 steps, which is few")
    assert "still falling" in falling
    done = {"step": (10.0, 20.0, 30.0, float(FEW_STEPS)), "validation/loss": (9.0, 2.1, 2.0, 2.0)}
    assert verdict([score], history=done).remarks == ()


def test_what_readers_refuse_and_forced_choice_at_guessing(made):
    scores = [
        share("coherence.strict", 0.0),
        share("coherence.unreadable", 100.0, chance=None),
        share("coherence.strict_forced", 11.0),
    ]
    refused, forced = verdict(scores, made.spec()).remarks
    assert refused == "The reader refuses all of what is generated as image from text: to it these are blurs or no figures."
    assert forced.startswith("Made to choose, the reader is at guessing (11.0 %)")


@pytest.mark.parametrize(
    ("alone", "words"),
    [
        ((70.0, 10.0), "It uses one of its 2 senses for answer: from a picture alone it has 70.0 %"),
        ((11.0, 10.0), "It joins its senses: no input alone tells answer better than guessing"),
        ((50.0, 10.0), ""),
        ((60.0, 70.0), ""),
    ],
)
def test_which_senses_are_used(made, alone, words):
    scores = [share("prediction.accuracy", value, name, "answer") for value, name in zip(alone, ("image", "text"), strict=True)]
    remarks = verdict([*scores, share("prediction.accuracy", 72.0, ("image", "text"), "answer")], made.spec()).remarks
    assert bool(remarks) == bool(words)
    assert not words or remarks[0].startswith(words)


def mig(value, **about):
    fields = {"bounds": (0.0, 1.0), "chance": 0.0, "interval": (value - 0.01, value + 0.01)}
    return Score("disentanglement.mig", value, {"source": "text", "code": "shared", "variant": "recommended", **about}, **fields)


@pytest.mark.parametrize(("value", "words"), [(0.05, "entangled"), (0.3, "partly separate"), (0.9, "Its codes are separate")])
def test_codes_are_called_by_their_gap(value, words):
    assert words in verdict([mig(value), mig(0.99, factor="year")]).answer


def test_caveats_are_of_the_seed_the_samples_and_the_readers(made):
    origin = {"unread": {"image": "no judge was named"}}
    score = replace(share("coherence.strict", 80.0), n=180, origin=origin)
    seed, few, unread = verdict([score], made.spec(), {"step": (2000.0,)}, 3).caveats
    assert "one training, of seed 3" in seed
    assert "180 samples" in few
    assert unread == "Image is read by nobody: no judge was named."


def test_a_run_of_which_nothing_was_measured_says_so():
    assert "Nothing could be measured" in verdict([Score("coherence", None, note="not applicable: no factors")]).answer
    assert verdict([]).answer == ""


def probe(factor, value, **controls):
    about = {"source": ("image", "text"), "code": "shared", "factor": factor}
    return Score("latent_probe.accuracy", value, about, (value - 2, value + 2), 2000, "%", chance=25.0, controls=controls)


def test_what_takes_no_training_is_said():
    scores = [
        probe("shape", 90.0, **{"untrained net": 60.0, "raw input": 55.0}),
        probe("colour", 95.0, **{"untrained net": 94.0, "raw input": 99.0}),
        probe("size", 26.0, **{"untrained net": 99.0, "raw input": 25.0}),
        probe("ground", 70.0, **{"untrained net": 71.0, "raw input": 40.0}),
        probe("place", 70.0),
    ]
    assert verdict(scores).remarks == (
        "The input itself tells colour as well as its codes do: that takes no training.",
        "An untrained net tells ground as well as its codes do: that takes no training.",
    )  # a size that is guessed is no better than guessing, which is said elsewhere


def test_two_way_choices_are_answered_by_what_is_new_to_both_senses(made):
    def choice(name, value, role, source="touch", target="image", **more):
        about = {"source": source, "target": target, "role": role, **more}
        return Score(f"two_way_choice.{name}", value, about, (value - 3, value + 3), 900, "%", bounds=(0, 100), chance=50.0)

    scores = [
        choice("accuracy", 99.0, "bridged"),
        choice("accuracy", 91.0, "felt"),
        choice("accuracy", 88.0, "new", "touch", "touch"),
        choice("accuracy", 97.0, "new", way="drawing"),
        choice("accuracy", 90.0, "new"),
        choice("alike_accuracy", 75.0, "new"),
    ]
    assert verdict(scores, made.spec()).answer == (
        "From touch it chooses the right picture of two new ones that are alike 75.0 % of the time, "
        "better than guessing (50.0 %); of any two, 90.0 %."
    )
    guessed = [*scores[:-1], choice("alike_accuracy", 51.0, "new")]  # what elongation tells is no answer
    assert "51.0 % of the time, no better than guessing (50.0 %); of any two, 90.0 %." in verdict(guessed, made.spec()).answer
    assert "no better than guessing" in verdict([choice("accuracy", 51.0, "new")], made.spec()).answer
    assert verdict(scores[2:3], made.spec()).answer.startswith("Two-way choice")
