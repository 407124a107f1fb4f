"""What models cost: counts by hand, and numbers from processes of their own that fit them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.distributions import Categorical

from molyneux.core import Batch, ConfigError, Modality, Spec, Target
from molyneux.core.config import override
from molyneux.data import ArraySource
from molyneux.learn import MVAE, FusionPredictor, Training, fit
from molyneux.learn.encoders.nets import Dense
from molyneux.learn.training.timed_steps import FitStep
from molyneux.measure import Complexity, Evaluation, evaluate
from molyneux.measure.complexity.process import Energy, MeasuredProcess, Reads, count_operations, measured
from molyneux.run import load_study
from molyneux.run.run.experiment import parse_experiment

SPEC = Spec(
    (Modality("image", "image", (3, 8, 8), "uint8"), Modality("table", "tabular", (6,))),
    targets=(Target("kind", "class", ("a", "b", "c")),),
)


class Net(nn.Module):
    """Two layers for inference, and one that only training reads."""

    def __init__(self):
        super().__init__()
        self.first, self.last, self.extra = nn.Linear(6, 10), nn.Linear(10, 3, bias=False), nn.Linear(10, 100)

    def predict(self, batch, observed=None):
        return {"kind": Categorical(logits=self.last(self.first(batch.views["table"]).relu()))}


def source(n=50):
    rng = np.random.default_rng(0)
    image = torch.from_numpy(rng.integers(0, 256, (n, 3, 8, 8), dtype=np.uint8))
    table = torch.from_numpy(rng.normal(size=(n, 6)).astype(np.float32))
    return ArraySource(SPEC, Batch({"image": image, "table": table}, targets={"kind": torch.zeros(n, dtype=torch.int64)}))


def job(model, **changes):
    settings = {
        "source": source(),
        "samples": 50,
        "batch_size": 20,
        "observed": ("image", "table"),
        "repeats": 2,
        "steps": 0,
        "threads": 1,
        "seed": 1,
    }
    return MeasuredProcess(model, **{**settings, **changes})


def test_operations_and_parameters_of_inference_are_those_by_hand():
    net = Net()
    found = measured(job(net))
    assert found["operations"] == 2 * (6 * 10 + 10 * 3)
    assert found["inference_parameters"] == 6 * 10 + 10 + 10 * 3
    assert len(found["seconds"]) == 2
    assert found["memory"] >= found["idle_memory"] > 0


def _transformer(steps, width, inner):
    """Operations of a transformer layer: maps to queries, keys, values and out, scores and sums of values, two inner maps."""
    return 2 * steps * width * 4 * width + 2 * 2 * steps * steps * width + 2 * 2 * steps * width * inner


@pytest.mark.parametrize(
    ("layer", "shape", "operations"),
    [
        (nn.Conv2d(3, 4, 3, padding=1), (1, 3, 8, 8), 2 * 8 * 8 * 4 * 3 * 9),
        (nn.LSTM(5, 7, batch_first=True), (1, 4, 5), 4 * 2 * 4 * 7 * (5 + 7)),
        (nn.GRU(5, 7, batch_first=True), (1, 4, 5), 4 * 2 * 3 * 7 * (5 + 7)),
        (nn.TransformerEncoderLayer(8, 2, 12, batch_first=True).eval(), (3, 5, 8), 3 * _transformer(5, 8, 12)),
        (nn.TransformerEncoderLayer(8, 2, 12, batch_first=True, norm_first=True), (3, 5, 8), 3 * _transformer(5, 8, 12)),
    ],
    ids=["convolution", "lstm", "gru", "transformer", "transformer in training"],
)
def test_layers_have_their_operations(layer, shape, operations):
    with torch.no_grad():
        reads = Reads(layer)
        found = count_operations(layer, lambda: layer(torch.zeros(shape)), reads)
    assert found == operations
    assert reads.parameters == sum(item.numel() for item in layer.parameters())


STUDY = load_study(Path(__file__).parents[3] / "configs" / "studies" / "av-mnist.yaml")


@pytest.mark.parametrize("name", STUDY.variants)
def test_every_model_of_av_mnist_has_its_operations_counted(name):
    tree = STUDY.base_settings
    for path, value in STUDY.variant(name).items():
        tree = override(tree, path, value)
    spec = Spec(
        (Modality("image", "image", (1, 28, 28), "uint8"), Modality("audio", "image", (1, 112, 112), "uint8")),
        targets=(Target("digit", "class", tuple("0123456789")),),
    )
    model = parse_experiment(tree).learn.model.make(spec=spec)
    views = {item.name: torch.zeros(2, *item.shape, dtype=torch.uint8) for item in spec.modalities}
    samples = ArraySource(spec, Batch(views, targets={"digit": torch.zeros(2, dtype=torch.int64)}))
    found = measured(job(model, source=samples, samples=2, observed=spec.names, repeats=1))
    whole = sum(item.numel() for item in model.parameters())
    assert 0 < found["inference_parameters"] <= whole
    assert found["operations"] > found["inference_parameters"]  # a weight of a linear layer counts twice, of others more often
    assert all(item.requires_grad for item in model.parameters())
    assert torch.backends.mha.get_fastpath_enabled()


def test_a_vae_infers_with_its_encoders_alone():
    model = MVAE(SPEC, latent_dim=4, nets={"image": Dense(width=8), "table": Dense(width=8)})
    found = measured(job(model))
    whole = sum(item.numel() for item in model.parameters())
    assert 0 < found["inference_parameters"] < 0.7 * whole
    assert len(measured(job(model, steps=3, samples=20))["seconds"]) == 3


def test_the_measure_runs_in_processes_of_its_own():
    model = MVAE(SPEC, latent_dim=4, nets={"image": Dense(width=8), "table": Dense(width=8)})
    plain = Evaluation(
        model, source(), train=source(40), seed=1, batch_size=20, trained={"seconds": 12.5, "batch_size": 8, "samples": 40}
    )
    other = Evaluation(model, source(), about={"missing": "table"}, seed=1, batch_size=20)
    scores = {(score.name.partition(".")[2], score.about.get("modality")): score for score in measured_scores([plain, other])}
    bits = {None: 8 * 192 + 32 * 6, "image": 8 * 192, "table": 32 * 6}
    assert {name: scores["data", name].value for name in bits} == bits
    assert scores["parameters", None].value > scores["inference_parameters", None].value > 0
    assert scores["training_time", None].value == 12.5
    assert scores["training_step", None].n == 8
    assert len(scores["training_step", None].origin["repeats"]) == 2
    assert sorted(scores["inference_time", None].origin["repeats"])[1] == scores["inference_time", None].value
    for name in ("inference_memory", "training_memory"):
        assert 50 < scores[name, None].controls["idle process"] <= scores[name, None].value < 4000
    assert not any("not applicable" in score.note for score in scores.values())


def measured_scores(evaluations):
    return evaluate([Complexity(repeats=3, steps=2)], evaluations).scores


def test_a_model_that_cannot_be_sent_is_told():
    class Local(Net):
        pass

    model = Local()
    scores = measured_scores([Evaluation(model, source(), seed=1)])
    (score,) = [score for score in scores if score.value is None]
    assert "could not be measured in a process of its own: Local cannot be sent" in score.note
    assert [score.value for score in scores if score.name == "complexity.parameters"] == [6 * 10 + 10 + 30 + 1100]


def test_energy_is_read_from_the_counters_and_wraps_round(tmp_path):
    for number, (now, most) in enumerate(((900_000, 1_000_000), (5_000_000, 10_000_000))):
        zone = tmp_path / f"intel-rapl:{number}"
        zone.mkdir()
        (zone / "energy_uj").write_text(str(now))
        (zone / "max_energy_range_uj").write_text(str(most))
    (tmp_path / "intel-rapl:0:0").mkdir()
    energy = Energy(tmp_path)
    (tmp_path / "intel-rapl:0" / "energy_uj").write_text("99999")
    (tmp_path / "intel-rapl:1" / "energy_uj").write_text("7000000")
    assert energy.joules() == pytest.approx(0.2 + 2.0)
    assert Energy(tmp_path / "nowhere").joules() is None


def test_settings_that_cannot_be_used():
    with pytest.raises(ConfigError, match="repeats: expected at least 1, got 0"):
        Complexity(repeats=0)


@pytest.mark.parametrize("read", [("image",), ("table",), ("image", "table")])
def test_a_model_of_some_modalities_costs_what_it_reads(read):
    model = FusionPredictor(SPEC, modalities=read)
    both = FusionPredictor(SPEC)
    scores = {(score.name.partition(".")[2], score.about.get("modality")): score.value for score in costs(model)}
    whole = {score.name.partition(".")[2]: score.value for score in costs(both)}
    bits = {"image": 8 * 192, "table": 32 * 6}
    assert {name for what, name in scores if what == "data"} == {None, *read}
    assert scores["data", None] == sum(bits[name] for name in read)
    encoders = sum(item.numel() for name in read for item in model.encoders[name].parameters())
    assert scores["inference_parameters", None] >= encoders > 0
    if len(read) == 1:
        assert scores["inference_parameters", None] < whole["inference_parameters"]
        assert scores["operations", None] < whole["operations"]


def costs(model):
    return evaluate([Complexity(repeats=1, steps=0)], Evaluation(model, source(), seed=1)).scores


def test_a_model_that_reads_no_view_through_torch_is_said_to_read_all():
    found = measured(job(Net()))
    assert found["views"] == ["table"]

    class Constant(Net):
        def predict(self, batch, observed=None):
            return {"kind": Categorical(logits=torch.zeros(len(batch), 3))}

    assert measured(job(Constant()))["views"] == ["image", "table"]


class Counted(FusionPredictor):
    """Notes the size and the layout of the batches that it learns from."""

    def loss(self, batch, progress, generator=None):
        image = batch.views["image"]
        self.seen = len(batch), image.is_contiguous(memory_format=torch.channels_last), progress.steps
        return super().loss(batch, progress, generator)


def test_a_step_is_that_of_fit():
    """Weights after three steps are those after three of `fit` on the same batch, up to the order of its samples."""
    told = {"optimizer": "sgd", "learning_rate": 1.0, "clip": 0.1, "channels_last": True}
    settings = Training(steps=3, batch_size=50, keep="last", **told)
    torch.manual_seed(0)
    first, second = Counted(SPEC), Counted(SPEC)
    second.load_state_dict(first.state_dict())
    start = torch.cat([item.detach().flatten().clone() for item in first.parameters()])
    history = fit(first, source(), training=settings, seed=1)
    assert history.samples == 50
    assert history.step == FitStep(50, replace(settings, tensorboard=False))  # there is no folder for a log
    with history.step.of(second, steps=3, seed=1) as step:
        for number in range(3):
            step(source().batch(np.arange(50)), number)
    assert second.seen == first.seen == (50, True, 3)
    after = [torch.cat([item.detach().flatten() for item in model.parameters()]) for model in (first, second)]
    assert 0.1 < (after[0] - start).norm() < 0.6  # three clipped steps with momentum
    assert (after[0] - after[1]).norm() < 0.02 * (after[0] - start).norm()


def test_what_is_timed_has_the_batch_of_the_training_and_n_its_samples():
    model = FusionPredictor(SPEC)
    history = fit(model, source(40), training=Training(epochs=1, batch_size=8, optimizer="sgd"))
    trained = {"seconds": history.rows[-1]["seconds"], "samples": history.samples}
    told = Evaluation(model, source(), train=source(40), trained=trained, step=history.step, seed=1)
    untold = Evaluation(model, source(), train=source(40), seed=1, batch_size=20)
    found, other = (
        {score.name: score for score in evaluate([Complexity(repeats=1, steps=1)], one).scores} for one in (told, untold)
    )
    assert (found["complexity.training_step"].n, found["complexity.training_time"].n) == (8, 40)
    assert found["complexity.training_step"].value > 0
    assert found["complexity.training_step"].note == ""
    assert other["complexity.training_step"].n == 20
    assert "not known" in other["complexity.training_step"].note
