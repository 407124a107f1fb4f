"""FusionPredictor: which encoders it has, its auxiliary objectives, and a training from arrays in ten lines."""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import pytest
import torch
from torch import nn

from molyneux.core import Batch, ConfigError, Loss, Modality, Progress, Spec, SpecError, Target
from molyneux.core.config import Factory, Supplied, build, plain
from molyneux.data import ArrayDataset
from molyneux.learn import FusionPredictor, Training, fit
from molyneux.learn.encoders import MLP, Identity, RecurrentSteps, ResNet, TransformerSteps
from molyneux.learn.fusion import AtEachStep, Concatenation, LowRank, MulT, TensorFusion
from molyneux.learn.predictors import AuxiliaryLoss, AuxiliaryObjective, Head, UnimodalHeads
from molyneux.learn.predictors.objectives import InStages
from molyneux.measure import Evaluation, Prediction, evaluate

START = Progress(0, 10)
SPEC = Spec(
    (Modality("a", "series", (6, 2)), Modality("b", "series", (6, 3)), Modality("picture", "image", (1, 9, 9))),
    targets=(Target("y", "class", ("no", "yes")), Target("where", "number", shape=(6, 2))),
)


def samples(size=8, *, seed=0):
    generator = torch.Generator().manual_seed(seed)
    views = {item.name: torch.randn(size, *item.shape, generator=generator) for item in SPEC.modalities}
    return Batch(views, targets={"y": torch.arange(size) % 2, "where": torch.randn(size, 6, 2, generator=generator)})


def test_a_name_wins_over_a_kind_and_a_kind_over_the_default():
    model = FusionPredictor(SPEC, encoders={"series": RecurrentSteps(width=7), "b": MLP((), 5)})
    widths = {name: spec.vector for name, spec in model.encoding_specs.items()}
    assert widths == {"a": 7, "b": 5, "picture": 128}
    assert model.fusion.features == 7 + 5 + 128
    assert FusionPredictor(SPEC, fusion=MulT()).encoding_specs["a"].vector == 12  # the series as it is


def test_modalities_that_are_not_read_are_not_encoded():
    model = FusionPredictor(SPEC, modalities=("picture",)).eval()
    assert set(model.encoders) == {"picture"}
    batch = samples()
    other = replace(batch, views={**batch.views, "a": torch.full_like(batch.views["a"], torch.nan)})
    assert torch.equal(model.predict(batch)["y"].logits, model.predict(other)["y"].logits)


def test_names_that_are_not_there_are_refused_together():
    with pytest.raises(ConfigError) as error:
        FusionPredictor(SPEC, encoders={"pictures": ResNet()}, modalities=("a", "a", "c"))
    sentences = "\n".join(error.value.problems)
    assert "encoders: no modality or kind 'pictures'; did you mean \"picture\"" in sentences
    assert "modalities: no modality 'c'" in sentences
    assert "modalities: expected names that differ, got a, a, c" in sentences
    with pytest.raises(SpecError, match="ResNet encodes image, but modality a is series"):
        FusionPredictor(SPEC, encoders={"a": ResNet()})


def test_settings_of_the_wrong_kind_are_refused_in_a_sentence_each():
    wrong = {"encoders": {"a": "MLP"}, "fusion": LowRank, "objectives": (UnimodalHeads,), "head": None, "imputation": "mean"}
    with pytest.raises(ConfigError) as caught:
        FusionPredictor(SPEC, **wrong)
    assert caught.value.problems == (
        "encoders.a: expected an instance of ViewEncoder, got 'MLP'",
        "fusion: expected an instance of Fusion, got the class LowRank: write LowRank(...)",
        "head: expected an instance of Head, got None",
        "objectives[0]: expected an instance of AuxiliaryObjective, got the class UnimodalHeads: write UnimodalHeads(...)",
        "missing.imputation: expected an instance of Imputation, got 'mean'",
    )
    for settings, problem in (
        (
            {"objectives": UnimodalHeads()},
            "objectives: expected a list of instances of AuxiliaryObjective, got an instance of Un",
        ),
        ({"modality_dropout": "0.5"}, "missing.dropout: expected a share in 0..1, below 1, got '0.5'"),
        ({"modalities": "a"}, "modalities: expected several names, got the text 'a'"),
        ({"unsupervised": "align"}, "targets.unsupervised: expected several names, got the text 'align'"),
    ):
        with pytest.raises(ConfigError) as caught:
            FusionPredictor(SPEC, **settings)
        (found,) = caught.value.problems
        assert found.startswith(problem)
    with pytest.raises(ConfigError, match="stages: expected several names, got the text 'align'"):
        InStages(UnimodalHeads(), "align")


def test_each_modality_alone_is_what_a_sample_without_the_others_gets():
    model, batch = FusionPredictor(SPEC, fusion=LowRank(8, 4)).eval(), samples()
    alone = model.alone(model.encodings(batch))
    for name in SPEC.names:
        torch.testing.assert_close(alone[name]["y"].logits, model.predict(batch, [name])["y"].logits)


def test_with_a_linear_head_contributions_of_late_fusion_add_up():
    """What OGM-GE needs: the logits of all are the sum of those of each alone, but for the bias."""
    model, batch = FusionPredictor(SPEC, head=Head(layers=0)).eval(), samples()
    encodings, bias = model.encodings(batch), model.answers.outputs["y"].last.bias
    parts = [found["y"].logits for found in model.alone(encodings).values()]
    raw = [part - part.logsumexp(1, keepdim=True) for part in parts]  # categorical logits are normalised
    together = model.answers(model.fuse(encodings))["y"].logits
    summed = sum(raw) - (len(raw) - 1) * bias
    torch.testing.assert_close(together, summed.log_softmax(1))


def test_unimodal_heads_add_their_loss_for_the_samples_that_have_the_modality():
    torch.manual_seed(0)
    model = FusionPredictor(SPEC, objectives=(UnimodalHeads(Head(layers=0), weight=0.5),)).eval()
    batch = samples()
    mask = torch.arange(8) < 3
    batch = replace(batch, present={"a": mask})
    loss = model.loss(batch, START)
    encodings = model.encodings(batch)
    found = model.unimodal_heads.predict(encodings)
    expected = -found["a"]["y"].log_prob(batch.targets["y"])[mask].mean()
    torch.testing.assert_close(loss.terms["a/nll.y"], expected)
    plain_loss = sum(loss.terms[f"nll.{name}"] for name in ("y", "where"))
    added = sum(loss.terms[f"{name}/nll.{target}"] for name in SPEC.names for target in ("y", "where"))
    torch.testing.assert_close(loss.total, plain_loss + 0.5 * added)
    assert FusionPredictor(SPEC).unimodal_heads is None


def test_heads_of_weight_0_train_and_leave_the_encoders_alone():
    model = FusionPredictor(SPEC, objectives=(UnimodalHeads(weight=0.0),))
    other = FusionPredictor(SPEC)
    other.load_state_dict({name: value for name, value in model.state_dict().items() if not name.startswith("objectives")})
    for one in (model, other):
        torch.manual_seed(0)
        one.loss(samples(), START).total.backward()
    for name, parameter in other.named_parameters():
        torch.testing.assert_close(dict(model.named_parameters())[name].grad, parameter.grad)
    assert all(parameter.grad.abs().max() > 0 for parameter in model.objectives.parameters())


@dataclass(frozen=True)
class Decoded(AuxiliaryObjective):
    """The squared error of a linear decoder of one modality from the features, per sample."""

    modality: str
    weight: float = 2.0

    def build(self, spec, encodings, features):
        return DecodedLoss(self, features, spec.modality(self.modality).size)


class DecodedLoss(AuxiliaryLoss):
    def __init__(self, settings, features, size):
        super().__init__()
        self.settings, self.decoder = settings, nn.Linear(features, size)

    def forward(self, step):
        view = step.batch.views[self.settings.modality].flatten(1)
        error = (self.decoder(step.features) - view).square().sum(1).mean()
        return Loss(self.settings.weight * error, {"decoded": error.detach()})


def test_an_objective_of_ones_own_is_added_and_trained():
    model, batch = FusionPredictor(SPEC, objectives=(Decoded("picture"),)), samples()
    loss = model.loss(batch, START)
    torch.testing.assert_close(
        loss.total.detach(), loss.terms["nll.y"] + loss.terms["nll.where"] + 2 * loss.terms["decoded"], rtol=1e-5, atol=1e-5
    )
    loss.total.backward()
    assert model.objectives[0].decoder.weight.grad.abs().max() > 0


def test_features_of_steps_give_a_number_its_values_and_other_targets_their_mean():
    model, batch = FusionPredictor(SPEC, fusion=AtEachStep(Concatenation())).eval(), samples()
    features = model.features(batch)
    assert features.shape == (8, 6, model.fusion.features)
    assert model.represent(batch)["shared"].shape == (8, model.fusion.features)
    found = model.predict(batch)
    hidden = model.answers.hidden(features)
    torch.testing.assert_close(found["where"].mean, model.answers.outputs["where"].last(hidden))
    expected = model.answers.outputs["y"].last(hidden.mean(1)).log_softmax(1)
    torch.testing.assert_close(found["y"].logits, expected)
    assert model.features(batch[:0]).shape == (0, 6, model.fusion.features)


def test_a_fusion_at_each_step_is_that_fusion_of_each_step():
    settings = TensorFusion(None)
    encoders = {"series": Identity()}
    model = FusionPredictor(SPEC, encoders=encoders, fusion=AtEachStep(settings), modalities=("a", "b")).eval()
    batch = replace(samples(), lengths={"a": torch.arange(8) % 6 + 1, "b": torch.arange(8) % 3 + 1})
    encodings, features = model.encodings(batch), model.features(batch)
    for row, step in ((5, 0), (5, 2), (5, 4)):
        vectors = [torch.cat([torch.ones(1), item.parts[row, step]]) for item in encodings.values()]
        torch.testing.assert_close(features[row, step], torch.outer(*vectors).flatten())
    assert not features[2, 3:].any()
    with pytest.raises(SpecError, match="expected a sequence among the modalities, got none: choose TensorFusion"):
        FusionPredictor(SPEC, fusion=AtEachStep(settings), modalities=("picture",))


def test_settings_are_read_from_plain_data():
    text = {
        "class_path": "FusionPredictor",
        "init_args": {
            "encoders": {"a": {"class_path": "TransformerSteps", "init_args": {"width": 32}}, "image": "LeNet"},
            "fusion": {"class_path": "LowRank", "init_args": {"rank": 4}},
            "head": {"width": 9},
            "objectives": ["UnimodalHeads"],
        },
    }

    factory = build(Annotated[Factory[FusionPredictor], Supplied(("spec",), "molyneux.learn")], text)
    settings = factory.value.settings
    assert settings["encoders"]["a"] == TransformerSteps(width=32)
    assert settings["fusion"] == LowRank(rank=4)
    assert factory.plain["init_args"]["fusion"]["class_path"] == "molyneux.learn.fusion.LowRank"
    assert plain(UnimodalHeads())["class_path"] == "molyneux.learn.predictors.UnimodalHeads"


def test_ten_lines_from_arrays_to_scores(tmp_path):
    """The sum of what a series and a table say; neither alone comes near it."""
    random = np.random.default_rng(0)
    y = random.integers(0, 4, 900)
    sound = random.normal(size=(900, 8, 3)).astype("float32") + (y % 2)[:, None, None].astype("float32")
    table = random.normal(size=(900, 5)).astype("float32") + (y // 2)[:, None].astype("float32")
    np.savez(tmp_path / "own.npz", sound=sound, table=table, y=y)

    data = ArrayDataset(path=tmp_path / "own.npz", targets=("y",))
    model = FusionPredictor(
        data.spec,
        encoders={"sound": RecurrentSteps(width=16), "table": MLP((16,), 16)},
        fusion=LowRank(16, 4),
        head=Head(16),
    )
    training = Training(epochs=12, batch_size=60, learning_rate=1e-2, tensorboard=False)
    fit(model, data.source("train"), data.source("validation"), training, tmp_path / "run", seed=1)
    scores = evaluate([Prediction()], Evaluation(model, data.source("test"))).scores

    found = {str(score.about["source"]): score.value for score in scores if score.name == "prediction.accuracy"}
    together = found.pop("('sound', 'table')")
    assert together > 75
    assert max(found.values()) < 60
    assert set(found) == {"sound", "table"}
