"""Adapters of modules from outside, against what they should compute."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from molyneux.core import (
    Batch,
    Codes,
    ConfigError,
    CorruptFileError,
    Decodes,
    Encodes,
    Modality,
    NotApplicableError,
    Predicts,
    Spec,
    SpecError,
    StoreError,
    Target,
)
from molyneux.learn import WrappedAutoencoder, WrappedEncoder, WrappedPredictor, load_state

SPEC = Spec(
    (Modality("left", "tabular", (3,)), Modality("right", "tabular", (3,)), Modality("word", "text", (2,), "uint8", ("a", "b"))),
    targets=(Target("kind", "class", ("x", "y", "z")),),
)


def batch(size: int = 5) -> Batch:
    generator = torch.Generator().manual_seed(0)
    left, right = torch.randn(2, size, 3, generator=generator)
    word = torch.randint(0, 2, (size, 2), generator=generator).to(torch.uint8)
    missing = torch.arange(size) != 1
    return Batch({"left": left, "right": right.where(missing[:, None], torch.nan), "word": word}, present={"right": missing})


class Pair(nn.Module):
    """The view as the mean, and a constant log-variance."""

    def __init__(self, log_variance: float) -> None:
        super().__init__()
        self.log_variance = log_variance

    def forward(self, view: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return view, torch.full_like(view, self.log_variance)


def test_codes_of_several_modalities_are_the_mean_of_those_that_are_there() -> None:
    model, given = WrappedEncoder(SPEC, {"left": nn.Identity(), "right": nn.Identity()}), batch()
    assert isinstance(model, Encodes)
    assert not isinstance(model, Decodes | Predicts)
    found = model.encode(given).mean.shared
    expected = (given.views["left"] + given.views["right"]) / 2
    expected[1] = given.views["left"][1]
    assert torch.allclose(found, expected)
    assert torch.equal(model.encode(given, ["left"]).mean.shared, given.views["left"])
    with pytest.raises(NotApplicableError, match="has encoders for left, right, got only word"):
        model.encode(given, ["word"])


def test_with_variances_they_are_the_product_of_experts() -> None:
    model, given = WrappedEncoder(SPEC, {"left": Pair(0.0), "right": Pair(1.0)}, variances=True), batch()
    precision = torch.tensor([1.0, torch.e**-1])
    expected = (precision[0] * given.views["left"] + precision[1] * given.views["right"]) / precision.sum()
    expected[1] = given.views["left"][1]
    assert torch.allclose(model.encode(given).mean.shared, expected, atol=1e-6)


def test_an_autoencoder_decodes_what_its_modules_say() -> None:
    spec = Spec((Modality("image", "image", (1, 2, 2), "uint8"), SPEC.modality("word"), SPEC.modality("left")))
    decoders = {
        "image": nn.Sequential(nn.Linear(4, 4), nn.Sigmoid(), nn.Unflatten(1, (1, 2, 2))),
        "word": nn.Sequential(nn.Linear(4, 4), nn.Unflatten(1, (2, 2))),
        "left": nn.Linear(4, 3),
    }
    model = WrappedAutoencoder(spec, {"image": nn.Flatten()}, decoders, latent_dim=4)
    assert isinstance(model, Decodes)
    codes = torch.randn(3, 5, 4)
    found = model.decode(Codes(codes))
    assert torch.allclose(found["image"].mean, decoders["image"](codes.flatten(0, 1)).reshape(3, 5, 1, 2, 2), atol=1e-5)
    assert torch.allclose(found["left"].mean, decoders["left"](codes))
    word = torch.randint(0, 2, (5, 2))
    logits = decoders["word"](codes.flatten(0, 1)).reshape(3, 5, 2, 2).log_softmax(-1)
    expected = logits.gather(-1, word.expand(3, 5, 2).unsqueeze(-1)).squeeze(-1).sum(-1)
    assert torch.allclose(found["word"].log_prob(word), expected, atol=1e-5)
    assert model.prior(6).shared.mean.shape == (6, 4)
    with pytest.raises(ConfigError, match="decoders: expected one for each modality, got none for word, left"):
        WrappedAutoencoder(spec, {"image": nn.Flatten()}, {"image": decoders["image"]}, latent_dim=4)
    with pytest.raises(SpecError, match=r"expected views \(N, 3\) of left, got"):
        WrappedAutoencoder(spec, {"image": nn.Flatten()}, {**decoders, "left": nn.Linear(4, 2)}, latent_dim=4).decode(
            Codes(codes)
        )


def test_a_predictor_sees_only_what_is_observed() -> None:
    class Sum(nn.Module):
        def forward(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
            return left + right

    model, given = WrappedPredictor(SPEC, Sum(), inputs=("left", "right")), batch()
    assert isinstance(model, Predicts)
    both, left = (model.predict(given, names)["kind"] for names in (None, ["left", "word"]))
    assert torch.allclose(left.probs, given.views["left"].softmax(-1))  # type: ignore[attr-defined]
    assert torch.isfinite(both.probs).all()  # type: ignore[attr-defined]
    assert torch.allclose(both.probs[1], left.probs[1])  # type: ignore[attr-defined]
    with pytest.raises(SpecError, match=r"expected class outputs \(5, 3\) for the target kind"):
        WrappedPredictor(SPEC, nn.Linear(3, 2), inputs=("left",)).predict(given)
    with pytest.raises(SpecError, match="no target 'kinds'"):
        WrappedPredictor(SPEC, Sum(), target="kinds")


def test_a_module_that_fails_is_named_with_the_shapes_it_was_given() -> None:
    narrow = nn.Linear(7, 2)
    with pytest.raises(SpecError, match=r"^the encoder of left failed on \(5, 3\): RuntimeError: mat1 and mat2 shapes"):
        WrappedEncoder(SPEC, {"left": narrow}).encode(batch())
    model = WrappedAutoencoder(SPEC, {"left": nn.Identity()}, dict.fromkeys(SPEC.names, narrow), latent_dim=3)
    with pytest.raises(SpecError, match=r"^the decoder of right failed on \(4, 3\): RuntimeError"):
        model.decode(Codes(torch.zeros(1, 4, 3)), ("right",))
    with pytest.raises(SpecError, match=r"^the module failed on \(5, 3\) and \(5, 3\): TypeError: .*argument"):
        WrappedPredictor(SPEC, narrow, inputs=("left", "right")).predict(batch())


def test_weights_are_read_and_nothing_else_is(tmp_path: Path) -> None:
    source, target = nn.Linear(3, 2), nn.Linear(3, 2)
    save_file(dict(source.state_dict()), tmp_path / "w.safetensors")
    torch.save({"model": source.state_dict(), "epoch": 3}, tmp_path / "w.pt")
    for name, key in (("w.safetensors", ""), ("w.pt", "model")):
        nn.init.zeros_(target.weight)
        assert torch.equal(load_state(target, tmp_path / name, key=key).weight, source.weight)  # type: ignore[arg-type]
    with pytest.raises(CorruptFileError, match="expected a state dict, got model, epoch"):
        load_state(target, tmp_path / "w.pt")
    with pytest.raises(SpecError, match="does not fit this model: weight is"):
        load_state(nn.Linear(4, 2), tmp_path / "w.safetensors")
    torch.save(source, tmp_path / "whole.pt")
    (tmp_path / "cut.safetensors").write_bytes(b"nothing")
    for name in ("whole.pt", "cut.safetensors"):
        with pytest.raises(CorruptFileError, match="holds no weights that can be read"):
            load_state(target, tmp_path / name)
    with pytest.raises(StoreError, match="it is not there"):
        load_state(target, tmp_path / "no.pt")
