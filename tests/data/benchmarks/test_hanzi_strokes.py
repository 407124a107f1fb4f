"""Characters as pictures and strokes, from made-up files in the published layout; the real ones where they are at hand."""

import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch

from molyneux.core import ConfigError, DataError, StoreError
from molyneux.data import CharacterBridging, HanziStrokes
from molyneux.data.benchmarks.hanzi_strokes.glyphs import glyphs
from molyneux.data.benchmarks.hanzi_strokes.pairs import INK, LEAST, alike_pairs, small_pictures
from molyneux.data.benchmarks.hanzi_strokes.references import drawing_distances, ink, stroke_counts
from molyneux.data.worlds.molyneux_shapes.bridging import ROLES
from molyneux.measure.two_way_choice import two_way_choices

DESIGN = CharacterBridging(bridged=4, pool=8, asked=8)
REAL = Path(os.environ.get("MOLYNEUX_DATA", "")) / "hanzi-writer-data"


def bar(start, end, width=50.0):
    """The outline of a straight stroke, with a round end, and its median."""
    (ax, ay), (bx, by) = start, end
    length = float(np.hypot(bx - ax, by - ay))
    x, y = -(by - ay) / length * width / 2, (bx - ax) / length * width / 2
    tip = f"{bx + 2 * y} {by - 2 * x}"
    path = f"M {ax + x} {ay + y} L {bx + x} {by + y} Q {tip} {bx - x} {by - y} C {bx} {by} {ax} {ay} {ax - x} {ay - y} Z"
    return path, [[ax, ay], [(ax + bx) / 2, (ay + by) / 2], [bx, by]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Sixty characters of four or five straight strokes, and two files that are no characters of the block."""
    place, rng = tmp_path_factory.mktemp("hanzi"), np.random.default_rng(0)
    for number in range(60):
        bars = []
        while len(bars) < 4 + number % 2:
            start, end = rng.uniform((100, -50), (900, 820), (2, 2)).round(1).tolist()
            if 300 < np.hypot(start[0] - end[0], start[1] - end[1]) < 400:
                bars.append(bar(start, end))
        written = {"strokes": [path for path, _ in bars], "medians": [median for _, median in bars]}
        (place / f"{chr(0x4E00 + number)}.json").write_text(json.dumps(written), encoding="utf-8")
    (place / "package.json").write_text("{}")
    (place / "⺀.json").write_text("{}", encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def data(folder):
    return HanziStrokes(folder, bridging=DESIGN)


def test_samples_fit_the_spec_and_any_slice_has_the_same_bytes(data):
    assert data.splits == {"train": None, "validation": None, "test": None}
    for split in data.splits:
        batch = data.source(split, 60, seed=2).batch(np.arange(60)).check_values(data.spec, np.arange(60))
        order = np.random.default_rng(0).permutation(60)
        parts = [data.batch(order[start : start + 7], split=split, seed=2) for start in range(0, 60, 7)]
        for name, tensor in batch.tensors().items():
            assert torch.equal(tensor[torch.from_numpy(order)], torch.cat([part.tensors()[name] for part in parts])), name
        assert (data.factor_codes(np.arange(60), split=split, seed=2) == batch.factors.numpy()).all()
    sent = pickle.loads(pickle.dumps(data))
    assert sent.settings == data.settings
    first = data.batch(np.arange(5), split="test", seed=0).views["image"]
    assert torch.equal(sent.batch(np.arange(5), split="test", seed=0).views["image"], first)


def test_seeds_and_splits_have_samples_of_their_own(data):
    views = [data.batch(np.arange(20), split=split, seed=seed).views["strokes"] for split in ("train", "test") for seed in (0, 1)]
    assert all(not torch.equal(one, other) for place, one in enumerate(views) for other in views[:place])


@pytest.mark.parametrize("share", [0.3, 0.8])
def test_the_share_of_bridged_samples_does_not_depend_on_how_many_are_bridged(folder, share):
    for bridged in (2, 6):
        shared = HanziStrokes(folder, bridging=CharacterBridging(bridged=bridged, pool=8, asked=8, share=share))
        roles = shared.factor_codes(np.arange(4000), split="train", seed=0)[:, shared.spec.factor_index("role")]
        assert (roles == ROLES.index("bridged")).mean() == pytest.approx(share, abs=0.03)
        plain = HanziStrokes(folder, bridging=CharacterBridging(bridged=bridged, pool=8, asked=8))
        for split in ("validation", "test"):  # are as they are without a share
            assert (
                shared.factor_codes(np.arange(50), split=split, seed=0) == plain.factor_codes(np.arange(50), split=split, seed=0)
            ).all()
    with pytest.raises(ConfigError, match="share: expected a number above 0 and below 1, or none"):
        CharacterBridging(share=1.0)


def test_training_shows_each_character_as_its_role_says(data):
    batch = data.batch(np.arange(3000), split="train", seed=0)
    sight, touch = batch.mask("image").numpy(), batch.mask("strokes").numpy()
    roles = batch.factors[:, data.spec.factor_index("role")].numpy()
    found = {
        role: {(bool(a), bool(b)) for a, b in zip(sight[roles == n], touch[roles == n], strict=True)}
        for n, role in enumerate(ROLES)
    }
    assert found == {
        "bridged": {(True, True)},
        "parted": {(True, False), (False, True)},
        "felt": {(False, True)},
        "seen": {(True, False)},
        "new": set(),
    }
    assert [len(data.characters(split)) for split in data.splits] == [24, 8 + 3 * 2, 8 + 3 * 6]
    asked = [set(data.characters(split).tolist()) for split in ("validation", "test")]
    train = data.batch(np.arange(3000), split="train", seed=0).factors[:, 0]
    pool = {int(sign) for sign in train.unique() if int(roles[train.numpy() == int(sign)][0]) < 2}
    assert asked[0] & asked[1] == pool
    whole = data.batch(np.arange(50), split="test", seed=0)
    assert whole.mask("image").all()
    assert whole.mask("strokes").all()


def test_of_many_bridged_characters_some_are_asked(folder):
    data = HanziStrokes(folder, bridging=CharacterBridging(bridged=12, pool=22, asked=8))
    roles = {split: data.factor_codes(np.arange(1500), split=split, seed=0) for split in data.splits}
    found = {split: [len(set(codes[codes[:, 3] == role, 0].tolist())) for role in range(5)] for split, codes in roles.items()}
    assert found == {"train": [12, 10, 8, 8, 0], "validation": [8, 8, 2, 2, 2], "test": [8, 8, 6, 6, 6]}
    for split, codes in roles.items():
        shown = set(codes[:, 0].tolist())
        assert {code ^ 1 for code in shown} == shown, split


def test_pairs_have_as_many_strokes_and_as_much_ink(data):
    found = data._glyphs
    pictures = small_pictures(found.outlines)
    assert len(found.signs) == 32
    assert (found.counts[::2] == found.counts[1::2]).all()
    total = pictures.sum(1)
    assert (np.abs(total[::2] - total[1::2]) <= INK * np.maximum(total[::2], total[1::2])).all()
    assert (np.sqrt(((pictures[::2] - pictures[1::2]) ** 2).mean(1)) >= LEAST).all()
    codes = data.factor_codes(np.arange(200), split="test", seed=0)
    assert (codes[:, 1] == codes[:, 0] // 2).all()


def test_the_nearest_two_are_a_pair_first():
    pictures = np.array([[0, 1000], [0, 960], [100, 940], [110, 900], [5000, 20]])
    counts = np.array([4, 4, 4, 4, 4])
    assert alike_pairs(pictures, counts).tolist() == [[0, 1], [2, 3]]
    assert alike_pairs(pictures, np.array([4, 5, 4, 5, 4])).tolist() == [[0, 2], [1, 3]]
    near = np.array([[0, 1000], [0, 1001], [0, 960], [30, 975]])
    assert alike_pairs(near, counts[:4]).tolist() == [[2, 3]]  # 0 and 1 are written almost the same way


def test_a_picture_covers_what_the_strokes_cover():
    """Overlapping strokes in both senses of rotation, with nothing between them."""
    square = "M {0} {1} L {2} {1} L {2} {3} L {0} {3} Z"
    strokes = [square.format(112, 388, 512, 788), square.format(912, 388, 312, -12), square.format(212, 488, 412, 688)]
    middles = [np.array([[312.0, 588.0], [313.0, 588.0]]), np.array([[612.0, 188.0]]), np.array([[312.0, 588.0]])]
    found = glyphs(["x"], [strokes], [middles])
    covered = small_pictures(found.outlines)[0].reshape(16, 16) / 255
    true = np.zeros((16, 16))
    rows, columns = (np.arange(16) + 0.5) / 16 * 1024, (np.arange(16) + 0.5) / 16 * 1024
    y = 900 - rows
    for x0, x1, y0, y1 in ((112, 512, 388, 788), (312, 912, -12, 388)):
        true[np.ix_((y > y0) & (y < y1), (columns > x0) & (columns < x1))] = 1.0
    assert np.abs(covered - true).mean() < 0.07
    assert covered[2, 12] == covered[14, 2] == 0.0
    assert found.paths[0, :, 2].min() == 0.0


def test_strokes_can_be_counted_and_drawn(data):
    numbers = np.arange(400)
    codes = data.factor_codes(numbers, split="test", seed=0)
    batch = data.batch(numbers, split="test", seed=0)
    image, strokes = (batch.views[name].numpy() for name in ("image", "strokes"))
    assert (stroke_counts(strokes) == codes[:, 2] + 4).mean() > 0.9
    assert 0.01 < ink(image).min() < ink(image).max() < 0.4
    assert (strokes[:, 0, :2] ** 2).sum(1).max() < 0.01
    right = two_way_choices(drawing_distances(image, strokes), codes[:, 0], codes[:, 0], same=np.eye(400, dtype=bool))
    assert np.nanmean(right) > 0.97


def test_nothing_but_the_character_is_common_to_both_senses(data):
    """Of one character, where a picture stands and how it is turned says nothing about the pen's frame."""
    codes = data.factor_codes(np.arange(20_000), split="test", seed=0)[:, 0]
    numbers = np.flatnonzero(codes == codes[0])[:400]
    batch = data.batch(numbers, split="test", seed=0)
    image, strokes = (batch.views[name].flatten(1).double() for name in ("image", "strokes"))
    parts = [torch.linalg.svd(part - part.mean(0), full_matrices=False)[0][:, :3] for part in (image, strokes)]
    assert (parts[0].T @ parts[1]).abs().max() < 0.2


def test_what_cannot_be_read_is_told(tmp_path, folder):
    with pytest.raises(
        StoreError, match=r"expected files \*.json in .*npm.*licence: Arphic Public License.*nothing is downloaded"
    ):
        _ = HanziStrokes(tmp_path).spec
    with pytest.raises(ConfigError, match=r"expected at most .* characters in all, which are in"):
        _ = HanziStrokes(folder, bridging=CharacterBridging()).spec
    (tmp_path / "永.json").write_text('{"strokes": ["M 1 2 X 3"], "medians": [[[1, 2]]]}', encoding="utf-8")
    (tmp_path / "一.json").write_text('{"strokes": ["M 1 2 L 3 4 L 5 6 Z"]}', encoding="utf-8")
    with pytest.raises(DataError, match=r"一.json: expected the keys strokes, medians"):
        _ = HanziStrokes(tmp_path).spec
    (tmp_path / "一.json").write_text('{"strokes": ["M 1 2 Z"], "medians": [[[1, "a"]]]}', encoding="utf-8")
    with pytest.raises(DataError, match=r"一.json: expected medians that are lists of places"):
        _ = HanziStrokes(tmp_path).spec
    with pytest.raises(DataError, match="永: expected a path of the commands M, L, Q, C and Z"):
        glyphs("永", [["M 1 2 X 3"]], [[np.ones((2, 2))]])
    with pytest.raises(
        ConfigError, match=r"(?s)bridged: expected an even number from 0 to 8, got 3.*asked: expected a multiple of 8"
    ):
        CharacterBridging(bridged=3, pool=8, asked=4)
    with pytest.raises(ConfigError, match="image_size from 32 to 128 pixels, got 8"):
        HanziStrokes(tmp_path, image_size=8)


@pytest.mark.realdata
@pytest.mark.skipif(not REAL.is_dir(), reason="needs the unpacked package hanzi-writer-data in MOLYNEUX_DATA")
def test_the_published_characters_are_read():
    data = HanziStrokes(bridging=CharacterBridging(bridged=4096, asked=1536))
    assert len(data.spec.factor("character").values) == 8704
    batch = data.batch(np.arange(100), split="train", seed=0).check_values(data.spec, np.arange(100))
    assert 0.03 < ink(batch.views["image"].numpy()).mean() < 0.3
