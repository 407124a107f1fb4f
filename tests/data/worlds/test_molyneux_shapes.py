"""The world of Molyneux's question: its shapes, its senses, its readers, and the design of its experiment."""

import itertools
import runpy
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
import torch

from molyneux.core import ConfigError, DataError
from molyneux.data import Bridging, CdSprites, GeBiD, Hand, MolyneuxShapes, ShapeWorld
from molyneux.data.worlds.molyneux_shapes import chosen, family, hand
from molyneux.data.worlds.molyneux_shapes.bridging import ROLES
from molyneux.data.worlds.molyneux_shapes.comparison import (
    ANGLES,
    STATISTICS,
    distances,
    radii_of,
    single_numbers,
    statistics,
)
from molyneux.data.worlds.molyneux_shapes.references import outline_distances, outlines
from molyneux.data.worlds.polygons import polygon_masks

CURVES = chosen.shape_curves()


def edits(one, other):
    """Levenshtein distance."""
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        before, row = row, [i]
        for j, there in enumerate(other, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (letter != there)))
    return row[-1]


@cache
def foreign(count, start=50_000):
    """Curves (count, points, 2) of the family that stand as far from all listed ones as these do from each other."""
    found = family.curves(family.candidates(np.arange(start, start + 1300)))
    found = found[family.is_plain(found)]
    apart = distances(radii_of(found), radii_of(CURVES)).min(1) >= chosen.APART
    assert apart.sum() >= 30
    return found[apart][np.arange(count) % int(apart.sum())]


def test_any_two_shapes_and_their_mirror_images_are_apart():
    """By brute force: every rotation of every pair."""
    radii = radii_of(CURVES)
    assert (np.sqrt(((radii - 1.0) ** 2).mean(1)) >= chosen.APART).all(), "a disc"
    squares = (radii**2).mean(1)
    likeness = np.full((chosen.COUNT, chosen.COUNT), -np.inf)
    for image in (radii, radii[:, ::-1]):
        for shift in range(len(ANGLES)):
            np.maximum(likeness, radii @ np.roll(image, shift, 1).T / len(ANGLES), out=likeness)
    away = np.sqrt(np.maximum(squares[:, None] + squares - 2 * likeness, 0))
    assert away[~np.eye(chosen.COUNT, dtype=bool)].min() >= chosen.APART - 1e-9
    assert chosen.COUNT >= 200


def test_the_listed_shapes_are_those_that_the_procedure_finds():
    assert chosen.choose(6).tolist() == list(chosen.NUMBERS[:6])


def test_further_members_stand_apart_from_each_other_and_from_all_shapes():
    """Those that the study asks about beside the world's own, as its script names them."""
    further = runpy.run_path(str(Path(__file__).parents[3] / "studies" / "molyneux_further.py"))
    numbers = np.array(further["NUMBERS"])
    own, found = radii_of(chosen.shape_curves()), radii_of(family.curves(family.candidates(numbers)))
    assert len(set(numbers.tolist())) == further["SHAPES"] == 200
    assert numbers.min() >= further["FIRST"] >= max(chosen.NUMBERS)
    assert distances(found, own).min() >= chosen.APART - 1e-9
    assert (distances(found, found) + np.eye(len(found))).min() >= chosen.APART - 1e-9
    told, scale = (statistics(radii, np.ones(len(radii)))[:, 2:] for radii in (found, own))
    assert np.linalg.norm((told[::2] - told[1::2]) / scale.std(0), axis=1).max() < chosen.ALIKE


def test_shapes_of_a_pair_are_alike_in_low_level_statistics():
    told = statistics(radii_of(CURVES), np.ones(chosen.COUNT))[:, 2:]
    assert (np.abs(told[::2] - told[1::2]) < 0.15 * told.std(0)).all()
    assert MolyneuxShapes().batch(np.arange(50), split="train", seed=1).factors[:, :2].tolist() == [
        [shape, shape // 2] for shape in MolyneuxShapes().scenes(np.arange(50), split="train", seed=1).shape.tolist()
    ]


def test_single_numbers_of_outlines_are_those_of_scipy():
    radii = radii_of(CURVES[:20])
    told = np.stack([radii.max(1), scipy.stats.skew(radii, axis=1), scipy.stats.kurtosis(radii, axis=1, fisher=False)], 1)
    assert np.allclose(single_numbers(radii), told)


def test_the_shapes_of_a_role_are_given():
    bridging = Bridging(bridged=8, assignment=3)
    assert {role: len(bridging.of(role)) for role in ROLES} == {"bridged": 8, "parted": 120, "felt": 64, "seen": 64, "new": 64}
    assert sorted(np.concatenate([bridging.of(role) for role in ROLES]).tolist()) == list(range(320))
    train = MolyneuxShapes(level=1, bridging=bridging).batch(np.arange(2000), split="train", seed=1)
    both = train.mask("image") & train.mask("touch")
    assert set(train.factors[both][:, 0].tolist()) == set(bridging.of("bridged").tolist())
    with pytest.raises(ConfigError, match="bridged"):
        bridging.of("bridge")


def test_distances_do_not_change_with_place_size_rotation_and_handedness():
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    moved = radii_of(2.5 * CURVES[:20] @ turn)
    assert distances(moved, radii_of(CURVES[:20])).diagonal().max() < 0.01
    mirrored = radii_of(CURVES[:20] * [1, -1])
    assert distances(mirrored, radii_of(CURVES[:20])).diagonal().max() < 0.01
    assert distances(mirrored, radii_of(CURVES[:20]), mirrored=False).diagonal().max() > chosen.APART


def test_curves_are_star_shaped_around_their_centroid_and_have_the_area_of_a_disc():
    after = np.roll(CURVES, -1, 1)
    turns = CURVES[..., 0] * after[..., 1] - CURVES[..., 1] * after[..., 0]
    assert (turns > 0).all()
    assert np.allclose(turns.sum(1) / 2, np.pi, rtol=2e-3)
    assert np.abs((turns[..., None] * (CURVES + after)).sum(1) / (6 * np.pi)).max() < 2e-3
    steps = np.sqrt(((after - CURVES) ** 2).sum(2))
    assert (steps.max(1) / steps.mean(1)).max() < 1.02
    assert family.is_plain(CURVES).all()


def test_a_curve_follows_its_parameters():
    plain = np.array([[0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
    triangle, nearest = radii_of(family.curves(plain))[0], 256 // 3
    assert np.flatnonzero((triangle > np.roll(triangle, 1)) & (triangle >= np.roll(triangle, -1))).tolist() == [
        0,
        nearest,
        2 * nearest + 1,
    ]
    blunt, dented, long, lopsided = (plain.copy() for _ in range(4))
    plain_star = plain.copy()
    plain_star[0, 0] = dented[0, 0] = 0.5
    blunt[0, 1], dented[0, 2], long[0, 6], lopsided[0, 8] = 0.0, 1.0, 1.0, 1.0
    assert radii_of(family.curves(blunt)).max() < triangle.max()
    assert radii_of(family.curves(dented)).min() < 0.8 * radii_of(family.curves(plain_star)).min()
    spread = family.curves(long)[0]
    assert np.ptp(spread[:, 0]) / np.ptp(spread[:, 1]) > 1.9 * np.ptp(family.curves(plain)[0][:, 0]) / 2 / np.sqrt(3) * 0.9
    assert distances(radii_of(family.curves(lopsided)), triangle[None])[0, 0] > 0.05


def test_names_are_words_two_edits_apart_also_beyond_the_list():
    assert len(chosen.NAMES) == chosen.COUNT
    more = [chosen.name(number) for number in (*range(320), *range(3590, 3650), *range(219_590, 219_650))]
    assert min(edits(one, other) for one, other in itertools.combinations(more, 2)) == 2
    assert {len(word) for word in chosen.NAMES} == {5}


def test_masks_cover_what_lies_inside_of_a_polygon():
    path = pytest.importorskip("matplotlib.path")
    rng, fine = np.random.default_rng(0), (np.arange(16 * 16) + 0.5) / 256
    grid = np.stack(np.meshgrid(fine, fine), 2).reshape(-1, 2)
    for shape in range(8):
        centre, turn, size = rng.uniform(-0.1, 1.1, 2), rng.uniform(0, 6), rng.uniform(0.1, 0.4)
        cos, sin = np.cos(turn), np.sin(turn)
        made = polygon_masks(CURVES, np.array([shape]), centre[None], np.array([size]), np.array([turn]), 16)[0]
        points = size * CURVES[shape] @ np.array([[cos, sin], [-sin, cos]]) + centre
        inside = path.Path(points).contains_points(grid).reshape(16, 16, 16, 16).mean((1, 3))
        assert np.abs(255 * inside - made).max() < 6
        hard = polygon_masks(CURVES, np.array([shape]), centre[None], np.array([size]), np.array([turn]), 16, anti_alias=False)[0]
        assert set(np.unique(hard)) <= {0, 255}
        assert ((hard == 255) == (made >= 128))[np.abs(made.astype(int) - 128) > 1].all()


def test_levels_add_to_pictures():
    views = {
        level: MolyneuxShapes(level=level, modalities=("image",)).batch(np.arange(400), split="train", seed=1)
        for level in range(1, 6)
    }
    first = views[1]
    same = first.factors[:, 0] == first.factors[0, 0]
    shape = int(first.factors[0, 0])
    again = MolyneuxShapes(level=1, modalities=("image",)).batch(np.arange(3000), split="test", seed=5)
    rows = again.factors[:, 0] == shape
    assert rows.sum() > 1
    assert (again.views["image"][rows] == first.views["image"][same][0]).all(), "level 1 has one picture of each shape"
    for level in (1, 2, 3):
        picture = views[level].views["image"]
        assert (picture[:, 0] == picture[:, 1]).all()
    moved = [batch.quantities[:, 6].std() for batch in views.values()]
    assert moved[:2] == [0, 0]
    assert min(moved[2:]) > 0.02
    assert all((views[level].factors[:, 0] == first.factors[:, 0]).all() for level in views)
    border = views[3].views["image"].amax(1)
    assert max(border[:, 0].max(), border[:, -1].max(), border[:, :, 0].max(), border[:, :, -1].max()) == 0
    assert (views[4].views["image"][:, :, 0, 0] == 0).all()


def test_a_hand_feels_in_its_own_frame():
    world = MolyneuxShapes(modalities=("touch",))
    scenes = world.scenes(np.arange(3000), split="train", seed=2)
    felt = world.view(scenes)
    touch, factors = felt.views["touch"], {factor.name: felt.factors[:, place] for place, factor in enumerate(world.spec.factors)}
    assert touch[:, 0, :2].abs().max() < 0.1, "places are told from where the first finger starts"
    two = (touch[:, :, 5] > 0).any(1)
    assert torch.equal(two, factors["fingers"] == 1)
    assert 0.45 < two.float().mean() < 0.55
    lifted = touch[:, :, 2] == 0
    assert (touch[:, :, :2][lifted] == 0).all()
    assert lifted.sum(1).max() <= 8
    assert 0.3 < lifted.any(1).float().mean() < 0.8
    still = MolyneuxShapes(modalities=("touch",), hand=Hand(second=0.0, tremor=0.0, lifts=0, speed=0.0))
    view = still.view(scenes).views["touch"].double().numpy()
    points = view[:, :48, :2] - view[:, :48, :2].mean(1, keepdims=True)
    after = np.roll(points, -1, 1)
    area = (points[..., 0] * after[..., 1] - points[..., 1] * after[..., 0]).sum(1)
    forwards = still.view(scenes).factors[:, still.spec.factor_index("direction")].numpy() == 1
    assert ((area > 0) == forwards).mean() > 0.97
    steps = np.sqrt((np.diff(view[..., :2], axis=1) ** 2).sum(2))
    assert np.median(steps.std(1) / steps.mean(1)) < 0.1, "without a change of speed, steps are alike"
    scale = still.view(scenes).quantities[:, -1].numpy()
    assert np.corrcoef(scale, steps.mean(1))[0, 1] > 0.8
    frame = MolyneuxShapes(modalities=("touch",), hand=Hand(turned=False)).view(scenes)
    assert (frame.quantities[:, -2] == 0).all()
    assert not torch.equal(frame.views["touch"], touch)


@pytest.mark.parametrize("level", [2, 5])
def test_shapes_that_are_not_listed_are_refused(level):
    world = MolyneuxShapes(level=level)
    curves = foreign(120)
    batch = world.view(world.scenes(np.arange(120), split="test", seed=3), curves)
    for name in ("image", "touch"):
        reading = world.readers()[name].read(batch.views[name])
        assert (reading.codes[:, 0] >= 0).float().mean() <= 0.01
        assert len(reading.reasons) >= 119


def discs(count, seed):
    """Curves like discs and ellipses."""
    rng = np.random.default_rng(seed)
    stretch, angle = np.sqrt(1 + rng.random((count, 1)) * 0.3), np.arange(256) * (2 * np.pi / 256)
    return np.stack([np.cos(angle) * stretch, np.sin(angle) / stretch], 2)


@pytest.mark.parametrize("level", [2, 5])
def test_foreign_pictures_are_refused(level):
    world, rng = MolyneuxShapes(level=level), np.random.default_rng(1)
    scenes = world.scenes(np.arange(100), split="test", seed=3)
    true = world.view(scenes).views["image"]
    ramp = torch.linspace(-1, 1, 64)
    blobs = torch.exp(-(ramp**2 + ramp[:, None] ** 2) / torch.from_numpy(rng.uniform(0.02, 0.3, (100, 1, 1)))).float()
    tint = torch.tensor([1.0, 1.0, 1.0] if level < 4 else [1.0, 0.33, 0.0])
    half = true.clone()
    for row, (x, y) in enumerate(scenes.centre):
        if row % 2:
            half[row, :, :, : int(64 * x)] = 0
        else:
            half[row, :, int(64 * y) :] = 0
    kinds = {
        "discs": world.view(scenes, discs(100, 1)).views["image"],
        "blobs": (255 * blobs[:, None] * tint[:, None, None]).to(torch.uint8),
        "noise": torch.from_numpy(rng.integers(0, 256, (100, 3, 64, 64), dtype=np.uint8)),
        "halves": half,
        "nothing": torch.zeros((100, 3, 64, 64), dtype=torch.uint8),
        "all": torch.full((100, 3, 64, 64), 255, dtype=torch.uint8),
        "CdSprites": CdSprites(level=level, rendering=None).source("test", 100, seed=1).batch(np.arange(100)).views["image"],
        "GeBiD": GeBiD(level=level).source("test", 100, seed=1).batch(np.arange(100)).views["image"],
        "ShapeWorld": ShapeWorld(kind="oneshape").source("test", 100, seed=1).batch(np.arange(100)).views["image"],
    }
    reader = world.readers()["image"]
    accepted = {name: float((reader.read(views).codes[:, 0] >= 0).float().mean()) for name, views in kinds.items()}
    assert max(accepted.values()) <= 0.01, accepted


def test_foreign_touches_are_refused():
    world, rng = MolyneuxShapes(modalities=("touch",)), np.random.default_rng(1)
    scenes = world.scenes(np.arange(100), split="test", seed=3)
    true = world.view(scenes).views["touch"]
    single = true[(true[:, :, 5] == 0).all(1)]
    kinds = {
        "discs": world.view(scenes, discs(100, 2)).views["touch"],
        "noise": torch.from_numpy(rng.normal(size=(100, 64, 6)).astype(np.float32)),
        "nothing": torch.zeros((100, 64, 6)),
        "parts": torch.where((torch.arange(64) < 24)[:, None], single, torch.zeros(())),
        "broken": torch.full((20, 64, 6), float("nan")),
    }
    reader = world.readers()["touch"]
    accepted = {name: float((reader.read(views).codes[:, 0] >= 0).float().mean()) for name, views in kinds.items()}
    assert max(accepted.values()) <= 0.01, accepted


def test_descriptions_say_what_a_shape_is_like():
    world = MolyneuxShapes(text="description", modalities=("text",))
    batch = world.batch(np.arange(200), split="train", seed=1)
    text = "".join(world.spec.modality("text").symbols[i] for i in batch.views["text"][0]).strip()
    assert text in world.grammar.captions
    assert text.startswith(("compact shape of ", "long shape of "))
    assert world.visible("text") == ("build", "corners", "edge", "lobes")


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        ({"level": 6}, "level: expected one of 1, 2, 3, 4, 5, got 6"),
        ({"image_size": 20}, "image_size from 32 to 256"),
        ({"modalities": ("image", "tuch")}, 'did you mean "touch"'),
        ({"modalities": ("image",), "bridging": Bridging()}, "bridging: expected the modalities image and touch"),
        ({"text": "story"}, "text: expected one of name, description"),
        ({"threads": 0}, "threads of at least 1"),
    ],
)
def test_settings_that_cannot_be_used(settings, wrong):
    with pytest.raises(ConfigError, match=wrong):
        MolyneuxShapes(**settings)


def test_parts_of_settings_that_cannot_be_used():
    with pytest.raises(ConfigError, match=r"hand\.tremor: expected a number from 0 to 0\.05, got 1"):
        Hand(tremor=1)
    for wrong in (129, 130, 3, -2):
        with pytest.raises(ConfigError, match=f"bridged: expected an even number from 0 to 128, got {wrong}"):
            Bridging(bridged=wrong)
    for settings in ({"bridged": 2.5}, {"bridged": "8"}, {"bridged": True}, {"assignment": 1.5}):
        ((name, value),) = settings.items()
        with pytest.raises(ConfigError, match=f"{name}: expected a whole number, got {value!r}"):
            Bridging(**settings)
    with pytest.raises(ConfigError, match="named: expected several names, got the text 'felt'"):
        Bridging(named="felt")
    with pytest.raises(ConfigError, match="named: expected one of bridged, parted, felt, seen, got 'new'"):
        Bridging(named=("new",))


@pytest.mark.parametrize("bridged", [0, 2, 16, 128])
def test_roles_have_the_senses_they_say(bridged):
    design = Bridging(bridged=bridged, named=("felt",))
    world = MolyneuxShapes(level=1, bridging=design)
    batch = world.batch(np.arange(6000), split="train", seed=1).check_values(world.spec, np.arange(6000))
    role = batch.factors[:, world.spec.factor_index("role")]
    seen, felt, named = (batch.mask(name) for name in ("image", "touch", "text"))
    expected = {"bridged": (1, 1), "parted": (None, None), "felt": (0, 1), "seen": (1, 0)}
    for number, name in enumerate(ROLES):
        rows = role == number
        assert rows.any() == (name != "new" and (name, bridged) not in (("bridged", 0), ("parted", 128)))
        if name == "parted":
            assert (seen ^ felt)[rows].all()
            assert not rows.any() or 0.4 < seen[rows].float().mean() < 0.6
        elif rows.any():
            assert (bool(seen[rows].all()), bool(felt[rows].any())) == tuple(map(bool, expected[name]))
            assert bool(felt[rows].all()) == bool(expected[name][1])
            assert bool(seen[rows].any()) == bool(expected[name][0])
        assert named[rows].all() if name == "felt" else not named[rows].any()
    counts = np.bincount(design.roles, minlength=5)
    assert counts.tolist() == [bridged, 128 - bridged, 64, 64, 64]


def test_shapes_that_are_asked_about_are_others_in_validation_than_in_the_test():
    design = Bridging(bridged=32)
    world = MolyneuxShapes(level=1, bridging=design)
    new = ROLES.index("felt")
    asked = {}
    for split in ("validation", "test"):
        batch = world.batch(np.arange(5000), split=split, seed=1)
        shape, role = batch.factors[:, 0].numpy(), batch.factors[:, world.spec.factor_index("role")].numpy()
        asked[split] = set(shape[role >= new].tolist())
        assert all(bool(batch.mask(name).all()) for name in ("image", "touch", "text"))
        assert set(shape.tolist()) == set(world.shapes(split).tolist())
    assert not asked["validation"] & asked["test"]
    assert (len(asked["validation"]), len(asked["test"])) == (48, 144)
    trained = set(world.batch(np.arange(9000), split="train", seed=1).factors[:, 0].tolist())
    assert not trained & set(np.flatnonzero(design.roles == ROLES.index("new")).tolist())
    assert (Bridging(assignment=1).roles != design.roles).mean() > 0.5
    more = Bridging(bridged=64).roles
    assert ((design.roles != 0) | (more == 0)).all(), "more bridges are added to those that there are"
    assert ((more > 1) == (design.roles > 1)).all()


@pytest.mark.parametrize("bridged", [0, 2, 32, 128])
def test_the_share_of_bridged_samples_can_be_the_same_for_every_number_of_bridged_shapes(bridged):
    design = Bridging(bridged=bridged, share=0.5)
    batch = MolyneuxShapes(level=1, image_size=32, bridging=design).batch(np.arange(8000), split="train", seed=1)
    roles, counts = design.roles[batch.factors[:, 0].numpy()], np.bincount(batch.factors[:, 0].numpy(), minlength=320)
    together = (batch.mask("image") & batch.mask("touch")).numpy()
    assert (together == (roles == 0)).all()
    assert together.mean() == pytest.approx(0.5 if bridged else 0.0, abs=0.02)
    own = counts[design.roles == 0]
    assert bridged == 0 or own.min() > 0.4 * own.mean()
    assert counts[(design.roles > 0) & (design.roles < 4)].min() > 0
    for split in ("validation", "test"):  # are as they are without a share
        one, other = (
            MolyneuxShapes(level=1, modalities=("touch", "image"), bridging=item) for item in (design, Bridging(bridged=bridged))
        )
        rows = np.arange(50)
        assert torch.equal(one.batch(rows, split=split, seed=1).factors, other.batch(rows, split=split, seed=1).factors)


@pytest.mark.parametrize("bridged", [4, 6, 64])
def test_permuted_pairs_feel_another_shape_than_they_see(bridged):
    plain, permuted = (
        MolyneuxShapes(level=1, image_size=32, bridging=Bridging(bridged=bridged, share=0.5, permuted=permuted))
        for permuted in (False, True)
    )
    rows = np.arange(400)
    one, other = (world.batch(rows, split="train", seed=1) for world in (plain, permuted))
    for view in ("image", "text"):
        assert torch.equal(one.views[view], other.views[view])
    assert torch.equal(one.factors, other.factors)
    assert torch.equal(one.mask("touch"), other.mask("touch"))
    together = (one.mask("image") & one.mask("touch")).numpy()
    same = (one.views["touch"] == other.views["touch"]).flatten(1).all(1).numpy()
    assert (same == ~together).all()
    seen = one.factors[:, 0].numpy()[together]
    felt = permuted.readers()["touch"].read(other.views["touch"][torch.from_numpy(together)]).codes[:, 0].numpy()
    assert (felt // 2 != seen // 2).all()
    assert {*felt} <= {*np.flatnonzero(permuted.bridging.roles == 0)}
    partners = dict(zip(seen.tolist(), felt.tolist(), strict=True))
    assert [partners[shape] for shape in seen.tolist()] == felt.tolist(), "always the same"
    assert len({*partners.values()}) == len(partners), "each is felt in place of one other"
    for split in ("validation", "test"):
        views = (world.batch(np.arange(50), split=split, seed=1).views["touch"] for world in (plain, permuted))
        assert torch.equal(*views)
    assert "permuted" not in plain.settings["bridging"], "stored samples of earlier versions are this world's"
    assert permuted.settings["bridging"]["permuted"] is True


def test_too_few_shapes_to_permute_are_refused():
    with pytest.raises(ConfigError, match="permuted: expected at least 4 bridged shapes, got 2"):
        Bridging(bridged=2, permuted=True)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.5, 2.0])
def test_shares_that_cannot_be_are_refused(share):
    with pytest.raises(ConfigError, match="share: expected a number above 0 and below 1, or none"):
        Bridging(share=share)


def test_a_shape_in_senses_that_its_role_does_not_have_is_refused():
    design = Bridging()
    shape = np.flatnonzero(design.roles == ROLES.index("felt"))[:1]
    with pytest.raises(DataError, match="is felt and shown otherwise"):
        design.check(shape, {"image": np.array([True]), "touch": np.array([True])})


def chosen_rightly(one, other, truth, rng, *, size=2000):
    """Share of two-way choices that are right: a view of `one`, and two of `other`, of its own shape and of another."""
    right = []
    for row in rng.integers(0, len(truth), size):
        same = rng.choice(np.flatnonzero((truth == truth[row]) & (np.arange(len(truth)) != row)))
        foil = rng.choice(np.flatnonzero(truth != truth[row]))
        right.append(np.linalg.norm(one[row] - other[same]) < np.linalg.norm(one[row] - other[foil]))
    return float(np.mean(right))


def test_nothing_but_the_shape_is_common_to_sight_and_touch():
    """What numbers say as they are is chance; contours say all; and low-level statistics what the documentation says."""
    world, rng = MolyneuxShapes(level=5, bridging=Bridging()), np.random.default_rng(0)
    train = world.batch(np.arange(6000), split="train", seed=1)
    both = train.mask("image") & train.mask("touch")
    test = world.batch(np.arange(3000), split="test", seed=1)
    test = test[test.factors[:, world.spec.factor_index("role")] == ROLES.index("new")]
    truth = test.factors[:, 0].numpy()

    def raw(batch):
        return (
            torch.nn.functional.avg_pool2d(batch.views["image"].float(), 4).flatten(1).numpy() / 255,
            batch.views["touch"].flatten(1).numpy(),
        )

    seen, felt = raw(train[both])
    weights = np.linalg.solve(felt.T @ felt + 10 * np.eye(felt.shape[1]), felt.T @ (seen - seen.mean(0)))
    pictures, touches = raw(test)
    assert abs(chosen_rightly(touches @ weights + seen.mean(0), pictures, truth, rng) - 0.5) < 0.05
    found = [outlines(name, test.views[name], level=5)[0] for name in ("image", "touch")]
    away = distances(found[1], found[0], mirrored=False)
    pairs = [
        (row, rng.choice(np.flatnonzero(truth == truth[row])), rng.choice(np.flatnonzero(truth != truth[row])))
        for row in rng.integers(0, len(truth), 2000)
    ]
    assert np.mean([away[row, same] < away[row, foil] for row, same, foil in pairs]) >= 0.98


def test_places_of_a_touch_do_not_tell_those_of_a_picture():
    world = MolyneuxShapes()
    batch = world.batch(np.arange(4000), split="train", seed=1)
    names = [quantity.name for quantity in world.spec.quantities]
    found = np.corrcoef(batch.quantities[:, names.index("rotation") :].double().numpy().T)
    hand_columns = slice(names.index("rotation of the hand") - names.index("rotation"), None)
    assert np.abs(found[:3, hand_columns]).max() < 0.06
    assert world.spec.modality("touch").shape[0] == hand.STEPS


@pytest.mark.parametrize("count", [1, 2, 40])
def test_statistics_are_compared_in_standard_deviations_also_of_a_single_outline(count):
    rng = np.random.default_rng(count)
    drawn = [(1 + 0.2 * rng.random((count, 256)), np.ones(count)) for _ in range(3)]
    names = ["elongation", "area"]
    found = outline_distances(drawn[0], drawn[1:], names)
    columns = [STATISTICS.index(name) for name in names]
    given, *choices = (statistics(*part)[:, columns] for part in drawn)
    every = np.concatenate(choices)
    assert found.shape == (count, 2)
    for row, (place, part) in itertools.product(range(count), enumerate(choices)):
        total = 0.0
        for column in range(2):
            spreads = given[:, column].std(), every[:, column].std()
            one = (given[row, column] - given[:, column].mean()) / spreads[0] if spreads[0] else 0.0
            other = (part[row, column] - every[:, column].mean()) / spreads[1] if spreads[1] else 0.0
            total += (one - other) ** 2
        assert found[row, place] == pytest.approx(total**0.5)
