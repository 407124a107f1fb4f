"""The contract of the family: what every measure in the public list keeps."""

import inspect
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.distributions import Bernoulli, Categorical, Independent, Normal

import molyneux.measure
from molyneux.core import Score, Target
from molyneux.measure import Complexity, Leakage, Measure, Robustness, Systematicity, evaluate

MEASURES = [
    item
    for name in molyneux.measure.__all__
    if inspect.isclass(item := getattr(molyneux.measure, name)) and issubclass(item, Measure) and item is not Measure
]

NOT_OF_SAMPLES = {"complexity": ("complexity.data", "complexity.parameters", "complexity.inference_parameters")}
"""What of a measure is compared where samples are in another order: times and memory are of the machine."""
UNKNOWN = ()
"""Shares without an interval."""
DRAWN = {
    "fidelity": "halves of the true samples and groups of the jackknife are drawn by place, before features are known",
    "samplers": "its true samples are those of `fidelity`",
}
"""Measures whose scores depend on the order of samples as they depend on the seed: their intervals overlap, and are told."""
PAIRED = {
    "disentanglement": "principal components of equal variance, as of the control `raw input`, turn into each other",
    "likelihood": "the control `unpaired` gives a sample the view of the one before",
    "synergy": "the control `unpaired` gives a sample the view of the one before",
    "transfer": "the control `permuted pairing` is a permutation of places",
}
"""Measures of which a control depends on the places of samples; all else is the same."""
SETTINGS = {
    "disentanglement": {"metrics": ["irs", "mig"]},
    "downstream": {"shots": [3]},
    "transfer": {"where": {"shape": ["square"]}, "paths": [["image", "text"]]},
}
"""Where the defaults take long, or there are none."""


class Able:
    """What makes an oracle satisfy every protocol; what it says of a sample depends on the sample alone, with ties.

    Where it `says` so, it is right, wrong, or says the same of every sample.
    """

    says = ""

    def predict(self, batch, observed=None):
        view = next(batch.views[name] for name in (observed or batch.views))
        said = (2 * torch.sin(view.flatten(1).double().sum(1))).round(decimals=1)
        shape = torch.stack([said, -said, 0 * said], 1)
        fits = true = said
        if self.says and batch.targets:
            sign = {"right": 9.0, "wrong": -9.0, "the same": 0.0}[self.says]
            shape = sign * torch.nn.functional.one_hot(batch.targets["shape"], 3)
            fits, true = (sign * (2 * batch.targets[name].double() - 1) for name in ("fits", "true"))
            fits, true = (torch.ones_like(one) if self.says == "the same" else one for one in (fits, true))
        tags, size = torch.stack([said, -said], 1).sigmoid(), said
        if self.says and batch.targets:
            true_tags, true_size = batch.targets["tags"].double(), batch.targets["size"]
            tags = {"right": true_tags, "wrong": 1 - true_tags, "the same": torch.full_like(true_tags, 0.4)}[self.says]
            size = {"right": true_size, "wrong": -true_size, "the same": 0 * true_size}[self.says]
        return {
            "shape": Categorical(logits=shape),
            "fits": Bernoulli(logits=fits),
            "true": Bernoulli(logits=true),
            "tags": Independent(Bernoulli(probs=tags), 1),
            "size": Normal(size, torch.ones_like(size)),
        }

    def compare(self, batch, observed=None):
        return {"fits": Categorical(logits=self.predict(batch)["fits"].logits.reshape(-1, 1, 2))}

    def log_likelihood(self, batch, k, generator=None):
        return batch.views["text"].double().sum(1)


TARGETS = (
    Target("shape", "class", ("square", "ellipse", "heart")),
    Target("fits", "agreement", contrast=(1, 2)),
    Target("true", "agreement", meanings=("opposite",)),
    Target("tags", "multilabel", ("square", "small")),
    Target("size", "number", bounds=(-1.0, 1.0)),
)


def made(tiny, measure, rows, order=None, says=""):
    """What measures need, of the combinations `rows`, whose pairs stand in another order if one is given."""

    class Everything(Able, tiny.Independent if measure is Leakage else tiny.Oracle):  # it needs private codes, the others none
        pass

    Everything.says = says
    first = (np.arange(len(rows)) + 1) % 2
    if order is not None:
        places = (2 * order[:, None] + np.arange(2)).ravel()
        rows, first = rows[places], first[places]

    class Answered(tiny.Source):
        def batch(self, indices):
            batch = tiny.Source(self.rows).batch(indices)
            fits, factors = torch.from_numpy(first[np.asarray(indices)]), batch.factors
            tags = torch.stack([factors[:, 0] == 0, factors[:, 1] == 0], 1).to(torch.uint8)
            targets = {"shape": factors[:, 0], "fits": fits, "true": fits, "tags": tags, "size": factors[:, 0] - 1.0}
            return replace(batch, targets=targets)

    class ByContent(tiny.Features):
        def features(self, view):
            return super().features(view).round() + view.flatten(1).float().mean(1, keepdim=True) / 100

    wrong = {"change": tiny.shifted("shape")} if says == "wrong" else {}
    source = Answered(rows, spec=replace(tiny.spec, targets=TARGETS[: 1 if len(rows) < 2 else None]))
    return tiny.evaluation(Everything(**wrong), source=source, features={"image": ByContent("image")})


@pytest.fixture
def evaluation(tiny, request):
    return made(tiny, request.node.callspec.params.get("measure"), tiny.rows(150))


def test_public_names_are_sorted():
    assert list(molyneux.measure.__all__) == sorted(molyneux.measure.__all__)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_short_names_follow_from_class_names(measure):
    words = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in measure.__name__).strip("_")
    assert measure.name == words
    assert all(parameter.kind == parameter.KEYWORD_ONLY for parameter in inspect.signature(measure).parameters.values())


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_scores_are_whole_and_repeat(measure, evaluation):
    first, second = (measure(**SETTINGS.get(measure.name, {}))(evaluation) for _ in range(2))
    assert first.scores == second.scores
    assert len({(score.name, tuple(score.about.items())) for score in first.scores}) == len(first.scores)
    for score in first.scores:
        assert score.name.startswith(f"{measure.name}.")
        assert score.origin["world"] == "tiny-v1"
        assert Score.from_json(score.to_json()) == score
        if score.value is None:
            assert score.note
            continue
        low, high = score.bounds
        assert score.n > 0
        assert low is None or low <= score.value + 1e-9
        assert high is None or score.value - 1e-9 <= high
        assert score.interval is None or score.interval[0] - 1e-6 <= score.value <= score.interval[1] + 1e-6


def numbers(score):
    """All numbers of a score, by where they stand."""
    found = {"value": score.value, "chance": score.chance, "n": score.n}
    found |= {f"end {place}": end for place, end in enumerate(score.interval or (None, None))}
    return found | {f"control {name}": value for name, value in score.controls.items()}


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_the_order_of_samples_changes_nothing(measure, tiny):
    """Samples that belong together, as in a contrast set, stay together; up to rounding, since sums depend on their order."""
    orders = [None, np.random.default_rng(1).permutation(75)]
    settings = SETTINGS.get(measure.name, {})
    found = [measure(**settings)(made(tiny, measure, tiny.rows(150), order)).scores for order in orders]
    first, second = ({(score.name, tuple(score.about.items())): score for score in scores} for scores in found)
    assert first.keys() == second.keys()
    for key, score in first.items():
        other = second[key]
        if measure.name in DRAWN and score.value is not None and score.interval is not None:
            assert score.interval[0] <= other.interval[1]
            assert other.interval[0] <= score.interval[1]
        elif measure.name not in DRAWN and score.name in NOT_OF_SAMPLES.get(measure.name, (score.name,)):
            pairs = [numbers(score), numbers(other)]
            if measure.name in PAIRED:
                pairs = [{name: one[name] for name in one if not name.startswith("control")} for one in pairs]
            assert pairs[0].keys() == pairs[1].keys()
            for name, number in pairs[0].items():
                assert number == (None if number is None else pytest.approx(pairs[1][name], rel=1e-6, abs=1e-6)), (key, name)


SITUATIONS = {
    "100 %": {"says": "right"},
    "0 %": {"says": "wrong"},
    "ties": {"says": "the same"},
    "one class": {"says": "right", "only": 5},
    "two samples": {"says": "right", "n": 2},
    "one sample": {"says": "right", "n": 1},
}


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("measure", [one for one in MEASURES if one is not Complexity], ids=lambda measure: measure.__name__)
def test_edges_have_honest_intervals_or_none(measure, situation, tiny):
    settings = SITUATIONS[situation]
    rows = np.full(40, settings["only"]) if "only" in settings else tiny.rows(settings.get("n", 40))
    found = evaluate([measure(**SETTINGS.get(measure.name, {}))], made(tiny, measure, rows, says=settings["says"])).scores
    for score in found:
        if score.value is None:
            assert score.note, score.name
            continue
        assert np.isfinite(score.value), score.name
        low, high = score.bounds
        if score.interval is not None:
            assert np.isfinite(score.interval).all(), score.name
            assert score.interval[0] - 1e-6 <= score.value <= score.interval[1] + 1e-6, score.name
            assert score.interval[0] < score.interval[1] or score.n == 0, (score.name, score.value, score.interval)
        if score.unit == "%" and (low, high) == (0.0, 100.0) and score.interval is None:
            assert score.name in UNKNOWN, (score.name, score.value)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_a_model_that_can_do_nothing_is_told_so(measure, tiny):
    (score,) = evaluate([measure(**SETTINGS.get(measure.name, {}))], tiny.evaluation(object())).scores
    assert (score.name, score.value) == (measure.name, None)
    if measure in (Robustness, Systematicity):  # they compare what others have measured
        assert score.note.startswith("not applicable: no ")
        return
    assert score.note.startswith(f"not applicable: {measure.name} needs a model that ")
    assert score.note.endswith("; object does not")
