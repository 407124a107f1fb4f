from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
import torch

from molyneux.core import ConfigError, NotApplicableError, Posterior, Reading, Spec
from molyneux.core.reader import identity, read_by
from molyneux.measure import Coherence
from molyneux.measure.coherence import confusion

CROSS = ("image", "text"), ("text", "image")


def test_true_views_score_one_hundred_percent_in_every_direction(tiny):
    measured = Coherence()(tiny.evaluation(tiny.Oracle()))
    for source, target in CROSS:
        strict = tiny.find(measured, "coherence.strict", source=source, target=target)
        assert (strict.value, strict.n, strict.controls["judge ceiling"]) == (100.0, 600, 100.0)
        assert strict.interval[0] > 99.3
        assert strict.interval[1] == 100.0
        features = tiny.find(measured, "coherence.features", source=source, target=target)
        assert (features.value, features.unit, features.bounds) == (2.0, "of 2", (0.0, 2.0))
        assert (strict.chance, features.chance) == (pytest.approx(100 / 6), pytest.approx(1 / 3 + 1 / 2))
    assert tiny.find(measured, "coherence.letters").value == 100.0
    assert tiny.find(measured, "coherence.letters_padded").value == 100.0
    assert {score.value for score in measured.scores if score.name == "coherence.unreadable"} == {0.0}
    assert "coherence.strict_forced" not in {score.name for score in measured.scores}  # its readers cannot be forced


def test_the_origin_says_on_which_samples_and_who_read(tiny):
    measured = Coherence()(tiny.evaluation(tiny.Oracle()))
    origin = tiny.find(measured, "coherence.strict", target="image", source="text").origin
    reader = tiny.evaluation(tiny.Oracle()).reader("image")
    assert origin["readers"] == {"image": {"exact": False, "accuracy": {"shape": 0.999, "size": 0.998}, **identity(reader)}}
    for score in measured.scores:  # whatever rests on a reading says whose, and nothing else does
        rests = score.name.removeprefix("coherence.") not in ("letters", "letters_padded")
        assert bool(read_by(score.origin)) == rests, score.name
    assert (origin["world"], origin["seed"], origin["samples"], origin["draw"]) == ("tiny-v1", 3, 600, "sample")


def test_only_what_the_source_shows_is_asked_for(tiny):
    judges = {"image": tiny.Reader("image", ("tilt", "size", "shape"))}
    measured = Coherence()(tiny.evaluation(tiny.Oracle(), readers=judges))
    asked = [score.about["factor"] for score in measured.scores if score.name == "coherence.accuracy"]
    assert asked == ["shape", "size"] * 3
    assert tiny.find(measured, "coherence.strict", source="text", target="image").value == 100.0


def test_a_constant_model_equals_the_constant_control(tiny):
    weights = np.linspace(1, 3, len(tiny.combinations))
    source = tiny.Source(tiny.rows(700, weights=weights / weights.sum()))
    codes = tiny.combinations[source.rows][:, :2]
    best = max({tuple(row) for row in codes}, key=lambda row: (codes == row).all(1).sum())
    row = int((tiny.combinations[:, :2] == best).all(1).argmax())
    measured = Coherence()(tiny.evaluation(tiny.Oracle(lambda _, rows: torch.full_like(rows, row)), source=source))
    for source_name, target in CROSS:
        strict = tiny.find(measured, "coherence.strict", source=source_name, target=target)
        assert strict.value == strict.controls["constant"] == pytest.approx(100 * (codes == best).all(1).mean())
        for column, factor in enumerate(("shape", "size")):
            score = tiny.find(measured, "coherence.accuracy", source=source_name, target=target, factor=factor)
            assert score.value == pytest.approx(100 * (codes[:, column] == best[column]).mean())
            assert score.value <= score.controls["constant"] + 1e-9
    assert tiny.find(measured, "coherence.diversity", view="image").value == 1.0
    joint = tiny.find(measured, "coherence.strict", source="prior")
    assert (joint.value, joint.controls["unpaired"]) == (100.0, 100.0)


def test_the_letters_of_a_constant_model_do_not_exceed_the_constant_control(tiny):
    measured = Coherence()(tiny.evaluation(tiny.Oracle(lambda _, rows: torch.zeros_like(rows))))
    for name in ("coherence.letters", "coherence.letters_padded"):
        score = tiny.find(measured, name)
        assert score.value < score.controls["constant"] == score.chance


def test_a_random_model_is_at_chance(tiny):
    stream = torch.Generator().manual_seed(0)
    model = tiny.Oracle(lambda _, rows: torch.randint(len(tiny.combinations), rows.shape, generator=stream))
    measured = Coherence()(tiny.evaluation(model, n=4000))
    for name in ("coherence.strict", "coherence.features"):
        scores = [score for score in measured.scores if score.name == name]
        assert len(scores) == 3
        for score in scores:
            assert score.interval[0] <= score.chance <= score.interval[1]


@pytest.mark.parametrize(("factor", "other"), [("shape", "size"), ("size", "shape")])
def test_one_factor_always_wrong_shows_in_that_factor_alone(tiny, factor, other):
    measured = Coherence()(tiny.evaluation(tiny.Oracle(tiny.shifted(factor))))
    for source, target in CROSS:
        about = {"source": source, "target": target}
        assert tiny.find(measured, "coherence.strict", **about).value == 0.0
        features = tiny.find(measured, "coherence.features", **about)
        assert features.value == 1.0
        assert features.interval[0] < 1.0 < features.interval[1]
        assert tiny.find(measured, "coherence.accuracy", factor=factor, **about).value == 0.0
        assert tiny.find(measured, "coherence.accuracy", factor=other, **about).value == 100.0
    joint = tiny.find(measured, "coherence.strict", source="prior")
    assert joint.value == 100.0
    wrong = tiny.find(measured, "coherence.value_accuracy", source="text", target="image", factor="size", value="big")
    assert wrong.note == ("most often mistaken for: small (100.0 %)" if factor == "size" else "")


def test_joint_generation_from_one_shared_latent_agrees_and_from_separate_ones_is_at_chance(tiny):
    shared = Coherence()(tiny.evaluation(tiny.Oracle(), n=3000))
    separate = Coherence()(tiny.evaluation(tiny.Independent(), n=3000))
    one, other = (
        tiny.find(measured, "coherence.strict", source="prior", target=("image", "text")) for measured in (shared, separate)
    )
    assert (one.value, one.controls["judge ceiling"], one.chance) == (100.0, 100.0, pytest.approx(100 / 6))
    assert one.controls["unpaired"] == pytest.approx(100 / 6, abs=3)
    assert other.interval[0] <= other.chance <= other.interval[1]
    assert other.controls["unpaired"] == pytest.approx(other.value, abs=4)
    diversity = tiny.find(shared, "coherence.diversity", view="text")
    assert diversity.value == pytest.approx(6, abs=0.05)
    assert diversity.bounds == (1.0, 6.0)
    assert diversity.controls["true views"] == pytest.approx(6, abs=0.1)


def test_three_senses_go_in_every_direction_and_agree_in_pairs_and_all_together(tiny):
    source = tiny.Source(tiny.rows(300), spec=tiny.triple)
    exact = {name: tiny.Reader(name) for name in ("text", "echo")}

    def strict(**settings):
        measured = Coherence(**settings)(tiny.evaluation(tiny.Oracle(), source=source, exact=exact))
        return {tuple(score.about.values()): score for score in measured.scores if score.name == "coherence.strict"}

    pairs = {(("image", "text"), "echo"), (("image", "echo"), "text"), (("text", "echo"), "image")}
    singles = {(source, target) for source in exact | {"image": 0} for target in exact | {"image": 0} if source != target}
    together = (("image", "text"), ("image", "echo"), ("text", "echo"), ("image", "text", "echo"))
    joint = {("prior", target) for target in together}
    found = strict()
    assert set(found) == pairs | singles | joint
    assert {score.value for score in found.values()} == {100.0}
    assert found["prior", ("image", "text", "echo")].chance == pytest.approx(100 / 36)
    assert set(strict(joint=False, directions="singles")) == singles


def test_unreadable_views_are_wrong_and_counted(tiny):
    class Spoiled(tiny.Oracle):
        def decode(self, codes, only=None):
            made = super().decode(codes, only)
            if "text" in made:
                logits = made["text"].base_dist.logits.clone()
                logits[codes.shared[:, 0].long() < 12, 0, 26] = 1e4
                made["text"] = torch.distributions.Independent(torch.distributions.Categorical(logits=logits), 1)
            return made

    evaluation = tiny.evaluation(Spoiled())
    measured = Coherence()(evaluation)
    share = 100 * (evaluation.source.rows < 12).mean()
    assert tiny.find(measured, "coherence.unreadable", target="text").value == pytest.approx(share)
    assert tiny.find(measured, "coherence.strict", source="image", target="text").value == pytest.approx(100 - share)
    assert not tiny.find(measured, "coherence.unreadable", target="text").higher_is_better


def test_a_judge_that_refuses_is_scored_as_if_it_could_not_too(tiny):
    """It calls the shape of every hidden combination unreadable; forced, it is right."""

    class Doubtful(tiny.Reader):
        origin = MappingProxyType({"digest": "d1", "choice": "may refuse"})
        calls = 0

        def read(self, view):
            type(self).calls += 1
            sure = super().read(view)
            codes = sure.codes.clone()
            codes[sure.codes[:, 1] == 0, 0] = -1
            return Reading(codes, sure.factors, {}, sure.codes)

    evaluation = tiny.evaluation(tiny.Oracle(), readers={"image": Doubtful("image")})
    measured = Coherence(joint=False)(evaluation)
    small = 100 * (tiny.combinations[evaluation.source.rows][:, 1] == 0).mean()
    strict, forced, unreadable = (
        tiny.find(measured, f"coherence.{name}", source="text", target="image")
        for name in ("strict", "strict_forced", "unreadable")
    )
    assert (strict.value, forced.value, unreadable.value) == (pytest.approx(100 - small), 100.0, pytest.approx(small))
    assert (strict.controls["judge ceiling"], forced.controls["judge ceiling"]) == (pytest.approx(100 - small), 100.0)
    assert unreadable.controls == {"judge ceiling": pytest.approx(small)}
    assert not unreadable.higher_is_better
    assert (forced.chance, forced.bounds, forced.n) == (strict.chance, strict.bounds, strict.n)
    assert forced.interval[0] > 99
    assert forced.controls["constant"] == strict.controls["constant"]
    assert forced.origin["readers"]["image"]["digest"] == "d1"
    assert strict.origin["readers"]["image"]["choice"] == "may refuse"
    assert Doubtful.calls == 2 * -(-len(evaluation.source) // evaluation.batch_size)  # true and made views, once each


def test_absent_modalities_are_neither_observed_nor_compared(tiny):
    rows = tiny.rows(500)
    source = tiny.Source(rows, present={"image": np.arange(500) % 2 == 0, "text": np.arange(500) % 5 != 0})
    measured = Coherence()(tiny.evaluation(tiny.Oracle(), source=source))
    assert tiny.find(measured, "coherence.strict", source="image", target="text").n == 250
    assert tiny.find(measured, "coherence.strict", source="text", target="image").n == 400
    assert tiny.find(measured, "coherence.letters", source="image", target="text").n == 200
    assert tiny.find(measured, "coherence.strict", source="text", target="image").value == 100.0


@pytest.mark.parametrize("directions", ["all", "leave-one-out"])
def test_coherence_by_the_number_of_inputs(tiny, monkeypatch, directions):
    """Four modalities: from one, the shape is wrong in half of the samples; from two, in a quarter; from three it is right."""
    for name in ("second", "third"):
        monkeypatch.setitem(tiny.views, name, tiny.views["text"])
    text = tiny.spec.modality("text")
    spec = Spec((*tiny.spec.modalities, *(replace(text, name=name) for name in ("second", "third"))), tiny.spec.factors)
    wrong = tiny.shifted("shape")

    class Unsure(tiny.Oracle):
        def encode(self, batch, observed=None):
            posterior = super().encode(batch, observed)
            rows, every = posterior.shared.mean[:, 0].long(), {1: 2, 2: 4, 3: 10**6}[len(observed)]
            false = (torch.arange(len(rows)) + 1) % every == 0
            return Posterior(type(posterior.shared)(torch.where(false, wrong("text", rows), rows)[:, None].float()))

    source = tiny.Source(tiny.rows(400), spec=spec)
    readers = {name: tiny.Reader(name) for name in ("text", "second", "third")}
    measured = Coherence(directions=directions, joint=False)(
        tiny.evaluation(Unsure(), source=source, exact=readers, batch_size=400)
    )
    expected = {"1": (50, 12), "2": (75, 12), "3": (100, 4)} if directions == "all" else {"1": (50, 12), "3": (100, 4)}
    for inputs, (value, count) in expected.items():
        score = tiny.find(measured, "coherence.strict_by_inputs", inputs=inputs)
        assert score.value == pytest.approx(value, abs=1e-9)
        assert score.note == f"{count} directions"
        assert score.chance == pytest.approx(100 / 6)
        assert score.controls["judge ceiling"] == 100
        assert score.n == 400
    assert len([score for score in measured.scores if score.name == "coherence.strict_by_inputs"]) == len(expected)
    assert not [score for score in measured.scores if score.name == "coherence.strict_forced_by_inputs"]  # not all can be forced


@pytest.mark.parametrize("forced", [("image", "text", "echo"), ("image", "text")])
def test_coherence_by_the_number_of_inputs_with_forced_choice(tiny, forced):
    """Readers that call the shape of small figures unreadable, and are right when forced; the mean is there if all can be."""

    class Doubtful(tiny.Reader):
        def read(self, view):
            sure = super().read(view)
            codes = sure.codes.clone()
            codes[sure.codes[:, 1] == 0, 0] = -1
            return Reading(codes, sure.factors, {}, sure.codes if self.modality in forced else None)

    source = tiny.Source(tiny.rows(400), spec=tiny.triple)
    readers = {name: Doubtful(name) for name in tiny.triple.names}
    measured = Coherence(joint=False)(tiny.evaluation(tiny.Oracle(), source=source, exact={}, readers=readers))
    small = 100 * (tiny.combinations[source.rows][:, 1] == 0).mean()
    for inputs in ("1", "2"):
        strict = tiny.find(measured, "coherence.strict_by_inputs", inputs=inputs)
        assert strict.value == strict.controls["judge ceiling"] == pytest.approx(100 - small)
        if len(forced) == 3:
            found = tiny.find(measured, "coherence.strict_forced_by_inputs", inputs=inputs)
            assert found.value == found.controls["judge ceiling"] == 100
            assert (found.chance, found.n, found.note) == (strict.chance, strict.n, strict.note)
            assert found.controls["constant"] == strict.controls["constant"]
    written = {score.name for score in measured.scores}
    assert ("coherence.strict_forced_by_inputs" in written) == (len(forced) == 3)


def test_each_subset_is_encoded_once_a_batch_and_only_with_what_it_observes(tiny):
    model = tiny.Oracle()
    Coherence(joint=False)(tiny.evaluation(model, n=300))
    assert model.calls == [(("image",), 128), (("text",), 128)] * 2 + [(("image",), 44), (("text",), 44)]


def test_the_same_seed_gives_the_same_scores(tiny):
    first, second = (Coherence()(tiny.evaluation(tiny.Oracle())).scores for _ in range(2))
    assert first == second


def test_a_judge_that_errs_lowers_its_own_ceiling(tiny):
    class Erring(tiny.Reader):
        def read(self, view):
            reading = super().read(view)
            codes = reading.codes.clone()
            codes[(codes == 1).all(1), 0] = 0
            return Reading(codes, reading.factors)

    measured = Coherence()(tiny.evaluation(tiny.Oracle(), readers={"image": Erring("image")}))
    strict = tiny.find(measured, "coherence.strict", source="text", target="image")
    assert strict.value == strict.controls["judge ceiling"] < 90


def test_letters_need_no_reader(tiny):
    measured = Coherence()(tiny.evaluation(tiny.Oracle(), readers={}, exact={}))
    assert {score.name for score in measured.scores} == {"coherence.letters", "coherence.letters_padded"}


def test_confusion_counts_pairs():
    truth, read = np.array([0, 0, 1, 1, -1]), np.array([0, 1, 1, -1, 0])
    assert confusion(read, truth, 2).tolist() == [[1, 1, 0], [0, 1, 1]]


def test_confusions_are_shown_by_direction(tiny):
    measured = Coherence()(tiny.evaluation(tiny.Oracle(tiny.shifted("shape"))))
    gallery = next(item for item in measured.exhibits if item.name == "confusion_text_to_image")
    assert gallery.columns == ("asked for", "read 1")  # no empty columns: each value is read as one other
    first = gallery.rows[0]
    assert [cell.text for cell in first[:2]] == ["shape: square", "ellipse 100.0 %"]
    assert first[1].correct is False
    assert {len(row) for row in gallery.rows} == {len(gallery.columns)}


def test_bad_settings_and_unsuited_sources(tiny):
    with pytest.raises(ConfigError, match="unknown draw 'means'; did you mean \"mean\""):
        Coherence(draw="means")
    with pytest.raises(ConfigError, match="unknown directions"):
        Coherence(directions="some")
    alone = tiny.Source(tiny.rows(10), spec=tiny.spec.restrict(("image",)))
    with pytest.raises(NotApplicableError, match="at least two modalities"):
        Coherence()(tiny.evaluation(tiny.Oracle(), source=alone, exact={}))
