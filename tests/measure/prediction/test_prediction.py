"""Scores of predicted targets, against scikit-learn."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from scipy import stats
from sklearn import metrics
from torch.distributions import Bernoulli, Categorical, Independent, Normal

from molyneux.core import Batch, DataError, Modality, NotApplicableError, Spec, SpecError, Target
from molyneux.measure import Breakdown, Calibration, Emap, Evaluation, Prediction, Shapley, WrongAnswers, evaluate
from molyneux.measure.prediction.answers import numbers_from
from molyneux.measure.prediction.class_scores import class_scores, label_scores, ranking_score
from molyneux.measure.prediction.number_scores import number_scores
from molyneux.measure.scores import Recorder

TARGETS = (
    Target("kind", "class", ("a", "b", "c")),
    Target("tags", "multilabel", ("x", "y", "z", "never")),
    Target("size", "number", shape=(2,)),
    Target("fits", "agreement"),
)
SPEC = Spec((Modality("left", "tabular", (3,)), Modality("right", "tabular", (3,))), targets=TARGETS)


def found(scores):
    return {(score.name.partition(".")[2], score.about.get("label", "")): score for score in scores}


@pytest.fixture
def recorder():
    return Recorder("prediction", np.random.default_rng(0))


def test_classes_are_scored_as_scikit_learn_does(recorder):
    rng = np.random.default_rng(0)
    truth = rng.choice(4, 500, p=[0.6, 0.3, 0.1, 0.0])
    predicted = np.where(rng.random(500) < 0.6, truth, rng.integers(0, 4, 500))
    prior = np.bincount(truth, minlength=4) / 500
    scores = found(class_scores(predicted, truth, prior, recorder))
    constant = np.zeros(500, int)
    for name, reference in (
        ("accuracy", metrics.accuracy_score),
        ("balanced_accuracy", lambda *both: metrics.recall_score(*both, labels=[0, 1, 2], average="macro")),
        ("macro_f1", lambda *both: metrics.f1_score(*both, average="macro")),
    ):
        score = scores[name, ""]
        assert score.value == pytest.approx(100 * reference(truth, predicted))
        assert score.controls["constant"] == pytest.approx(100 * reference(truth, constant))
        assert score.interval[0] < score.value < score.interval[1]
        assert (score.n, score.unit) == (500, "%")
        guesses = [reference(truth, rng.choice(4, 500, p=prior)) for _ in range(200)]
        assert score.chance == pytest.approx(100 * np.mean(guesses), abs=1)


def test_labels_are_scored_as_scikit_learn_does(recorder):
    rng = np.random.default_rng(1)
    truth = (rng.random((400, 4)) < [0.5, 0.3, 0.05, 0.0]).astype(np.uint8)
    probabilities = np.round(np.clip(0.6 * truth + rng.random((400, 4)) * 0.6, 0, 1), 1)  # with ties
    scores = found(label_scores(probabilities, truth, truth.mean(0), ("x", "y", "z", "never"), recorder))
    predicted = probabilities > 0.5
    assert scores["micro_f1", ""].value == pytest.approx(100 * metrics.f1_score(truth, predicted, average="micro"))
    assert scores["macro_f1", ""].value == pytest.approx(
        100 * metrics.f1_score(truth, predicted, average="macro", zero_division=0)
    )
    for place, label in enumerate("xyz"):
        precision = metrics.average_precision_score(truth[:, place], probabilities[:, place])
        assert scores["average_precision", label].value == pytest.approx(100 * precision)
        assert scores["average_precision", label].chance == pytest.approx(100 * truth[:, place].mean())
        assert scores["f1", label].value == pytest.approx(100 * metrics.f1_score(truth[:, place], predicted[:, place]))
        always = metrics.f1_score(truth[:, place], np.ones(400))
        assert scores["f1", label].controls["constant"] == pytest.approx(100 * always)
    assert scores["average_precision", "never"].value is None
    parts = [scores["average_precision", label].value for label in "xyz"]
    assert scores["macro_average_precision", ""].value == pytest.approx(np.mean(parts))
    sets = [np.tile([int(place < size) for place in range(4)], (400, 1)) for size in (1, 2, 3, 4)]
    best = max(metrics.f1_score(truth, one, average="micro") for one in sets)
    assert scores["micro_f1", ""].controls["constant"] == pytest.approx(100 * best)
    for score in scores.values():
        assert score.interval is None or score.interval[0] <= score.value <= score.interval[1]
        assert {type(number) for number in (score.value, score.chance, *score.controls.values())} <= {float, type(None)}


def test_numbers_are_scored_as_scikit_learn_does(recorder):
    rng = np.random.default_rng(2)
    truth = rng.normal(size=(300, 2)) ** 3
    predicted = truth + rng.normal(size=(300, 2))
    scores = found(number_scores(predicted, truth, truth, recorder))
    for name, reference in (
        ("mae", metrics.mean_absolute_error),
        ("mse", metrics.mean_squared_error),
        ("r2", metrics.r2_score),
    ):
        score = scores[name, ""]
        assert score.value == pytest.approx(reference(truth, predicted))
        assert score.chance == pytest.approx(reference(truth, np.tile(truth.mean(0), (300, 1))), abs=1e-9)
        assert score.interval[0] < score.value < score.interval[1]
    median = metrics.mean_absolute_error(truth, np.tile(np.median(truth, axis=0), (300, 1)))
    assert scores["mae", ""].controls["constant"] == pytest.approx(median)
    flat = found(number_scores(predicted, np.ones((300, 2)), truth, recorder))
    assert flat["r2", ""].value is flat["correlation", ""].value is None
    assert flat["r2", ""].note == "the true values do not vary"
    parts = [stats.pearsonr(predicted[:, place], truth[:, place])[0] for place in range(2)]
    assert scores["correlation", ""].value == pytest.approx(np.mean(parts))
    assert scores["correlation", ""].interval[0] < np.mean(parts) < scores["correlation", ""].interval[1]
    constant = found(number_scores(np.ones((300, 2)), truth, truth, recorder))["correlation", ""]
    assert (constant.value, constant.note) == (None, "the predicted values do not vary")
    assert not [name for name, _ in scores if "sign" in name or "rounded" in name]  # two numbers have no single sign


def test_the_area_under_the_curve_of_precision_and_recall(recorder):
    rng = np.random.default_rng(4)
    truth = rng.choice(4, 300, p=[0.5, 0.3, 0.2, 0.0])
    given = np.round(np.eye(4)[truth] * 0.3 + rng.random((300, 4)) * 0.7, 1)  # with ties
    score = ranking_score(given, truth, recorder)
    parts = [metrics.average_precision_score(truth == label, given[:, label]) for label in range(3)]
    assert (score.name, score.value) == ("prediction.macro_average_precision", pytest.approx(100 * np.mean(parts)))
    assert score.chance == pytest.approx(100 / 3)
    assert score.interval[0] < score.value < score.interval[1]
    two = ranking_score(given[:, :2], (truth == 1).astype(int), recorder)
    expected = metrics.average_precision_score(truth == 1, given[:, 1])
    assert (two.name, two.value) == ("prediction.average_precision", pytest.approx(100 * expected))
    assert two.chance == pytest.approx(100 * (truth == 1).mean())
    assert ranking_score(given[:, :2], np.zeros(300, int), recorder).value is None
    constant = ranking_score(np.full((300, 2), 0.5), (truth == 1).astype(int), recorder)
    assert constant.value == pytest.approx(constant.chance)


def test_signs_and_rounded_values_by_hand(recorder):
    """The published example: zeros left out 0.5, counted as not positive 0.4, Acc-7 0.4, correlation -0.220273, MAE 1.36."""
    truth, predicted = np.array([[-1.0], [0], [2], [3], [-0.5]]), np.array([[-0.2], [0.3], [1], [-1], [0.2]])
    sentiment = Target("sentiment", "number", bounds=(-3, 3))
    scores = {name: score for (name, _), score in found(number_scores(predicted, truth, truth, recorder, sentiment)).items()}
    values = {name: score.value for name, score in scores.items()}
    assert values["mae"] == pytest.approx(1.36)
    assert values["correlation"] == pytest.approx(-0.220273, abs=1e-6)
    assert (values["sign_accuracy"], values["positive_accuracy"]) == pytest.approx((50, 40))
    assert values["nonnegative_accuracy"] == pytest.approx(60)
    assert (values["sign_weighted_f1"], values["positive_weighted_f1"]) == pytest.approx((50, 40))
    assert values["rounded_accuracy"] == pytest.approx(40)
    assert scores["sign_accuracy"].n == 4
    assert scores["positive_accuracy"].controls["constant"] == pytest.approx(60)
    assert scores["rounded_accuracy"].controls["constant"] == pytest.approx(40)
    assert scores["rounded_accuracy"].chance == pytest.approx(100 * (0.4**2 + 3 * 0.2**2))


def test_signs_are_scored_as_scikit_learn_does(recorder):
    rng = np.random.default_rng(3)
    truth = np.rint(rng.normal(0.5, 1, 400))
    predicted = truth + rng.normal(0, 1.5, 400)
    scores = found(number_scores(predicted[:, None], truth[:, None], truth[:, None], recorder))
    some = truth != 0
    for name, rows, high in (("sign", some, np.greater), ("positive", some | True, np.greater)):
        pair = high(truth[rows], 0), high(predicted[rows], 0)
        assert scores[f"{name}_accuracy", ""].value == pytest.approx(100 * metrics.accuracy_score(*pair))
        f1 = scores[f"{name}_weighted_f1", ""]
        assert f1.value == pytest.approx(100 * metrics.f1_score(*pair, average="weighted"))
        assert f1.interval[0] < f1.value < f1.interval[1]
        constant = np.full(rows.sum(), pair[0].mean() > 0.5)
        assert f1.controls["constant"] == pytest.approx(100 * metrics.f1_score(pair[0], constant, average="weighted"))
        guesses = [metrics.accuracy_score(pair[0], rng.random(rows.sum()) < pair[0].mean()) for _ in range(300)]
        assert scores[f"{name}_accuracy", ""].chance == pytest.approx(100 * np.mean(guesses), abs=1)


@dataclass
class Reader:
    """Predicts the targets from the three numbers of what it observes, as they are stored in them."""

    calls: list

    def predict(self, batch, observed=None):
        self.calls.append((tuple(observed), len(batch)))
        masked = [batch.views[name].where(batch.mask(name)[:, None], 0) for name in observed]
        numbers = torch.stack(masked).amax(0)
        kind = torch.nn.functional.one_hot(numbers[:, 0].long(), 3).float()
        tags = torch.stack([numbers[:, 0] == 0, numbers[:, 0] == 1, numbers[:, 0] == 2, numbers[:, 0] < 0], 1)
        return {
            "kind": Categorical(kind, validate_args=False),
            "tags": Independent(Bernoulli(tags.float(), validate_args=False), 1, validate_args=False),
            "size": Independent(Normal(numbers[:, 1:], 1.0, validate_args=False), 1, validate_args=False),
            "fits": Bernoulli((numbers[:, 1] > 0).float(), validate_args=False),
        }


@dataclass
class Samples:
    """A batch as a source."""

    spec: Spec
    whole: Batch

    def __len__(self):
        return len(self.whole)

    def batch(self, indices):
        return self.whole[torch.from_numpy(indices)]


def samples(n=400, seed=0, **masks):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, n)
    size = np.abs(rng.normal(size=(n, 2))).astype(np.float32)
    numbers = torch.from_numpy(np.column_stack([kind, size]).astype(np.float32))
    tags = np.column_stack([np.eye(3)[kind], np.zeros(n)]).astype(np.uint8)
    targets = {"kind": kind, "tags": tags, "size": size, "fits": (size[:, 0] > 0).astype(np.int64)}
    present = {name: torch.from_numpy(mask) for name, mask in masks.items() if name in ("left", "right")}
    known = {name: torch.from_numpy(mask) for name, mask in masks.items() if name in targets}
    values = {name: torch.from_numpy(value) for name, value in targets.items()}
    return Samples(SPEC, Batch({"left": numbers, "right": numbers}, present, targets=values, known=known))


def test_every_target_is_predicted_from_each_modality_and_from_all():
    model = Reader([])
    scores = Prediction()(Evaluation(model, samples(), seed=1, batch_size=150, train=samples(seed=5))).scores
    sources = {score.about["source"] for score in scores}
    assert sources == {"left", "right", ("left", "right")}
    assert {score.about["target"] for score in scores} == {target.name for target in TARGETS}
    best = {score.name.partition(".")[2]: score.value for score in scores if score.about["target"] in ("kind", "size", "fits")}
    shares = ("accuracy", "average_precision", "balanced_accuracy", "macro_average_precision", "macro_f1")
    assert best == {**dict.fromkeys(shares, 100), "mae": 0, "mse": 0, "r2": 1, "correlation": pytest.approx(1)}
    assert {
        score.controls["constant"] < 45
        for score in scores
        if score.about["target"] == "kind" and score.controls and "f1" not in score.name
    }
    assert {score.n for score in scores if score.value is not None} == {400}
    assert model.calls[:3] == [(("left",), 150), (("left",), 150), (("left",), 100)]


def test_unknown_targets_and_absent_modalities_are_left_out():
    even, third = np.arange(400) % 2 == 0, np.arange(400) % 3 == 0
    source = samples(kind=even, left=third, right=~third)
    evaluation = Evaluation(Reader([]), source, seed=1)
    counts = {(score.about["source"], score.about["target"]): score.n for score in Prediction()(evaluation).scores}
    assert counts[("left", "right"), "kind"] == 200  # the modality that each sample has
    assert counts["left", "kind"] == int((even & third).sum())
    assert counts["left", "size"] == int(third.sum())
    assert {score.value for score in Prediction(targets=["kind"])(evaluation).scores} == {100.0}


def test_what_cannot_be_predicted_is_said():
    class Less(Reader):
        def predict(self, batch, observed=None):
            return {"kind": super().predict(batch, observed)["kind"]}

    (score,) = evaluate([Prediction()], Evaluation(Less([]), samples())).scores
    assert score.note == "not applicable: the model does not predict the target tags: name others in `targets`"
    assert {
        score.about["source"] for score in Prediction(targets=["kind"], alone=False)(Evaluation(Less([]), samples())).scores
    } == {("left", "right")}
    with pytest.raises(SpecError, match="no target 'knd'; did you mean \"kind\""):
        Prediction(targets=["knd"])(Evaluation(Reader([]), samples()))
    bare = Samples(SPEC.restrict(["left"]), Batch({"left": torch.zeros(4, 3)}))
    (score,) = Prediction(targets=["kind"])(Evaluation(Reader([]), bare)).scores
    assert score.note == "not applicable: the target kind is known of no sample"
    assert score.about == {"source": "left", "target": "kind"}
    with pytest.raises(NotApplicableError, match="prediction needs targets"):
        Prediction()(Evaluation(Reader([]), Samples(Spec(SPEC.modalities), samples().batch(np.arange(3)))))


def test_numbers_that_do_not_vary_have_no_explained_variance():
    """The mean of seven times 0.1 is not 0.1, by which squares would be divided."""
    truth, given = np.full((7, 1), 0.1), np.random.default_rng(0).normal(size=(7, 1))
    found = {score.name: score for score in number_scores(given, truth, truth, Recorder("x", np.random.default_rng(0)))}
    assert (found["x.r2"].value, found["x.r2"].note) == (None, "the true values do not vary")


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_intervals_of_numbers_far_from_0_are_the_same_in_any_order(offset):
    rng = np.random.default_rng(0)
    truth = offset + rng.normal(size=(60, 1))
    given, order = truth + rng.normal(size=(60, 1)), rng.permutation(60)
    pairs = ((given, truth), (given[order], truth[order]))
    first, second = (number_scores(*pair, truth, Recorder("x", np.random.default_rng(0))) for pair in pairs)
    assert [score.interval for score in first] == [score.interval for score in second]


@pytest.mark.parametrize("made", [Bernoulli, Categorical])
def test_confident_answers_are_ranked_by_their_log_odds(made):
    """In single precision every log-odds above 17 is a probability of 1, and a ranking by it has ties alone."""
    from sklearn.metrics import average_precision_score

    rng = np.random.default_rng(0)
    truth = rng.random(400) < 0.5
    odds = torch.tensor(20 + 2 * rng.normal(size=400) + 2 * truth, dtype=torch.float32)
    target = Target("a", "agreement") if made is Bernoulli else Target("a", "class", ("no", "yes"))
    found = made(logits=odds if made is Bernoulli else torch.stack([torch.zeros(400), odds], 1))
    score = ranking_score(numbers_from(target, found), truth.astype(int), Recorder("x", np.random.default_rng(0)))
    assert score.value == pytest.approx(100 * average_precision_score(truth, odds.numpy()), abs=0.01)


def test_probabilities_that_were_given_stay_as_they_are():
    given = torch.tensor([0.0, 0.25, 1.0])
    assert numbers_from(Target("a", "agreement"), Bernoulli(given)).tolist() == [[1, 0], [0.75, 0.25], [0, 1]]
    assert numbers_from(Target("a", "class", ("x", "y")), Categorical(torch.tensor([[0.0, 2.0]]))).tolist() == [[0, 1]]
    assert numbers_from(Target("a", "multilabel", ("x", "y")), Independent(Bernoulli(given[None, 1:]), 1)).tolist() == [[0.25, 1]]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("kind", ["class", "number"])
@pytest.mark.parametrize(
    "measure", [Breakdown(), Calibration(), Emap(), Prediction(), Shapley(), WrongAnswers()], ids=lambda one: one.name
)
def test_answers_that_are_no_numbers_are_refused(measure, kind, value, tiny):
    """A NaN among probabilities would be the most probable class, and a false label."""
    target = Target("shape", "class", tiny.spec.factor("shape").values) if kind == "class" else Target("shape", "number")
    if kind == "number" and measure.name in ("breakdown", "wrong_answers"):
        pytest.skip("it is about classes")

    class Broken:
        def predict(self, batch, observed=None):
            values = torch.zeros(len(batch), 3)
            values[2] = value
            made = Categorical(logits=values, validate_args=False)
            return {"shape": made if kind == "class" else Normal(values[:, 0], 1.0, validate_args=False)}

    evaluation = tiny.evaluation(Broken(), source=tiny.Source(tiny.rows(40), spec=replace(tiny.spec, targets=(target,))))
    what = "probabilities, got nan" if kind == "class" else f"finite numbers, got {value}"
    with pytest.raises(DataError, match=rf"target shape: expected {what} for 1 of \d+ samples of a batch given image"):
        measure(evaluation)
