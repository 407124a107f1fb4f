from dataclasses import replace

import pytest

from molyneux.core import Modality, Score, Spec
from molyneux.report.headlines import headlines


def test_sentences_speak_of_pictures_and_captions(made):
    found = headlines(made.coherence(), made.spec())
    assert [headline.number for headline in found] == ["47.3 %", "93.1 %", "12.4 %"]
    assert found[0].sentence == (
        "From a caption it draws the right picture 47.3 % of the time (46.3\u201348.3); guessing gives 3.3 %; "
        "true ones are read right 99.9 % of the time."
    )
    assert found[1].sentence.startswith("From a picture it writes the right caption 93.1 %")
    assert found[2].sentence.startswith("Drawn together from the prior, a picture and a caption agree 12.4 %")


def test_what_was_seen_in_training_stands_beside_the_number_of_views_that_were_given(made):
    seen = [replace(score, origin={**score.origin, "train_overlap": {"image": 12.5, "text": 0.0}}) for score in made.coherence()]
    first, _, joint = headlines(seen, made.spec())
    assert first.note == "Measured views that also occur in training: image 12.5 %."
    assert joint.note == ""  # drawn from the prior
    assert headlines(made.coherence())[0].note == ""


def test_without_a_spec_the_names_are_used(made):
    assert headlines(made.coherence())[0].sentence.startswith("From text it generates the right image 47.3 %")


def test_senses_that_are_not_called_by_their_kind_keep_their_names(made):
    score = made.share("coherence.strict", {"source": ("image", "touch"), "target": "text"}, 50.0, chance=10.0)
    touch = made.share("coherence.strict", {"source": "text", "target": "touch"}, 50.0, chance=10.0)
    sentences = [headline.sentence for headline in headlines([touch, score], made.spec())]
    assert sentences[0].startswith("From a caption it generates the right touch")
    assert sentences[1].startswith("From a picture and touch it writes the right caption")


def test_a_sound_that_is_stored_as_a_picture_is_a_sound(made):
    spec = Spec((Modality("image", "image", (1, 28, 28)), Modality("audio", "image", (1, 32, 32))))
    score = made.share("coherence.strict", {"source": "image", "target": "audio"}, 50.0, chance=10.0)
    assert headlines([score], spec)[0].sentence.startswith("From a picture it generates the right sound")


def test_a_text_without_pictures_is_a_text(made):
    spec = Spec((Modality("text", "text", (5,), "uint8", ("a", "b"), 0), Modality("sound", "audio", (1, 50))))
    score = made.share("coherence.strict", {"source": "sound", "target": "text"}, 50.0, chance=10.0)
    assert headlines([score], spec)[0].sentence.startswith("From sound it writes the right text")


@pytest.mark.parametrize(("value", "words"), [(3.4, "no better than guessing"), (1.0, "worse than guessing"), (9.0, "")])
def test_results_at_chance_say_so(made, value, words):
    sentence = headlines([made.share("coherence.strict", {"source": "text", "target": "image"}, value, chance=3.33)])[0].sentence
    assert words in sentence
    assert ("guessing." in sentence) == bool(words)


def test_a_result_without_interval_chance_and_ceiling_is_still_said():
    score = Score("coherence.strict", 50.0, {"source": "a", "target": "b"}, unit="%")
    assert headlines([score])[0].sentence == "From a it generates the right b 50.0 % of the time."


def test_what_was_not_measured_says_why(made):
    score = replace(made.coherence()[0], value=None, interval=None, note="no judge for this world")
    (headline,) = headlines([score])
    assert (headline.number, headline.sentence) == ("n/a", "Not measured: no judge for this world.")


def test_predicted_targets_have_a_sentence_each():
    def score(measure, target, value, chance, **fields):
        about = {"target": target, **fields.pop("about", {})}
        return Score(f"prediction.{measure}", value, about, interval=(value - 0.01, value + 0.01), chance=chance, **fields)

    scores = [
        score("f1", "topic", 0.5, 0.25, about={"label": "sport"}),
        score("balanced_accuracy", "topic", 0.8, 0.25, bounds=(0.0, 1.0)),
        score("macro_f1", "topic", 0.7, 0.25),
        score("mae", "age", 3.2, 9.1, higher_is_better=False, unit="years"),
        score("mae", "height", 9.2, 9.1, higher_is_better=False),
    ]
    found = headlines(scores)
    assert [headline.about for headline in found] == ["topic", "age", "height"]
    assert found[0].sentence == (
        "The balanced accuracy of the predicted target topic is 0.80 (0.79\u20130.81); guessing gives 0.25."
    )
    assert "worse" not in found[1].sentence
    assert found[2].sentence.endswith("That is worse than guessing.")


def predicted(source, value, measure="accuracy", target="answer"):
    interval = None if value is None else (value - 0.5, value + 0.5)
    note = "" if value is not None else "no sample has both"
    about = {"source": source, "target": target}
    return Score(f"prediction.{measure}", value, about, interval, 40, "%", bounds=(0.0, 100.0), chance=50.0, note=note)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2)])
def test_the_number_of_a_predictor_is_from_all_inputs_and_says_from_what(made, order):
    scores = [
        predicted("image", 50.0),
        predicted("text", 51.0),
        predicted(("image", "text"), 99.4),
        predicted("image", 12.0, target="other"),
    ]
    found = {headline.about: headline for headline in headlines([scores[place] for place in order], made.spec())}
    assert found["answer"].number == "99.4 %"
    assert found["answer"].sentence.startswith(
        "From a picture and a caption, the accuracy of the predicted target answer is 99.4 %"
    )
    assert found["other"].sentence.startswith("From a picture, the accuracy of the predicted target other is 12.0 %")


def test_the_number_is_of_the_first_measure_whatever_others_were_measured_from_more(made):
    scores = [predicted("image", 50.0), predicted(("image", "text"), 70.0, "macro_f1"), predicted(("image", "text"), 80.0)]
    assert headlines(scores, made.spec())[0].number == "80.0 %"


def test_what_could_not_be_measured_from_all_inputs_is_not_replaced_by_what_could(made):
    (headline,) = headlines([predicted("image", 50.0), predicted(("image", "text"), None)], made.spec())
    assert (headline.number, headline.sentence) == ("n/a", "Not measured: no sample has both.")


def gap(value, factor=None, variant="recommended", source="text"):
    about = {"source": source, "code": "shared", "variant": variant, **({"factor": factor} if factor else {})}
    return Score("disentanglement.mig", value, about, bounds=(0.0, 1.0), chance=0.0, controls={"untrained net": 0.2})


def test_a_text_model_has_the_recommended_gap_with_its_parts():
    (card,) = headlines([gap(0.1, variant="published"), gap(0.4), gap(0.7, "year"), gap(0.1, "city")])
    assert (card.about, card.number) == ("MIG of the shared code", "0.40")
    assert "by factor: year 0.70, city 0.10" in card.sentence
    assert "the net before training has 0.20" in card.sentence


def test_contrast_sets_have_the_group_score_with_the_blind_controls():
    controls = {"image only": 0.0, "text only": 1.0, "unbound counts": 56.0}
    whole = Score("contrasts.group", 30.0, {"target": "agreement"}, (20.0, 40.0), 50, "%", chance=16.7, controls=controls)
    (card,) = headlines([whole, replace(whole, value=99.0, about={"target": "agreement", "factor": "nouns", "value": "full"})])
    assert card.number == "30.0 %"
    assert "blind: image only 0.0 %, text only 1.0 %" in card.sentence


def test_own_data_say_what_can_be_read_and_why_the_rest_cannot(made):
    unread = {"unread": {"image": "no judge was named"}}
    score = made.share("coherence.strict", {"source": "image", "target": "text"}, 60.0, chance=10.0)
    *_, card = headlines([replace(score, origin=unread)], made.spec())
    assert (card.about, card.number) == ("what can be read", "2 of 3")
    assert card.sentence == "Text and touch can be read; image is not read: no judge was named."


def test_a_run_without_a_result_of_its_own_kind_has_cards_of_what_was_measured():
    probe = Score("latent_probe.accuracy", 90.0, {"source": "image", "code": "shared", "factor": "digit"}, unit="%", chance=10.0)
    assert headlines([probe])[0].about == "digit, read from the code"
    cluster = Score("clustering.nmi", 0.5, {"source": "image", "code": "shared", "factor": "digit"}, chance=0.01)
    assert headlines([cluster])[0].number.startswith("0.5")
    nothing = Score("coherence", None, note="not applicable: the data have no labels")
    assert headlines([nothing])[0].sentence == "the data have no labels."


def test_two_way_choices_lead_with_what_is_new_in_each_direction(made):
    def choice(name, value, role, source="touch", target="image", **more):
        about = {"source": source, "target": target, "role": role, **more}
        return Score(f"two_way_choice.{name}", value, about, (value - 3, value + 3), 900, "%", bounds=(0, 100), chance=50.0)

    scores = [
        choice("accuracy", 99.0, "bridged"),
        choice("accuracy", 88.0, "new", "touch", "touch"),
        choice("accuracy", 97.0, "new", way="drawing"),
        choice("accuracy", 90.0, "new"),
        choice("alike_accuracy", 75.0, "new"),
        choice("accuracy", 70.0, "felt", "image", "touch"),
    ]
    first, second = headlines(scores, made.spec())
    assert first.sentence == (
        "From touch it chooses the right picture of two new ones that are alike 75.0 % of the time (72.0\u201378.0); "
        "guessing gives 50.0 %; of any two, 90.0 % (87.0\u201393.0)."
    )
    assert second.sentence.startswith("From a picture it chooses the right touch of two felt ones 70.0 %")
