import io

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn
from torch.nn import functional

from molyneux.core import Factor, JudgeMaterial, Modality, Progress, Spec, SpecError
from molyneux.learn import Training
from molyneux.learn.judges import train_judge, validate_accuracy
from molyneux.learn.judges.augmentation import compressed, jitter, soften
from molyneux.learn.judges.labels import union
from molyneux.learn.judges.net import JudgeNet
from molyneux.learn.judges.train import Interleaved, JudgeTraining, calibrate

QUICK = Training(epochs=1, batch_size=16, learning_rate=3e-3, tensorboard=False)


def test_loss_leaves_out_what_a_sample_lacks(blobs):
    source = blobs(6)
    model = JudgeTraining(source.spec, seed=0).eval()
    batch = source.batch(range(6))
    batch.factors[:4, 1] = -1
    loss = model.loss(batch, Progress(0, 1), torch.Generator().manual_seed(0))
    logits = model.net(soften(batch.views["image"] / 255, torch.Generator().manual_seed(0)))
    colour = functional.cross_entropy(logits["colour"][4:], batch.factors[4:, 1]) * 2 / 6
    assert loss.terms["colour"].item() == pytest.approx(colour.item(), rel=1e-5)
    assert loss.total.item() == pytest.approx(sum(term.item() for term in loss.terms.values()), rel=1e-6)


def test_contour_judge(contours, tmp_path):
    judge = train_judge(
        {"1": JudgeMaterial(contours(1500))}, {"1": JudgeMaterial(contours(300, seed=1))}, tmp_path,
        world="w", modality="touch", factors=("shape", "size"), training=QUICK, validated=100,
    )  # fmt: skip
    assert judge.record.accuracy == {"1": {"shape": 1.0, "size": 1.0}}
    assert validate_accuracy(judge, contours(100, seed=2)) == {"shape": 1.0, "size": 1.0}


def test_contours_have_no_beginning(contours):
    source = contours(10)
    net = JudgeNet(source.spec.modalities[0], {"shape": 2}).eval()
    for shift in (1, 17):
        torch.testing.assert_close(net(source.points)["shape"], net(source.points.roll(shift, 1))["shape"], rtol=1e-4, atol=1e-5)


def test_kinds_without_judges():
    with pytest.raises(SpecError, match="got text"):
        JudgeNet(Modality("text", "text", (5,), "uint8", ("a", "b")), {"shape": 2})


@pytest.mark.parametrize("name", ["a.b", "type", 'x">', "training", "_61"])
def test_factors_of_any_name(contours, name):
    net = JudgeNet(contours(2).spec.modalities[0], {name: 2, "a": 3}).eval()
    logits = net(contours(2).points)
    assert {factor: tuple(values.shape) for factor, values in logits.items()} == {name: (2, 2), "a": (2, 3)}


def test_samples_of_all_sources_and_what_they_lack(blobs):
    sources = {"1": blobs(6, factors=("side",), seed=1), "2": blobs(5, seed=2)}
    factors = union([source.spec for source in sources.values()], ("side", "colour"))
    samples = Interleaved([(source, 1) for source in sources.values()], "image", factors)
    assert len(samples) == 10
    assert samples.spec.factors == factors
    batch = samples.batch(np.array([0, 3, 4, 9])).check(samples.spec)
    pictures = [sources["1"].pictures[0], sources["1"].pictures[2], sources["2"].pictures[1], sources["2"].pictures[4]]
    assert torch.equal(batch.views["image"], torch.stack(pictures))
    assert batch.factors[:, 1].tolist() == [-1, -1, *sources["2"].codes[[1, 4], 1].tolist()]


def test_sources_of_different_form(blobs):
    with pytest.raises(SpecError, match="same image in all sources"):
        Interleaved([(blobs(2), 1), (blobs(2, pixels=32), 1)], "image", ())


def test_some_sources_are_seen_more_often(blobs):
    """A round is three samples of both, then one of the third."""
    first, second, third = blobs(7, seed=1), blobs(9, seed=2), blobs(5, seed=3)
    samples = Interleaved([(first, 3), (second, 3), (third, 1)], "image", first.spec.factors)
    assert len(samples) == 7 * 2
    rounds = [first.pictures[3], first.pictures[4], first.pictures[5], second.pictures[3], second.pictures[4], third.pictures[1]]
    for position, picture in zip((7, 8, 9, 10, 11, 13), rounds, strict=True):
        assert torch.equal(samples.batch(np.array([position])).views["image"][0], picture)
    seen = samples.batch(np.arange(len(samples))).views["image"]
    assert len({picture.numpy().tobytes() for picture in seen}) == len(seen)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_noise_is_an_argument():
    view = torch.rand(8, 3, 16, 16, generator=generator())
    assert torch.equal(soften(view, generator(1)), soften(view, generator(1)))
    assert not torch.equal(soften(view, generator(1)), soften(view, generator(2)))
    series = torch.rand(8, 16, 2, generator=generator())
    assert torch.equal(jitter(series, generator(1)), jitter(series, generator(1)))


def test_grey_stays_grey_within_bounds():
    """Blur changes nothing inside a uniform picture; gain is 0.9..1.1, noise at most 5 % standard deviation."""
    inside = soften(torch.full((64, 3, 32, 32), 0.5), generator())[:, :, 2:-2, 2:-2]
    means, spreads = inside.mean((1, 2, 3)), inside.std((1, 2, 3))
    assert means.min() > 0.43
    assert means.max() < 0.57
    assert spreads.max() < 0.055
    assert soften(torch.ones(8, 3, 8, 8), generator()).max() <= 1


def test_half_of_the_pictures_are_blurred():
    """Stripes one pixel wide keep their contrast where they stay sharp; the full filter leaves none of it."""
    stripes = torch.zeros(400, 1, 16, 16)
    stripes[:, :, :, ::2] = 0.8
    seen = soften(stripes, generator())[:, 0, 3:13, 4:12]
    contrast = (seen[:, :, ::2] - seen[:, :, 1::2]).mean((1, 2)) / seen.mean((1, 2)) / 2
    assert 150 < (contrast < 0.95).sum() < 230
    assert contrast.min() < 0.1
    assert 0.9 < contrast.max() < 1.05


def test_jitter_is_small():
    series = torch.randn(200, 64, 3, generator=generator()) * torch.tensor([1.0, 10.0, 100.0])
    change = (jitter(series, generator()) - series).std((0, 1)) / series.std((0, 1))
    assert nn.functional.l1_loss(change, torch.full((3,), 0.02 / 3**0.5)) < 0.002


@pytest.mark.parametrize("quality", [75, 90])
def test_compressed_pictures_are_like_those_of_pillow(quality):
    """Half of the rest is that files hold whole numbers."""
    waves = torch.stack(
        [torch.sin(torch.arange(64.0) * k / 9)[:, None] * torch.cos(torch.arange(64.0) * k / 7) for k in (1, 2, 3)]
    )
    picture = (127 + 120 * waves).round()
    picture[:, 20:40, 12:30] = torch.tensor([255.0, 40.0, 0.0])[:, None, None]
    file = io.BytesIO()
    Image.fromarray(picture.permute(1, 2, 0).to(torch.uint8).numpy()).save(file, "JPEG", quality=quality)
    real = torch.from_numpy(np.array(Image.open(file, formats=["JPEG"]))).permute(2, 0, 1).float()
    own = 255 * compressed(picture[None] / 255, torch.tensor([float(quality)]))[0]
    assert (own - real).abs().mean() < 0.35 * (real - picture).abs().mean()
    grey = compressed(torch.full((2, 1, 28, 28), 0.5), torch.tensor([75.0, 90.0]))
    torch.testing.assert_close(grey, torch.full((2, 1, 28, 28), 0.5), atol=0.01, rtol=0)


def test_a_calibrated_judge_refuses_few_true_views(blobs):
    source = blobs(400)
    model = JudgeTraining(source.spec, seed=0)
    known = Spec(source.spec.modalities, tuple(Factor(f.name, (*f.values, "unreadable")) for f in source.spec.factors))
    model = JudgeTraining(known, seed=0)
    with torch.no_grad():
        for head in model.net.heads.values():
            head.bias[-1] += 1.0  # as it is, it would refuse them all
    added = calibrate(model.net, known, [source], seed=0)
    assert set(added) == {"side", "colour"}
    assert max(added.values()) < -0.5
    with torch.no_grad():
        logits = model.net(source.pictures / 255)
    for values in logits.values():
        assert (values.argmax(1) == values.shape[1] - 1).double().mean() < 0.1
