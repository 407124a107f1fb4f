"""Interactions: what its samples hold, what can be known of its targets, and the parts of that, against brute force."""

import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.integrate import dblquad
from scipy.optimize import minimize
from scipy.special import ndtr
from sklearn.linear_model import LogisticRegression

from molyneux.core import ConfigError
from molyneux.data import Interactions
from molyneux.data.worlds.binary_channels import parity_information, repeated_information
from molyneux.data.worlds.interactions import _rotation


def entropy(table):
    """In bits, of a table of probabilities of any shape."""
    used = table[table > 0]
    return -(used * np.log2(used)).sum()


def information(joint):
    """Mutual information of the first axis of a table with all others together, in bits."""
    return entropy(joint.sum(tuple(range(1, joint.ndim)))) + entropy(joint.sum(0)) - entropy(joint)


def noiseless(world, target):
    """The table p(target, x1, ..., xM), by counting all values of the bits; a modality's value is its bits as a number."""
    names = [f"{kind}{name}" for kind in ("unique bit ", "share ") for name in world.names]
    names = ["redundant bit", *names]
    table = np.zeros((2, *[8 * len(world.interactions)] * len(world.names)))
    for values in itertools.product((0, 1), repeat=len(names)):
        bits = dict(zip(names, values, strict=True))
        truth = {"redundancy": bits["redundant bit"], "synergy": sum(bits[f"share {name}"] for name in world.names) % 2}
        truth |= {f"unique {name}": bits[f"unique bit {name}"] for name in world.names}
        codes = [bits["redundant bit"] + 2 * bits[f"unique bit {name}"] + 4 * bits[f"share {name}"] for name in world.names]
        for place, which in enumerate(world.interactions):
            wanted = truth[which] if target == "mixture" else truth[target]
            table[(wanted, *(code + 8 * place for code in codes))] += 1
    return table / table.sum()


def least_information(joint):
    """I_min of Williams and Beer (2010), eq. 4 and 5, of the single modalities of p(target, x1, ..., xM)."""
    total = 0.0
    for value in range(len(joint)):
        share = joint[value].sum()
        told = []
        for axis in range(1, joint.ndim):
            pair = joint.sum(tuple(other for other in range(1, joint.ndim) if other != axis))
            given = pair[value] / share
            used = given > 0
            told.append((given[used] * np.log2(pair[value][used] / pair.sum(0)[used] / share)).sum())
        total += share * min(told)
    return total


def shared_optimally(joint):
    """Redundancy of Bertschinger et al. (2014) of p(target, x1, x2): I(y; x1) - min over Q of I_Q(y; x1 | x2).

    Q has the tables p(y, x1) and p(y, x2); it is searched for as a mixture of moves along 2 x 2 squares, for each y.
    """
    moves = []
    for value, table in enumerate(joint):
        rows, columns = np.flatnonzero(table.sum(1)), np.flatnonzero(table.sum(0))
        for i, j in itertools.product(range(1, len(rows)), range(1, len(columns))):
            move = np.zeros_like(joint)
            move[value][np.ix_(rows[[0, i]], columns[[0, j]])] = [[1.0, -1.0], [-1.0, 1.0]]
            moves.append(move)
    moves = np.array(moves)

    def conditional(weights):
        moved = joint + np.tensordot(weights, moves, 1)
        penalty = 1e3 * np.minimum(moved, 0).sum() ** 2
        moved = np.maximum(moved, 0)
        return information(moved) - information(moved.sum(1)) + penalty

    starts = [np.zeros(len(moves)), np.random.default_rng(0).normal(0, 0.01, len(moves))]
    best = min(minimize(conditional, start, method="Powell", options={"maxiter": 4}).fun for start in starts)
    return information(joint.sum(2)) - best


@pytest.mark.parametrize("modalities", [2, 3])
@pytest.mark.parametrize("target", ["redundancy", "unique x2", "synergy", "mixture"])
def test_parts_without_noise_are_those_of_the_counted_table(target, modalities):
    every = ("redundancy", "unique", "synergy", "mixture")
    world = Interactions(kinds=("tabular",) * modalities, noise=0.0, targets=every)
    table, parts = noiseless(world, target), world.decomposition(target)
    assert world.information(target) == pytest.approx(information(table), abs=1e-12)
    assert parts.total == pytest.approx(information(table), abs=1e-12)
    for axis, name in enumerate(world.names, start=1):
        rest = tuple(other for other in range(1, table.ndim) if other != axis)
        alone = information(table.sum(rest))
        assert world.information(target, [name]) == pytest.approx(alone, abs=1e-12)
        assert parts.redundancy + parts.unique[name] == pytest.approx(alone, abs=1e-12)
        best = table.sum(rest).max(0).sum()
        assert world.accuracy(target, [name]) == pytest.approx(best, abs=1e-12)
    if target != "mixture":
        assert parts.redundancy == pytest.approx(least_information(table), abs=1e-12)


@pytest.mark.parametrize(("target", "redundancy"), [("redundancy", 1.0), ("unique x1", 0.0), ("synergy", 0.0)])
def test_redundancy_is_that_of_the_optimal_coupling(target, redundancy):
    world = Interactions(noise=0.0)
    table = noiseless(world, target)
    held = np.flatnonzero(table.sum((0, 2)))
    bit = {"redundancy": 1, "unique x1": 2, "synergy": 4}[target]  # the others are independent of the target: sum them out
    small = np.zeros((2, 2, 2))
    for one, two in itertools.product(held, repeat=2):
        small[:, int(bool(one & bit)), int(bool(two & bit))] += table[:, one, two]
    assert small.sum() == pytest.approx(1)
    assert information(small) == pytest.approx(1)
    assert shared_optimally(small) == pytest.approx(redundancy, abs=1e-3)
    assert world.decomposition(target).redundancy == redundancy


@pytest.mark.parametrize("noise", [0.3, 0.7, 1.5])
def test_information_under_noise_is_that_of_numerical_integration(noise):
    def told(first, second, combine):
        """1 - E[h(posterior)] over two received bits of +1, as an integral over their noises."""
        ratios = [2 * (1 + noise * draw) / noise**2 for draw in (first, second)]
        posterior = combine(*ratios)
        uncertain = sum(-p * math.log2(p) for p in (posterior, 1 - posterior) if 0 < p < 1)
        return (1 - uncertain) * math.exp(-(first**2 + second**2) / 2) / (2 * math.pi)

    def parity(one, two):
        return (1 + math.tanh(one / 2) * math.tanh(two / 2)) / 2

    def both(one, two):
        return 1 / (1 + math.exp(-(one + two)))

    for found, combine in ((parity_information(noise, 2), parity), (repeated_information(noise, 2), both)):
        expected, _ = dblquad(told, -7, 7, -7, 7, args=(combine,), epsabs=1e-4, epsrel=1e-4)
        assert found == pytest.approx(expected, abs=3e-4)


def test_information_at_the_limits():
    assert parity_information(0.7, 1) == pytest.approx(repeated_information(0.7, 1), abs=1e-6)
    assert parity_information(0.02, 6) == pytest.approx(1, abs=1e-6)
    assert parity_information(20.0, 3) == pytest.approx(0, abs=1e-6)
    assert repeated_information(50.0, 1) == pytest.approx(1 / (2 * math.log(2) * 50**2), rel=1e-2)  # of a weak signal
    assert repeated_information(0.01, 1) == pytest.approx(1, abs=1e-12)
    parts = Interactions(noise=1.0).decomposition("redundancy")
    assert 0 < parts.synergy < parts.redundancy


def unmixed(world, name, view):
    """The numbers that a modality held before its embedding, (B, steps, size), by inverting it step by step."""
    values = view.double().numpy().reshape(len(view), -1, world.settings["size"])
    rotations = world._rotations[name]
    for turn in reversed(range(len(rotations))):
        values = values @ rotations[turn].T
        if turn:
            values = np.where(values < 0, values / 0.2, values)
    return values


@pytest.mark.parametrize("embedding", ["linear", "nonlinear"])
@pytest.mark.parametrize("kinds", [("tabular", "series"), ("series", "tabular", "tabular")])
def test_the_best_decision_has_the_accuracy_that_is_stated(kinds, embedding):
    every = ("redundancy", "unique", "synergy", "mixture")
    world = Interactions(kinds=kinds, embedding=embedding, noise=0.8, size=12, steps=3, targets=every)
    batch = world.batch(np.arange(20_000), split="test", seed=5)
    held = {name: unmixed(world, name, batch.views[name]).mean(1) for name in world.names}
    decisions = {"redundancy": sum(values[:, 0] for values in held.values()) > 0}
    decisions |= {f"unique {name}": values[:, 1] > 0 for name, values in held.items()}
    decisions["synergy"] = np.logical_xor.reduce([values[:, 2] > 0 for values in held.values()])
    which = held["x1"][:, 3 : 3 + len(world.interactions)].argmax(1)
    assert (which == batch.factors[:, world.spec.factor_index("interaction")].numpy()).all()
    decisions["mixture"] = np.choose(which, [decisions[name] for name in world.interactions])
    for target, decided in decisions.items():
        right = (decided == batch.targets[target].numpy().astype(bool)).mean()
        assert right == pytest.approx(world.accuracy(target), abs=0.011), target  # 3 standard errors of 20,000 samples
    alone = (held["x2"][:, 0] > 0) == batch.targets["redundancy"].numpy().astype(bool)
    assert alone.mean() == pytest.approx(world.accuracy("redundancy", ["x2"]), abs=0.011)
    assert world.accuracy("redundancy", ["x2"]) == pytest.approx(ndtr(1 / 0.8))


def test_noise_has_the_stated_deviation_and_rotations_lose_nothing():
    world = Interactions(noise=0.4, kinds=("series", "tabular"), steps=4)
    batch = world.batch(np.arange(5000), split="train", seed=1)
    for name, steps in (("x1", 4), ("x2", 1)):
        values = unmixed(world, name, batch.views[name])
        bits = batch.factors[:, [world.spec.factor_index(factor) for factor in world.visible(name)]].numpy()
        rest = values[..., :3] - (2.0 * bits - 1)[:, None]
        assert rest.std((0, 1)) == pytest.approx(0.4 * math.sqrt(steps), rel=0.05)
        assert values[..., 3:].std() == pytest.approx(1, rel=0.01)
        assert abs(np.corrcoef(values[:, 0].T) - np.eye(32)).max() < 0.06
    turn = _rotation(np.random.default_rng(0), 16)
    assert turn @ turn.T == pytest.approx(np.eye(16), abs=1e-12)


def test_an_additive_classifier_uses_all_but_synergy():
    world = Interactions(embedding="linear", noise=0.4, size=8)
    train, test = (world.batch(np.arange(6000), split=split, seed=0) for split in ("train", "test"))
    features, held_out = (torch.cat(list(batch.views.values()), 1).numpy() for batch in (train, test))
    for target in ("redundancy", "unique x1", "unique x2", "synergy"):
        model = LogisticRegression().fit(features, train.targets[target])
        score = model.score(held_out, test.targets[target])
        assert score == pytest.approx(world.accuracy(target, additive=True), abs=0.025), target
        assert target == "synergy" or world.accuracy(target, additive=True) == world.accuracy(target)
    held = {name: unmixed(world, name, test.views[name])[:, 0, 2] for name in world.names}
    products = (held["x1"] * held["x2"] < 0) == test.targets["synergy"].numpy().astype(bool)
    assert products.mean() == pytest.approx(world.accuracy("synergy"), abs=0.01)


def test_targets_follow_from_the_factors_and_bits_are_fair():
    world = Interactions(kinds=("tabular",) * 4, targets=("mixture", "unique", "synergy"))
    batch = world.batch(np.arange(20_000), split="validation", seed=2)
    bits = {factor.name: batch.factors[:, place] for place, factor in enumerate(world.spec.factors)}
    truth = {"redundancy": bits["redundant bit"], "synergy": sum(bits[f"share {name}"] for name in world.names) % 2}
    truth |= {f"unique {name}": bits[f"unique bit {name}"] for name in world.names}
    assert torch.equal(batch.targets["synergy"], truth["synergy"])
    for place, name in enumerate(world.interactions):
        chosen = bits["interaction"] == place
        assert chosen.float().mean().item() == pytest.approx(1 / 6, abs=0.01)
        assert torch.equal(batch.targets["mixture"][chosen], truth[name][chosen])
    fair = batch.factors[:, :-1].double()
    assert (fair.mean(0) - 0.5).abs().max() < 0.015
    assert (torch.corrcoef(fair.T) - torch.eye(fair.shape[1])).abs().max() < 0.03


def test_a_world_holds_only_the_bits_that_its_targets_need():
    world = Interactions(targets=("synergy",))
    assert [factor.name for factor in world.spec.factors] == ["share x1", "share x2"]
    assert [target.name for target in world.spec.targets] == ["synergy"]
    assert world.visible("x2") == ("share x2",)
    assert Interactions(targets=("mixture",)).visible("x1") == ("redundant bit", "unique bit x1", "share x1", "interaction")


def test_settings_that_cannot_be_used_are_told_at_once():
    with pytest.raises(ConfigError) as caught:
        Interactions(kinds=("image",), targets=("synergi", "mixture"), noise=-1.0, embedding="cubic", size=2, steps=0)
    told = caught.value.problems
    assert [problem.partition(":")[0] for problem in told] == ["kinds", "targets", "embedding", "kinds", "noise", "steps", "size"]
    assert 'did you mean "synergy"?' in told[1]
    with pytest.raises(ConfigError, match=r"targets: expected at least one, and none twice, got \(\)"):
        Interactions(targets=())
    with pytest.raises(ConfigError, match="unknown modality 'x3'; known: x1, x2"):
        Interactions().accuracy("synergy", ["x3"])


def test_the_page_has_the_best_accuracies():
    page = (Path(__file__).parents[3] / "docs" / "reference" / "data" / "fusion-data.md").read_text(encoding="utf-8")
    world = Interactions(targets=("redundancy", "unique", "synergy", "mixture"))
    rows = {"redundancy": "`redundancy`", "unique x1": "`unique x1`, `unique x2`", "synergy": "`synergy`", "mixture": "`mixture`"}
    for target, told in rows.items():
        (row,) = re.findall(rf"^\| {told} \|[^|]*\|([^|]*)\|([^|]*)\|$", page, re.MULTILINE)
        one, every = (100 * world.accuracy(target, names) for names in (["x1"], None))
        assert row[0].split(" or ")[0].strip(" %") == f"{one:.1f}".removesuffix(".0")
        assert row[1].strip(" %") == f"{every:.1f}"
