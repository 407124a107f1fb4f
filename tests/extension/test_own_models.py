"""What users bring: their own models and data, through public names only."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.distributions import Bernoulli, Categorical, Distribution

from molyneux.core import Batch, Condition, Kind, Loss, Modality, Predicts, Progress, Spec, Target, Trainable
from molyneux.data import ArraySource, Lacking
from molyneux.data.imperfections import Corrupted, Corruption, Dropout, GaussianNoise, ModalityBatch
from molyneux.learn import MVAE, MoPoE, Stage, Training, fit
from molyneux.measure import Evaluation, Likelihood, Prediction, Reconstruction, evaluate

CPU = {"precision": "32", "device": "cpu", "threads": 1, "tensorboard": False}


class SequenceClassifier(nn.Module):
    """Reads sequences of different lengths and answers two questions, one of which nobody answered for some samples."""

    def __init__(self, spec: Spec, width: int = 16) -> None:
        super().__init__()
        self.spec = spec
        self.encoder = nn.GRU(spec.modality("left-camera").shape[1], width, batch_first=True)
        self.heads = nn.ModuleDict({target.name: nn.Linear(width, len(target.symbols)) for target in spec.targets})

    def predict(self, batch: Batch, observed: Collection[str] | None = None) -> dict[str, Distribution]:
        """One distribution for each target, from the state at the last position that counts."""
        states, _ = self.encoder(batch.views["left-camera"])
        last = batch.positions("left-camera", self.spec).sum(1) - 1
        state = states[torch.arange(len(states)), last]
        return {name: Categorical(logits=head(state)) for name, head in self.heads.items()}

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """Cross entropy of the known answers."""
        terms = {}
        for name, answer in self.predict(batch).items():
            known = batch.known_mask(name)
            terms[name] = -(answer.log_prob(batch.targets[name].where(known, 0)) * known).sum() / known.sum().clamp(min=1)
        return Loss(torch.stack(list(terms.values())).sum(), {name: term.detach() for name, term in terms.items()})


def sequences(size: int, seed: int) -> ArraySource:
    """Sequences whose sum says the sign and whose length says whether they are long; noise lies beyond their lengths."""
    spec = Spec(
        (Modality("left-camera", "series", (12, 3)),),
        targets=(Target("sign", "class", ("negative", "positive")), Target("size", "class", ("short", "long"))),
    )
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, 13, size)
    sign = rng.integers(0, 2, size)
    view = rng.normal((2.0 * sign - 1)[:, None, None], 1.0, (size, 12, 3))
    view[np.arange(12) >= lengths[:, None]] = 1e6
    return ArraySource(
        spec,
        Batch(
            {"left-camera": torch.from_numpy(view.astype(np.float32))},
            lengths={"left-camera": torch.from_numpy(lengths)},
            targets={"sign": torch.from_numpy(sign), "size": torch.from_numpy((lengths > 6).astype(np.int64))},
            known={"size": torch.from_numpy(rng.random(size) < 0.5)},
        ),
    )


def test_a_classifier_with_two_targets_on_sequences_with_lengths(tmp_path: Path) -> None:
    train, test = sequences(1024, 0), sequences(512, 1)
    torch.manual_seed(0)
    model = SequenceClassifier(train.spec)
    assert isinstance(model, Trainable)
    assert isinstance(model, Predicts)
    fit(model, train, None, Training(epochs=8, batch_size=64, learning_rate=1e-2, keep="last", **CPU), tmp_path, seed=0)
    found = evaluate([Prediction()], [Evaluation(model, test, train=train)])
    accuracy = {score.about["target"]: score for score in found.scores if score.name == "prediction.accuracy"}
    assert accuracy["sign"].n == 512
    assert accuracy["size"].n == int(test.batch(np.arange(512)).known["size"].sum())
    assert all(score.value is not None and score.value > 90 for score in accuracy.values())


class Agreement(nn.Module):
    """Says whether a picture and a word name the same thing."""

    def __init__(self, spec: Spec) -> None:
        super().__init__()
        self.spec = spec
        self.picture, self.word = nn.Linear(8, 16), nn.Embedding(4, 16)

    def predict(self, batch: Batch, observed: Collection[str] | None = None) -> dict[str, Distribution]:
        """The probability of agreement, by the product of the two embeddings."""
        codes = {"scene": self.picture(batch.views["scene"]), "word": self.word(batch.views["word"].long())}
        seen = [code for name, code in codes.items() if observed is None or name in observed]
        return {"true": Bernoulli(logits=torch.stack(seen).prod(0).sum(-1))}

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """Binary cross entropy."""
        return Loss(-self.predict(batch)["true"].log_prob(batch.targets["true"].float()).mean())


def captioned(size: int, seed: int) -> ArraySource:
    spec = Spec(
        (Modality("scene", "tabular", (8,)), Modality("word", "label", (), "int64", ("a", "b", "c", "d"))),
        targets=(Target("true", "agreement"),),
    )
    rng = np.random.default_rng(seed)
    thing, word = rng.integers(0, 4, size), rng.integers(0, 4, size)
    word = np.where(rng.random(size) < 0.5, thing, word)
    scene = np.eye(8, dtype=np.float32)[thing] + rng.normal(0, 0.2, (size, 8)).astype(np.float32)
    views = {"scene": torch.from_numpy(scene), "word": torch.from_numpy(word)}
    return ArraySource(spec, Batch(views, targets={"true": torch.from_numpy((thing == word).astype(np.int64))}))


def test_an_agreement_model(tmp_path: Path) -> None:
    train, test = captioned(2048, 0), captioned(512, 1)
    torch.manual_seed(0)
    model = Agreement(train.spec)
    fit(model, train, None, Training(epochs=10, batch_size=64, learning_rate=2e-2, keep="last", **CPU), tmp_path, seed=0)
    found = evaluate([Prediction()], [Evaluation(model, test, train=train)])
    accuracy = {score.about["source"]: score for score in found.scores if score.name == "prediction.accuracy"}
    both, blind = accuracy["scene", "word"], [accuracy["scene"], accuracy["word"]]
    assert both.value is not None
    assert both.value > 95
    assert all(score.value is not None and score.value < 75 for score in blind)  # neither alone tells
    assert both.controls["constant"] < 70


TICKERS = ("BRK.B", "AAPL", "MSFT", "BF.B", "GOOG", "T", "V", "KO", "PEP", "JPM", "left-camera", "a/../b")


def prices(size: int, seed: int) -> ArraySource:
    """Twelve series that follow one common factor."""
    spec = Spec(tuple(Modality(name, "tabular", (4,)) for name in TICKERS))
    rng = np.random.default_rng(seed)
    common = rng.normal(0, 1, (size, 1)).astype(np.float32)
    views = {name: torch.from_numpy(common + rng.normal(0, 0.1, (size, 4)).astype(np.float32)) for name in TICKERS}
    return ArraySource(spec, Batch(views))


@pytest.mark.parametrize("kind", [MVAE, MoPoE])
def test_twelve_modalities_with_the_names_of_their_data_set(kind: type[MVAE] | type[MoPoE], tmp_path: Path) -> None:
    train, test = prices(256, 0), prices(64, 1)
    torch.manual_seed(0)
    model = kind(train.spec, latent_dim=2)
    history = fit(model, train, test, Training(steps=6, batch_size=32, **CPU), tmp_path, seed=0)
    assert history.steps == 6
    found = evaluate([Reconstruction()], [Evaluation(model, test, samples=64, train=train)])
    assert {score.about.get("target") for score in found.scores} >= set(TICKERS)
    assert all("+" not in str(value) for score in found.scores for value in score.about.values())


@dataclass(frozen=True, kw_only=True)
class Weaker(Corruption):
    """A user's own corruption: every number of a vector loses a share of its size."""

    name: ClassVar[str] = "weaker"
    kinds: ClassVar[tuple[Kind, ...]] = ("tabular",)

    def change(self, part: ModalityBatch, strength: float) -> tuple[Tensor, None]:
        """The numbers multiplied by `1 - strength`."""
        return part.view * (1 - strength), None


def points(size: int, seed: int) -> ArraySource:
    """Two vectors and a series of the same cause."""
    spec = Spec((Modality("x", "tabular", (6,)), Modality("y", "tabular", (6,)), Modality("z", "series", (8, 2))))
    rng = np.random.default_rng(seed)
    cause = rng.normal(0, 1, (size, 1)).astype(np.float32)
    views = {name: cause + rng.normal(0, 0.1, (size, 6)).astype(np.float32) for name in ("x", "y")}
    views["z"] = np.repeat(cause[:, None], 8, 1).repeat(2, 2)
    return ArraySource(spec, Batch({name: torch.from_numpy(np.ascontiguousarray(view)) for name, view in views.items()}))


def test_one_list_of_measures_under_corruptions_and_missing_senses(tmp_path: Path) -> None:
    train, test = points(256, 0), points(128, 1)
    torch.manual_seed(0)
    model = MVAE(train.spec, latent_dim=2)
    fit(model, train, None, Training(steps=40, batch_size=64, learning_rate=5e-3, keep="last", **CPU), tmp_path, seed=0)
    conditions = [Condition(test)]
    for corruption in (GaussianNoise(), Dropout(), Weaker()):
        conditions += [
            Condition(Corrupted(test, corruption, strength, seed=0), {"corruption": corruption.name, "strength": str(strength)})
            for strength in (0.25, 0.5, 0.75, 1.0)
        ]
    conditions += [Condition(Lacking(test, names), {"missing": names}) for names in (("x",), ("x", "y"))]
    found = evaluate(
        [Reconstruction()], [Evaluation(model, condition.source, about=condition.about, train=train) for condition in conditions]
    )
    told = {tuple(sorted((key, value) for key, value in score.about.items() if key in KEYS)) for score in found.scores}
    assert len(told) == 1 + 3 * 4 + 2
    errors = {
        score.about.get("strength", "0"): score.value
        for score in found.scores
        if score.name == "reconstruction.mse"
        and score.about.get("corruption", "weaker") == "weaker"
        and (score.about.get("source"), score.about.get("target"), score.about.get("missing")) == ("x", "x", None)
    }
    assert list(errors) == ["0", "0.25", "0.5", "0.75", "1.0"]


KEYS = ("corruption", "strength", "missing")


def test_generated_views_are_compared_with_the_true_ones_under_a_corruption() -> None:
    """What a modality is corrupted to is no truth: scores of generating it from another one stay as they are."""
    torch.manual_seed(0)
    test = points(64, 1)
    model = MVAE(test.spec, latent_dim=2)
    only_y = Corrupted(test, Weaker(modalities=("y",)), 1.0, seed=0)
    corrupted = Evaluation(model, only_y, about={"corruption": "weaker"}, reference=test)
    blind = Evaluation(model, only_y, about={"corruption": "blind"})
    measures = [Reconstruction(), Likelihood(k=2, samples=64)]
    found = evaluate(measures, [Evaluation(model, test), corrupted, blind])
    values = {
        (score.name, score.about.get("source"), score.about.get("target"), score.about.get("corruption")): score.value
        for score in found.scores
    }
    conditional = ("likelihood.conditional", "x", "y")
    assert values[*conditional, None] == values[*conditional, "weaker"] != values[*conditional, "blind"]
    assert values["likelihood.conditional", "y", "x", None] != values["likelihood.conditional", "y", "x", "weaker"]
    own = ("reconstruction.mse", "y", "y")
    assert len({values[*own, which] for which in (None, "weaker", "blind")}) == 3


class TwoPhases(nn.Module):
    """An encoder that is pre-trained without the head, then a head on the frozen encoder."""

    def __init__(self, spec: Spec) -> None:
        super().__init__()
        self.spec = spec
        self.encoder, self.decoder, self.head = nn.Linear(8, 4), nn.Linear(4, 8), nn.Linear(4, 4)
        self.stages: list[str] = []

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """Reconstruction in the first stage, cross entropy of the word in the second."""
        self.stages.append(progress.stage)
        code = self.encoder(batch.views["scene"])
        if progress.stage == "pretraining":
            return Loss(((self.decoder(code) - batch.views["scene"]) ** 2).sum(-1).mean())
        return Loss(nn.functional.cross_entropy(self.head(code), batch.views["word"]))


def test_two_training_stages(tmp_path: Path) -> None:
    train = captioned(256, 0)
    torch.manual_seed(0)
    model = TwoPhases(train.spec)
    head, before = model.head.weight.clone(), model.encoder.weight.clone()
    stages = (
        Stage(name="pretraining", steps=6, parameters=("encoder.*", "decoder.*")),
        Stage(name="head", steps=4, parameters=("head.*",), learning_rate=1e-1),
    )
    history = fit(model, train, None, Training(batch_size=32, stages=stages, keep="last", **CPU), tmp_path, seed=0)
    assert [history.steps, model.stages] == [10, ["pretraining"] * 6 + ["head"] * 4]
    assert not torch.equal(model.encoder.weight, before)
    assert not torch.equal(model.head.weight, head)
    again = TwoPhases(train.spec)  # a second call trains no more and gives the same weights
    fit(again, train, None, Training(batch_size=32, stages=stages, keep="last", **CPU), tmp_path, seed=0)
    assert again.stages == []
    assert all(torch.equal(again.state_dict()[name], tensor) for name, tensor in model.state_dict().items())
