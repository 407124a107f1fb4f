"""What every corruption promises, for every corruption that the folder's list names, and what each does at a strength."""

import inspect
import json
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import torch

from molyneux.core import Batch, ConfigError, Factor, Modality, Source, Spec, Target
from molyneux.data import ArraySource, Missing, imperfections
from molyneux.data.imperfections import (
    Blur,
    Corrupted,
    Corruption,
    Dropout,
    Erasing,
    GaussianNoise,
    Substitution,
    TemporalDropout,
)

KINDS = [
    item
    for name in imperfections.__all__
    if inspect.isclass(item := getattr(imperfections, name)) and issubclass(item, Corruption) and item is not Corruption
]
SIZE = 400
LETTERS = (" ", *"abcdefghijklmnopqrstuvwxyz")
WORDS = ("<pad>", "<bos>", "<eos>", *(f"w{number}" for number in range(20)))
SPEC = Spec(
    (
        Modality("image", "image", (3, 16, 24), "uint8"),
        Modality("float image", "image", (1, 8, 8)),
        Modality("video", "video", (3, 1, 8, 8), "uint8"),
        Modality("series", "series", (12, 2)),
        Modality("audio", "audio", (1, 50)),
        Modality("table", "tabular", (4,)),
        Modality("points", "set", (9, 2)),
        Modality("caption", "text", (15,), "uint8", LETTERS, 0),
        Modality("sentence", "text", (15,), "int64", WORDS, 0, 1, 2),
        Modality("ids", "text", (15,), "int64", ("a", "b", "c")),
    ),
    (Factor("shape", ("a", "b")),),
    (Target("label", "class", ("a", "b")),),
)


def samples():
    random = np.random.default_rng(0)

    def view(modality):
        if modality.symbols:
            ids = random.integers(3 if modality.end else min(1, len(modality.symbols) - 3), len(modality.symbols), (SIZE, 15))
            if modality.end:
                ids[:, 10], ids[:, 11:] = 2, 0
            elif len(modality.symbols) > 3:
                ids[:, 6] = 0  # between two words
            return ids.astype(modality.dtype)
        if modality.dtype == "uint8":
            return random.integers(0, 256, (SIZE, *modality.shape), dtype=np.uint8)
        values = random.random if modality.kind == "image" else random.standard_normal
        return values((SIZE, *modality.shape)).astype(np.float32)

    views = {modality.name: torch.from_numpy(view(modality)) for modality in SPEC.modalities}
    lengths = {"ids": torch.arange(SIZE) % 16, "series": torch.full((SIZE,), 12), "points": torch.arange(SIZE) % 10}
    codes = torch.arange(SIZE) % 2
    return ArraySource(SPEC, Batch(views, factors=codes[:, None], lengths=lengths, targets={"label": codes}))


@pytest.fixture(scope="module")
def source():
    return Missing(samples(), {"image": 0.2, "caption": 0.2}, seed=1)


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def kind(request):
    return request.param


def equal(one, other):
    mine, theirs = one.tensors(), other.tensors()
    return mine.keys() == theirs.keys() and all(
        mine[name].dtype == theirs[name].dtype and torch.equal(mine[name], theirs[name]) for name in mine
    )


def test_is_a_frozen_description(kind):
    corruption = kind()
    with pytest.raises(FrozenInstanceError):
        corruption.modalities = ()
    assert corruption == pickle.loads(pickle.dumps(corruption))
    assert {parameter.kind for parameter in inspect.signature(kind).parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}


def test_strength_0_changes_no_byte(kind, source):
    whole = source.batch(np.arange(SIZE))
    assert equal(kind().corrupt(whole, SPEC, 0.0, np.arange(SIZE), 1), whole)


@pytest.mark.parametrize("strength", [1e-9, 0.3, 1.0])
def test_a_sample_depends_on_its_number_and_the_seed_alone(kind, source, strength):
    corrupted = Corrupted(source, kind(), strength, seed=3)
    assert isinstance(corrupted, Source)
    before = {name: tensor.clone() for name, tensor in source.batch(np.arange(SIZE)).tensors().items()}
    whole = corrupted.batch(np.arange(SIZE)).check(SPEC)
    rows = np.random.default_rng(1).permutation(SIZE)
    assert equal(corrupted.batch(rows), whole[torch.from_numpy(rows)])
    assert equal(corrupted.batch(np.arange(7, 12)), whole[7:12])
    assert equal(pickle.loads(pickle.dumps(corrupted)).batch(np.arange(SIZE)), whole)
    fitting = [modality.name for modality in SPEC.modalities if kind().fits(modality)]
    touched = {f"{part}.{name}" for part in ("view", "length") for name in fitting}
    for name, tensor in whole.tensors().items():
        assert name in touched or torch.equal(tensor, before[name])
    if strength == 0.3:
        assert not any(torch.equal(whole.views[name], before[f"view.{name}"]) for name in fitting)
        other = Corrupted(source, kind(), strength, seed=4).batch(np.arange(SIZE))
        assert equal(other, whole) == (kind is Blur)


def test_one_modality_may_be_chosen(kind, source):
    fitting = [modality.name for modality in SPEC.modalities if kind().fits(modality)]
    whole = source.batch(np.arange(SIZE))
    changed = Corrupted(source, kind(modalities=(fitting[-1],)), 0.5, seed=1).batch(np.arange(SIZE))
    everything = Corrupted(source, kind(), 0.5, seed=1).batch(np.arange(SIZE))
    if kind is TemporalDropout:  # whose moments are those of the modalities that are named
        assert not torch.equal(changed.views[fitting[-1]], whole.views[fitting[-1]])
        assert all(torch.equal(changed.views[name], whole.views[name]) for name in SPEC.names if name != fitting[-1])
        return
    for name in SPEC.names:
        assert torch.equal(changed.views[name], (everything if name == fitting[-1] else whole).views[name])


def test_settings_that_cannot_be_used(kind, source):
    with pytest.raises(ConfigError, match=r"strength from 0 to 1, got 1\.1"):
        Corrupted(source, kind(), 1.1, seed=1)
    with pytest.raises(ConfigError, match="at least one of the modalities, got none"):
        GaussianNoise(modalities=())
    with pytest.raises(ConfigError, match="no modality 'imag'"):
        Corrupted(source, kind(modalities=("imag",)), 0.5, seed=1)
    with pytest.raises(ConfigError, match=rf"{kind.name}: expected at least one of the modalities, got none"):
        kind(modalities=())
    labels = ArraySource(
        Spec((Modality("x", "label", (), "int64", ("a", "b")),)), Batch({"x": torch.zeros(2, dtype=torch.int64)})
    )
    with pytest.raises(ConfigError, match=r"expected a modality of kind .* that fits, got x \(label\)"):
        Corrupted(labels, kind(), 0.5, seed=1)


def test_the_origin_names_the_corruption(kind):
    class Known(ArraySource):
        @property
        def origin(self):
            return {"dataset": "known"}

    known = Known(SPEC, samples().batch(np.arange(SIZE)))
    one, other = (Corrupted(known, kind(), strength, seed=1).origin for strength in (0.1, 0.2))
    assert json.loads(json.dumps(one)) == one != other
    assert one["corruption"]["name"] == kind.name


def test_noise_has_its_deviation(source):
    before = source.batch(np.arange(SIZE))
    after = Corrupted(source, GaussianNoise(scale=2.0), 0.25, seed=1).batch(np.arange(SIZE))
    for name in ("series", "audio", "table"):
        noise = after.views[name] - before.views[name]
        assert abs(noise.mean()) < 0.02
        assert abs(noise.std() - 0.5) < 0.02
        assert abs(torch.corrcoef(noise.flatten(1).T)[0, 1]) < 0.15
    grey = ArraySource(Spec((SPEC.modality("image"),)), Batch({"image": torch.full((50, 3, 16, 24), 128, dtype=torch.uint8)}))
    seen = Corrupted(grey, GaussianNoise(), 0.1, seed=1).batch(np.arange(50)).views["image"].double()
    assert abs(seen.mean() - 128) < 1
    assert abs(seen.std() - 25.5) < 0.5
    bytes_ = Modality("bytes", "series", (20, 3), "uint8")
    stored = ArraySource(Spec((bytes_,)), Batch({"bytes": torch.full((50, 20, 3), 254, dtype=torch.uint8)}))
    noisy = Corrupted(stored, GaussianNoise(scale=4.0), 0.5, seed=1).batch(np.arange(50)).views["bytes"].double()
    assert noisy.min() > 230  # in the units of the series, and what is beyond 255 is cut
    assert noisy.max() == 255


def test_erasing_has_its_area_anywhere(source):
    white = ArraySource(Spec((SPEC.modality("image"),)), Batch({"image": torch.full((SIZE, 3, 16, 24), 255, dtype=torch.uint8)}))
    erased = Corrupted(white, Erasing(fill=0.0), 0.25, seed=1).batch(np.arange(SIZE)).views["image"] == 0
    assert (erased.flatten(1).sum(1) == 3 * 8 * 12).all()
    assert erased.any(0).all()
    assert (erased.amax((1, 3)).sum(1) == 8).all()
    assert Corrupted(white, Erasing(fill=0.0), 1.0, seed=1).batch(np.arange(SIZE)).views["image"].sum() == 0


def test_blur_keeps_the_mean_and_loses_detail(source):
    before = source.batch(np.arange(SIZE)).views["image"].double()
    spread = [before.std((2, 3)).mean()]
    for strength in (0.25, 0.5, 0.75, 1.0):
        after = Corrupted(source, Blur(), strength, seed=1).batch(np.arange(SIZE)).views["image"].double()
        if strength in (0.5, 0.75, 1.0):
            assert (after.mean((2, 3)) - before.mean((2, 3))).abs().max() < 0.51
        spread.append(after.std((2, 3)).mean())
    assert spread == sorted(spread, reverse=True)
    assert spread[-1] == 0


def test_dropout_loses_its_share_and_leaves_no_gap(source):
    before = source.batch(np.arange(SIZE))
    after = Corrupted(source, Dropout(), 0.3, seed=1).batch(np.arange(SIZE))
    lost = (after.views["series"] == 0).all(2)
    assert abs(lost.double().mean() - 0.3) < 0.02
    assert torch.equal(after.views["series"][~lost], before.views["series"][~lost])
    kept = (after.views["sentence"] > 2).sum(1)
    assert abs(kept.double().mean() - 7.0) < 0.3
    for old, new in zip(before.views["sentence"].tolist(), after.views["sentence"].tolist(), strict=True):
        words = [word for word in new if word > 2]
        assert new == [*words, 2, *[0] * (14 - len(words))]
        assert is_part(words, old)
    assert abs(after.lengths["ids"].double().mean() / before.lengths["ids"].double().mean() - 0.7) < 0.02
    short = after.positions("ids", SPEC)
    for row in range(40):
        assert is_part(
            after.views["ids"][row][short[row]].tolist(), before.views["ids"][row][: before.lengths["ids"][row]].tolist()
        )


def is_part(words, text):
    """Whether words stand in a text in this order."""
    rest = iter(text)
    return all(word in rest for word in words)


def test_substitution_replaces_its_share_by_any_other_symbol(source):
    before = source.batch(np.arange(SIZE)).views["sentence"]
    after = Corrupted(source, Substitution(), 0.4, seed=1).batch(np.arange(SIZE)).views["sentence"]
    changed = before != after
    assert abs(changed[:, :10].double().mean() - 0.4) < 0.02
    assert torch.equal(before[:, 10:], after[:, 10:])
    assert after[:, :10].min() > 2
    every = Corrupted(source, Substitution(), 1.0, seed=1).batch(np.arange(SIZE)).views["sentence"]
    assert set(every[before == 5].tolist()) == set(range(3, 23)) - {5}
    caption = Corrupted(source, Substitution(modalities=("caption",)), 1.0, seed=1).batch(np.arange(SIZE)).views["caption"]
    letters = np.arange(15) != 6
    assert (caption != source.batch(np.arange(SIZE)).views["caption"])[:, letters].all()


@pytest.mark.parametrize("shape", [(3, 16, 16), (1, 5, 7), (2, 3, 9, 11)])
@pytest.mark.parametrize("scale", [0.004, 0.3, 20.0])
def test_noise_on_bytes_is_that_of_the_arithmetic_in_64_bits(shape, scale):
    modality = Modality("image", "image" if len(shape) == 3 else "video", shape, "uint8")
    view = torch.from_numpy(np.random.default_rng(0).integers(0, 256, (40, *shape), dtype=np.uint8))
    found = GaussianNoise(scale=scale).corrupt(Batch({"image": view}), Spec((modality,)), 1.0, np.arange(40), 3).views["image"]
    parts = []
    corruption = GaussianNoise(scale=scale)
    keep = type(corruption).change
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GaussianNoise, "change", lambda self, part, strength: parts.append(part) or keep(self, part, strength))
        corruption.corrupt(Batch({"image": view}), Spec((modality,)), 1.0, np.arange(40), 3)
    expected = parts[0].restored(parts[0].normals(*shape).mul_(scale).add_(parts[0].unit()))
    assert torch.equal(found, expected)


@pytest.mark.parametrize("shape", [(3, 16, 16), (1, 5, 7), (2, 3, 9, 12)])
@pytest.mark.parametrize("strength", [0.02, 0.3, 0.5, 0.8, 1.0])
def test_blurred_bytes_are_those_that_torch_shrinks_and_enlarges(shape, strength):
    modality = Modality("image", "image" if len(shape) == 3 else "video", shape, "uint8")
    view = torch.from_numpy(np.random.default_rng(0).integers(0, 256, (40, *shape), dtype=np.uint8))
    found = Blur().corrupt(Batch({"image": view}), Spec((modality,)), strength, np.arange(40), 3).views["image"]
    small = [max(1, round((1.0 - strength) * side)) for side in shape[-2:]]
    flat = view.double().flatten(0, -4) / 255.0
    shrunk = torch.nn.functional.interpolate(flat, size=small, mode="area")
    expected = (torch.nn.functional.interpolate(shrunk, size=shape[-2:], mode="nearest") * 255.0).round().to(torch.uint8)
    assert torch.equal(found, expected.reshape(found.shape))
