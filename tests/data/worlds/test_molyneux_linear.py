"""The linear control of Molyneux's question: features that do not change with rotation, and canonical correlations."""

import importlib
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from molyneux.core import Batch

STUDIES = Path(__file__).parents[3] / "studies"


@pytest.fixture
def linear(monkeypatch):
    monkeypatch.syspath_prepend(str(STUDIES))
    return importlib.import_module("molyneux_linear")


@pytest.fixture
def samples(linear):
    world = linear.world_of(32, 1)
    batch = world.batch(np.arange(400), split="train", seed=1)
    return batch[batch.factors[:, world.spec.factor_index("role")] == 0]


def test_features_of_pictures_do_not_change_with_rotation_and_place(linear, samples):
    pictures = samples.views["image"]
    found = linear.seen(pictures)
    assert found.shape == (len(pictures), linear.RINGS * linear.WAVES)
    torch.testing.assert_close(found.norm(dim=1), torch.ones(len(found)))
    for turned in (1, 2, 3):
        torch.testing.assert_close(linear.seen(pictures.rot90(turned, (2, 3))), found, atol=2e-3, rtol=0)
    wide = torch.zeros(len(pictures), 3, 48, 48, dtype=torch.uint8)
    near, far = wide.clone(), wide.clone()
    near[:, :, 2:34, 3:35], far[:, :, 14:46, 12:44] = pictures, pictures
    torch.testing.assert_close(linear.seen(near), linear.seen(far), atol=2e-3, rtol=0)
    others = (found[:, None] - found).norm(dim=2)
    assert others[~torch.eye(len(found), dtype=torch.bool)].median() > 0.05


def test_features_of_touches_do_not_change_with_rotation_size_and_order(linear, samples):
    touches = samples.views["touch"]
    found = linear.felt(touches)
    angle = 5 * 2 * math.pi / linear.ANGLES
    turn = torch.tensor([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    turned = touches.clone()
    for start in (0, 3):
        turned[..., start : start + 2] = 1.7 * touches[..., start : start + 2] @ turn + 0.4
    away = (linear.felt(turned.flip(1)) - found).norm(dim=1)
    assert away.quantile(0.9) < 0.05  # points on the border of two cells may change sides
    others = (found[:, None] - found).norm(dim=2)
    assert others[~torch.eye(len(found), dtype=torch.bool)].median() > 0.2
    assert linear.felt(torch.zeros(2, 9, 6)).isfinite().all()


def test_codes_are_those_of_canonical_correlations(linear, monkeypatch):
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(3000, 2, generator=generator)
    noise = [torch.randn(3000, size, generator=generator) for size in (5, 4)]
    features = {"image": noise[0], "touch": noise[1]}
    features["image"][:, :2] = hidden @ torch.tensor([[1.0, 0.5], [0.0, 1.0]]) + 0.3 * noise[0][:, :2]
    features["touch"][:, 1:3] = hidden + 0.8 * noise[1][:, 1:3]
    model = linear.LinearCodes(features, ridge=0.0, directions=2)
    left, right = ((values - values.mean(0)).double().numpy() for values in features.values())
    inner = [part.T @ part for part in (left, right)]
    product = np.linalg.solve(inner[0], left.T @ right) @ np.linalg.solve(inner[1], right.T @ left)
    expected = np.sort(np.sqrt(np.linalg.eigvals(product).real.clip(0)))[::-1][:2]
    np.testing.assert_allclose(model.correlations, expected, rtol=1e-6)
    monkeypatch.setattr(linear, "FEATURES", dict.fromkeys(features, lambda view: view))
    codes = [model.encode(Batch({name: values})).mean.shared for name, values in features.items()]
    torch.testing.assert_close(codes[0].norm(dim=1), torch.ones(3000))
    alike = codes[0][:200] @ codes[1][:200].T
    assert (alike.diagonal()[:, None] > alike).float().mean() > 0.7


def test_the_control_tells_new_shapes_after_a_few_were_bridged(linear, monkeypatch):
    monkeypatch.setattr(linear, "TRAIN", 1500)
    monkeypatch.setattr(linear, "PART", 1500)
    told, asked = {}, {"source": "touch", "target": "image", "role": "new"}
    for bridged in (2, 128):
        world = linear.world_of(bridged, 1)
        model = linear.LinearCodes(linear.bridged_features(world, 1), ridge=0.1, directions=16)
        found = linear.scores(model, world.source("test", 1500, seed=1), seed=1, samples=300)
        told[bridged] = next(
            score.value for score in found if score.name == "two_way_choice.accuracy" and dict(score.about) == asked
        )
    assert told[128] > 85
    assert told[128] > told[2] + 15
